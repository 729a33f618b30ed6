package store_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// partIntent is the call for a part that reserves 30.
func partIntent(idx, part, attempt int) core.Intent {
	in := intent(idx, worstReply)
	in.Part, in.Attempt = part, attempt
	return in
}

// askedPart journals and sends the call for a later part.
func (d *db) askedPart(run core.RunID, idx, part, attempt int) core.Intent {
	d.t.Helper()
	in := partIntent(idx, part, attempt)
	running, err := d.AskJudge(context.Background(), run, lease, in)
	if err != nil || !running {
		d.t.Fatalf("part %d was not asked: running %v, %v", part, running, err)
	}
	d.check(d.MarkSent(context.Background(), run, in))
	return in
}

// partAnswer is the answer to a part, which costs 7.
func partAnswer(run core.RunID, in core.Intent, open bool) core.Response {
	r := response(run, in, 7)
	r.Part, r.Open = in.Part, open
	return r
}

func partEnded(run core.RunID, in core.Intent) core.Ended {
	return core.Ended{Run: run, Idx: in.Idx, Call: in.Call, Reserved: in.Worst, Part: in.Part, Outcome: "test"}
}

// One step of a task of three parts after the first was answered for 40, with
// what must then stand in the books.
func TestParts_Steps(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	right := func(r core.RunID) *core.Grade {
		return &core.Grade{Run: r, Idx: 0, Grader: grader, Verdict: &bundle.Verdict{Outcome: bundle.Right, Score: 1, Rule: "r"}}
	}
	for _, tt := range []struct {
		name    string
		do      func(*db, core.RunID)
		state   core.SampleState
		outcome bundle.Outcome
		code    string
		// charge is of the task, reserved and waived of the run.
		charge, reserved, waived usd.Micro
		judging                  bool // a restart goes on with the parts
		attempts                 []int
	}{
		{name: "the first answer", do: func(*db, core.RunID) {}, state: core.SampleJudging, charge: 40, reserved: 60, judging: true, attempts: []int{1}},
		{name: "every answer, graded later", do: func(d *db, r core.RunID) {
			d.check(d.Respond(ctx, partAnswer(r, d.askedPart(r, 0, 1, 1), true)))
			d.check(d.Respond(ctx, partAnswer(r, d.askedPart(r, 0, 2, 1), false)))
		}, state: core.SampleAnswered, charge: 54, attempts: []int{1, 1, 1}},
		{name: "the last answer with its grade", do: func(d *db, r core.RunID) {
			d.check(d.Respond(ctx, partAnswer(r, d.askedPart(r, 0, 1, 1), true)))
			last := partAnswer(r, d.askedPart(r, 0, 2, 1), false)
			last.Grade = right(r)
			d.check(d.Respond(ctx, last))
		}, state: core.SampleGraded, outcome: bundle.Right, charge: 54, attempts: []int{1, 1, 1}},
		{name: "a refusal", do: func(d *db, r core.RunID) {
			no := partAnswer(r, d.askedPart(r, 0, 1, 1), true)
			no.Refused = true
			d.check(d.Respond(ctx, no))
		}, state: core.SampleRefused, outcome: bundle.Refused, code: core.CodeRefused, charge: 47, attempts: []int{1, 1}},
		{name: "an answer that cannot be read", do: func(d *db, r core.RunID) {
			no := partAnswer(r, d.askedPart(r, 0, 1, 1), true)
			no.Failed = core.CodeInvalidOutput
			d.check(d.Respond(ctx, no))
		}, state: core.SampleFailed, outcome: core.ProviderError, code: core.CodeInvalidOutput, charge: 47, attempts: []int{1, 1}},
		{name: "a call that did no work", do: func(d *db, r core.RunID) {
			d.check(d.Replan(ctx, partEnded(r, d.askedPart(r, 0, 1, 1)), core.CallRejected))
		}, state: core.SampleJudging, charge: 40, reserved: 60, judging: true, attempts: []int{1, 1}},
		{name: "asked again", do: func(d *db, r core.RunID) {
			d.check(d.Retry(ctx, partEnded(r, d.askedPart(r, 0, 1, 1)), core.CallRejected, lease, partIntent(0, 1, 2), nil))
		}, state: core.SampleJudging, charge: 40, reserved: 60, judging: true, attempts: []int{1, 2}},
		{name: "rejected", do: func(d *db, r core.RunID) {
			d.check(d.GiveUp(ctx, partEnded(r, d.askedPart(r, 0, 1, 1)), core.CallRejected, false, "x"))
		}, state: core.SampleFailed, outcome: core.ProviderError, code: "x", charge: 40, attempts: []int{1, 1}},
		{name: "unknown", do: func(d *db, r core.RunID) { d.check(d.MarkUnknown(ctx, partEnded(r, d.askedPart(r, 0, 1, 1)))) },
			state: core.SampleUnresolved, outcome: core.ProviderError, code: core.CodeOutcomeUnknown, charge: 40, waived: 30, attempts: []int{1, 1}},
		{name: "a restart finds an intent", do: func(d *db, r core.RunID) {
			d.must(d.AskJudge(ctx, r, lease, partIntent(0, 1, 1)))
			d.must(d.Recover(ctx))
		}, state: core.SampleJudging, charge: 40, reserved: 60, judging: true, attempts: []int{1, 1}},
		{name: "a restart finds a sent call", do: func(d *db, r core.RunID) {
			d.askedPart(r, 0, 1, 1)
			d.must(d.Recover(ctx))
		}, state: core.SampleUnresolved, outcome: core.ProviderError, code: core.CodeOutcomeUnknown, charge: 40, waived: 30, attempts: []int{1, 1}},
		{name: "the run is cancelled", do: func(d *db, r core.RunID) {
			d.check(d.RequestCancel(ctx, scope, r))
			d.check(d.LeaveUnjudged(ctx, r, 0))
		}, state: core.SampleCancelled, outcome: core.CancelledTask, charge: 40, attempts: []int{1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			onEach(t, func(t *testing.T, d *db) {
				run := d.start(1, 1000)
				d.answered(run, 0)
				tt.do(d, run)
				d.clean()
				for s, err := range d.Samples(ctx, scope, run, 0) {
					d.check(err)
					if s.State != tt.state || s.Outcome != tt.outcome || s.Code != tt.code || s.Charge != tt.charge || s.Attempt != 1 {
						t.Errorf("the task is %s, %q, %q, charged %d, attempt %d", s.State, s.Outcome, s.Code, int64(s.Charge), s.Attempt)
					}
				}
				r := d.run(run)
				if r.Charged != tt.charge || r.Reserved != tt.reserved || r.Waived != tt.waived {
					t.Errorf("charged %d, reserved %d, waived %d", int64(r.Charged), int64(r.Reserved), int64(r.Waived))
				}
				p, err := d.Progress(ctx, run)
				d.check(err)
				if (len(p.Judging) == 1) != tt.judging || len(p.Redo) > 0 {
					t.Errorf("a restart would go on with %+v", p)
				}
				parts, err := d.Parts(ctx, scope, run, 0, 1)
				d.check(err)
				var attempts []int
				for i, p := range parts {
					if attempts = append(attempts, p.Attempt); p.Part != i {
						t.Errorf("part %d stands at %d", p.Part, i)
					}
				}
				if diff := cmp.Diff(tt.attempts, attempts); diff != "" {
					t.Errorf("attempts of the parts: %s", diff)
				}
				if other, err := d.Parts(ctx, core.Scope{Workspace: "w2"}, run, 0, 1); err != nil || len(other) > 0 {
					t.Errorf("another workspace reads %v, %v", other, err)
				}
			})
		})
	}
}
