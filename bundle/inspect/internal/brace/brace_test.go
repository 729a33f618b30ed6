package brace_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/bundle/inspect/internal/brace"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	values := map[string]string{"a": "{b}", "b": "two", "größe": "3"}
	for _, c := range []struct{ name, template, want, raises string }{
		{"plain", "x", "x", ""},
		{"names", "{a} and {b}{größe}", "{b} and two3", ""},
		{"doubled braces", "{{a}} {{{b}}}", "{a} {two}", ""},
		{"unknown", "{c}", "", "KeyError"},
		{"lone opening", "{", "", "ValueError"},
		{"lone closing", "a } b", "", "ValueError"},
		{"positional", "{}", "", "ValueError"},
		{"spec", "{a:>5}", "", "ValueError"},
		{"conversion", "{a!r}", "", "ValueError"},
		{"attribute", "{a.b}", "", "ValueError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := brace.Format(c.template, func(n string) (string, bool) { v, ok := values[n]; return v, ok })
			if got != c.want || pycompat.Class(err) != c.raises {
				t.Errorf("Format(%q) = %q, %v; want %q, %q", c.template, got, err, c.want, c.raises)
			}
		})
	}
}
