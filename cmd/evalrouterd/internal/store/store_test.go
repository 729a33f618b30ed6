package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
	"github.com/evalrouter/evalrouter/lib/usd"
)

func TestRun_FromQuoteToResult(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		run := d.start(3, 1000)
		if c := d.credits(); c.Held != 1000 || c.Available != 10*usd.Dollar-1000 {
			t.Errorf("after admission %+v", c)
		}
		d.ask(run, 0, 100, 40)
		d.ask(run, 1, 100, 250) // more than was reserved
		in := intent(2, 100)
		d.must(d.Reserve(context.Background(), run, lease, []core.Intent{in}))
		d.check(d.MarkSent(context.Background(), run, in))
		d.check(d.MarkUnknown(context.Background(), core.Ended{Run: run, Idx: 2, Call: in.Call, Reserved: in.Worst, Outcome: "reset"}))
		d.clean()
		if state := d.finalize(run); state != core.Partial {
			t.Errorf("state %s", state)
		}
		d.clean()
		r := d.run(run)
		if r.Charged != 140 || r.Reserved != 0 || r.Waived != 100 || r.Absorbed != 150 {
			t.Errorf("money: charged %d reserved %d waived %d absorbed %d", r.Charged, r.Reserved, r.Waived, r.Absorbed)
		}
		if c := d.credits(); c.Held != 0 || c.Available != 10*usd.Dollar-140 {
			t.Errorf("after the end %+v", c)
		}
		if _, err := d.Run(context.Background(), core.Scope{Workspace: "w2"}, run); !refused(err, core.NotFound) {
			t.Errorf("another workspace reads the run: %v", err)
		}
		if again := d.finalize(run); again != core.Partial {
			t.Errorf("ending twice gave %s", again)
		}
		var n int
		for s, err := range d.Samples(context.Background(), scope, run, 0) {
			d.check(err)
			if s.Idx != n {
				t.Errorf("sample %d at place %d", s.Idx, n)
			}
			if s.State == core.SampleGraded && (string(s.Raw) != "raw answer" || s.Score == nil || *s.Score != 1 || s.Span == nil || s.Grader != "g@1" || s.Compat != "g@1+c") {
				t.Errorf("sample %+v", s)
			}
			n++
		}
		if n != 3 {
			t.Errorf("%d samples", n)
		}
		for range d.Samples(context.Background(), core.Scope{Workspace: "w2"}, run, 0) {
			t.Error("another workspace reads the samples")
		}
	})
}

func TestAdmit_Idempotency(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		q := d.quote(3, 1000)
		first, err := d.Admit(ctx, admission(q, "k1"))
		d.check(err)
		again, err := d.Admit(ctx, admission(q, "k1"))
		d.check(err)
		if !again.Replayed || again.Run != first.Run || string(again.Body) != string(first.Body) || again.Status != first.Status {
			t.Errorf("replay %+v of %+v", again, first)
		}
		other := admission(q, "k1")
		other.RequestHash = "another body"
		if _, err := d.Admit(ctx, other); !refused(err, core.IdempotencyConflict) {
			t.Errorf("another body under the same key: %v", err)
		}
		_, err = d.Admit(ctx, admission(q, "k2"))
		if !refused(err, core.QuoteAlreadyAccepted) || err.(*core.Refusal).Details["run_id"] != string(first.Run) {
			t.Errorf("another key with the same quote: %v", err)
		}
		foreign := admission(d.quote(3, 1000), "k3")
		foreign.Scope.Workspace = "w2"
		if _, err := d.Admit(ctx, foreign); !refused(err, core.NotFound) {
			t.Errorf("a quote of another workspace: %v", err)
		}
		d.clean()
	})
}

