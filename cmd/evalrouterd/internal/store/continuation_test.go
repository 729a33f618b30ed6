package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Places of stopped's run, by what became of the task.
const (
	gradedTask = iota
	unknownTask
	lateTask
	refusedTask
	rejectedTask
	voidedTask
	stoppedTasks = 8 // the last two were never opened
)

// kept is an answer that does not expire while a test runs.
func kept(run core.RunID, in core.Intent, cost usd.Micro) core.Response {
	r := response(run, in, cost)
	r.ExpiresAt = 1 << 60
	return r
}

// stopped is a run that its cap stopped, with a task of every fate.
func (d *db) stopped() core.RunID {
	d.t.Helper()
	ctx := context.Background()
	run := d.start(stoppedTasks, 1000)
	d.gradeAt(run, gradedTask, 1)
	for _, idx := range []int{unknownTask, lateTask} {
		d.loseAt(run, idx, 1)
	}
	d.check(d.GiveUp(ctx, core.Ended{Run: run, Idx: refusedTask, Call: d.sent(run, refusedTask, 1).Call, Reserved: 100}, core.CallRejected, true, core.CodeRefused))
	d.check(d.GiveUp(ctx, core.Ended{Run: run, Idx: rejectedTask, Call: d.sent(run, rejectedTask, 1).Call, Reserved: 100}, core.CallRejected, false, core.CodeProviderError))
	d.check(d.Replan(ctx, core.Ended{Run: run, Idx: voidedTask, Call: d.sent(run, voidedTask, 1).Call, Reserved: 100}, core.CallVoided))
	d.end(run, core.SpendingCap)
	return run
}

func (d *db) sent(run core.RunID, idx, attempt int) core.Intent {
	d.t.Helper()
	in := intent(idx, 100)
	in.Attempt, in.Opened = attempt, d.opened(run, idx)
	d.must(d.Reserve(context.Background(), run, lease, []core.Intent{in}))
	d.check(d.MarkSent(context.Background(), run, in))
	return in
}

func (d *db) opened(run core.RunID, idx int) bool {
	d.t.Helper()
	for row, err := range d.Samples(context.Background(), scope, run, idx) {
		d.check(err)
		return row.Idx == idx
	}
	return false
}

// gradeAt takes a task to its grade, loseAt to an unknown outcome.
func (d *db) gradeAt(run core.RunID, idx, attempt int) {
	d.t.Helper()
	d.check(d.Respond(context.Background(), kept(run, d.sent(run, idx, attempt), 40)))
	d.grade(run, idx)
}

func (d *db) grade(run core.RunID, idx int) {
	d.t.Helper()
	d.check(d.RecordGrade(context.Background(), core.Grade{Run: run, Idx: idx, Grader: grader, Verdict: &bundle.Verdict{Outcome: bundle.Right, Score: 1, Extracted: "2", Rule: "r"}}))
}

func (d *db) loseAt(run core.RunID, idx, attempt int) core.Intent {
	d.t.Helper()
	in := d.sent(run, idx, attempt)
	d.check(d.MarkUnknown(context.Background(), core.Ended{Run: run, Idx: idx, Call: in.Call, Reserved: 100}))
	return in
}

// arrive makes the answer of a task's lost call come after all.
func (d *db) arrive(run core.RunID, idx int) {
	d.t.Helper()
	var call string
	d.check(d.raw.QueryRow(fmt.Sprintf(`SELECT id FROM calls WHERE run = (SELECT num FROM runs WHERE id = '%s') AND idx = %d AND state = 'unknown'`, run, idx)).Scan(&call))
	state, err := d.Late(context.Background(), kept(run, core.Intent{Call: core.CallID(call), Idx: idx, Worst: 100}, 40))
	if err != nil || state != core.CallLate {
		d.t.Fatalf("the late answer is %s, %v", state, err)
	}
}

func (d *db) end(run core.RunID, why core.Reason) {
	d.t.Helper()
	if why == core.CancelledByUser {
		d.check(d.RequestCancel(context.Background(), scope, run))
	} else {
		d.check(d.Stop(context.Background(), run, core.Stop{Reason: why}))
	}
	d.finalize(run)
}

