package core

import "github.com/evalrouter/evalrouter/bundle"

// Tallies counts tasks by outcome.
type Tallies map[bundle.Outcome]int

// graded are the outcomes that carry a score by the family's own rule.
var graded = map[bundle.Outcome]bool{
	bundle.Right: true, bundle.Wrong: true, bundle.ExtractionFailed: true,
	bundle.Truncated: true, bundle.Empty: true,
}

// errorOutcomes are decided tasks without a score.
var errorOutcomes = map[bundle.Outcome]bool{
	bundle.Refused: true, ProviderError: true, JudgeError: true, GraderError: true,
}

// Scored says whether an outcome is one of a graded answer.
func Scored(o bundle.Outcome) bool { return graded[o] }

// Graded counts tasks with a score.
func (t Tallies) Graded() int { return t.sum(graded) }

// Errors counts tasks that were decided without a score.
func (t Tallies) Errors() int { return t.sum(errorOutcomes) }

// Total counts every settled task.
func (t Tallies) Total() (n int) {
	for _, k := range t {
		n += k
	}
	return n
}

// NotRun counts tasks that were never asked, or whose outcome is still open.
func (t Tallies) NotRun() int { return t.Total() - t.Graded() - t.Errors() }

func (t Tallies) sum(of map[bundle.Outcome]bool) (n int) {
	for o, k := range t {
		if of[o] {
			n += k
		}
	}
	return n
}

// Conclude decides the final state of a run from what became of its tasks:
// settled counts them by outcome, unresolved says how many of the provider
// errors are calls whose outcome nobody knows, and stop is "" when every task
// was dispatched. Tasks that settled nowhere were not run; they are counted
// under the outcome that the stop implies, so that the outcomes of a result
// always add up to planned.
func Conclude(planned int, settled Tallies, unresolved int, stop Reason) (State, Reason, Tallies) {
	t := Tallies{}
	for o, n := range settled {
		t[o] = n
	}
	if left := planned - t.Total(); left > 0 {
		t[NotRun(stop)] += left
	}
	if stop == "" {
		stop = ReasonCompleted
	}
	switch {
	case stop == CancelledByUser:
		return Cancelled, stop, t
	case stop == InternalFailure, stop == CredentialFailed, stop == JudgesUnavailable:
		return Failed, stop, t
	case t.Graded() == 0:
		if stop == ReasonCompleted {
			stop = AllTasksFailed
		}
		return Failed, stop, t
	case stop != ReasonCompleted, t.NotRun() > 0, unresolved > 0:
		return Partial, stop, t
	}
	return Completed, stop, t
}

// NotRun is the outcome of a task that a stop left undone.
func NotRun(stop Reason) bundle.Outcome {
	switch stop {
	case SpendingCap:
		return SkippedBudget
	case CancelledByUser, TimeLimit:
		return CancelledTask
	}
	return PendingTask
}