func TestAdmit_RefusesAndCanBeRepeated(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		q := d.quote(3, 11*usd.Dollar)
		if _, err := d.Admit(ctx, admission(q, "k")); !refused(err, core.InsufficientCredit) {
			t.Fatalf("short of credit: %v", err)
		}
		d.check(d.Grant(ctx, "grant-2", "w1", core.CreditBook, 5*usd.Dollar, "more"))
		d.check(d.Grant(ctx, "grant-2", "w1", core.CreditBook, 5*usd.Dollar, "the same again"))
		if c := d.credits(); c.Available != 15*usd.Dollar {
			t.Fatalf("a grant is made once: %+v", c)
		}
		if _, err := d.Admit(ctx, admission(q, "k")); err != nil {
			t.Errorf("same quote and key after credit was added: %v", err)
		}
		old := d.quote(3, 1000)
		d.time.Store(int64(old.ExpiresAt) - 1)
		if _, err := d.Admit(ctx, admission(old, "k-in-time")); err != nil {
			t.Errorf("a microsecond before it expires: %v", err)
		}
		late := d.quote(3, 1000)
		d.time.Store(int64(late.ExpiresAt))
		if _, err := d.Admit(ctx, admission(late, "k-late")); !refused(err, core.QuoteExpired) {
			t.Errorf("when it expires: %v", err)
		}
		d.clean()
	})
}

func TestAdmit_RaceForTheLastCredit(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		const runs, affordable = 40, 10
		quotes := make([]core.Quote, runs)
		for i := range quotes {
			quotes[i] = d.quote(3, usd.Dollar)
		}
		var mu sync.Mutex
		admitted, short := 0, 0
		var wg sync.WaitGroup
		for _, q := range quotes {
			wg.Go(func() {
				_, err := d.Admit(ctx, admission(q, "k-"+string(q.ID)))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					admitted++
				case refused(err, core.InsufficientCredit):
					short++
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if admitted != affordable || short != runs-affordable {
			t.Errorf("%d admitted and %d short, credit was for %d", admitted, short, affordable)
		}
		d.clean()
	})
}

func TestReserve_NeverPassesTheCap(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		run := d.start(100, 1050)
		var mu sync.Mutex
		granted := 0
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() {
				out, err := d.Reserve(ctx, run, lease, []core.Intent{intent(i, 100)})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				granted += out.Granted
			})
		}
		wg.Wait()
		if granted != 10 {
			t.Errorf("%d reservations of 100 under a cap of 1050", granted)
		}
		if r := d.run(run); r.Reserved != 1000 {
			t.Errorf("reserved %d", r.Reserved)
		}
		d.clean()
	})
}

func TestReserve_KeepsTheOrder(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		run := d.start(100, 1000)
		out, err := d.Reserve(ctx, run, lease, []core.Intent{intent(0, 400), intent(1, 700), intent(2, 10)})
		d.check(err)
		if out.Granted != 1 || !out.Running {
			t.Errorf("granted %d: a cheaper task overtook one that did not fit", out.Granted)
		}
	})
}

// Every step of a call happens once: whoever comes second changes nothing.
func TestCall_StepsHappenOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		run := d.start(10, 1000)
		in := d.ask(run, 0, 100, 40)
		before := d.run(run)
		ended := core.Ended{Run: run, Idx: 0, Call: in.Call, Reserved: 100}
		for name, err := range map[string]error{
			"sent again":      d.MarkSent(ctx, run, in),
			"answered again":  d.Respond(ctx, response(run, in, 40)),
			"unknown after":   d.MarkUnknown(ctx, ended),
			"rejected after":  d.GiveUp(ctx, ended, core.CallRejected, false, "x"),
			"planned after":   d.Replan(ctx, ended, core.CallRejected),
			"graded again":    d.RecordGrade(ctx, core.Grade{Run: run, Idx: 0, Verdict: &bundle.Verdict{Outcome: bundle.Wrong}}),
			"reserved again":  second(d.Reserve(ctx, run, lease, []core.Intent{intent(0, 100)})),
			"intent rejected": rejectIntent(d, run),
		} {
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		after := d.run(run)
		if after.Charged != before.Charged || after.Tallies[bundle.Right] != 1 || after.Tallies.Total() != 1 {
			t.Errorf("changed from %+v to %+v", before, after)
		}
		d.clean()
	})
}

func second(_ any, err error) error { return err }

func rejectIntent(d *db, run core.RunID) error {
	in := intent(5, 100)
	d.must(d.Reserve(context.Background(), run, lease, []core.Intent{in}))
	return d.GiveUp(context.Background(), core.Ended{Run: run, Idx: 5, Call: in.Call, Reserved: 100}, core.CallRejected, false, "x")
}