// survey decides the tasks of a run.
func (d *db) survey(run core.RunID, f core.Flags) *core.Survey {
	d.t.Helper()
	s, err := d.Continuation().Survey(context.Background(), scope, run, core.Quote{Profile: core.Profile{Grader: grader}}, f)
	d.check(err)
	return s
}

// again keeps the quote of a continuation.
func (d *db) again(run core.RunID, f core.Flags) core.Quote {
	d.t.Helper()
	ctx := context.Background()
	chain, err := d.Continuation().Chain(ctx, scope, run)
	d.check(err)
	s := d.survey(run, f)
	q := d.unkept(stoppedTasks, 1000)
	q.Profile.Grader = grader
	q.Continuation = &core.Continuation{Source: run, Chain: chain, IncludeCancelled: f.IncludeCancelled, RetryUnknown: f.RetryUnknown, Cells: s.Cells, Digest: s.Digest()}
	d.check(d.InsertQuote(ctx, q))
	return q
}

func consenting(q core.Quote) core.Admission {
	a := admission(q, "k-"+string(q.ID))
	for _, kind := range q.Consents() {
		a.Consents = append(a.Consents, core.Consent{ID: uuid.NewString(), Kind: kind})
	}
	return a
}

// continues starts the continuation of a run.
func (d *db) continues(run core.RunID, f core.Flags) core.RunID {
	d.t.Helper()
	out, err := d.Admit(context.Background(), consenting(d.again(run, f)))
	d.check(err)
	d.check(d.Start(context.Background(), out.Run))
	return out.Run
}

// states are the tasks of a run by place: state, origin and the run that
// answered.
func (d *db) states(run core.RunID) map[int]string {
	d.t.Helper()
	out := map[int]string{}
	for row, err := range d.Samples(context.Background(), scope, run, 0) {
		d.check(err)
		out[row.Idx] = fmt.Sprintf("%s %s %t", row.State, row.Origin, row.OriginRun != "")
	}
	return out
}

// A continuation begins with a row for every task that is decided, or that
// stands before one; its own tasks are asked as any others.
func TestContinuation_RES16_Rows(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		first := d.stopped()
		d.arrive(first, lateTask)
		before := d.run(first)
		second := d.continues(first, core.Flags{})
		want := map[int]string{
			gradedTask: "graded reused true", unknownTask: "pending new true", lateTask: "answered saved_response true",
			refusedTask: "left_out new false", rejectedTask: "left_out new false",
		}
		if diff := cmp.Diff(want, d.states(second)); diff != "" {
			t.Error(diff)
		}
		ctx := context.Background()
		p, err := d.Progress(ctx, second)
		d.check(err)
		if diff := cmp.Diff(core.Progress{Next: voidedTask, Answered: []int{lateTask}}, p); diff != "" {
			t.Error("the continuation begins elsewhere:", diff)
		}
		ev, ok, err := d.Evidence(ctx, second, lateTask)
		if err != nil || !ok || string(ev.Raw) != "raw answer" {
			t.Errorf("the saved answer reads %q, %t, %v", ev.Raw, ok, err)
		}
		d.grade(second, lateTask)
		for idx := voidedTask; idx < stoppedTasks; idx++ {
			d.gradeAt(second, idx, 1)
		}
		if state := d.finalize(second); state != core.Partial {
			t.Errorf("ended as %s", state)
		}
		got := d.run(second)
		if got.Charged != 3*40 || got.Tallies[bundle.Right] != 5 || got.Tallies[core.LeftOut] != 2 || got.Tallies[core.PendingTask] != 1 {
			t.Errorf("it cost %s; %v", got.Charged, got.Tallies)
		}
		if before.ContinuedBy = second; !cmp.Equal(before, d.run(first)) {
			t.Error("the source has changed:", cmp.Diff(before, d.run(first)))
		}
		d.clean()
	})
}

