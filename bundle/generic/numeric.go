package generic

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"unicode"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/internal/strict"
)

// numeric compares numbers as exact rationals. Options:
//
//	answer_pattern  RE2; the last match that holds a number marks where to
//	                look, and without one the whole text is searched
//	take            last (default) or first: which number counts there
//	percent         face (default): 20 % is 20 · fraction: 20 % is 0.2 ·
//	                strict: 20 % equals only 20 %
//	tolerance       a decimal number as text, default "0": the greatest
//	                absolute difference that still counts as equal
//	locale          en (default), de, fr or in: how answers and targets write
//	                numbers; see locale
//	extraction      lenient (default) or strict: only a number that stands
//	                alone, where answer_pattern or the form of an answer puts it
//
// What counts as a number is described at lexer. Where the number that counts is
// one that cannot be read, such as √2, nothing is extracted, and the rule says
// why: no other number takes its place.
type numeric struct {
	pattern   *regexp.Regexp
	first     bool
	percent   string
	tolerance *big.Rat
	locale    locale
	extraction
	id bundle.Identity
}

func newNumeric(o options) *numeric {
	g := &numeric{
		pattern:   o.pattern(),
		first:     o.f.OneOf("take", "last", "first") == "first",
		percent:   o.f.OneOf("percent", "face", "fraction", "strict"),
		tolerance: new(big.Rat), locale: locale(o.f.OneOf("locale", "en", "de", "fr", "in")), extraction: o.extraction(),
	}
	if s := o.f.Text("tolerance"); s != "" {
		n, ok := soleNumber(s, "en")
		if !ok || n.percent || n.value().Sign() < 0 {
			o.r.Add(o.f.Path("tolerance"), strict.CodeRange, "want a decimal number that is not negative, as text")
		} else {
			g.tolerance = n.value()
		}
	}
	take := "last"
	if g.first {
		take = "first"
	}
	g.id = identity(Numeric, map[string]any{
		"answer_pattern": patternText(g.pattern), "take": take, "percent": g.percent, "tolerance": g.tolerance.RatString(),
		"locale": g.locale, "extraction": g.extraction,
	})
	return g
}

func (g *numeric) Identity() bundle.Identity { return g.id }

func (g *numeric) Grade(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
	if len(t.Target) == 0 {
		return bundle.Verdict{}, errNoTarget
	}
	want := make([]number, len(t.Target))
	for i, s := range t.Target {
		n, ok := soleNumber(s, g.locale)
		if !ok {
			return bundle.Verdict{}, fmt.Errorf("read target %d: not one plain number", i)
		}
		want[i] = n
	}
	lenient, strict := reading{rule: "no number"}, reading{rule: "no number alone"}
	if got, how, ok := g.extract(a.Text); ok && got.unread != "" {
		lenient.rule = how + " is not read: " + got.unread
	} else if ok {
		lenient = g.compare(want, got, how)
		if at, ok := g.alone(a.Text); ok && at == got.at {
			strict = g.compare(want, got, "number alone")
		}
	}
	return g.verdict(a, lenient, strict), nil
}

func (g *numeric) compare(want []number, got number, how string) reading {
	right := false
	for _, w := range want {
		right = right || g.equal(w, got)
	}
	return reading{&got.at, right, equalRule(how, right)}
}

// alone is where the strict reading has its number. It counts only where the
// search came to the same one: a mark in the middle of a number makes none.
func (g *numeric) alone(text string) (region, bool) {
	r, ok := formal(text)
	if g.pattern != nil {
		marks := marked(g.pattern, text)
		if ok = len(marks) > 0; ok {
			r = marks[len(marks)-1]
		}
	}
	if !ok {
		return region{}, false
	}
	n, ok := soleNumber(text[r.from:r.to], g.locale)
	return region{n.at.from + r.from, n.at.to + r.from}, ok
}

// extract reads the text once. It lexes the whole text even where marks say to
// look, so that a mark in the middle of a number does not make a new number
// out of its tail.
func (g *numeric) extract(text string) (got number, how string, found bool) {
	how = "last number"
	if g.pattern == nil && !g.first {
		got, found = lexer{text, g.locale}.last()
		return got, how, found
	}
	marks := marked(g.pattern, text)
	if g.first {
		how = "first number"
	}
	var inMark number
	at, holder := 0, -1 // the mark looked at, and the last that held a number
	lexer{text, g.locale}.each(func(n number) bool {
		if !found || !g.first {
			got, found = n, true
		}
		for at < len(marks) && marks[at].to < n.at.to {
			at++
		}
		if at < len(marks) && n.at.from >= marks[at].from && (holder != at || !g.first) {
			inMark, holder = n, at
		}
		return len(marks) > 0 || !g.first
	})
	if holder >= 0 {
		return inMark, "marked number", true
	}
	return got, how, found
}

func (g *numeric) equal(want, got number) bool {
	if x, ok := want.canonical(); ok && g.tolerance.Sign() == 0 {
		if y, ok := got.canonical(); ok {
			return x == y
		}
	}
	w, h := want.value(), got.value()
	switch g.percent {
	case "strict":
		if want.percent != got.percent {
			return false
		}
	case "fraction":
		w, h = want.share(), got.share()
	}
	diff := new(big.Rat).Sub(w, h)
	return diff.Abs(diff).Cmp(g.tolerance) <= 0
}

// soleNumber reads text that is one number and, beside it, nothing but a
// currency sign, a percent sign or punctuation.
func soleNumber(s string, l locale) (number, bool) {
	const longest = 4 * maxDigits // longer is more than a number, a target's too
	if len(s) > longest {
		return number{}, false
	}
	var all []number
	lexer{s, l}.each(func(n number) bool {
		all = append(all, n)
		return len(all) < 2
	})
	if len(all) != 1 || all[0].unread != "" {
		return number{}, false
	}
	rest := s[:all[0].at.from] + s[all[0].at.to:]
	plain := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) < 0
	return all[0], plain
}
