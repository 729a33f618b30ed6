package re_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/internal/vector"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

func TestVectors_Findall(t *testing.T) {
	t.Parallel()
	vector.Shared(t, "py_regex_findall", 186, func(t *testing.T, c vector.Case) {
		pattern, text := c.Params["pattern"].(string), c.Input["text"].(string)
		r, err := re.Compile(pattern, 0)
		if err != nil {
			t.Fatal(err)
		}
		checkFindall(t, r, text, c.Field("findall"))
		got, err := r.Sub("_", text)
		if want := c.Field("sub"); err != nil || got != want {
			t.Errorf("sub = %q, %v, want %q", got, err, want)
		}
	})
}

func TestVectors_Escape(t *testing.T) {
	t.Parallel()
	vector.Shared(t, "py_re_escape", 27, checkEscape)
}

func TestCPython_Escape(t *testing.T) {
	t.Parallel()
	vector.Committed(t, "escape", checkEscape)
}

func checkEscape(t *testing.T, c vector.Case) {
	s := c.Input["s"].(string)
	if got := re.Escape(s); got != c.Expected {
		t.Errorf("escape(%q) = %q, want %q", s, got, c.Expected)
	}
	if m, err := re.MustCompile(re.Escape(s), 0).FullMatch(s); err != nil || m == nil {
		t.Errorf("the escaped pattern does not match %q: %v", s, err)
	}
}

