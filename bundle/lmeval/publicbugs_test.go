package lmeval_test

import (
	"encoding/json"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/generic"
)

// Where lm-eval is publicly known to be wrong, this family keeps lm-eval's
// answer, because published results have it, and the generic grader gives the
// right one.
func TestPublicFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, filter, exact, target, text string
		family, right                     bool
	}{
		{"A7 lm-eval#3254: 29.00 is 29", flexible, gsm8kExact, "29", "It costs 29.00", false, true},
		{"A7 lm-eval#3254: 29. is 29", flexible, gsm8kExact, "29", "It costs 29.", true, true},
		{"A10 lm-eval#3438: the first of two marked answers", strictMatch, gsm8kExact, "7", "As before: #### 5\nSo #### 7", false, true},
		{"A16: arithmetic on the answer line", flexible, gsm8kExact, "293", "256+37 = 293", true, true},
		{"A1: 25 is not 5", flexible, gsm8kExact, "5", "The answer is 25", false, false},
	}
	numeric, err := generic.New(bundle.GraderConfig{Kind: generic.Numeric, Options: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			task, answer := bundle.Task{ID: "t", Target: []string{tt.target}}, bundle.Answer{Text: tt.text, Finish: bundle.FinishStop}
			family, err := grader(t, `{"filter":`+tt.filter+`,"exact_match":`+tt.exact+`}`).Grade(task, answer)
			if err != nil || (family.Outcome == bundle.Right) != tt.family {
				t.Errorf("lm-eval's own verdict = %+v, %v; want right %v", family, err, tt.family)
			}
			ours, err := numeric.Grade(task, answer)
			if err != nil || (ours.Outcome == bundle.Right) != tt.right {
				t.Errorf("the generic verdict = %+v, %v; want right %v", ours, err, tt.right)
			}
		})
	}
}
