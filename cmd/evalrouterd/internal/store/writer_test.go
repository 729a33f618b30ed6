package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/storetest"
)

// Writes that queue while a commit is made share the next one, and one that
// fails among them takes nothing away from the others.
func TestWriter_CommitsTogether(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx := context.Background()
		run := d.start(100, 1_000_000)
		before := d.Commits()
		const writers = 200
		failed := make([]error, writers)
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() {
				if i%10 == 0 { // no such call: refused inside the shared transaction
					failed[i] = d.MarkSent(ctx, run, core.Intent{Call: "missing"})
					return
				}
				failed[i] = d.AppendEvent(ctx, run, core.EventProgress, nil)
			})
		}
		wg.Wait()
		for i, err := range failed {
			if (err != nil) != (i%10 == 0) {
				t.Errorf("writer %d: %v", i, err)
			}
		}
		events, err := d.Events(ctx, scope, run, history.EventQuery{Limit: 1000})
		d.check(err)
		if want := 3 + writers - writers/10; len(events) != want {
			t.Errorf("%d events, want %d", len(events), want)
		}
		if commits := d.Commits() - before; commits >= writers/2 {
			t.Errorf("%d commits for %d writes", commits, writers)
		}
		d.clean()
	})
}

func TestWriter_RefusesAfterClose(t *testing.T) {
	t.Parallel()
	d := newSQLite(t)
	d.check(d.Close())
	if err := d.SetMeta(context.Background(), "a", "b"); err == nil {
		t.Error("a closed store took a write")
	}
}

// A clock that is set back does not take the store's time back.
func TestWriter_TimeNeverGoesBack(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx := context.Background()
		run := d.start(3, 1000)
		d.check(d.AppendEvent(ctx, run, core.EventProgress, nil))
		d.time.Add(-3600 * 1_000_000)
		d.check(d.AppendEvent(ctx, run, core.EventProgress, nil))
		events, err := d.Events(ctx, scope, run, history.EventQuery{Limit: 10, Tail: true})
		d.check(err)
		for i := 1; i < len(events); i++ {
			if events[i].At < events[i-1].At {
				t.Errorf("event %d is earlier than the one before it", events[i].Seq)
			}
		}
	})
}

// A database that ends the writer's connection costs the writes of that
// moment, and no more.
func TestWriter_ConnectsAgain(t *testing.T) {
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		address := storetest.Migrated(t)
		d := newDB(t, store.Options{Postgres: address}, "pgx", address)
		ctx := context.Background()
		run := d.start(5, 1000)
		for i := range 3 {
			d.must(d.raw.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`))
			if err := d.AppendEvent(ctx, run, core.EventProgress, nil); err != nil {
				t.Logf("round %d: %v", i, err) // the write that met the broken connection may fail
			}
			d.check(d.AppendEvent(ctx, run, core.EventProgress, nil))
			d.ask(run, i, 100, 10)
		}
		d.clean()
	})
}

// An answer that is recorded twice, because nobody knew of the first time, is
// refused and takes nothing from the answers beside it.
func TestWriter_RepeatBesideOthers(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx := context.Background()
		run := d.start(100, 1_000_000)
		for round := range 10 {
			first, second := intent(2*round, 100), intent(2*round+1, 100)
			d.must(d.Reserve(ctx, run, lease, []core.Intent{first, second}))
			d.check(d.MarkSent(ctx, run, first))
			d.check(d.MarkSent(ctx, run, second))
			answer := response(run, first, 40)
			d.check(d.Respond(ctx, answer))
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					if err := d.Respond(ctx, answer); !errors.Is(err, core.ErrMoved) {
						t.Errorf("recorded twice: %v", err)
					}
				})
			}
			wg.Go(func() {
				if err := d.Respond(ctx, response(run, second, 40)); err != nil {
					t.Errorf("beside a repeat: %v", err)
				}
			})
			wg.Wait()
		}
		if r := d.run(run); r.Charged != 800 || r.Reserved != 0 {
			t.Errorf("charged %d, reserved %d", r.Charged, r.Reserved)
		}
		d.clean()
	})
}
