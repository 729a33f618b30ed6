package generic

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle"
)

// exact compares text. Options:
//
//	answer_pattern      RE2; the last match that holds text is the answer,
//	                    the whole text when nothing matches and it is equal
//	ignore_case         default false
//	ignore_punctuation  default false; strips punctuation and symbols from
//	                    both ends of both sides
//	extraction          lenient (default) or strict; see read
//
// White space at the ends never counts, and a run of it equals one space.
type exact struct {
	pattern    *regexp.Regexp
	ignoreCase bool
	trimEdges  bool
	extraction extraction
	id         bundle.Identity
}

func newExact(o options) *exact {
	g := &exact{
		pattern:    o.pattern(),
		ignoreCase: o.f.Flag("ignore_case", false),
		trimEdges:  o.f.Flag("ignore_punctuation", false),
		extraction: o.extraction(),
	}
	g.id = identity(ExactMatch, map[string]any{
		"answer_pattern": patternText(g.pattern), "ignore_case": g.ignoreCase, "ignore_punctuation": g.trimEdges,
		"extraction": g.extraction,
	})
	return g
}

func (g *exact) Identity() bundle.Identity { return g.id }

func (g *exact) Grade(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
	want, err := g.targets(t)
	if err != nil {
		return bundle.Verdict{}, err
	}
	lenient, strict := g.read(want, a.Text)
	return g.extraction.verdict(a, lenient, strict), nil
}

func (g *exact) targets(t bundle.Task) ([]string, error) {
	if len(t.Target) == 0 {
		return nil, errNoTarget
	}
	want := make([]string, len(t.Target))
	for i, s := range t.Target {
		r := g.trim(s, region{0, len(s)})
		if r.empty() {
			return nil, fmt.Errorf("read target %d: nothing left to compare", i)
		}
		want[i] = g.normal(s[r.from:r.to])
	}
	return want, nil
}

// read makes both readings: without a pattern they are one, the whole text;
// with one the strict reading takes what is marked and nothing else.
func (g *exact) read(want []string, text string) (lenient, strict reading) {
	if r, ok := g.last(text, marked(g.pattern, text)); ok {
		right := g.oneOf(want, text[r.from:r.to])
		both := reading{&r, right, equalRule("marked text", right)}
		return both, both
	}
	none := reading{rule: "no marked answer"}
	whole := g.trim(text, region{0, len(text)})
	if whole.empty() {
		none.rule = "nothing but punctuation"
		return none, none
	}
	right := g.oneOf(want, text[whole.from:whole.to])
	both := reading{&whole, right, equalRule("whole text", right)}
	switch {
	case g.pattern == nil:
		return both, both
	case right:
		return both, none
	}
	return none, none
}

// last is the last place that holds something to compare, trimmed.
func (g *exact) last(text string, places []region) (region, bool) {
	for _, r := range slices.Backward(places) {
		if r = g.trim(text, r); !r.empty() {
			return r, true
		}
	}
	return region{}, false
}

func (g *exact) oneOf(want []string, got string) bool {
	got = g.normal(got)
	for _, w := range want {
		if w == got {
			return true
		}
	}
	return false
}

func (g *exact) normal(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if g.ignoreCase {
		s = foldCase(s)
	}
	return s
}

// foldCase maps all letters of one simple case orbit to one of them, so that
// K, k and the Kelvin sign are equal.
func foldCase(s string) string {
	return strings.Map(func(r rune) rune {
		low := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			low = min(low, f)
		}
		return low
	}, s)
}

// trim takes decoration off both ends. The sign of a number and a percent
// sign behind it are not decoration.
func (g *exact) trim(text string, r region) region {
	out := trimRegion(text, r, func(c rune) bool {
		return unicode.IsSpace(c) || g.trimEdges && edge(c)
	})
	if !g.trimEdges || out.empty() {
		return out
	}
	if c, w := before(text[r.from:], out.from-r.from); minusSign(c) {
		if d, _ := digitAt(text[out.from:out.to]); d >= 0 {
			out.from -= w
		}
	}
	if c, w := after(text[:r.to], out.to); c == '%' {
		if last, _ := before(text, out.to); unicode.Is(unicode.Nd, last) {
			out.to += w
		}
	}
	return out
}

// edge says whether a character at the end of an answer is decoration.
func edge(c rune) bool { return unicode.IsPunct(c) || unicode.IsSymbol(c) }

func trimRegion(text string, r region, drop func(rune) bool) region {
	for r.from < r.to {
		c, w := utf8.DecodeRuneInString(text[r.from:r.to])
		if !drop(c) {
			break
		}
		r.from += w
	}
	for r.from < r.to {
		c, w := utf8.DecodeLastRuneInString(text[r.from:r.to])
		if !drop(c) {
			break
		}
		r.to -= w
	}
	return r
}
