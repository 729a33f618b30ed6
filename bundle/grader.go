package bundle

import "encoding/json"

// GraderConfig is how a manifest declares its grader. This package does not
// know the kinds: the package that builds a grader refuses what it does not
// know, so that a new family of graders needs no change here.
type GraderConfig struct {
	Kind string `json:"kind"`
	// Options is a JSON object, or nil for the defaults of the kind.
	Options json.RawMessage `json:"options,omitempty"`
}

// GoldWriter is a grader that reads answers of a certain form only: Gold
// writes a target in that form.
type GoldWriter interface {
	Gold(target string) string
}

// CheckGold grades a task's own acceptable answers and returns a finding for
// the first that the grader does not call right, nil if all are. A benchmark
// whose gold is not right cannot be graded honestly. Where judges decide, gold
// is a criterion and not an answer, and there is nothing to check.
func CheckGold(g Grader, t Task) *Finding {
	if _, ok := g.(Judged); ok {
		return nil
	}
	write := func(target string) string { return target }
	if w, ok := g.(GoldWriter); ok {
		write = w.Gold
	}
	for _, target := range t.Target {
		v, err := g.Grade(t, Answer{Text: write(target), Finish: FinishStop})
		switch {
		case err != nil:
			return &Finding{Code: "gold_not_gradable", Path: "target", Message: err.Error()}
		case v.Outcome != Right || v.Score != 1:
			return &Finding{Code: "gold_not_right", Path: "target",
				Message: "the grader does not accept the task's own answer: " + v.Rule}
		}
	}
	return nil
}