// An answer that comes between the quote and the yes starts nothing, and a new
// quote grades it.
func TestContinuation_RES66_LateAnswerIsStale(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		first := d.stopped()
		for _, f := range []core.Flags{{}, {RetryUnknown: true}} {
			q := d.again(first, f)
			held := d.credits()
			d.arrive(first, map[bool]int{false: lateTask, true: unknownTask}[f.RetryUnknown])
			if _, err := d.Admit(context.Background(), consenting(q)); !refused(err, core.QuoteStale) {
				t.Fatalf("%+v: %v, want quote_stale", f, err)
			}
			if d.credits() != held || d.run(first).ContinuedBy != "" {
				t.Errorf("%+v: something was started", f)
			}
		}
		if s := d.survey(first, core.Flags{}); s.Saved != 2 || s.Unknown != 0 {
			t.Errorf("the new quote counts %+v", s.Cells)
		}
		d.clean()
	})
}

// What a continuation rests on must be there, unchanged and graded by the same
// rules.
func TestContinuation_Evidence(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		first := d.stopped()
		compat := core.Quote{Profile: core.Profile{Grader: bundle.Identity{ID: "g", Compat: "another"}}}
		s, err := d.Continuation().Survey(context.Background(), scope, first, compat, core.Flags{})
		d.check(err)
		if s.Forbidden == nil || s.Forbidden.Reason != core.WhyIncompatible {
			t.Errorf("another class of grades: %+v", s.Forbidden)
		}
		for _, tt := range []struct{ damage, repair, want string }{
			{`UPDATE blobs SET expires_at = 1`, `UPDATE blobs SET expires_at = 1000000000000000`, core.WhyExpired},
			{`UPDATE blobs SET hash = 'x' || hash`, `UPDATE blobs SET hash = substr(hash, 2)`, core.WhyIncompatible},
			{`UPDATE blobs SET codec = 'expired', data = NULL`, ``, core.WhyExpired},
			{`DELETE FROM blobs`, ``, core.WhyMissing},
		} {
			d.must(d.raw.Exec(tt.damage))
			if s := d.survey(first, core.Flags{}); s.Forbidden == nil || s.Forbidden.Reason != tt.want {
				t.Errorf("%s: %+v, want %s", tt.damage, s.Forbidden, tt.want)
			}
			if tt.repair != "" {
				d.must(d.raw.Exec(tt.repair))
				d.must(d.raw.Exec(`UPDATE blobs SET expires_at = 4000000000000000`))
			}
		}
	})
}

// Processes that continue a run at the same time make one continuation, and
// each of the others learns its id.
func TestContinuation_RES25_OneOfMany(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		stores := []*store.Store{d.Store}
		if d.several() {
			stores = append(stores, d.open(), d.open())
		}
		for range 6 {
			first := d.stopped()
			quotes := make([]core.Quote, 3)
			for i := range quotes {
				quotes[i] = d.again(first, core.Flags{})
			}
			ids, errs := make([]core.RunID, 3), make([]error, 3)
			var all sync.WaitGroup
			for i, q := range quotes {
				all.Go(func() {
					out, err := stores[i%len(stores)].Admit(context.Background(), consenting(q))
					ids[i], errs[i] = out.Run, err
				})
			}
			all.Wait()
			won, told := core.RunID(""), 0
			for i := range ids {
				if errs[i] == nil && won == "" {
					won = ids[i]
				} else if errs[i] == nil {
					t.Errorf("%s and %s continue one run", won, ids[i])
				}
			}
			for _, err := range errs {
				var no *core.Refusal
				if errors.As(err, &no) && no.Code == core.ContinuationExists && no.Details["run_id"] == string(won) {
					told++
				}
			}
			if won == "" || told != 2 || d.run(first).ContinuedBy != won {
				t.Fatalf("%v, %v: %q won", ids, errs, won)
			}
		}
		d.clean()
	})
}

// several says that the database takes several processes.
func (d *db) several() bool {
	var version string
	return d.raw.QueryRow(`SELECT version()`).Scan(&version) == nil
}