func TestRetry_MovesTheReservation(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		run := d.start(10, 1000)
		in := intent(0, 300)
		d.must(d.Reserve(ctx, run, lease, []core.Intent{in}))
		d.check(d.MarkSent(ctx, run, in))
		next := intent(0, 300)
		next.Attempt = 2
		d.check(d.Retry(ctx, core.Ended{Run: run, Idx: 0, Call: in.Call, Reserved: 300}, core.CallRejected, lease, next, map[string]any{"attempt": 2}))
		if r := d.run(run); r.Reserved != 300 {
			t.Errorf("reserved %d", r.Reserved)
		}
		d.clean()
		d.check(d.MarkSent(ctx, run, next))
		d.check(d.Respond(ctx, response(run, next, 10)))
		d.clean()
	})
}

func TestRecover_VoidsIntentsAndLosesNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		run := d.start(100, 100_000)
		var batch []core.Intent
		for i := range 40 {
			batch = append(batch, intent(i, 100))
		}
		d.must(d.Reserve(ctx, run, lease, batch))
		for _, in := range batch[:15] {
			d.check(d.MarkSent(ctx, run, in))
		}
		d.check(d.Respond(ctx, response(run, batch[0], 10)))
		d.check(d.Close())
		d.Store = d.open()
		found, err := d.Recover(ctx)
		d.check(err)
		if found.Voided != 25 || found.Unknown != 14 {
			t.Errorf("found %+v", found)
		}
		d.clean()
		p, err := d.Progress(ctx, run)
		d.check(err)
		if len(p.Redo) != 25 || p.Next != 40 || len(p.Answered) != 1 || p.Redo[0].Attempt != 1 {
			t.Errorf("progress: next %d, %d to redo, %d answered", p.Next, len(p.Redo), len(p.Answered))
		}
		if r := d.run(run); r.Reserved != 0 || r.Waived != 1400 || r.Charged != 10 {
			t.Errorf("money: %+v", r)
		}
		if again, err := d.Recover(ctx); err != nil || again != (core.Recovered{}) {
			t.Errorf("recovering twice: %+v, %v", again, err)
		}
	})
}

// A run with a call in flight, or an answer that has no grade yet, cannot end.
func TestFinalize_WaitsForOpenTasks(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		run, in := d.start(2, 1000), intent(0, 0) // a free call: nothing reserved gives it away
		d.must(d.Reserve(ctx, run, lease, []core.Intent{in}))
		d.check(d.MarkSent(ctx, run, in))
		if _, err := d.Finalize(ctx, run, "x", "y", conclude); !errors.Is(err, core.ErrMoved) {
			t.Errorf("ended with a call in flight: %v", err)
		}
		d.check(d.Respond(ctx, response(run, in, 0)))
		if _, err := d.Finalize(ctx, run, "x", "y", conclude); !errors.Is(err, core.ErrMoved) {
			t.Errorf("ended with an answer that has no grade: %v", err)
		}
		d.clean()
	})
}

func TestEvents_AreASequenceWithoutGaps(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		run := d.start(3, 1000)
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() { d.check(d.AppendEvent(ctx, run, core.EventProgress, map[string]any{"i": i})) })
		}
		wg.Wait()
		all, err := d.Events(ctx, scope, run, history.EventQuery{Limit: 1000})
		d.check(err)
		for i, e := range all {
			if e.Seq != int64(i+1) {
				t.Fatalf("event %d has sequence %d", i+1, e.Seq)
			}
		}
		tail, err := d.Events(ctx, scope, run, history.EventQuery{Limit: 5, Tail: true})
		d.check(err)
		if len(tail) != 5 || tail[0].Seq != all[len(all)-5].Seq {
			t.Errorf("tail begins at %d of %d", tail[0].Seq, len(all))
		}
		some, err := d.Events(ctx, scope, run, history.EventQuery{Limit: 10, After: 1, Types: []string{core.EventHeld, core.EventStarted}})
		d.check(err)
		if len(some) != 2 {
			t.Errorf("%d events of two types", len(some))
		}
		if none, err := d.Events(ctx, core.Scope{Workspace: "w2"}, run, history.EventQuery{Limit: 10}); err != nil || len(none) != 0 {
			t.Errorf("another workspace reads %d events, %v", len(none), err)
		}
		d.clean()
	})
}

