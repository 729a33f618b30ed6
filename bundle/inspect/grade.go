package inspect

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// Grader is a scorer of this family as a bundle.Grader. It may be shared
// between goroutines.
type Grader struct {
	kind       string
	id         bundle.Identity
	rule       string
	equal      string // the rule of a right answer
	score      func(t bundle.Task, text string) (score.Score, error)
	gold       func(target string) string // nil where the bare target is right
	mustChoose bool                       // the task needs choices
}

var _ bundle.Grader = (*Grader)(nil)

var (
	errNoTarget  = errors.New("the task has no target")
	errNoChoices = errors.New("the task has no choices")
)

// Identity names the kind with its options.
func (g *Grader) Identity() bundle.Identity { return g.id }

// Gold is what a perfect answer looks like for an acceptable answer: the kinds
// that read an ANSWER line accept no bare target. A declared pattern may
// accept neither, and then only its author can say what is right.
func (g *Grader) Gold(target string) string {
	if g.gold == nil {
		return target
	}
	return g.gold(target)
}

// Grade scores the text of an answer.
func (g *Grader) Grade(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
	switch {
	case len(t.Target) == 0:
		return bundle.Verdict{}, errNoTarget
	case g.mustChoose && len(t.Choices) == 0:
		return bundle.Verdict{}, errNoChoices
	}
	s, err := g.score(t, a.Text)
	if err != nil {
		return bundle.Verdict{}, fmt.Errorf("grade with %s: %w", g.kind, err)
	}
	return g.verdict(a, s), nil
}

func (g *Grader) verdict(a bundle.Answer, s score.Score) bundle.Verdict {
	v := bundle.Verdict{}
	if s.Value == score.Correct {
		v.Score = 1
	} else {
		v.Score, _ = score.DefaultToFloat().Float(s.Value)
	}
	if p := s.Span; p != nil {
		v.Extracted = a.Text[p.From:p.To]
		from := utf8.RuneCountInString(a.Text[:p.From])
		v.Span = &[2]int{from, from + utf8.RuneCountInString(v.Extracted)}
	}
	if v.Score == 1 {
		v.Outcome, v.Rule = bundle.Right, g.equal
		return v
	}
	blank := str.Strip(a.Text) == ""
	switch {
	case a.Finish == bundle.FinishLength:
		v.Outcome = bundle.Truncated
	case blank:
		v.Outcome = bundle.Empty
	case g.nothingFound(s):
		v.Outcome = bundle.ExtractionFailed
	default:
		v.Outcome = bundle.Wrong
	}
	v.Rule = g.word(v, blank, s)
	return v
}

// nothingFound says whether the scorer had nothing to compare.
func (g *Grader) nothingFound(s score.Score) bool {
	switch g.kind {
	case Includes, Exact, F1:
		return false // they compare all of the text
	case Choice:
		return s.Span == nil || s.Answer == nil || *s.Answer == ""
	}
	return s.Value == score.NoAnswer || s.Span == nil
}

// word says in a few words why an answer is not right.
func (g *Grader) word(v bundle.Verdict, blank bool, s score.Score) string {
	switch {
	case blank:
		return "no text"
	case g.nothingFound(s):
		return g.rule + ", none found"
	case g.kind == F1:
		return fmt.Sprintf("%s, %.2f", g.rule, v.Score)
	}
	return g.rule + ", not equal"
}
