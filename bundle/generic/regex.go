package generic

import (
	"regexp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/internal/strict"
)

// regexMatch compares what a pattern finds. Options:
//
//	pattern             RE2, required, with at most one group: the group is the
//	                    answer, without one the whole match
//	ignore_case         default false, for comparing, not for the pattern
//	ignore_punctuation  default false, as in exact_match
//	extraction          lenient (default): the last match that holds text ·
//	                    strict: the pattern matches the whole answer
//
// The target is text, as for exact_match. A target that is itself a pattern is
// not offered: such a task cannot be held to the law that its own gold is
// right.
type regexMatch struct {
	exact
	whole *regexp.Regexp
}

func newRegex(o options) *regexMatch {
	const key = "pattern"
	g := &regexMatch{exact: exact{
		pattern:    o.compile(key, o.f.Need(key)),
		ignoreCase: o.f.Flag("ignore_case", false),
		trimEdges:  o.f.Flag("ignore_punctuation", false),
		extraction: o.extraction(),
	}}
	if g.pattern == nil {
		return g // refused
	}
	whole, err := regexp.Compile(`\A(?:` + g.pattern.String() + `)\z`)
	if err != nil { // only the size of the program can be at fault
		o.r.Add(o.f.Path(key), strict.CodeRange, "the pattern is too large")
		return g
	}
	g.whole = whole
	g.id = identity(RegexMatch, map[string]any{
		"pattern": g.pattern.String(), "ignore_case": g.ignoreCase, "ignore_punctuation": g.trimEdges, "extraction": g.extraction,
	})
	return g
}

func (g *regexMatch) Grade(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
	want, err := g.targets(t)
	if err != nil {
		return bundle.Verdict{}, err
	}
	lenient := g.among(want, a.Text, marked(g.pattern, a.Text), "last match")
	text := g.trim(a.Text, region{0, len(a.Text)})
	var all []region
	for _, r := range marked(g.whole, a.Text[text.from:text.to]) {
		all = append(all, region{r.from + text.from, r.to + text.from})
	}
	return g.extraction.verdict(a, lenient, g.among(want, a.Text, all, "whole match")), nil
}

// among compares the last place that holds text.
func (g *regexMatch) among(want []string, text string, places []region, how string) reading {
	r, ok := g.last(text, places)
	if !ok {
		return reading{rule: "no match"}
	}
	right := g.oneOf(want, text[r.from:r.to])
	return reading{&r, right, equalRule(how, right)}
}