func TestRuns_ListsByPage(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		want := map[core.RunID]bool{}
		var last core.RunID
		for range 7 {
			last = d.start(3, 1000)
			want[last] = true
		}
		var cursor *store.RunCursor
		for pages := 0; ; pages++ {
			page, err := d.Runs(ctx, scope, store.RunFilter{Limit: 3, After: cursor})
			d.check(err)
			for _, r := range page {
				if !want[r.ID] {
					t.Errorf("run %s twice or foreign", r.ID)
				}
				delete(want, r.ID)
			}
			if len(page) < 3 {
				break
			}
			cursor = &store.RunCursor{CreatedAt: page[2].CreatedAt, ID: page[2].ID}
		}
		if len(want) != 0 {
			t.Errorf("%d runs are on no page", len(want))
		}
		byPrefix, err := d.Runs(ctx, scope, store.RunFilter{IDPrefix: string(last)[:8], Limit: 5})
		d.check(err)
		if len(byPrefix) != 1 || byPrefix[0].ID != last {
			t.Errorf("prefix finds %v", byPrefix)
		}
		for name, f := range map[string]store.RunFilter{
			"state": {States: []core.State{core.Completed}}, "profile": {Profile: "other@1"}, "target": {Target: "other"}, "before": {CreatedBefore: 1}, "after": {CreatedAfter: d.Now() + 1},
		} {
			f.Limit = 10
			got, err := d.Runs(ctx, scope, f)
			d.check(err)
			if len(got) != 0 {
				t.Errorf("filter by %s finds %d", name, len(got))
			}
		}
		if all, err := d.Runs(ctx, scope, store.RunFilter{States: []core.State{core.Running, core.Queued}, Profile: "sums@1", Target: "r", Limit: 10}); err != nil || len(all) != 7 {
			t.Errorf("all filters at once find %d, %v", len(all), err)
		}
	})
}

func TestCancel_IsIdempotent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		run := d.start(3, 1000)
		if err := d.RequestCancel(ctx, core.Scope{Workspace: "w2"}, run); !refused(err, core.NotFound) {
			t.Errorf("another workspace: %v", err)
		}
		d.check(d.Park(ctx, run, d.Now()+1, "rate_limited"))
		d.check(d.RequestCancel(ctx, scope, run))
		n := d.run(run).NextSeq
		d.check(d.RequestCancel(ctx, scope, run))
		if r := d.run(run); r.State != core.Stopping || r.NextSeq != n || r.RetryAt != 0 || r.WaitingReason != "" {
			t.Errorf("state %s, %d events then %d; it waits until %d: %q", r.State, n, r.NextSeq, r.RetryAt, r.WaitingReason)
		}
		if out, err := d.Reserve(ctx, run, lease, []core.Intent{intent(0, 1)}); err != nil || out.Running || out.Granted != 0 {
			t.Errorf("a stopping run reserves: %+v, %v", out, err)
		}
		if state := d.finalize(run); state != core.Cancelled {
			t.Errorf("ended as %s", state)
		}
		d.clean()
	})
}

func TestProfiles_VersionsNeverChange(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		none := func(func(bundle.Task, error) bool) {}
		if made, err := d.PutProfile(ctx, "c2", profile, none); err != nil || made {
			t.Errorf("the same again: %v, %v", made, err)
		}
		other := profile
		other.ManifestSHA256 = "m2"
		if _, err := d.PutProfile(ctx, "c3", other, none); !refused(err, core.InvalidRequest) {
			t.Errorf("the same version with another manifest: %v", err)
		}
		broken := profile
		broken.ID, broken.Slug = "broken@1", "broken"
		_, err := d.PutProfile(ctx, "c4", broken, func(yield func(bundle.Task, error) bool) {
			_ = yield(bundle.Task{ID: "a"}, nil) && yield(bundle.Task{}, errors.New("row 2 is bad"))
		})
		if err == nil || !strings.Contains(err.Error(), "row 2") {
			t.Errorf("a bad row: %v", err)
		}
		if _, err := d.Profile(ctx, scope, broken.ID); !refused(err, core.NotFound) {
			t.Errorf("half a benchmark is visible: %v", err)
		}
		if _, err := d.PutProfile(ctx, "c5", broken, none); err == nil {
			t.Error("a benchmark of a hundred tasks was admitted with none")
		}
		tasks, err := d.TasksAt(ctx, profile.ID, []int{99, 7})
		d.check(err)
		if task := tasks[7]; len(tasks) != 2 || task.ID != "t007" || task.Target[0] != "8" {
			t.Errorf("tasks %+v", tasks)
		}
		if _, err := d.TasksAt(ctx, profile.ID, []int{100}); err == nil {
			t.Error("a task beyond the last was read")
		}
	})
}