// A chain of five carries a pending task with its first call, whichever run in
// between could not decide it, and excludes for good what was left out once.
func TestContinuation_RES32_RES37_RES38_ChainOfFive(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		first := d.stopped()
		d.arrive(first, lateTask)
		chain := []core.RunID{first}
		for i := range 4 {
			next := d.continues(chain[i], core.Flags{})
			if i == 0 {
				d.grade(next, lateTask)
			}
			if i < 3 {
				d.gradeAt(next, voidedTask+i, 1)
			}
			if i == 2 { // the first call of the pending task answers three runs later
				d.end(next, core.SpendingCap)
				d.arrive(first, unknownTask)
				chain = append(chain, next)
				continue
			}
			if i == 3 {
				d.grade(next, unknownTask)
			}
			d.end(next, core.SpendingCap)
			chain = append(chain, next)
		}
		last := d.run(chain[4])
		if last.Tallies[bundle.Right] != 6 || last.Tallies[core.LeftOut] != 2 || last.Charged != 0 || last.ChainPos != 4 {
			t.Errorf("the last run holds %v for %s at place %d", last.Tallies, last.Charged, last.ChainPos)
		}
		got, err := d.Continuation().Chain(context.Background(), scope, chain[2])
		if err != nil || !cmp.Equal(chain, got) {
			t.Errorf("the chain is %v, %v; want %v", got, err, chain)
		}
		decided, err := d.Continuation().Decided(context.Background(), scope, chain[4])
		want := map[core.RunID]int{chain[0]: 1, chain[1]: 2, chain[2]: 1, chain[3]: 1, chain[4]: 1}
		if err != nil || !cmp.Equal(want, decided) {
			t.Errorf("decided by %v, %v; want %v", decided, err, want)
		}
		d.clean()
	})
}

// What a person stopped is run again only if asked for, and otherwise stays out
// for good.
func TestContinuation_RES30_RES33_Cancelled(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		first := d.start(stoppedTasks, 1000)
		d.gradeAt(first, 0, 1)
		d.end(first, core.CancelledByUser)
		if s := d.survey(first, core.Flags{IncludeCancelled: true}); s.Rerun != 7 || s.Cancelled != 7 || s.Left() != 0 {
			t.Errorf("with the flag: %+v", s.Cells)
		}
		if s := d.survey(first, core.Flags{}); s.Rerun != 0 || s.LeftOut[core.WhyCancelled] != 7 || s.Work() != 0 {
			t.Errorf("without it: %+v", s.Cells)
		}
		second := d.continues(first, core.Flags{})
		d.end(second, core.SpendingCap)
		if s := d.survey(second, core.Flags{IncludeCancelled: true}); s.Rerun != 0 || s.LeftOut[core.WhyCancelled] != 7 || s.Reused != 1 {
			t.Errorf("in a later continuation: %+v", s.Cells)
		}
		d.clean()
	})
}

