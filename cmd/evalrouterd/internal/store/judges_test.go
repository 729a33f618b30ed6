package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Judged tasks of these tests reserve 100 for their answer and 30 for each of
// two judges.
const (
	worstAnswer, worstReply = usd.Micro(100), usd.Micro(30)
	allWorst                = worstAnswer + 2*worstReply
)

// startJudged is start with two judges in the quote.
func (d *db) startJudged(n int, cap usd.Micro) core.RunID {
	d.t.Helper()
	ctx, q := context.Background(), d.quote(n, cap)
	q.ID += "-judged"
	judge := q.Target
	judge.RouteID = "judge"
	q.Judges = []core.Judge{{Target: judge, MaxOutputTokens: 10}, {Target: judge, MaxOutputTokens: 10}}
	d.check(d.InsertQuote(ctx, q))
	out, err := d.Admit(ctx, admission(q, "k-"+string(q.ID)))
	d.check(err)
	d.check(d.Start(ctx, out.Run))
	return out.Run
}

// answered takes a judged task to its recorded answer, which costs 40.
func (d *db) answered(run core.RunID, idx int) core.Intent {
	d.t.Helper()
	ctx, in := context.Background(), intent(idx, worstAnswer)
	in.Pledge = 2 * worstReply
	d.must(d.Reserve(ctx, run, lease, []core.Intent{in}))
	d.check(d.MarkSent(ctx, run, in))
	r := response(run, in, 40)
	r.Open = true
	d.check(d.Respond(ctx, r))
	return in
}

func judgeIntent(idx, part, attempt int) core.Intent {
	in := intent(idx, worstReply)
	in.Judge, in.Part, in.Attempt, in.Nonce = true, part, attempt, fmt.Sprintf("nonce-%d", part)
	return in
}

// asked journals and sends a call to a judge.
func (d *db) asked(run core.RunID, idx, part, attempt int) core.Intent {
	d.t.Helper()
	in := judgeIntent(idx, part, attempt)
	running, err := d.AskJudge(context.Background(), run, lease, in)
	if err != nil || !running {
		d.t.Fatalf("judge %d was not asked: running %v, %v", part, running, err)
	}
	d.check(d.MarkSent(context.Background(), run, in))
	return in
}

// reply is a judge's answer that costs 7.
func reply(run core.RunID, in core.Intent, open bool) core.Response {
	r := response(run, in, 7)
	r.Judge, r.Open = true, open
	return r
}

func judgeEnded(run core.RunID, in core.Intent) core.Ended {
	return core.Ended{Run: run, Idx: in.Idx, Call: in.Call, Reserved: in.Worst, Judge: true, Outcome: "test"}
}

var grader = bundle.Identity{ID: "g", Version: "1"}

