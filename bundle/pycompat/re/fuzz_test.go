package re_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
)

// FuzzRegex holds the laws that any pattern keeps on any text: no panic, no
// search beyond its budget, and findall, split, sub and search that agree.
func FuzzRegex(f *testing.F) {
	for _, s := range [][2]string{
		{`(\-?[0-9\.\,]+)`, "cost $5.00 or -7"},
		{`(?i)answer is:?\s*\(?([A-D])\)?`, "The ANSWER is (b)."},
		{`(?<=a)b|(?:(x)|y)*?z(?(1)q|r)`, "ab xyzr"},
		{`(a*)*$`, "aaaaaaaaaaaaaaaaaaaaaaab"},
		{`(?P<n>\w+)\s(?P=n)`, "é é \xff \xed\xa0\x80"},
		{`[^\W\d_]++|\b|(?>a|ab)c`, "日本 abc"},
		{`(?x) a{1,3} # c`, "aaaa"},
		{`[`, ""}, {`a**`, ""}, {`(?<=a+)b`, ""},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 500 || len(text) > 2000 {
			return
		}
		r, err := re.Compile(pattern, 0)
		if err != nil {
			if pycompat.Class(err) == "" {
				t.Fatalf("%q: error without a class: %v", pattern, err)
			}
			return
		}
		r = r.WithBudget(200_000)
		checkLaws(t, r, text)
	})
}

func checkLaws(t *testing.T, r *re.Regexp, text string) {
	var parts []string
	from, n := 0, 0
	for m, err := range r.Iter(text) {
		if err != nil {
			if !errors.Is(err, re.ErrBudget) {
				t.Fatalf("%q on %q: %v", r, text, err)
			}
			return
		}
		a, b := m.Span(0)
		if a < from || b < a || b > len(text) {
			t.Fatalf("%q on %q: match at %d:%d after %d", r, text, a, b, from)
		}
		for g := 1; g <= r.Groups(); g++ {
			if s, ok := m.Group(g); ok && !strings.Contains(text, s) {
				t.Fatalf("%q on %q: group %d is %q", r, text, g, s)
			}
		}
		parts = append(parts, text[from:a])
		from = b
		n++
	}
	parts = append(parts, text[from:])
	// The calls below do the same work, and so stay within the budget, except
	// for Search, which does a part of it.
	found, err := r.FindAll(text)
	if err != nil || len(found) != n {
		t.Fatalf("%q on %q: %d matches, findall has %d (%v)", r, text, n, len(found), err)
	}
	first, err := r.Search(text)
	if err != nil || (first != nil) != (n > 0) {
		t.Fatalf("%q on %q: %d matches, search has %v (%v)", r, text, n, first, err)
	}
	if got, err := r.Sub("", text); err != nil || got != strings.Join(parts, "") {
		t.Fatalf("%q on %q: sub gives %q (%v), want %q", r, text, got, err, parts)
	}
	// Matches and what is between them make up the text.
	if got, err := r.SubFunc(text, 0, func(m *re.Match) string { return m.Text(0) }); err != nil || got != text {
		t.Fatalf("%q on %q: replacing matches by themselves gives %q (%v)", r, text, got, err)
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("a.b*(c)[d]{1}\n#&~- \x00é")
	f.Fuzz(func(t *testing.T, s string) {
		r, err := re.Compile(re.Escape(s), 0)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		// A byte that is not UTF-8 reads as U+FFFD in the pattern, and is
		// matched as what it is in the text.
		if !strings.ContainsRune(strings.ToValidUTF8(s, "\uFFFD"), '\uFFFD') {
			if m, err := r.FullMatch(s); err != nil || m == nil {
				t.Fatalf("the escaped pattern does not match %q: %v", s, err)
			}
		}
	})
}
