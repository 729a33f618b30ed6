package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/storetest"
)

const term = 30 * time.Second

func (d *db) claim(run core.RunID, worker string) core.Claim {
	d.t.Helper()
	c, ok, err := d.Claim(context.Background(), run, worker, term)
	d.check(err)
	if !ok {
		d.t.Fatalf("%s has no turn", worker)
	}
	return c
}

// A run belongs to one worker until its lease runs out, however it is asked
// for.
func TestClaim_OneAtATime(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		run := d.start(5, 1000)
		first := d.claim(run, "a")
		if _, ok, err := d.Claim(ctx, run, "b", term); ok || err != nil {
			t.Fatalf("another worker has a turn as well: %v", err)
		}
		d.time.Add(int64(20 * time.Second / time.Microsecond))
		held, err := d.Renew(ctx, "a", term)
		d.check(err)
		if len(held) != 1 || held[0] != first {
			t.Fatalf("a holds %v, not %v", held, first)
		}
		d.time.Add(int64(20 * time.Second / time.Microsecond)) // 40 s after the claim, 20 s after the renewal
		if _, ok, _ := d.Claim(ctx, run, "b", term); ok {
			t.Fatal("a renewed turn was taken away")
		}
		if o, err := d.Orphans(ctx, 10); err != nil || len(o) != 0 {
			t.Fatalf("orphans %v, %v", o, err)
		}
		d.time.Add(int64(10 * time.Second / time.Microsecond))
		if o, err := d.Orphans(ctx, 10); err != nil || len(o) != 1 || o[0].Run != run {
			t.Fatalf("orphans %v, %v", o, err)
		}
		second := d.claim(run, "b")
		if second.Fence <= first.Fence {
			t.Errorf("fence %d after %d", second.Fence, first.Fence)
		}
		if held, err := d.Renew(ctx, "a", term); err != nil || len(held) != 0 {
			t.Errorf("a still holds %v, %v", held, err)
		}
		d.check(d.Release(ctx, first)) // over already: changes nothing
		if _, ok, _ := d.Claim(ctx, run, "c", term); ok {
			t.Error("an old turn's release ended the new turn")
		}
		d.check(d.Release(ctx, second))
		d.claim(run, "c")
		d.clean()
	})
}

// Many workers ask for the same run at once: one gets it.
func TestClaim_Race(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		run := d.start(5, 1000)
		stores := []*store.Store{d.Store, d.open(), d.open()}
		var mu sync.Mutex
		var won []core.Claim
		var wg sync.WaitGroup
		for i := range 24 {
			wg.Go(func() {
				c, ok, err := stores[i%3].Claim(context.Background(), run, string(rune('a'+i)), term)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				if ok {
					won = append(won, c)
				}
			})
		}
		wg.Wait()
		if len(won) != 1 {
			t.Errorf("%d workers have a turn", len(won))
		}
	})
}

// A worker that lost its turn changes nothing any more: what it had open was
// settled by the next turn, and what it still receives is late evidence.
func TestClaim_FencesOff(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		run := d.start(9, 10_000)
		first := d.claim(run, "a")
		old, under := d.Holding(first), core.Lease{Worker: "a", Until: 1, Fence: first.Fence}
		ins := []core.Intent{intent(0, 100), intent(1, 100), intent(2, 100)}
		d.must(old.Reserve(ctx, run, under, ins))
		d.check(old.MarkSent(ctx, run, ins[0]))
		d.check(old.MarkSent(ctx, run, ins[1]))
		d.check(old.Respond(ctx, response(run, ins[1], 40)))
		d.time.Add(term.Microseconds())
		second := d.claim(run, "b")
		d.clean() // no live call of the first turn is left

		fenced := func(name string, err error, want error) {
			t.Helper()
			if !errors.Is(err, want) {
				t.Errorf("%s by the worker that was fenced off: %v", name, err)
			}
		}
		_, err := old.Reserve(ctx, run, under, []core.Intent{intent(5, 100)})
		fenced("reserve", err, core.ErrFenced)
		fenced("sent", old.MarkSent(ctx, run, ins[2]), core.ErrMoved)
		fenced("replan", old.Replan(ctx, core.Ended{Run: run, Idx: 2, Call: ins[2].Call, Reserved: 100}, core.CallVoided), core.ErrMoved)
		fenced("retry", old.Retry(ctx, core.Ended{Run: run, Idx: 0, Call: ins[0].Call, Reserved: 100}, core.CallRejected, under, intent(0, 100), nil), core.ErrMoved)
		fenced("respond", old.Respond(ctx, response(run, ins[0], 40)), core.ErrMoved)
		fenced("start", old.Start(ctx, run), core.ErrFenced)
		fenced("stop", old.Stop(ctx, run, core.Stop{Reason: core.InternalFailure}), core.ErrFenced)
		fenced("park", old.Park(ctx, run, 1, "x"), core.ErrFenced)
		fenced("abandon", old.Abandon(ctx, run), core.ErrFenced)
		fenced("event", old.AppendEvent(ctx, run, core.EventProgress, nil), core.ErrFenced)
		fenced("grade", old.RecordGrade(ctx, core.Grade{Run: run, Idx: 1}), core.ErrFenced)
		_, err = old.Finalize(ctx, run, "r", "t", conclude)
		fenced("finalize", err, core.ErrFenced)

		state, err := old.Late(ctx, response(run, ins[0], 40))
		if d.check(err); state != core.CallLate {
			t.Errorf("the late answer's call is %s", state)
		}
		if state, err := old.Late(ctx, response(run, ins[1], 40)); err != nil || state != core.CallResponded {
			t.Errorf("an answer that was recorded is %s, %v", state, err)
		}
		if ev, ok, err := d.Evidence(ctx, run, 0); err != nil || !ok || string(ev.Raw) != "raw answer" || ev.Spent != 0 {
			t.Errorf("late evidence %+v, %v, %v", ev, ok, err)
		}
		d.clean()

		p, err := d.Progress(ctx, run)
		d.check(err)
		if len(p.Redo) != 1 || p.Redo[0].Idx != 2 || len(p.Answered) != 1 || p.Answered[0] != 1 {
			t.Errorf("the next worker finds %+v", p)
		}
		now := d.Holding(second)
		d.must(now.Reserve(ctx, run, core.Lease{Worker: "b", Until: 1, Fence: second.Fence}, []core.Intent{intent(5, 100)}))
		d.check(now.Abandon(ctx, run))
		d.check(now.Stop(ctx, run, core.Stop{Reason: core.TimeLimit}))
		d.must(now.Finalize(ctx, run, "r", "t", conclude))
		d.clean()
		if r := d.run(run); r.Charged != 40 || r.Waived != 100 || r.Reserved != 0 {
			t.Errorf("charged %d, waived %d, reserved %d", r.Charged, r.Waived, r.Reserved)
		}
		if _, ok, _ := d.Claim(ctx, run, "c", term); ok {
			t.Error("a run that has ended has a turn")
		}
	})
}