// However many positions are asked for, the first of them are read, each once.
func TestTasksAt_Many(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		p := d.ownProfile("many", 300)
		for _, tt := range []struct{ asked, want int }{{1, 1}, {2, 2}, {255, 255}, {256, 256}, {257, 256}, {300, 256}} {
			var at []int
			for i := range tt.asked {
				at = append(at, i*7%300) // scattered
			}
			tasks, err := d.TasksAt(context.Background(), p.ID, at)
			d.check(err)
			if len(tasks) != tt.want {
				t.Errorf("%d tasks of %d, want %d", len(tasks), tt.asked, tt.want)
			}
			for _, pos := range at[:tt.want] {
				if tasks[pos].ID != fmt.Sprint("t", pos) {
					t.Errorf("of %d: at %d is %q", tt.asked, pos, tasks[pos].ID)
				}
			}
		}
	})
}

func TestConnections_RevisionsAndTenancy(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	in, out := int64(150_000), int64(600_000)
	onEach(t, func(t *testing.T, d *db) {
		c := core.ConnectionInfo{
			ID: core.ConnectionID(uuid.NewString()), Workspace: "w1", Name: "mine", BaseURL: "http://127.0.0.1:1/v1", ModelID: "m", Protocol: core.OpenAIChat, Revision: 1,
			SealedKey: []byte{1, 2}, KeyVersion: 1, MaxOutputTokens: 10, ContextWindow: 100, PriceIn: &in, PriceOut: &out,
		}
		d.check(d.InsertConnection(ctx, c))
		d.check(d.RecordCheck(ctx, c, core.CheckResult{Status: "ok", LatencyMS: 3}))
		got, err := d.Connection(ctx, scope, c.ID)
		d.check(err)
		if got.Check.Status != "ok" || got.PriceOut == nil || *got.PriceOut != out || string(got.SealedKey) != "\x01\x02" {
			t.Errorf("read %+v", got)
		}
		got.Name = "renamed"
		d.check(d.UpdateConnection(ctx, got))
		if now, _ := d.Connection(ctx, scope, c.ID); now.Revision != 2 || now.CheckedAt != 0 || now.Check.Status != "" {
			t.Errorf("after an update %+v", now)
		}
		if err := d.UpdateConnection(ctx, got); !refused(err, core.NotFound) {
			t.Errorf("an update of an old revision: %v", err)
		}
		for name, err := range map[string]error{
			"read":    second(d.Connection(ctx, core.Scope{Workspace: "w2"}, c.ID)),
			"disable": d.DisableConnection(ctx, core.Scope{Workspace: "w2"}, c.ID),
		} {
			if !refused(err, core.NotFound) {
				t.Errorf("%s by another workspace: %v", name, err)
			}
		}
		d.check(d.DisableConnection(ctx, scope, c.ID))
		d.check(d.DisableConnection(ctx, scope, c.ID))
		if list, err := d.Connections(ctx, scope); err != nil || len(list) != 1 || list[0].DisabledAt == 0 {
			t.Errorf("list %+v, %v", list, err)
		}
	})
}

