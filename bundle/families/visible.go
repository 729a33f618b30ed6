package families

import (
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/reasoning"
)

// visible grades what a model answered and not what it thought aloud.
type visible struct{ bundle.Grader }

// goldVisible keeps the form that the grader within writes gold in.
type goldVisible struct {
	visible
	bundle.GoldWriter
}

var _ bundle.GoldWriter = goldVisible{}

func answersOnly(g bundle.Grader) bundle.Grader {
	if w, ok := g.(bundle.GoldWriter); ok {
		return goldVisible{visible{g}, w}
	}
	return visible{g}
}

// Identity adds the version of the reasoning rule to the compatibility class:
// another rule could give another verdict.
func (v visible) Identity() bundle.Identity {
	id := v.Grader.Identity()
	id.Compat += "/reasoning@" + reasoning.Version
	return id
}

// Grade takes reasoning off before grading. Spans count from the start of the
// answer as it was recorded.
func (v visible) Grade(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
	seen := reasoning.Visible(a.Text)
	if !seen.Found {
		return v.Grader.Grade(t, a)
	}
	if seen.Open {
		return bundle.Verdict{Outcome: bundle.Truncated, Rule: "reasoning not closed"}, nil
	}
	out, err := v.Grader.Grade(t, bundle.Answer{Text: seen.Text, Finish: a.Finish})
	if err != nil || out.Span == nil {
		return out, err
	}
	shift := utf8.RuneCountInString(a.Text[:seen.From])
	out.Span = &[2]int{out.Span[0] + shift, out.Span[1] + shift}
	return out, nil
}
