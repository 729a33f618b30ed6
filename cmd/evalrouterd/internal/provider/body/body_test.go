package body_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/body"
)

func TestReadFault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, raw string
		want      body.Fault
	}{
		{"an object", `{"error":{"message":"m","type":"t","param":"p","code":"c"}}`, body.Fault{Message: "m", Words: []string{"c", "t"}, Param: "p"}},
		{"a number for a code", `{"error":{"message":"m","code":503}}`, body.Fault{Message: "m", Words: []string{"503"}}},
		{"a sentence", `{"error":"Unauthorized"}`, body.Fault{Message: "Unauthorized"}},
		{"flat", `{"object":"error","message":"m","type":"t","code":40303}`, body.Fault{Message: "m", Words: []string{"40303", "t"}}},
		{"detail", `{"detail":"Not Found"}`, body.Fault{Message: "Not Found"}},
		{"an array", `[{"error":{"message":"m"}}]`, body.Fault{Message: "m"}},
		{"Anthropic", `{"type":"error","error":{"type":"t","message":"m","details":{"error_code":"e"}}}`, body.Fault{Message: "m", Words: []string{"t", "e"}}},
		{"Azure", `{"error":{"code":"content_filter","innererror":{"code":"R"}}}`, body.Fault{Words: []string{"content_filter", "R"}}},
		{"OpenRouter", `{"error":{"code":402,"metadata":{"limit_source":"l","reasons":["x"]}}}`, body.Fault{Words: []string{"402"}, LimitSource: "l", Moderated: true}},
		{"Google", `{"error":{"code":429,"status":"S","details":[{"reason":"R"},{"violations":[{"quotaId":"Q"}]},{"retryDelay":"0s"},{"fieldViolations":[{"field":"f"}]}]}}`,
			body.Fault{Words: []string{"429", "S", "R"}, Quotas: []string{"Q"}, Fields: []string{"f"}, HasDelay: true}},
		{"a delay in nanoseconds", `{"error":{"details":[{"retryDelay":"45.837906927s"}]}}`, body.Fault{Delay: 45838 * time.Millisecond, HasDelay: true}},
		{"delays that are none", `{"error":{"details":[{"retryDelay":"45"},{"retryDelay":"-1s"},{"retryDelay":"1m"},{"retryDelay":7}]}}`, body.Fault{}},
		{"odd details", `{"error":{"message":"m","details":"x","metadata":7,"innererror":[],"param":{}}}`, body.Fault{Message: "m"}},
		{"a page", `<html>`, body.Fault{}},
		{"nothing", ``, body.Fault{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, body.ReadFault([]byte(c.raw))); d != "" {
				t.Error(d)
			}
		})
	}
}

// Text reads a string as encoding/json does, and anything else as nothing.
func FuzzText(f *testing.F) {
	for _, raw := range []string{`"stop"`, `""`, `"a b\n"`, `"\u00e9"`, `"é"`, "\"\xff\"", `null`, `5`, `{"a":"b"}`, `["a"]`, `true`, `"`, `"\""`, "\"a\tb\"", ``} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var want string
		var got struct{ V body.Text }
		if json.Unmarshal([]byte(`{"V":`+raw+`}`), &got) != nil {
			return
		}
		if json.Unmarshal([]byte(raw), &want) != nil {
			want = ""
		}
		if string(got.V) != want {
			t.Errorf("%q was read as %q, want %q", raw, got.V, want)
		}
	})
}

func TestCount(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]body.Count{
		`5`: {N: 5, Set: true}, `0`: {Set: true}, `null`: {}, `-1`: {N: -1, Set: true, Bad: true}, `1.5`: {Set: true, Bad: true}, `"5"`: {Set: true, Bad: true},
		`9007199254740992`: {N: 1 << 53, Set: true}, `9007199254740993`: {N: 1<<53 + 1, Set: true, Bad: true},
	} {
		var got body.Count
		if err := json.Unmarshal([]byte(raw), &got); err != nil || got != want {
			t.Errorf("%s: %+v, %v", raw, got, err)
		}
	}
	if got := (body.Count{}).Over(body.Count{N: 7, Set: true}); got.N != 7 {
		t.Errorf("null is as before: %+v", got)
	}
}

// A wait is never negative and never beyond what fits into a time.
func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"0", "1.5", "45.837906927", "99999999999999999999", ".", "1.2.3", "0x10", "-1", " 7 "} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, s string, milli bool) {
		unit := "s"
		if milli {
			unit = "ms"
		}
		if d, ok := body.Decimal(s, unit); d < 0 || d > body.Longest || !ok && d != 0 || d%time.Millisecond != 0 {
			t.Fatalf("%q is %s, %v", s, d, ok)
		}
	})
}