// \s+ of the vectors is re.split.
func TestVectors_Resplit(t *testing.T) {
	t.Parallel()
	space := re.MustCompile(`\s+`, 0)
	vector.Shared(t, "py_str_split_strip", 21, func(t *testing.T, c vector.Case) {
		got, err := space.Split(c.Input["s"].(string))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(vector.Strings(c.Field("resplit")), got); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
}

func checkFindall(t *testing.T, r *re.Regexp, text string, want any) {
	t.Helper()
	found, err := r.FindAll(text)
	if err != nil {
		t.Fatal(err)
	}
	got := []any{}
	for _, groups := range found {
		if len(groups) == 1 {
			got = append(got, groups[0])
			continue
		}
		var tuple []any
		for _, g := range groups {
			tuple = append(tuple, g)
		}
		got = append(got, tuple)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%q: findall(%q): -want +got\n%s", r, text, diff)
	}
}

func TestCPython_Patterns(t *testing.T) {
	t.Parallel()
	vector.Committed(t, "patterns", checkRegex)
}

func TestCPython_RandomPatterns(t *testing.T) {
	t.Parallel()
	vector.Committed(t, "random", checkRegex)
}

func checkRegex(t *testing.T, c vector.Case) {
	pattern, text := c.Params["pattern"].(string), c.Input["text"].(string)
	r, err := re.Compile(pattern, 0)
	if class := c.Raises(); class != "" {
		if pycompat.Class(err) != class {
			t.Errorf("compile(%q): %v, want %s", pattern, err, class)
		}
		return
	}
	if strings.Contains(pattern, `\N`) {
		return
	}
	if err != nil {
		t.Fatalf("compile(%q): %v", pattern, err)
	}
	checkFindall(t, r, text, c.Field("findall"))
	for name, f := range map[string]func(string) (*re.Match, error){"search": r.Search, "match": r.Match, "fullmatch": r.FullMatch} {
		m, err := f(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.Field(name), spans(t, r, text, m)); diff != "" {
			t.Errorf("%q: %s(%q): -want +got\n%s", pattern, name, text, diff)
		}
	}
	all := []any{}
	for m, err := range r.Iter(text) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, spans(t, r, text, m))
	}
	if diff := cmp.Diff(c.Field("iter"), all); diff != "" {
		t.Errorf("%q: finditer(%q): -want +got\n%s", pattern, text, diff)
	}
	parts, err := r.Split(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(vector.Strings(c.Field("split")), parts, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%q: split(%q): -want +got\n%s", pattern, text, diff)
	}
	for template, want := range c.Field("sub").(map[string]any) {
		got, err := r.Sub(template, text)
		if m, ok := want.(map[string]any); ok {
			if pycompat.Class(err) != m["$raises"] {
				t.Errorf("%q: sub(%q, %q) = %q, %v, want %v", pattern, template, text, got, err, m)
			}
		} else if err != nil || got != want {
			t.Errorf("%q: sub(%q, %q) = %q, %v, want %q", pattern, template, text, got, err, want)
		}
	}
	if got, err := r.SubN("_", text, 1); err != nil || got != c.Field("sub1") {
		t.Errorf("%q: sub(%q, count=1) = %q, %v, want %q", pattern, text, got, err, c.Field("sub1"))
	}
}

// spans describes a match as the corpus does: begin and end of the match, then
// those of each group, in code points.
func spans(t *testing.T, r *re.Regexp, text string, m *re.Match) any {
	t.Helper()
	if m == nil {
		return nil
	}
	point := func(at int) any { return json.Number(itoa(str.Len(text[:at]))) }
	from, to := m.Span(0)
	out := []any{point(from), point(to)}
	for n := 1; n <= r.Groups(); n++ {
		if _, ok := m.Group(n); !ok {
			out = append(out, nil)
			continue
		}
		from, to := m.Span(n)
		out = append(out, []any{point(from), point(to)})
	}
	return out
}

func itoa(n int) string {
	b, _ := json.Marshal(n)
	return string(b)
}

func TestBudget_EndsCatastrophicPatterns(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, pattern, text string }{
		{"nested plus", `(a+)+$`, strings.Repeat("a", 40) + "b"},
		{"alternation that overlaps", `(a|aa)+$`, strings.Repeat("a", 60) + "b"},
		{"two stars", `(.*)*x`, strings.Repeat("ab", 30)},
		{"back-reference", `(a*)*\1b`, strings.Repeat("a", 40)},
		{"look-ahead", `(?=(a+)+$)b|(a+)+c`, strings.Repeat("a", 40) + "b"},
		{"quadratic on a long text", `\w+\d`, strings.Repeat("a", 200_000)},
		{"deep iteration", `(?:a|b)*c`, strings.Repeat("ab", 1_500_000)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := re.MustCompile(tt.pattern, 0).WithBudget(2_000_000)
			start := time.Now()
			_, first := r.Search(tt.text)
			if !errors.Is(first, re.ErrBudget) {
				t.Errorf("Search: %v, want ErrBudget", first)
			}
			if _, err := r.FindAll(tt.text); !errors.Is(err, re.ErrBudget) {
				t.Errorf("FindAll: %v, want ErrBudget", err)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// The budget counts steps, not time: the outcome is the same on every run.
func TestBudget_IsExact(t *testing.T) {
	t.Parallel()
	r := re.MustCompile(`(a|ab)(c|bcd)(d*)`, 0)
	need := 0
	for n := 1; n < 1000; n++ {
		if _, err := r.WithBudget(n).Search("xxabcd"); err == nil {
			need = n
			break
		}
	}
	if need == 0 {
		t.Fatal("never enough")
	}
	for range 100 {
		if _, err := r.WithBudget(need).Search("xxabcd"); err != nil {
			t.Fatalf("%d steps were enough before: %v", need, err)
		}
		if _, err := r.WithBudget(need - 1).Search("xxabcd"); !errors.Is(err, re.ErrBudget) {
			t.Fatalf("%d steps: %v", need-1, err)
		}
	}
}

func TestLongTexts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, pattern, text string
		want                int
	}{
		{"loop over a group", `(?:ab)*c`, strings.Repeat("ab", 300_000) + "c", 600_001},
		{"single characters", `(?s).*z`, strings.Repeat("é", 300_000) + "z", 600_001},
		{"lazy", `(?s)^.*?z`, strings.Repeat("日", 100_000) + "z", 300_001},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, err := re.MustCompile(tt.pattern, 0).Search(tt.text)
			if err != nil || m == nil {
				t.Fatalf("got %v, %v", m, err)
			}
			if _, to := m.Span(0); to != tt.want {
				t.Errorf("ends at %d, want %d", to, tt.want)
			}
		})
	}
}

