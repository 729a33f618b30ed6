package engine

import (
	"fmt"
	"math"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/stat"
)

// resultVersion is the version of a run's first and, so far, only result.
const resultVersion = 1

// Shares, in percent, above which a result carries a warning. Empty answers are
// a silent fault that reads as a bad model. Answers that judges gave no verdict
// about stand in no score, so that a few lucky ones would read as a good one.
const (
	manyEmpty    = 20
	manyUnjudged = 20
)

// conclude computes a run's frozen result from what became of its tasks.
func conclude(e core.Ending) core.Result {
	stop := e.Run.Reason
	state, reason, outcomes := core.Conclude(e.Run.Planned, e.Run.Tallies, e.Unresolved, stop)
	return core.Result{
		Run: e.Run.ID, Version: resultVersion, FinalizedAt: e.Now, State: state, Reason: reason, Detail: e.Run.Detail, Planned: e.Run.Planned,
		Outcomes: outcomes, Unresolved: e.Unresolved, Metrics: metrics(e.Scores, outcomes[bundle.Right]), Errors: e.Errors,
		Money:    core.Money{Cap: e.Run.Cap, Charged: e.Run.Charged, Metered: e.Run.Metered, Absorbed: e.Run.Absorbed, Waived: e.Run.Waived},
		Warnings: resultWarnings(e, outcomes),
	}
}

// metrics are the figures over the graded tasks: the share that is right, and
// the mean score where scores are not all 0 or 1. Nothing graded, no figure.
func metrics(s core.Scores, right int) []core.Metric {
	if s.N == 0 {
		return []core.Metric{}
	}
	out := []core.Metric{Accuracy(right, s.N)}
	if s.Sum != float64(right) {
		out = append(out, meanScore(s))
	}
	return out
}

// Accuracy is the share of right answers among the graded, with its Wilson
// interval.
func Accuracy(right, n int) core.Metric {
	p := float64(right) / float64(n)
	w := stat.Wilson(right, n, 0.95)
	m := core.Metric{Key: "accuracy", Name: "Accuracy", Value: p, N: n, Interval: &core.Interval{Method: "wilson", Lower: w.Lower, Upper: w.Upper}}
	if n > 1 {
		se := math.Sqrt(p * (1 - p) / float64(n-1))
		m.StdErr = &se
	}
	return m
}

// meanScore is the mean with Student's t interval, cut to the range of scores.
// Where the scores have no spread, or are one, there is no interval: nothing is
// known of its width.
func meanScore(s core.Scores) core.Metric {
	m := core.Metric{Key: "mean_score", Name: "Mean score", Value: s.Sum / float64(s.N), N: s.N}
	e, err := stat.FromSums(s.N, s.Sum, s.SumSq)
	if err != nil {
		return m
	}
	se, err := e.StdErr()
	if err != nil {
		return m
	}
	m.StdErr = &se
	if iv, err := e.Interval(0.95); err == nil {
		iv = iv.Within(0, 1)
		m.Interval = &core.Interval{Method: "student_t", Lower: iv.Lower, Upper: iv.Upper}
	}
	return m
}

func resultWarnings(e core.Ending, outcomes core.Tallies) []string {
	w := []string{}
	if empty, graded := outcomes[bundle.Empty], outcomes.Graded(); empty*100 > graded*manyEmpty {
		w = append(w, fmt.Sprintf("%d of %d graded answers are empty. Look at the endpoint before you read the score.", empty, graded))
	}
	if left, graded := outcomes[core.JudgeError], outcomes.Graded(); left*100 > (left+graded)*manyUnjudged {
		w = append(w, fmt.Sprintf("%d of %d judged answers have no verdict, and the score leaves them out. Look at the judges' replies before you read it.", left, left+graded))
	}
	if e.Unresolved > 0 {
		w = append(w, fmt.Sprintf("Calls with an unknown outcome: %d. The provider may have processed them; they were not charged or repeated.", e.Unresolved))
	}
	if e.Run.Unreported > 0 {
		w = append(w, fmt.Sprintf("%d answers came without usage that adds up; nothing was charged for them.", e.Run.Unreported))
	}
	if e.Mismatches > 0 {
		w = append(w, fmt.Sprintf("reuse_score_mismatch: %d reused answers were graded again and got another score. The scores of the run that asked are kept.", e.Mismatches))
	}
	return w
}
