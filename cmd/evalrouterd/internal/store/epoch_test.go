package store_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/storetest"
)

// A restored database begins an epoch: live runs stop, what was live in them
// is unknown, intents included, quotes are void, and an acknowledgement is due.
func TestEpoch_StopsEverything(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		done := d.start(1, 1000)
		d.ask(done, 0, 100, 40)
		d.finalize(done)
		run := d.start(9, 10_000)
		claim := d.claim(run, "a")
		ins := []core.Intent{intent(0, 100), intent(1, 100)}
		d.must(d.Reserve(ctx, run, core.Lease{Worker: "a", Fence: claim.Fence}, ins))
		d.check(d.MarkSent(ctx, run, ins[0]))
		cancelled := d.start(3, 1000)
		d.check(d.RequestCancel(ctx, scope, cancelled))
		queued := d.quote(3, 1000)
		admitted, err := d.Admit(ctx, admission(queued, "k-queued"))
		d.check(err)
		open := d.quote(3, 1000)

		r, err := d.NewEpoch(ctx, "a test")
		d.check(err)
		if r.Epoch != 2 || r.Runs != 3 || r.Unknown != 2 {
			t.Errorf("the epoch says %+v", r)
		}
		d.clean()
		for id, reason := range map[core.RunID]core.Reason{run: core.RestoredReason, admitted.Run: core.RestoredReason, cancelled: core.CancelledByUser} {
			if got := d.run(id); got.State != core.Stopping || got.Reason != reason || got.Reserved != 0 {
				t.Errorf("%s is %s (%s) with %d reserved", id, got.State, got.Reason, got.Reserved)
			} else if got.WaitingReason != core.WaitsForOperator {
				t.Errorf("%s waits for %q", id, got.WaitingReason)
			}
		}
		if got := d.run(run); got.Waived != 200 {
			t.Errorf("waived %d", got.Waived)
		}
		if held, err := d.Renew(ctx, "a", term); err != nil || len(held) != 0 {
			t.Errorf("a worker still holds %v, %v", held, err)
		}
		if _, err := d.Admit(ctx, admission(open, "k-open")); !refused(err, core.QuoteStale) {
			t.Errorf("a quote of the epoch before: %v", err)
		}
		if pending, ok, err := d.PendingRestore(ctx); err != nil || !ok || pending != r {
			t.Errorf("pending %+v, %v, %v", pending, ok, err)
		}
		if _, ok, err := d.Claim(ctx, run, "b", term); err != nil || ok {
			t.Errorf("a worker that lives on has a turn before the acknowledgement: %v, %v", ok, err)
		}
		d.check(d.AcknowledgeRestore(ctx))
		if _, ok, err := d.PendingRestore(ctx); err != nil || ok {
			t.Errorf("still pending: %v, %v", ok, err)
		}
		d.claim(run, "b")
		for id, want := range map[core.RunID]core.State{run: core.Failed, admitted.Run: core.Failed, cancelled: core.Cancelled, done: core.Completed} {
			if state := d.finalize(id); state != want {
				t.Errorf("%s ended as %s", id, state)
			} else if got := d.run(id); got.WaitingReason != "" {
				t.Errorf("%s has ended and waits for %q", id, got.WaitingReason)
			}
		}
		d.clean()
		if again, err := d.NewEpoch(ctx, "once more"); err != nil || again.Epoch != 3 || again.Runs != 0 {
			t.Errorf("the next epoch says %+v, %v", again, err)
		}
	})
}

// PostgreSQL on another timeline, or another server, is noticed at a start and
// by a process that connects again. A restart is not another history.
func TestEpoch_FollowsTheServer(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	address := storetest.Migrated(t)
	d := newDB(t, store.Options{Postgres: address}, "pgx", address)
	run := d.start(3, 1000)
	for range 2 {
		if began, err := d.FollowIdentity(ctx); err != nil || began != nil {
			t.Fatalf("the same server began %v, %v", began, err)
		}
	}
	d.must(d.raw.Exec(`UPDATE meta SET v = '1/00000001' WHERE k = 'database_identity'`))
	began, err := d.FollowIdentity(ctx)
	d.check(err)
	if began == nil || began.Runs != 1 || d.run(run).Reason != core.RestoredReason {
		t.Errorf("another server began %+v", began)
	}
	var at int64
	d.check(d.raw.QueryRow(`SELECT restored_at FROM runs WHERE id = $1`, string(run)).Scan(&at))
	if at == 0 {
		t.Error("without a synchronous standby calls may be missing, and the run does not say so")
	}
	if again, err := d.FollowIdentity(ctx); err != nil || again != nil {
		t.Errorf("the epoch began twice: %v, %v", again, err)
	}
	d.clean()
}

// A user without any privilege beyond its own database can run the service.
func TestPostgres_PlainUser(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	address := storetest.Postgres(t)
	admin, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(u.Path, "/")
	for _, q := range []string{"CREATE ROLE " + name + " LOGIN PASSWORD 'plain'", "GRANT CREATE ON SCHEMA public TO " + name} {
		if _, err := admin.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		for _, q := range []string{"DROP OWNED BY " + name, "DROP ROLE " + name} {
			if _, err := admin.Exec(q); err != nil {
				t.Error(err)
			}
		}
	}()
	u.User = url.UserPassword(name, "plain")
	s, err := store.Open(ctx, store.Options{Postgres: u.String(), Now: time.Now, ServerClock: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.FollowIdentity(ctx); err != nil {
		t.Error(err)
	}
	if found, err := s.Audit(ctx); err != nil || len(found) != 0 {
		t.Errorf("audit %v, %v", found, err)
	}
}

// A server that may lose what it has acknowledged is refused, with everything
// that is missing.
func TestPostgres_Unfit(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var name string
	if err := db.QueryRow(`SELECT current_database()`).Scan(&name); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"ALTER DATABASE " + name + " SET synchronous_commit = off", "ALTER DATABASE " + name + " SET default_transaction_read_only = on"} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	s, err := store.Open(context.Background(), store.Options{Postgres: address, Now: time.Now})
	if err == nil {
		s.Close()
		t.Fatal("it was opened")
	}
	var unfit *store.Unfit
	if !errors.As(err, &unfit) || len(unfit.Missing) != 2 {
		t.Fatalf("%v", err)
	}
	for i, want := range []string{"synchronous_commit is off and must be on", "transaction_read_only is on"} {
		if !strings.HasPrefix(unfit.Missing[i], want) {
			t.Errorf("%q does not begin with %q", unfit.Missing[i], want)
		}
	}
}