func TestKeys(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		d.check(d.Access().AddKey(ctx, core.APIKey{ID: "k1", Workspace: "w1", Name: "ci", Prefix: "abcd", MAC: []byte{9}, Scopes: []string{"eval:read", "eval:write"}}, by("u")))
		k, ok, err := d.Access().KeyByPrefix(ctx, "abcd")
		if err != nil || !ok || len(k.Scopes) != 2 || k.RevokedAt != 0 {
			t.Fatalf("key %+v %v %v", k, ok, err)
		}
		if _, ok, err := d.Access().KeyByPrefix(ctx, "none"); ok || err != nil {
			t.Errorf("missing key: %v %v", ok, err)
		}
		if err := d.Access().RevokeKey(ctx, "w2", "k1", by("u")); !refused(err, core.NotFound) {
			t.Errorf("another workspace revokes: %v", err)
		}
		d.check(d.Access().RevokeKey(ctx, "w1", "k1", by("u")))
		if k, _, _ := d.Access().KeyByPrefix(ctx, "abcd"); k.RevokedAt == 0 {
			t.Error("not revoked")
		}
		d.check(d.SetMeta(ctx, "a", "1"))
		d.check(d.SetMeta(ctx, "a", "2"))
		if v, err := d.Meta(ctx, "a"); v != "2" || err != nil {
			t.Errorf("meta %q %v", v, err)
		}
	})
}

// Of two admissions of one version at once, one is made, whole, and the other
// adds nothing to it.
func TestProfiles_TwoAdmissionsAtOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		version := func(manifest string) core.Profile {
			p := profile
			p.ID, p.Slug, p.ManifestSHA256, p.TaskCount = "raced@1", "raced", manifest, 2
			return p
		}
		taken, resume := make(chan struct{}), make(chan struct{})
		tasks := func(mark string, pause bool) func(func(bundle.Task, error) bool) {
			return func(yield func(bundle.Task, error) bool) {
				if pause {
					close(taken)
					<-resume
				}
				_ = yield(bundle.Task{ID: mark + "1"}, nil) && yield(bundle.Task{ID: mark + "2"}, nil)
			}
		}
		slow := make(chan error, 1)
		go func() { _, err := d.PutProfile(ctx, "slow", version("m-slow"), tasks("slow", true)); slow <- err }()
		<-taken
		if made, err := d.PutProfile(ctx, "fast", version("m-fast"), tasks("fast", false)); err != nil || !made {
			t.Fatalf("the later admission: %v, %v", made, err)
		}
		close(resume)
		if err := <-slow; !refused(err, core.InvalidRequest) {
			t.Errorf("the slower admission: %v", err)
		}
		p, err := d.Profile(ctx, scope, "raced@1")
		d.check(err)
		stored, err := d.TasksAt(ctx, p.ID, []int{0, 1})
		d.check(err)
		for pos := range 2 {
			task := stored[pos]
			if p.ManifestSHA256 != "m-fast" || task.ID != fmt.Sprintf("fast%d", pos+1) {
				t.Errorf("manifest %s with task %s", p.ManifestSHA256, task.ID)
			}
		}
	})
}

// An admission that was overtaken adds nothing, although the one that overtook
// it is not done either.
func TestProfiles_OvertakenWhileStaged(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		admit := func(mark string, taken chan<- struct{}, resume <-chan struct{}) <-chan error {
			p := profile
			p.ID, p.Slug, p.ManifestSHA256, p.TaskCount = "staged@1", "staged", "m-"+mark, 2
			ended := make(chan error, 1)
			go func() {
				_, err := d.PutProfile(ctx, mark, p, func(yield func(bundle.Task, error) bool) {
					close(taken)
					<-resume
					_ = yield(bundle.Task{ID: mark + "1"}, nil) && yield(bundle.Task{ID: mark + "2"}, nil)
				})
				ended <- err
			}()
			return ended
		}
		taken, resume := [2]chan struct{}{make(chan struct{}), make(chan struct{})}, [2]chan struct{}{make(chan struct{}), make(chan struct{})}
		slow := admit("slow", taken[0], resume[0])
		<-taken[0]
		later := admit("later", taken[1], resume[1])
		<-taken[1]
		close(resume[0])
		if err := <-slow; !refused(err, core.InvalidRequest) {
			t.Errorf("the slower admission: %v", err)
		}
		close(resume[1])
		d.check(<-later)
		stored, err := d.TasksAt(ctx, "staged@1", []int{0, 1})
		d.check(err)
		if stored[0].ID != "later1" || stored[1].ID != "later2" {
			t.Errorf("stored %v", stored)
		}
	})
}