// One step of a judged task after its answer was recorded, with what must then
// stand in the books. The task of each row is answered for 40.
func TestJudges_Steps(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, tt := range []struct {
		name    string
		do      func(*db, core.RunID)
		state   core.SampleState
		outcome bundle.Outcome
		code    string
		// charge is of the task, reserved and waived of the run.
		charge, reserved, waived usd.Micro
		judging                  bool // a restart asks judges
	}{
		{name: "no judge asked yet", do: func(*db, core.RunID) {}, state: core.SampleJudging, charge: 40, reserved: 60, judging: true},
		{name: "a judge's intent", do: func(d *db, r core.RunID) { d.must(d.AskJudge(ctx, r, lease, judgeIntent(0, 0, 1))) },
			state: core.SampleJudging, charge: 40, reserved: 60, judging: true},
		{name: "the first reply", do: func(d *db, r core.RunID) { d.check(d.Respond(ctx, reply(r, d.asked(r, 0, 0, 1), true))) },
			state: core.SampleJudging, charge: 47, reserved: 30, judging: true},
		{name: "every reply, graded later", do: func(d *db, r core.RunID) {
			d.check(d.Respond(ctx, reply(r, d.asked(r, 0, 0, 1), true)))
			d.check(d.Respond(ctx, reply(r, d.asked(r, 0, 1, 1), false)))
		}, state: core.SampleAnswered, charge: 54},
		{name: "the last reply with its grade", do: func(d *db, r core.RunID) {
			d.check(d.Respond(ctx, reply(r, d.asked(r, 0, 0, 1), true)))
			last := reply(r, d.asked(r, 0, 1, 1), false)
			last.Grade = &core.Grade{Run: r, Idx: 0, Grader: grader, Verdict: &bundle.Verdict{Outcome: bundle.Right, Score: 1, Rule: "r"}}
			d.check(d.Respond(ctx, last))
		}, state: core.SampleGraded, outcome: bundle.Right, charge: 54},
		{name: "a reply without a verdict", do: func(d *db, r core.RunID) {
			bad := reply(r, d.asked(r, 0, 0, 1), true)
			bad.Grade = &core.Grade{Run: r, Idx: 0, Grader: grader, JudgeCode: core.CodeJudgeInvalid, JudgeFault: "judge 1: why"}
			d.check(d.Respond(ctx, bad))
		}, state: core.SampleFailed, outcome: core.JudgeError, code: core.CodeJudgeInvalid, charge: 47},
		{name: "a reply without a verdict, read later", do: func(d *db, r core.RunID) {
			d.check(d.Respond(ctx, reply(r, d.asked(r, 0, 0, 1), true)))
			d.check(d.RecordGrade(ctx, core.Grade{Run: r, Idx: 0, Grader: grader, JudgeCode: core.CodeJudgeInvalid, JudgeFault: "judge 1: why"}))
		}, state: core.SampleFailed, outcome: core.JudgeError, code: core.CodeJudgeInvalid, charge: 47},
		{name: "a judge refuses", do: func(d *db, r core.RunID) {
			no := reply(r, d.asked(r, 0, 0, 1), true)
			no.Refused = true
			d.check(d.Respond(ctx, no))
		}, state: core.SampleFailed, outcome: core.JudgeError, code: core.CodeJudgeRefused, charge: 47},
		{name: "a judge's reply cannot be read", do: func(d *db, r core.RunID) {
			no := reply(r, d.asked(r, 0, 0, 1), true)
			no.Failed = core.CodeInvalidOutput
			d.check(d.Respond(ctx, no))
		}, state: core.SampleFailed, outcome: core.JudgeError, code: core.CodeJudgeInvalid, charge: 47},
		{name: "a judge's call did no work", do: func(d *db, r core.RunID) {
			d.check(d.Replan(ctx, judgeEnded(r, d.asked(r, 0, 0, 1)), core.CallRejected))
		},
			state: core.SampleJudging, charge: 40, reserved: 60, judging: true},
		{name: "a judge is asked again", do: func(d *db, r core.RunID) {
			d.check(d.Retry(ctx, judgeEnded(r, d.asked(r, 0, 0, 1)), core.CallRejected, lease, judgeIntent(0, 0, 2), nil))
		}, state: core.SampleJudging, charge: 40, reserved: 60, judging: true},
		{name: "a judge's provider rejects the request", do: func(d *db, r core.RunID) {
			d.check(d.GiveUp(ctx, judgeEnded(r, d.asked(r, 0, 0, 1)), core.CallRejected, false, core.CodeJudgeRejected))
		}, state: core.SampleFailed, outcome: core.JudgeError, code: core.CodeJudgeRejected, charge: 40},
		{name: "a judge's call is unknown", do: func(d *db, r core.RunID) { d.check(d.MarkUnknown(ctx, judgeEnded(r, d.asked(r, 0, 0, 1)))) },
			state: core.SampleUnresolved, outcome: core.JudgeError, code: core.CodeJudgeUnknown, charge: 40, waived: 30},
		{name: "the run is cancelled", do: func(d *db, r core.RunID) {
			d.check(d.RequestCancel(ctx, scope, r))
			d.check(d.LeaveUnjudged(ctx, r, 0))
		}, state: core.SampleCancelled, outcome: core.CancelledTask, charge: 40},
		{name: "the judges are down", do: func(d *db, r core.RunID) {
			d.check(d.Stop(ctx, r, core.Stop{Reason: core.JudgesUnavailable}))
			d.check(d.LeaveUnjudged(ctx, r, 0))
		}, state: core.SamplePending, outcome: core.PendingTask, charge: 40},
		{name: "the run is abandoned", do: func(d *db, r core.RunID) {
			d.must(d.AskJudge(ctx, r, lease, judgeIntent(0, 0, 1)))
			d.check(d.Stop(ctx, r, core.Stop{Reason: core.InternalFailure}))
			d.check(d.Abandon(ctx, r))
		}, state: core.SamplePending, outcome: core.PendingTask, charge: 40},
		{name: "a restart finds an intent", do: func(d *db, r core.RunID) {
			d.must(d.AskJudge(ctx, r, lease, judgeIntent(0, 0, 1)))
			d.must(d.Recover(ctx))
		}, state: core.SampleJudging, charge: 40, reserved: 60, judging: true},
		{name: "a restart finds a sent call", do: func(d *db, r core.RunID) {
			d.asked(r, 0, 0, 1)
			d.must(d.Recover(ctx))
		}, state: core.SampleUnresolved, outcome: core.JudgeError, code: core.CodeJudgeUnknown, charge: 40, waived: 30},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			onEach(t, func(t *testing.T, d *db) {
				run := d.startJudged(1, 1000)
				d.answered(run, 0)
				tt.do(d, run)
				d.clean()
				for s, err := range d.Samples(ctx, scope, run, 0) {
					d.check(err)
					if s.State != tt.state || s.Outcome != tt.outcome || s.Code != tt.code || s.Charge != tt.charge {
						t.Errorf("the task is %s, %q, %q, charged %d", s.State, s.Outcome, s.Code, int64(s.Charge))
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
			})
		})
	}
}

