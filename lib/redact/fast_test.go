package redact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/lib/redact"
)

// sameAsTree checks that a value comes out as it does when it is part of one
// that the fast way gives up: an escape that nobody needs sees to that.
func sameAsTree(t fatal, in []byte) {
	asPart(t, in, func(r *redact.Redactor) ([]byte, redact.Counts) { return r.JSON(in) })
}

type fatal interface{ Fatalf(string, ...any) }

func asPart(t fatal, in []byte, redacted func(*redact.Redactor) ([]byte, redact.Counts)) {
	limits := redact.Limits{Value: 2048, String: 256, Keys: 8, Items: 8, Depth: 6}
	fields := []string{"id"}
	got, n := redacted(redact.New(redact.Config{Limits: limits, Fields: fields}))
	const before, after = `["Ax",`, `]`
	limits.Depth++
	limits.Value += len(before + after)
	want, wantN := redact.New(redact.Config{Limits: limits, Fields: fields}).JSON([]byte(`["\u0041x",` + string(in) + `]`))
	if bytes.HasPrefix(want, []byte(`{"$truncated"`)) {
		return // a whole value too large is a mark, of another size
	}
	if string(want) != before+string(got)+after || n != wantN {
		t.Fatalf("%q\nbecame  %q %+v,\nas part %q %+v", in, got, n, want, wantN)
	}
}

// words are what values are made of: plain ones, and all that the rules are
// about.
func words() []string {
	return []string{
		"", "a", "id", "role", "content", "user", "x y", "name", "key", "value", "headers", "session_id", "api_key", "password", "token", "max_tokens",
		"$truncated", "depth", "$redacted", "Authorization", "Bearer abcdefgh12345678", "password=hunter2", "sk-ant-abcdefgh12345678", "{", `{"a":1}`, `"q"`, "[1]",
		"line\nbreak", "quote\"d", `back\slash`, "\b\f\r\t", "é", "\u2028", "\u2029", "\x7f", "<&>", "%70assword%3Dx", "cGFzc3dvcmQ9aHVudGVyMg==",
		strings.Repeat("word ", 60), strings.Repeat("aGVsbG8g", 200), "https://u:p@h/", "--token", "n=1",
	}
}

func value(t *rapid.T, depth int) string {
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n\t"}).Draw(t, "space")
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	if depth > 6 {
		kind %= 6
	}
	text := func(label string) string {
		b, err := json.Marshal(rapid.SampledFrom(words()).Draw(t, label))
		if err != nil {
			t.Fatal(err)
		}
		if rapid.IntRange(0, 3).Draw(t, "html") > 0 { // encoding/json escapes more than it must
			b = []byte(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(b)))
		}
		return string(b)
	}
	switch kind {
	case 0, 1, 2, 3:
		return space + text("text") + space
	case 4:
		return space + rapid.SampledFrom([]string{"0", "-0", "1.50", "1e400", "-1E+5", "12345678901234567890", strings.Repeat("9", 70)}).Draw(t, "number")
	case 5:
		return rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word") + space
	case 6, 7:
		var items []string
		for range rapid.IntRange(0, 10).Draw(t, "items") {
			items = append(items, value(t, depth+1))
		}
		return "[" + strings.Join(items, ",") + space + "]"
	}
	var members []string
	for range rapid.IntRange(0, 10).Draw(t, "members") {
		members = append(members, text("member")+space+":"+value(t, depth+1))
	}
	return "{" + space + strings.Join(members, ",") + "}"
}

func TestJSON_FastIsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { sameAsTree(t, []byte(value(t, 0))) })
}

// The same for a value that is decoded already.
func TestValue_FastIsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := []byte(value(t, 0))
		dec := json.NewDecoder(bytes.NewReader(in))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			t.Skip("no JSON")
		}
		asPart(t, in, func(r *redact.Redactor) ([]byte, redact.Counts) { return r.Value(v) })
	})
}

func FuzzFast(f *testing.F) {
	for _, w := range words() {
		f.Add(fmt.Appendf(nil, `{"b":%q,"a":[1,%q,{"x":null}]}`, w, w))
	}
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Add([]byte(` [ 01 ] `))
	f.Fuzz(func(t *testing.T, in []byte) {
		if json.Valid(in) {
			sameAsTree(t, in)
		}
	})
}

// allocations of a call are the fewest of some measurements: a busy machine's
// collector empties pools in between.
func allocations(f func()) float64 {
	least := testing.AllocsPerRun(100, f)
	for range 9 {
		least = min(least, testing.AllocsPerRun(100, f))
	}
	return least
}

// Values with nothing to hide go the fast way, which is what makes redacting
// twice bearable.
func TestJSON_FastIsTaken(t *testing.T) {
	in := []byte(`{"role":"user","content":"It said \"no\".\nThen nothing.","usage":{"input_tokens":5},"list":["a","b",1.5,true,null]}`)
	r := redact.New(redact.Config{})
	r.JSON(in) // it knows the names now
	if got := allocations(func() { r.JSON(in) }); got > 6 {
		t.Errorf("%v allocations, as many as a tree makes", got)
	}
	tree := map[string]any{"role": "user", "content": "It said \"no\".\nThen nothing.", "list": []any{"a", "b", json.Number("1.5"), true, nil}}
	r.Value(tree)
	if got := allocations(func() { r.Value(tree) }); got > 3 {
		t.Errorf("%v allocations for a value that is decoded", got)
	}
}