// Each rule about chains finds the damage it is there for.
func TestAudit_FindsDamagedChains(t *testing.T) {
	t.Parallel()
	const second = `(SELECT num FROM runs WHERE chain_pos = 1)`
	for i, tt := range []struct{ rule, damage string }{
		{"chain.order", `UPDATE runs SET chain_pos = 7 WHERE chain_pos = 1`},
		{"chain.order", `UPDATE runs SET scope_hash = 'x' WHERE chain_pos = 1`},
		{"chain.first", `UPDATE runs SET chain_root = 'x' WHERE chain_pos = 0`},
		{"chain.ended", `UPDATE runs SET state = 'running' WHERE chain_pos = 0`},
		{"chain.origin", `UPDATE samples SET origin = 'reused' WHERE run <> ` + second + ` AND state = 'graded'`},
		{"chain.reused", `UPDATE samples SET score = 0 WHERE origin = 'reused'`},
		{"chain.reused", `UPDATE samples SET task_id = 'x' WHERE origin = 'reused'`},
		{"chain.regraded", `DELETE FROM samples WHERE origin = 'reused'`},
		{"chain.free", `UPDATE samples SET charge = 1 WHERE origin = 'reused'`},
		{"chain.free", `UPDATE calls SET idx = 0 WHERE run = ` + second + ` AND idx = 5`},
		{"chain.evidence", `UPDATE samples SET source_call_id = 'x' WHERE origin = 'reused'`},
		{"chain.evidence", `UPDATE samples SET source_run = ` + second + ` WHERE origin = 'saved_response'`},
		{"chain.paid_once", `UPDATE samples SET origin = 'new' WHERE origin = 'reused'; UPDATE calls SET idx = 0 WHERE run = ` + second + ` AND idx = 5`},
		{"chain.unconsented", `DELETE FROM consents WHERE kind = 'retry_unknown'`},
		{"chain.unconsented", `UPDATE samples SET origin = 'new' WHERE origin = 'unknown_retry'`},
		{"chain.left_out", `DELETE FROM consents WHERE kind = 'left_out'`},
		{"chain.excluded", `UPDATE samples SET state = 'pending' WHERE state = 'left_out'`},
		{"chain.mismatch", `INSERT INTO reuse_mismatches (run, idx, original) VALUES (` + second + `, 5, 1)`},
		{"chain.mismatch", `INSERT INTO reuse_mismatches (run, idx, original) VALUES (` + second + `, 0, 0.5)`},
	} {
		t.Run(fmt.Sprintf("%d %s", i, tt.rule), func(t *testing.T) {
			t.Parallel()
			d := newSQLite(t)
			first := d.stopped()
			d.arrive(first, lateTask)
			next := d.continues(first, core.Flags{RetryUnknown: true})
			d.grade(next, lateTask)
			d.gradeAt(next, unknownTask, 1)
			d.gradeAt(next, voidedTask, 1)
			d.end(next, core.SpendingCap)
			d.finds(tt.rule, tt.damage)
		})
	}
}

// A reused answer that got another score is kept once.
func TestContinuation_Mismatch(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx := context.Background()
		second := d.continues(d.stopped(), core.Flags{})
		reused, err := d.Continuation().Reused(ctx, second, 0, 10)
		if err != nil || !cmp.Equal([]core.Reused{{Idx: gradedTask, Score: 1}}, reused) {
			t.Fatalf("%v, %v", reused, err)
		}
		other := 0.5
		for range 2 {
			d.check(d.Continuation().RecordMismatch(ctx, second, core.Mismatch{Idx: gradedTask, Original: 1, Replayed: &other}))
		}
		got, err := d.Continuation().Mismatches(ctx, scope, second)
		if err != nil || !cmp.Equal([]core.Mismatch{{Idx: gradedTask, TaskID: "t000", Original: 1, Replayed: &other}}, got) {
			t.Errorf("%v, %v", got, err)
		}
		d.clean()
	})
}

// A task of which one part was answered and another one did no work is not one
// that nobody worked on: what was paid for is paid again with consent only.
func TestContinuation_AnsweredInPart(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx := context.Background()
		for name, settle := range map[string]func(core.Ended) error{
			"not sent": func(e core.Ended) error { return d.Replan(ctx, e, core.CallVoided) },
			"rejected": func(e core.Ended) error { return d.Replan(ctx, e, core.CallRejected) },
		} {
			run := d.start(2, 1000)
			d.answered(run, 0)
			in := d.askedPart(run, 0, 1, 1)
			d.check(settle(core.Ended{Run: run, Idx: 0, Call: in.Call, Reserved: in.Worst, Part: 1}))
			d.check(d.RequestCancel(ctx, scope, run))
			d.check(d.LeaveUnjudged(ctx, run, 0))
			d.finalize(run)
			parted := core.Quote{Profile: core.Profile{Grader: grader, Needs: []string{core.OffersLogprobs}}}
			for _, retry := range []bool{false, true} {
				s, err := d.Continuation().Survey(ctx, scope, run, parted, core.Flags{IncludeCancelled: true, RetryUnknown: retry})
				d.check(err)
				if want := map[bool]int{true: 1}[retry]; s.Retried != want || s.Pending[core.WhyPartly] != 1-want || s.Rerun != 1 {
					t.Errorf("%s, consent %t: %+v", name, retry, s.Cells)
				}
			}
		}
		d.clean()
	})
}
