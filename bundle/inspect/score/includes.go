package score

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// Includes looks for a target anywhere in the completion.
type Includes struct{ CaseSensitive bool }

// Find reports whether the completion includes one target, and where it stands
// if that is a place of the completion itself and not of its folded form. For
// ASCII texts it allocates nothing.
func (s Includes) Find(completion, target string) (span Span, placed, found bool) {
	at := 0
	if s.CaseSensitive {
		at, placed = strings.Index(completion, target), true
	} else {
		at, placed = indexFold(completion, target)
	}
	return Span{at, at + len(target)}, placed && at >= 0, at >= 0
}

// Score tries the targets in order. The answer is the whole completion, folded
// unless case matters, and nil when there is no target.
func (s Includes) Score(completion string, target Target) (Score, error) {
	right, span := s.Any(completion, target)
	if len(target) == 0 {
		return Score{Value: Incorrect, Explanation: &completion}, nil
	}
	answer := completion
	if !s.CaseSensitive {
		answer = str.Casefold(completion)
	}
	return decided(right, answer, completion, span), nil
}

// Any is Find for the first target that is found. It is Score without the
// folded copy of the completion, for callers that need the decision alone.
func (s Includes) Any(completion string, target Target) (found bool, span *Span) {
	for _, t := range target {
		at, placed, found := s.Find(completion, t)
		switch {
		case found && placed:
			return true, &at
		case found:
			return true, nil
		}
	}
	return false, nil
}
