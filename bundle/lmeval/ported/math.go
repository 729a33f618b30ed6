package ported

import (
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// LastBoxed is the last \boxed{...} or \fbox{...} of a text with its braces
// balanced; ok is false if there is none.
func LastBoxed(s string) (boxed string, ok bool) {
	if i := strings.LastIndex(s, `\boxed `); i >= 0 {
		rest, _, _ := strings.Cut(s[i+len(`\boxed `):], "$")
		return `\boxed ` + rest, true
	}
	i := strings.LastIndex(s, `\boxed`)
	if i < 0 {
		if i = strings.LastIndex(s, `\fbox`); i < 0 {
			return "", false
		}
	}
	open := 0
	for j := i; j < len(s); j++ {
		switch s[j] {
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return s[i : j+1], true
			}
		}
	}
	return "", false
}

// Unbox takes \boxed off. A text that is nothing but a box raises no
// AssertionError; others do.
func Unbox(s string) (string, error) {
	if strings.Contains(s, `\boxed `) {
		if inner, ok := strings.CutPrefix(s, `\boxed `); ok {
			return inner, nil
		}
		return "", pycompat.Raise("AssertionError", "the text does not start with its box")
	}
	inner, ok := strings.CutPrefix(s, `\boxed{`)
	if !ok {
		return "", pycompat.Raise("AssertionError", "the text does not start with a box")
	}
	if inner, ok = strings.CutSuffix(inner, "}"); !ok {
		return "", pycompat.Raise("AssertionError", "the text does not end with its box")
	}
	return inner, nil
}

// MathDoc adds the boxed answer of the solution to a document.
func MathDoc(doc *value.Dict) (*value.Dict, error) {
	problem, err := member(doc, "problem")
	if err != nil {
		return nil, err
	}
	solution, err := member(doc, "solution")
	if err != nil {
		return nil, err
	}
	a, err := solved(solution)
	if err != nil {
		return nil, err
	}
	return extended(doc, "problem", problem, "solution", solution, "answer", a)
}

func solved(solution string) (string, error) {
	boxed, ok := LastBoxed(solution)
	if !ok {
		return "", pycompat.Raise("TypeError", "the solution has no box")
	}
	return Unbox(boxed)
}

// Math grades answers to MATH by their normalised text.
type Math struct{ display *re.Regexp }

// NewMath returns the grader.
func NewMath() Math { return Math{re.MustCompile(`\\\[(.+?)\\\]`, re.DotAll)} }

// Extract finds the answer in a text: its last box, else the first display
// formula, else what stands between the first and the last dollar, else all.
func (m Math) Extract(s string) (string, error) {
	if boxed, ok := LastBoxed(s); ok {
		return Unbox(boxed)
	}
	match, err := m.display.Search(s)
	if err != nil {
		return "", err
	}
	if match != nil {
		return str.Strip(match.Text(1)), nil
	}
	if i, j := strings.Index(s, "$"), strings.LastIndex(s, "$"); i < j {
		return s[i+1 : j], nil
	}
	return s, nil
}

// Results is exact_match of an answer with the box of the document's solution.
func (m Math) Results(doc *value.Dict, results []any) (*value.Dict, error) {
	text, err := answer(results)
	if err != nil {
		return nil, err
	}
	got, err := m.Extract(text)
	if err != nil {
		return nil, err
	}
	solution, err := member(doc, "solution")
	if err != nil {
		return nil, err
	}
	want, err := solved(solution)
	if err != nil {
		return nil, err
	}
	right := int64(0)
	if Equivalent(got, want) {
		right = 1
	}
	return value.DictOf("exact_match", right), nil
}

// Equivalent compares two answers after StripMath, or as they are if that
// raises for one of them.
func Equivalent(a, b string) bool {
	x, err1 := StripMath(a)
	y, err2 := StripMath(b)
	if err1 != nil || err2 != nil {
		return a == b
	}
	return x == y
}

// StripMath brings a LaTeX answer into one form. It raises what the reference
// raises: IndexError for a \frac or \sqrt at the end, AssertionError for two
// units, ValueError for one slash between things that are no integers.
func StripMath(s string) (string, error) {
	for _, r := range [][2]string{
		{"\n", ""}, {`\!`, ""}, {`\\`, `\`}, {"tfrac", "frac"}, {"dfrac", "frac"}, {`\left`, ""}, {`\right`, ""},
		{`^{\circ}`, ""}, {`^\circ`, ""}, {`\$`, ""},
	} {
		s = strings.ReplaceAll(s, r[0], r[1])
	}
	if parts := strings.Split(s, `\text{ `); len(parts) == 2 {
		s = parts[0]
	} else if len(parts) > 2 {
		return "", pycompat.Raise("AssertionError", "the answer has two units")
	}
	for _, r := range [][2]string{{`\%`, ""}, {" .", " 0."}, {"{.", "{0."}} {
		s = strings.ReplaceAll(s, r[0], r[1])
	}
	if s == "" {
		return "", nil
	}
	if s[0] == '.' {
		s = "0" + s
	}
	if parts := strings.Split(s, "="); len(parts) == 2 && str.Len(parts[0]) <= 2 {
		s = parts[1]
	}
	s, err := fixRoots(s)
	if err != nil {
		return "", err
	}
	if s, err = fixFractions(strings.ReplaceAll(s, " ", "")); err != nil {
		return "", err
	}
	if s == "0.5" {
		s = `\frac{1}{2}`
	}
	return fixSlash(s)
}

// fixRoots puts braces around a bare argument of \sqrt.
func fixRoots(s string) (string, error) {
	parts := strings.Split(s, `\sqrt`)
	for i, p := range parts[1:] {
		if p == "" {
			return "", pycompat.Raise("IndexError", "a root of nothing")
		}
		if _, n := str.DecodeRune(p); p[0] != '{' {
			parts[i+1] = "{" + p[:n] + "}" + p[n:]
		}
	}
	return strings.Join(parts, `\sqrt`), nil
}

// fixFractions puts braces around bare arguments of \frac, of which the second
// may have them already. A fraction too short for that is left with all others
// as they were.
func fixFractions(s string) (string, error) {
	parts := strings.Split(s, `\frac`)
	for i, p := range parts[1:] {
		if p == "" {
			return "", pycompat.Raise("IndexError", "a fraction of nothing")
		}
		if p[0] == '{' {
			continue
		}
		_, n := str.DecodeRune(p)
		if n == len(p) {
			return s, nil
		}
		_, m := str.DecodeRune(p[n:])
		top, bottom, rest := p[:n], p[n:n+m], p[n+m:]
		if bottom != "{" {
			bottom = "{" + bottom + "}"
		}
		parts[i+1] = "{" + top + "}" + bottom + rest
	}
	return strings.Join(parts, `\frac`), nil
}

// fixSlash turns a/b of integers into a fraction.
func fixSlash(s string) (string, error) {
	parts := strings.Split(s, "/")
	if len(parts) != 2 {
		return s, nil
	}
	a, err := number.ParseInt(parts[0])
	if err != nil {
		return "", err
	}
	b, err := number.ParseInt(parts[1])
	if err != nil {
		return "", err
	}
	if s != a.String()+"/"+b.String() {
		return s, nil
	}
	return fmt.Sprintf(`\frac{%s}{%s}`, a, b), nil
}
