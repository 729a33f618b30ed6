package redact_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/lib/redact"
)

// Whatever the value is: the result is JSON within its bound, a second pass
// changes nothing, and a secret planted below a sensitive name is gone.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,"x",{"password":"p"}]}`, `"token: abc, key"`, `["authorization","x"]`, `{"x":"{\"y\":\"z\"}"}`,
		`[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]`, `"https://a:b@c"`, `{"$truncated":{"reason":"keys","original":3}}`,
		`{"$redacted":"password","x":1}`, `not json`, "\"\xff\"", `{"a":1,"a":2}`, `"Bearer abcdefgh1"`, `"a=[b"`, `"\\\"token\\\":\\\"v\\\""`,
	} {
		f.Add([]byte(s), "api_key")
	}
	r := redact.New(redact.Config{Limits: redact.Limits{Value: 2048, String: 256, Keys: 8, Items: 8, Depth: 6}})
	f.Fuzz(func(t *testing.T, in []byte, name string) {
		out, _ := r.JSON(in)
		if !json.Valid(out) || len(out) > 2048 {
			t.Fatalf("%d bytes, valid %v: %q", len(out), json.Valid(out), out)
		}
		if again, _ := r.JSON(out); !bytes.Equal(again, out) {
			t.Fatalf("a second pass changes\n%s\n%s", out, again)
		}
		if !json.Valid(in) || !utf8.ValidString(name) || !redact.Sensitive(name) {
			return
		}
		const secret = "zqSecretqz77"
		if bytes.Contains(in, []byte("zqS")) || strings.Contains(name, "zqS") {
			return
		}
		planted, err := json.Marshal(map[string]any{"v": json.RawMessage(in), name: secret, "deep": []any{map[string]any{name: []string{secret}}}})
		if err != nil {
			return
		}
		inText, err := json.Marshal(map[string]string{"arguments": string(planted)})
		if err != nil {
			t.Fatal(err)
		}
		for _, whole := range [][]byte{planted, inText} {
			if out, _ := r.JSON(whole); bytes.Contains(out, []byte("zqS")) {
				t.Fatalf("the secret under %q survives in %s", name, out)
			}
		}
	})
}
