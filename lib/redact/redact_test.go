package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/redact"
)

func names(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// LSM-10: the field names of real traces and configurations, both ways.
func TestSensitive_LSM10_Names(t *testing.T) {
	t.Parallel()
	secret, plain := names(t, "sensitive.txt"), names(t, "harmless.txt")
	if len(secret) < 120 || len(plain) < 150 {
		t.Fatalf("%d sensitive and %d harmless names, want at least 120 and 150", len(secret), len(plain))
	}
	for _, n := range secret {
		if !redact.Sensitive(n) {
			t.Errorf("%q passes as harmless", n)
		}
	}
	for _, n := range plain {
		if redact.Sensitive(n) {
			t.Errorf("%q is taken for a secret", n)
		}
	}
}

const planted = "hunter2Zebra99"

func TestJSON(t *testing.T) {
	t.Parallel()
	jsonIn := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	inner := jsonIn(map[string]string{"api_key": planted})
	tests := []struct{ name, in, want string }{
		{"nothing to hide", `{"b":1,"a":"x"}`, `{"a":"x","b":1}`},
		{"numbers keep their text", `[1.50,1e400,12345678901234567890]`, `[1.50,1e400,12345678901234567890]`},
		{"a field", `{"password":"` + planted + `"}`, `{"password":{"$redacted":"password"}}`},
		{"a member without a name", `{"":["x"]}`, `{"":["x"]}`},
		{"a whole object", `{"credentials":{"user":"a","x":"` + planted + `"}}`, `{"credentials":{"$redacted":"credentials"}}`},
		{"a number", `{"pin":1234}`, `{"pin":{"$redacted":"pin"}}`},
		{"a truth value is no secret", `{"auth":true,"secret":null,"token":""}`, `{"auth":true,"secret":null,"token":""}`},
		{"usage stays", `{"usage":{"input_tokens":5,"max_tokens":9}}`, `{"usage":{"input_tokens":5,"max_tokens":9}}`},
		{"a header pair", `[{"name":"Authorization","value":"` + planted + `"}]`, `[{"name":"Authorization","value":{"$redacted":"authorization"}}]`},
		{"raw headers", `["Host","x","Cookie","` + planted + `"]`, `["Host","x","Cookie",{"$redacted":"cookie"}]`},
		{"an argument list", `["--api-key","` + planted + `","--verbose"]`, `["--api-key",{"$redacted":"api_key"},"--verbose"]`},
		{"a session below headers", `{"headers":{"sid":"` + planted + `"},"session_id":"s1"}`, `{"headers":{"sid":{"$redacted":"session"}},"session_id":"s1"}`},
		{"JSON in a text", jsonIn(map[string]string{"arguments": inner}), `{"arguments":"{\"api_key\":{\"$redacted\":\"api_key\"}}"}`},
		{"a list below headers", `{"headers":["sid","` + planted + `"]}`, `{"headers":["sid",{"$redacted":"session"}]}`},
		{"a list in a text", jsonIn(map[string]string{"arguments": jsonIn([]string{"authorization", planted})}), `{"arguments":"[\"authorization\",{\"$redacted\":\"authorization\"}]"}`},
		{"a name behind a line break", jsonIn("x\ntoken=" + planted), `"x\ntoken=[redacted:token]"`},
		{"an assignment", `"login with password=` + planted + ` now"`, `"login with password=[redacted:password] now"`},
		{"an option", `"curl --token ` + planted + ` x"`, `"curl --token [redacted:token] x"`},
		{"a header line", `"Authorization: Basic ` + planted + ` x\nHost: y"`, `"Authorization: [redacted:authorization]\nHost: y"`},
		{"a bearer", `"send Bearer ` + planted + `!"`, `"send Bearer [redacted:bearer]!"`},
		{"prose about bearers", `"the bearer of news"`, `"the bearer of news"`},
		{"an address with a password", `"postgres://u:` + planted + `@h/db"`, `"postgres://[redacted:url_password]@h/db"`},
		{"an address with a name only", `"ssh://git@h/x"`, `"ssh://git@h/x"`},
		{"a key in a member's name", `{"sk-ant-abcdefgh12345678":1}`, `{"[redacted:api_key]":1}`},
		{"no JSON at all", `secret=` + planted, `"secret=[redacted:secret]"`},
		{"broken JSON", `{"password":"` + planted, `"{\"password\":\"[redacted:password]"`},
		{"nothing", ``, `null`},
	}
	r := redact.New(redact.Config{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, n := r.JSON([]byte(tt.in))
			if string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if strings.Contains(tt.want, "redacted") != (n.Fields+n.Values > 0) {
				t.Errorf("counts %+v", n)
			}
		})
	}
}

