// Package families makes the grader that a benchmark declares, whichever
// family of graders it belongs to. It is the one list of them, and the one
// place where reasoning is taken out of an answer: every grader it makes sees
// what package reasoning leaves, and no reasoning that was not closed is ever
// graded; that is truncated.
package families

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/generic"
	"github.com/evalrouter/evalrouter/bundle/inspect"
	"github.com/evalrouter/evalrouter/bundle/lmeval"
	"github.com/evalrouter/evalrouter/bundle/sob"
)

// Grader builds a declared grader. A kind or an option that its family does
// not know is refused.
func Grader(c bundle.GraderConfig) (bundle.Grader, error) {
	g, err := declared(c)
	if err != nil {
		return nil, err
	}
	return answersOnly(g), nil
}

// Logprobs is a need: the grader compares log probabilities and no text.
const Logprobs = "logprobs"

// Needs lists what a route must offer for a kind to be graded at all.
func Needs(kind string) []string {
	if lmeval.NeedsLogprobs(kind) {
		return []string{Logprobs}
	}
	return nil
}

func declared(c bundle.GraderConfig) (bundle.Grader, error) {
	switch {
	case inspect.IsJudged(c.Kind):
		return made(inspect.NewJudged(c))
	case c.Kind == sob.KindText:
		return made(sob.New(c))
	case lmeval.NeedsLogprobs(c.Kind):
		return made[bundle.Grader](lmeval.NewLikely(c))
	case strings.HasPrefix(c.Kind, "inspect/"):
		return made(inspect.New(c))
	case strings.HasPrefix(c.Kind, "lmeval/"):
		return made(lmeval.New(c))
	}
	return generic.New(c)
}

// made keeps a nil grader of a concrete type from looking like one.
func made[G bundle.Grader](g G, err error) (bundle.Grader, error) {
	if err != nil {
		return nil, err
	}
	return g, nil
}
