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
//
// White space at the ends never counts, and a run of it equals one space.
type exact struct {
	pattern    *regexp.Regexp
	ignoreCase bool
	trimEdges  bool
	id         bundle.Identity
}

func newExact(o options) *exact {
	g := &exact{
		pattern:    o.pattern(),
		ignoreCase: o.f.Flag("ignore_case", false),
		trimEdges:  o.f.Flag("ignore_punctuation", false),
	}
	g.id = identity(ExactMatch, map[string]any{
		"answer_pattern": patternText(g.pattern), "ignore_case": g.ignoreCase, "ignore_punctuation": g.trimEdges,
	})
	return g
}

func (g *exact) Identity() bundle.Identity { return g.id }

func (g *exact) Grade(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
	if len(t.Target) == 0 {
		return bundle.Verdict{}, errNoTarget
	}
	want := make([]string, len(t.Target))
	for i, s := range t.Target {
		r := g.trim(s, region{0, len(s)})
		if r.empty() {
			return bundle.Verdict{}, fmt.Errorf("read target %d: nothing left to compare", i)
		}
		want[i] = g.normal(s[r.from:r.to])
	}
	for _, r := range slices.Backward(marked(g.pattern, a.Text)) {
		if r = g.trim(a.Text, r); !r.empty() {
			right := g.oneOf(want, a.Text[r.from:r.to])
			return verdict(a, &r, right, equalRule("marked text", right)), nil
		}
	}
	whole := g.trim(a.Text, region{0, len(a.Text)})
	if whole.empty() {
		return verdict(a, nil, false, "nothing but punctuation"), nil
	}
	right := g.oneOf(want, a.Text[whole.from:whole.to])
	if g.pattern != nil && !right {
		return verdict(a, nil, false, "no marked answer"), nil
	}
	return verdict(a, &whole, right, equalRule("whole text", right)), nil
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