func TestNestingIsLimited(t *testing.T) {
	t.Parallel()
	n := 100_000
	_, err := re.Compile(strings.Repeat("(", n)+strings.Repeat(")", n), 0)
	if pycompat.Class(err) != "RecursionError" {
		t.Errorf("got %v", err)
	}
}

// Classes under IGNORECASE leave upper-case letters in their ranges, which is
// right as long as no lower-case mapping gives one of them.
func TestLower_IsIdempotent(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= 0x10FFFF; r++ {
		if low := str.Of(r).Lower(); str.Of(low).Lower() != low {
			t.Errorf("lower(%U) = %U, which has lower case %U", r, low, str.Of(low).Lower())
		}
	}
}

func TestIgnoreCase_Ranges(t *testing.T) {
	t.Parallel()
	// Every code point of the BMP against a range and its complement: under
	// IGNORECASE it belongs if its lower case equals that of a member, or is
	// one of the letters that Python takes for equal.
	in, out := re.MustCompile(`(?i)[α-ω]`, 0), re.MustCompile(`(?i)[^α-ω]`, 0)
	for r := rune(0); r <= 0xFFFF; r++ {
		s := str.FromRunes([]rune{r})
		low := str.Of(r).Lower()
		want := low >= 'α' && low <= 'ω' || strings.ContainsRune("\u00b5\u0345\u1fbe\u03d0\u03f5\u03d1\u03f0\u03d6\u03f1\u03d5", low)
		a, err := in.FullMatch(s)
		if err != nil {
			t.Fatal(err)
		}
		b, err := out.FullMatch(s)
		if err != nil {
			t.Fatal(err)
		}
		if (a != nil) != want || (b != nil) == want {
			t.Errorf("%U (lower case %U): in the class %v, in the complement %v", r, low, a != nil, b != nil)
		}
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, pattern string
		flags         re.Flags
		text, want    string
	}{
		{"ignore case", "abc", re.IgnoreCase, "xABCx", "ABC"},
		{"multiline", "^b$", re.Multiline, "a\nb\nc", "b"},
		{"dot all", "a.b", re.DotAll, "a\nb", "a\nb"},
		{"verbose", "a b # c", re.Verbose, "ab", "ab"},
		{"ascii", `\w+`, re.ASCII, "éab", "ab"},
		{"several", "A.b", re.IgnoreCase | re.DotAll, "a\nB", "a\nB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, err := re.MustCompile(tt.pattern, tt.flags).Search(tt.text)
			if err != nil || m == nil || m.Text(0) != tt.want {
				t.Errorf("got %v, %v", m, err)
			}
		})
	}
}

func TestMatch_Named(t *testing.T) {
	t.Parallel()
	m, err := re.MustCompile(`(?P<year>\d+)(?:-(?P<month>\d+))?`, 0).Search("in 1984")
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	if got, ok := m.Named("year"); got != "1984" || !ok {
		t.Errorf("year = %q, %v", got, ok)
	}
	if got, ok := m.Named("month"); got != "" || ok {
		t.Errorf("month = %q, %v", got, ok)
	}
	if _, ok := m.Named("day"); ok {
		t.Error("found a name that the pattern lacks")
	}
}

func TestSubFunc(t *testing.T) {
	t.Parallel()
	r := re.MustCompile(`\d+`, 0)
	got, err := r.SubFunc("1 22 333", 2, func(m *re.Match) string { return "<" + m.Text(0) + ">" })
	if err != nil || got != "<1> <22> 333" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestIter_StopsEarly(t *testing.T) {
	t.Parallel()
	n := 0
	for _, err := range re.MustCompile("a", 0).Iter("aaa") {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d matches", n)
	}
}