// A call is marked as sent while another worker takes the run over: either it
// was sent, and is unknown, or it was not, and its task is free. It is never
// both sent and planned again.
func TestClaim_AgainstSending(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		other := d.open()
		for range 15 {
			run := d.start(9, 10_000)
			first := d.claim(run, "a")
			var ins []core.Intent
			for i := range 8 {
				ins = append(ins, intent(i, 100))
			}
			d.must(d.Reserve(ctx, run, core.Lease{Worker: "a", Fence: first.Fence}, ins))
			d.time.Add(term.Microseconds())
			sent := make([]error, len(ins))
			var wg sync.WaitGroup
			for i, in := range ins {
				wg.Go(func() { sent[i] = d.MarkSent(ctx, run, in) })
			}
			wg.Go(func() {
				if _, ok, err := other.Claim(ctx, run, "b", term); !ok || err != nil {
					t.Errorf("claim: %v, %v", ok, err)
				}
			})
			wg.Wait()
			p, err := d.Progress(ctx, run)
			d.check(err)
			planned := map[int]bool{}
			for _, r := range p.Redo {
				planned[r.Idx] = true
			}
			for i, err := range sent {
				if planned[i] == (err == nil) {
					t.Errorf("task %d: sent with %v, planned again: %v", i, err, planned[i])
				}
			}
		}
		d.clean()
	})
}

// Leases and times follow the database's clock: processes whose clocks are far
// apart neither take a run away early nor date events wildly.
func TestClaim_DatabaseClock(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	address := storetest.Migrated(t)
	d := newDB(t, store.Options{Postgres: address}, "pgx", address)
	skewed := func(by time.Duration) *store.Store {
		s, err := store.Open(ctx, store.Options{Postgres: address, Now: func() time.Time { return time.Now().Add(by) }, ServerClock: true})
		d.check(err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	early, late := skewed(-5*time.Minute), skewed(5*time.Minute)
	run := d.start(5, 1000)
	c, ok, err := early.Claim(ctx, run, "early", term)
	if d.check(err); !ok {
		t.Fatal("no turn")
	}
	if _, ok, err := late.Claim(ctx, run, "late", term); ok || err != nil {
		t.Errorf("a clock that is five minutes ahead takes a run away: %v", err)
	}
	d.check(early.Holding(c).AppendEvent(ctx, run, core.EventProgress, nil))
	d.check(late.AppendEvent(ctx, run, core.EventProgress, nil))
	var at int64
	d.check(d.raw.QueryRow(`SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`).Scan(&at))
	events, err := d.Events(ctx, scope, run, history.EventQuery{Limit: 2, Tail: true})
	d.check(err)
	for _, s := range []*store.Store{early, late} {
		if off := int64(s.Now()) - at; off < -20e6 || off > 20e6 {
			t.Errorf("a process is %d microseconds off the database's clock", off)
		}
	}
	for _, e := range events {
		if off := int64(e.At) - at; off < -20e6 || off > 20e6 {
			t.Errorf("event %d is dated %d microseconds off the database's clock", e.Seq, off)
		}
	}
}
