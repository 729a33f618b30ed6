package core_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

func TestConclude(t *testing.T) {
	t.Parallel()
	type tallies = core.Tallies
	for _, tt := range []struct {
		name       string
		planned    int
		settled    tallies
		unresolved int
		stop       core.Reason
		state      core.State
		reason     core.Reason
		want       tallies
	}{
		{name: "all graded", planned: 3, settled: tallies{bundle.Right: 2, bundle.Wrong: 1}, state: core.Completed, reason: core.ReasonCompleted, want: tallies{bundle.Right: 2, bundle.Wrong: 1}},
		{name: "errors are decided tasks", planned: 3, settled: tallies{bundle.Right: 1, bundle.Refused: 1, core.GraderError: 1}, state: core.Completed, reason: core.ReasonCompleted,
			want: tallies{bundle.Right: 1, bundle.Refused: 1, core.GraderError: 1}},
		{name: "an unresolved call makes it partial", planned: 2, settled: tallies{bundle.Right: 1, core.ProviderError: 1}, unresolved: 1, state: core.Partial, reason: core.ReasonCompleted,
			want: tallies{bundle.Right: 1, core.ProviderError: 1}},
		{name: "the cap leaves tasks out", planned: 5, settled: tallies{bundle.Wrong: 2}, stop: core.SpendingCap, state: core.Partial, reason: core.SpendingCap,
			want: tallies{bundle.Wrong: 2, core.SkippedBudget: 3}},
		{name: "the cap before the first grade", planned: 5, settled: tallies{bundle.Refused: 1}, stop: core.SpendingCap, state: core.Failed, reason: core.SpendingCap,
			want: tallies{bundle.Refused: 1, core.SkippedBudget: 4}},
		{name: "a person cancels", planned: 5, settled: tallies{bundle.Right: 2}, stop: core.CancelledByUser, state: core.Cancelled, reason: core.CancelledByUser,
			want: tallies{bundle.Right: 2, core.CancelledTask: 3}},
		{name: "a person cancels at once", planned: 5, stop: core.CancelledByUser, state: core.Cancelled, reason: core.CancelledByUser, want: tallies{core.CancelledTask: 5}},
		{name: "the time limit", planned: 5, settled: tallies{bundle.Right: 2}, stop: core.TimeLimit, state: core.Partial, reason: core.TimeLimit, want: tallies{bundle.Right: 2, core.CancelledTask: 3}},
		{name: "a rejected credential fails what was graded too", planned: 5, settled: tallies{bundle.Right: 2}, stop: core.CredentialFailed, state: core.Failed, reason: core.CredentialFailed,
			want: tallies{bundle.Right: 2, core.PendingTask: 3}},
		{name: "every task an error", planned: 2, settled: tallies{core.ProviderError: 2}, state: core.Failed, reason: core.AllTasksFailed, want: tallies{core.ProviderError: 2}},
		{name: "stopped, but everything had been graded", planned: 2, settled: tallies{bundle.Right: 2}, stop: core.TimeLimit, state: core.Partial, reason: core.TimeLimit, want: tallies{bundle.Right: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			state, reason, got := core.Conclude(tt.planned, tt.settled, tt.unresolved, tt.stop)
			if state != tt.state || reason != tt.reason {
				t.Errorf("%s, %s; want %s, %s", state, reason, tt.state, tt.reason)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestConclude_OutcomesAddUpToPlanned(t *testing.T) {
	t.Parallel()
	outcomes := []bundle.Outcome{bundle.Right, bundle.Wrong, bundle.ExtractionFailed, bundle.Truncated, bundle.Empty, bundle.Refused, core.ProviderError, core.JudgeError, core.GraderError}
	stops := []core.Reason{"", core.SpendingCap, core.CancelledByUser, core.TimeLimit, core.ProviderDown, core.CredentialFailed, core.InternalFailure, core.UsageUnreported}
	rapid.Check(t, func(t *rapid.T) {
		settled, total := core.Tallies{}, 0
		for _, o := range outcomes {
			n := rapid.IntRange(0, 5).Draw(t, string(o))
			settled[o] = n
			total += n
		}
		planned := total + rapid.IntRange(0, 5).Draw(t, "left")
		state, _, got := core.Conclude(planned, settled, 0, rapid.SampledFrom(stops).Draw(t, "stop"))
		if got.Total() != planned {
			t.Fatalf("%v add up to %d, planned %d", got, got.Total(), planned)
		}
		if !state.Terminal() {
			t.Fatalf("%s is not an end", state)
		}
	})
}

func TestBefore(t *testing.T) {
	t.Parallel()
	for to, want := range map[core.CallState][]core.CallState{
		core.CallIntent: nil, core.CallSent: {core.CallIntent}, core.CallResponded: {core.CallSent}, core.CallRejected: {core.CallSent},
		core.CallVoided: {core.CallIntent, core.CallSent}, core.CallUnknown: {core.CallSent}, core.CallLate: {core.CallUnknown},
	} {
		if d := cmp.Diff(want, core.Before(to)); d != "" {
			t.Errorf("to %s: %s", to, d)
		}
	}
}
