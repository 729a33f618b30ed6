package jinja_test

import (
	"errors"
	"strings"
	"testing"

	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/lmeval/jinja"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// The committed corpus holds what Jinja2 3.1 itself renders, or raises.
func TestRender(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_jinja", func(t *testing.T, c vt.Case) {
		src := vt.Str(c.Input, "template")
		tpl, err := jinja.Parse(src)
		var syntax *jinja.SyntaxError
		if errors.As(err, &syntax) && c.Raises() == "TemplateSyntaxError" {
			return
		}
		if err != nil {
			t.Fatalf("parse %q: %v", src, err)
		}
		got, err := tpl.Render(vt.Dict(c.Input, "doc"))
		if vt.Raised(t, c, err) {
			return
		}
		if got != c.Expected {
			t.Errorf("%q = %q, want %q", src, got, c.Expected)
		}
	})
}

// What is not supported never gets past Parse.
func TestParse_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, template string }{
		{"macro", "{% macro m() %}x{% endmacro %}"},
		{"block", "{% block b %}x{% endblock %}"},
		{"include", "{% include 'x' %}"},
		{"import", "{% import 'x' as y %}"},
		{"block assignment", "{% set x %}a{% endset %}"},
		{"recursive loop", "{% for x in y recursive %}{% endfor %}"},
		{"unknown filter", "{{ x | title }}"},
		{"unknown filter in map", "{{ x | map('title') | list }}"},
		{"filter of map that is no constant", "{{ x | map(f) | list }}"},
		{"unknown test", "{{ x is callable }}"},
		{"unknown test in select", "{{ x | select('callable') | list }}"},
		{"unknown method", "{{ x.format(1) }}"},
		{"mutating method", "{{ x.append(1) }}"},
		{"unknown function", "{{ cycler('a', 'b') }}"},
		{"call of a value", "{{ x[0]() }}"},
		{"spread arguments", "{{ dict(**x) }}"},
		{"named character", `{{ "\N{DASH}" }}`},
		{"assignment to a member", "{% set x.y = 1 %}"},
		{"chained tests", "{{ x is odd is true }}"},
		{"condition behind a test", "{{ x is odd if y else z }}"},
		{"comparison behind a test", "{{ x is odd not in [1] }}"},
		{"unclosed output", "{{ x"},
		{"unclosed tag", "{% if x"},
		{"unclosed if", "{% if x %}a"},
		{"unclosed for", "{% for x in y %}a"},
		{"unclosed comment", "{# x"},
		{"unclosed raw", "{% raw %} x"},
		{"unclosed string", "{{ 'x }}"},
		{"stray endif", "{% endif %}"},
		{"stray else", "{% else %}"},
		{"bad character", "{{ x ! y }}"},
		{"leading zero", "{{ 01 }}"},
		{"empty output", "{{ }}"},
		{"deep nesting", "{{ " + strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300) + " }}"},
		{"many signs", "{{ " + strings.Repeat("-", 100_000) + "1 }}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := jinja.Parse(tt.template)
			var syntax *jinja.SyntaxError
			if !errors.As(err, &syntax) {
				t.Errorf("Parse = %v, want a syntax error", err)
			}
		})
	}
}

// What only the values decide is an error of Render, not other text.
func TestRender_Refuses(t *testing.T) {
	t.Parallel()
	doc := value.DictOf("c", []any{"b", "a"}, "d", value.DictOf("k", int64(1)), "n", int64(7), "s", "x")
	tests := []struct {
		name, template string
		want           error
	}{
		{"printed generator", "{{ c | map('upper') }}", jinja.ErrUnsupported},
		{"generator in a list", "{{ [c | map('upper')] }}", jinja.ErrUnsupported},
		{"printed method", "{{ s.strip }}", jinja.ErrUnsupported},
		{"printed function", "{{ range }}", jinja.ErrUnsupported},
		{"attribute of a number", "{{ n.real }}", jinja.ErrUnsupported},
		{"private attribute", "{{ s.__class__ }}", jinja.ErrUnsupported},
		{"private attribute by subscript", "{{ s['__class__'] }}", jinja.ErrUnsupported},
		{"escaped text that goes on", "{{ (s | e) ~ s }}", jinja.ErrUnsupported},
		{"random", "{{ c | random }}", jinja.ErrUnsupported},
		{"format by name", "{{ '%(k)s' % d }}", jinja.ErrUnsupported},
		{"loop cycle", "{% for x in c %}{{ loop.depth }}{% endfor %}", jinja.ErrUnsupported},
		{"endless output", "{% for i in range(100000) %}{{ 'x' * 1000 }}{% endfor %}", jinja.ErrBudget},
		{"endless loop", "{% for i in range(10000) %}{% for j in range(10000) %}{% endfor %}{{ i }}{% endfor %}", jinja.ErrBudget},
		{"many large lists", "{% for i in range(1000) %}{% set x = range(1000000) | list %}{% endfor %}", jinja.ErrBudget},
		{"huge range", "{{ range(10000000) | list }}", jinja.ErrBudget},
		{"huge text", "{{ 'x' * 1000000000 }}", jinja.ErrBudget},
		{"huge power", "{{ 9 ** 99999 }}", jinja.ErrBudget},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tpl, err := jinja.Parse(tt.template)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := tpl.Render(doc); !errors.Is(err, tt.want) {
				t.Errorf("Render = %.40q, %v; want %v", got, err, tt.want)
			}
		})
	}
}

// A template that Jinja2 would run for as long as it likes ends here, and no
// text makes the engine panic. Rendering twice gives the same.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{
		"", "{{ q }}", "{% for x in c %}{{ loop.index }}{{ x }}{% else %}-{% endfor %}", "{% set a, b = 1, 2 %}{{ a + b }}",
		"{{ c | map('upper') | join(', ') }}", "{{ 'a' if n > 1 else 'b' }}", "{% raw %}{{ x }}{% endraw %}", "{{ d.items() | list }}",
		"{{ '%5s|%d' % (q, n) }}", "{{- q[::-1] -}}", "{{ 2 ** 3 // n % 2 }}", "{# x #}", "{{ q | regex_replace('(a|aa)+$', '') }}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		tpl, err := jinja.Parse(src)
		if err != nil {
			return
		}
		doc := value.DictOf("q", "aaa bbb", "n", int64(3), "c", []any{"x", "y"}, "d", value.DictOf("k", 1.5), "f", -2.5, "e", nil)
		before := value.Repr(doc)
		first, err1 := tpl.Render(doc)
		second, err2 := tpl.Render(doc)
		if first != second || (err1 == nil) != (err2 == nil) {
			t.Errorf("%q renders to %q, %v and then %q, %v", src, first, err1, second, err2)
		}
		if value.Repr(doc) != before {
			t.Errorf("%q changed the document", src)
		}
	})
}