func TestText_KnownCredentials(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Config{})
	// Put together here, so that no scanner takes this file for a leak.
	tail := "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
	for _, head := range []string{"sk-", "sk-ant-", "sk-lf-", "lsv2_pt_", "ghp_", "gho_", "github_pat_", "glpat-", "hf_", "xoxb-", "AIza", "erk_", "eri_", "ers_", "SG.", "npm_"} {
		for _, around := range []string{"%s", "key %s.", "x=%s", "(%s)", "é%s", "%%22%s%%22", "a_%s"} {
			text := fmt.Sprintf(around, head+tail)
			if got, _ := r.Text(text); strings.Contains(got, tail[:12]) {
				t.Errorf("%q became %q", text, got)
			}
		}
	}
	for _, secret := range []string{
		"AKIA" + strings.ToUpper(tail[:16]),
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + tail,
		"-----BEGIN RSA PRIVATE KEY-----\n" + tail + "\n-----END RSA PRIVATE KEY-----",
		"-----BEGIN PRIVATE KEY-----\n" + tail,
		base64.StdEncoding.EncodeToString([]byte("password=" + tail)),
		base64.RawURLEncoding.EncodeToString([]byte(`{"secret":"` + tail + `"}`)),
		"q=password%3D" + tail,
	} {
		if got, n := r.Text("before " + secret); strings.Contains(secret, " ") && strings.Contains(got, tail[:12]) {
			t.Errorf("%q became %q", secret, got)
		} else if got, n = r.Text(secret); got == secret || n.Values == 0 {
			t.Errorf("%q stayed", secret)
		}
	}
	for _, prose := range []string{
		"task-based-learning-approaches are common", "the tokens: 15 of 20", "risk-averse people", "a skate-board",
		"see https://example.com/a:b/c?d=e@f", "authors: Ada, Bob", "commit 3f2a9c81d04be7765a0c", "Set max_tokens=100",
	} {
		if got, _ := r.Text(prose); got != prose {
			t.Errorf("%q became %q", prose, got)
		}
	}
}

// LSM-09: whatever comes in, what goes out is bounded.
func TestJSON_LSM09_Bounds(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 40) + `"` + planted + `"` + strings.Repeat("}", 40)
	tests := []struct{ name, in, want string }{
		{"a long text", `"` + strings.Repeat("word ", 10_000) + `"`, "[truncated: 50000 bytes]"},
		{"many elements", "[" + strings.Repeat("1,", 5000) + "1]", `{"$truncated":{"original":5001,"reason":"items"}}`},
		{"many members", manyMembers(3000), `"$truncated":{"original":3000,"reason":"keys"}`},
		{"too deep", deep, `{"$truncated":"depth"}`},
		{"long texts many times", "[" + strings.Repeat(`"`+strings.Repeat("y z", 5000)+`",`, 100) + "1]", "truncated"},
		{"a picture", `"data:image/png;base64,` + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x89\xff", 3000))) + `"`, `"$blob":{"bytes":6000,"mime":"image/png"`},
		{"more than is read", `"` + strings.Repeat("x", 5<<20) + `"`, `{"$truncated":{"original":5242882,"reason":"bytes"}}`},
		{"a long number", strings.Repeat("9", 5000), `"original":5000`},
	}
	r := redact.New(redact.Config{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, n := r.JSON([]byte(tt.in))
			if len(got) > 64<<10 || !json.Valid(got) || !strings.Contains(string(got), tt.want) || n.Truncated == 0 {
				t.Errorf("%d bytes, %+v: %.300s", len(got), n, got)
			}
			if strings.Contains(string(got), planted) {
				t.Error("what is too deep was passed through")
			}
			if again, _ := r.JSON(got); string(again) != string(got) {
				t.Errorf("a second pass changes it:\n%.300s\n%.300s", got, again)
			}
		})
	}
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"m%d":1`, i)
	}
	return "{" + b.String()[1:] + "}"
}

// A secret that lies across the cut is gone before the cut is made.
func TestText_SecretAcrossTheCut(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Config{Limits: redact.Limits{String: 256}})
	for at := 100; at < 300; at++ {
		text := strings.Repeat("a ", at/2) + "password=" + planted + strings.Repeat(" b", 200)
		got, _ := r.Text(text)
		for i := 0; i+6 <= len(planted); i++ {
			if strings.Contains(got, planted[i:i+6]) {
				t.Fatalf("at %d: %q", at, got)
			}
		}
		if len(got) > 256 {
			t.Fatalf("at %d: %d bytes", at, len(got))
		}
	}
}

func TestConfig_Fields(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Config{Fields: []string{"customer name"}})
	got, _ := r.JSON([]byte(`{"customerName":"Ada","CUSTOMER-NAME":"Ada","customer":"x"}`))
	if want := `{"CUSTOMER-NAME":{"$redacted":"configured"},"customer":"x","customerName":{"$redacted":"configured"}}`; string(got) != want {
		t.Errorf("got %s", got)
	}
	if r.Profile() == redact.New(redact.Config{}).Profile() || r.Profile() != redact.New(redact.Config{Fields: []string{"Customer-Name"}}).Profile() {
		t.Error("the profile does not tell configurations apart")
	}
}

func BenchmarkJSON(b *testing.B) {
	in := []byte(`{"messages":[` + strings.Repeat(`{"role":"user","content":"What is the weather like in the city of Basel today, and in the days to come?"},`, 40) + `{"role":"x"}],"usage":{"input_tokens":5}}`)
	r := redact.New(redact.Config{})
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		r.JSON(in)
	}
}
