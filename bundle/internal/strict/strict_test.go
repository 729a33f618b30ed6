package strict_test

import (
	"encoding/json"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/internal/strict"
	"github.com/google/go-cmp/cmp"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"sorted", `{"b":1, "a":{"d":null,"c":[true, false]}}`, `{"a":{"c":[true,false],"d":null},"b":1}`},
		{"numbers as written", `[1.0, 1e3, -0]`, `[1.0,1e3,-0]`},
		{"shortest escapes", `"\u0041\u000a\u001f<>&\u2028é\"\\\/"`, "\"A\\n\\u001f<>&\u2028é\\\"\\\\/\""},
		{"sorted by bytes", `{"é":1,"z":2,"Z":3}`, `{"Z":3,"z":2,"é":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n, prob := strict.Parse([]byte(c.in))
			if prob != nil {
				t.Fatal(prob)
			}
			if d := cmp.Diff(c.want, string(strict.Canonical(n))); d != "" {
				t.Error(d)
			}
		})
	}
}

// FuzzParse: what Parse reads is valid JSON, and its canonical form is a fixed
// point that means the same.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{}`, `[1,2.5e-3,"x",null,true]`, `{"a":{"a":1},"b":[{}]}`, `{"a":1,"a":2}`, `[1,]`, `{"a" 1}`, `"\ud800"`, `1 2`, "\xff", `[[[[`, `{"":""}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, prob := strict.Parse(raw)
		if prob != nil {
			if prob.Code == "" || prob.Message == "" {
				t.Errorf("a problem without words: %+v", prob)
			}
			return
		}
		if !json.Valid(raw) {
			t.Fatalf("read %q, which is not JSON", raw)
		}
		form := strict.Canonical(n)
		again, prob := strict.Parse(form)
		if prob != nil {
			t.Fatalf("the canonical form %q: %v", form, prob)
		}
		if d := cmp.Diff(string(form), string(strict.Canonical(again))); d != "" {
			t.Error(d)
		}
		var x, y any
		if json.Unmarshal(raw, &x) == nil && json.Unmarshal(form, &y) == nil && !cmp.Equal(x, y) {
			t.Errorf("%q means another thing than %q", form, raw)
		}
	})
}