// What a task's own call ends frees the judges' share with it.
func TestJudges_PledgeEndsWithTheCall(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, tt := range []struct {
		name string
		do   func(*db, core.RunID, core.Intent)
	}{
		{"planned again", func(d *db, r core.RunID, in core.Intent) {
			d.check(d.Replan(ctx, core.Ended{Run: r, Idx: 0, Call: in.Call, Reserved: in.Worst}, core.CallRejected))
		}},
		{"given up", func(d *db, r core.RunID, in core.Intent) {
			d.check(d.GiveUp(ctx, core.Ended{Run: r, Idx: 0, Call: in.Call, Reserved: in.Worst}, core.CallRejected, false, "x"))
		}},
		{"unknown", func(d *db, r core.RunID, in core.Intent) {
			d.check(d.MarkUnknown(ctx, core.Ended{Run: r, Idx: 0, Call: in.Call, Reserved: in.Worst}))
		}},
		{"refused", func(d *db, r core.RunID, in core.Intent) {
			no := response(r, in, 40)
			no.Refused, no.Open = true, true
			d.check(d.Respond(ctx, no))
		}},
		{"unreadable", func(d *db, r core.RunID, in core.Intent) {
			no := response(r, in, 40)
			no.Failed, no.Open = core.CodeInvalidOutput, true
			d.check(d.Respond(ctx, no))
		}},
		{"a restart", func(d *db, r core.RunID, _ core.Intent) { d.must(d.Recover(ctx)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			onEach(t, func(t *testing.T, d *db) {
				run := d.startJudged(1, 1000)
				in := intent(0, worstAnswer)
				in.Pledge = 2 * worstReply
				d.must(d.Reserve(ctx, run, lease, []core.Intent{in}))
				d.check(d.MarkSent(ctx, run, in))
				if got := d.run(run).Reserved; got != allWorst {
					t.Fatalf("%s is reserved for a task and its judges", got)
				}
				tt.do(d, run, in)
				if got := d.run(run).Reserved; got != 0 {
					t.Errorf("%s is still reserved", got)
				}
				d.clean()
			})
		})
	}
}

// A task that would fit under the cap without its judges is not begun.
func TestJudges_CountAgainstTheCap(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, run := context.Background(), d.startJudged(3, 2*allWorst+worstAnswer)
		var batch []core.Intent
		for i := range 3 {
			in := intent(i, worstAnswer)
			in.Pledge = 2 * worstReply
			batch = append(batch, in)
		}
		got, err := d.Reserve(ctx, run, lease, batch)
		d.check(err)
		if got.Granted != 2 {
			t.Errorf("%d tasks were begun", got.Granted)
		}
		d.clean()
	})
}

// A judge is asked about an answer, once at a time, within what was set aside,
// while the run goes on.
func TestJudges_AskRefuses(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, run := context.Background(), d.startJudged(2, 1000)
		in := intent(1, worstAnswer)
		in.Pledge = worstReply
		d.must(d.Reserve(ctx, run, lease, []core.Intent{in}))
		d.answered(run, 0)
		dear := judgeIntent(0, 0, 1)
		dear.Worst = 2*worstReply + 1
		for name, in := range map[string]core.Intent{"before the answer": judgeIntent(1, 0, 1), "beyond the pledge": dear} {
			if _, err := d.AskJudge(ctx, run, lease, in); !errors.Is(err, core.ErrMoved) {
				t.Errorf("%s: %v", name, err)
			}
		}
		d.asked(run, 0, 0, 1)
		if _, err := d.AskJudge(ctx, run, lease, judgeIntent(0, 0, 2)); err == nil {
			t.Error("a judge was asked twice at once")
		}
		d.check(d.RequestCancel(ctx, scope, run))
		if running, err := d.AskJudge(ctx, run, lease, judgeIntent(0, 1, 1)); running || err != nil {
			t.Errorf("after the cancellation: running %v, %v", running, err)
		}
		if all, err := d.Replies(ctx, scope, run, 0, 2); err != nil || len(all) != 1 {
			t.Errorf("%d calls to judges are journalled, want the one that was asked (%v)", len(all), err)
		}
		d.clean()
	})
}

func TestReplies(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, run := context.Background(), d.startJudged(2, 1000)
		d.answered(run, 0)
		first := d.asked(run, 0, 0, 1)
		again := judgeIntent(0, 0, 2)
		d.check(d.Retry(ctx, judgeEnded(run, first), core.CallRejected, lease, again, nil))
		d.check(d.MarkSent(ctx, run, again))
		d.check(d.Respond(ctx, reply(run, again, true)))
		d.asked(run, 0, 1, 1)
		got, err := d.Replies(ctx, scope, run, 0, 2)
		d.check(err)
		want := []core.Reply{
			{Part: 0, Attempt: 2, State: core.CallResponded, Raw: []byte("raw answer"), Finish: "stop", UsageDoc: `{"input":1,"output":1}`, Spent: 7, Nonce: "nonce-0", Hash: "h"},
			{Part: 1, Attempt: 1, State: core.CallSent, Nonce: "nonce-1", Hash: "h"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if got, err := d.Replies(ctx, core.Scope{Workspace: "w2"}, run, 0, 2); err != nil || len(got) > 0 {
			t.Errorf("another workspace reads %v, %v", got, err)
		}
	})
}
