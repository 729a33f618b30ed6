package store_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/audit"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/storetest"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// db is a fresh database with its store and a way around it.
type db struct {
	*store.Store
	t    *testing.T
	raw  *sql.DB
	time *atomic.Int64 // unix microseconds
	open func() *store.Store
}

var scope = core.Scope{Workspace: "w1", Actor: "key-1"}

// onEach runs a test on SQLite, and on PostgreSQL where one is offered.
func onEach(t *testing.T, test func(*testing.T, *db)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, newSQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := storetest.Migrated(t)
		test(t, newDB(t, store.Options{Postgres: url}, "pgx", url))
	})
}

// tables is a database with nothing in it.
var tables = &storetest.Template{Now: func() time.Time { return time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC) }}

func newSQLite(t *testing.T) *db {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.db")
	tables.Copy(t, path)
	return newDB(t, store.Options{Path: path}, "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
}

func newDB(t *testing.T, o store.Options, driver, dsn string) *db {
	t.Helper()
	d := newEmptyDB(t, o, driver, dsn)
	d.seed()
	return d
}

// newEmpty is a PostgreSQL with nothing but its tables.
func newEmpty(t *testing.T, address string) *db {
	t.Helper()
	return newEmptyDB(t, store.Options{Postgres: address}, "pgx", address)
}

func newEmptyDB(t *testing.T, o store.Options, driver, dsn string) *db {
	t.Helper()
	d := &db{t: t, time: &atomic.Int64{}}
	d.time.Store(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC).UnixMicro())
	o.Now = func() time.Time { return time.UnixMicro(d.time.Load()) }
	d.open = func() *store.Store {
		s, err := store.Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	d.Store = d.open()
	var err error
	if d.raw, err = sql.Open(driver, dsn); err != nil {
		t.Fatal(err)
	}
	d.raw.SetMaxOpenConns(1)
	t.Cleanup(func() { d.raw.Close() })
	return d
}

// price is one micro-dollar a token in either direction.
var price = core.Prices{Version: "p1", Input: usd.PerMillion(usd.Dollar), Output: usd.PerMillion(usd.Dollar), Reasoning: usd.PerMillion(usd.Dollar)}

var profile = core.Profile{
	ID: "sums@1", Slug: "sums", Version: "1", Name: "Sums", Status: "active", Runner: "generic", Family: "generic", ManifestSHA256: "m1", DatasetSHA256: "d1",
	TaskCount: 100, MaxOutputTokens: 50, GraderConfig: json.RawMessage(`{"kind":"numeric"}`),
}

func (d *db) seed() {
	d.t.Helper()
	ctx := context.Background()
	d.must(d.CreateWorkspace(ctx, core.WorkspaceInfo{ID: "w1", Slug: "w1", Name: "One"}))
	d.must(d.CreateWorkspace(ctx, core.WorkspaceInfo{ID: "w2", Slug: "w2", Name: "Two"}))
	d.check(d.Grant(ctx, "grant-1", "w1", core.CreditBook, 10*usd.Dollar, "start"))
	d.must(d.PutProfile(ctx, "claim", profile, func(yield func(bundle.Task, error) bool) {
		for i := range profile.TaskCount {
			task := bundle.Task{ID: fmt.Sprintf("t%03d", i), Input: []bundle.Message{{Role: bundle.User, Text: fmt.Sprintf("%d + 1", i)}}, Target: []string{fmt.Sprint(i + 1)}}
			if !yield(task, nil) {
				return
			}
		}
	}))
}

func (d *db) must(_ any, err error) { d.t.Helper(); d.check(err) }

func (d *db) check(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// quote keeps an open quote.
func (d *db) quote(n int, cap usd.Micro) core.Quote {
	d.t.Helper()
	q := d.unkept(n, cap)
	d.check(d.InsertQuote(context.Background(), q))
	return q
}

func (d *db) unkept(n int, cap usd.Micro) core.Quote {
	return core.Quote{
		ID: core.QuoteID(uuid.NewString()), Workspace: "w1", Epoch: 1, CreatedAt: d.Now(), ExpiresAt: d.Now() + core.QuoteLife, Cap: cap, MinCap: 100, Profile: profile,
		Target:   core.Target{Kind: core.Managed, RouteID: "r", ModelID: "m", Protocol: "openai_chat", Revision: 1, Priced: true, Prices: price, MaxOutputTokens: 50, Ceiling: 64, Auto: 8, Status: "active"},
		Coverage: core.Coverage{N: n, Seed: 42, Full: n == profile.TaskCount}, Limit: 8, Warnings: []string{}, ScopeHash: "s1",
	}
}

func admission(q core.Quote, key string) core.Admission {
	return core.Admission{
		Scope: scope, Quote: q.ID, Name: "a run", Metadata: map[string]string{"k": "v"}, Op: "POST /runs", Key: key, RequestHash: "h-" + string(q.ID),
		RunID: core.RunID(uuid.NewString()), TransferID: uuid.NewString(), ConsentID: uuid.NewString(),
		Encode: func(r core.Run, _ core.Quote) ([]byte, error) { return json.Marshal(r.ID) },
	}
}

// start admits a run and moves it to running.
func (d *db) start(n int, cap usd.Micro) core.RunID {
	d.t.Helper()
	q := d.quote(n, cap)
	out, err := d.Admit(context.Background(), admission(q, "k-"+string(q.ID)))
	d.check(err)
	d.check(d.Start(context.Background(), out.Run))
	return out.Run
}

// rawSHA256 is the SHA-256 of "raw answer".
var rawSHA256 = fmt.Sprintf("%x", sha256.Sum256([]byte("raw answer")))

var lease = core.Lease{Worker: "w", Until: 1}

func intent(idx int, worst usd.Micro) core.Intent {
	return core.Intent{Call: core.CallID(uuid.Must(uuid.NewV7()).String()), Idx: idx, TaskID: fmt.Sprintf("t%03d", idx), Attempt: 1, Worst: worst, Hash: "h"}
}

func response(run core.RunID, in core.Intent, cost usd.Micro) core.Response {
	return core.Response{
		Run: run, Workspace: "w1", Book: core.CreditBook, Idx: in.Idx, Call: in.Call, Raw: []byte("raw answer"), RawSHA256: rawSHA256, Finish: "stop",
		Usage: &core.Usage{Input: 1, Output: 1}, Money: core.Settlement{Spend: min(cost, in.Worst), Absorbed: max(0, cost-in.Worst)}, Reserved: in.Worst,
		Transfer: uuid.NewString(), AbsorbTransfer: uuid.NewString(), ExpiresAt: 1 << 60,
	}
}

// ask takes one task from reservation to its grade.
func (d *db) ask(run core.RunID, idx int, worst, cost usd.Micro) core.Intent {
	d.t.Helper()
	ctx, in := context.Background(), intent(idx, worst)
	d.must(d.Reserve(ctx, run, lease, []core.Intent{in}))
	d.check(d.MarkSent(ctx, run, in))
	d.check(d.Respond(ctx, response(run, in, cost)))
	d.check(d.RecordGrade(ctx, core.Grade{Run: run, Idx: idx, Grader: bundle.Identity{ID: "g", Version: "1", Compat: "g@1+c"}, Verdict: &bundle.Verdict{Outcome: bundle.Right, Score: 1, Extracted: "2", Span: &[2]int{0, 1}, Rule: "r"}}))
	return in
}

func conclude(e core.Ending) core.Result {
	state, reason, outcomes := core.Conclude(e.Run.Planned, e.Run.Tallies, e.Unresolved, e.Run.Reason)
	return core.Result{Run: e.Run.ID, Version: 1, FinalizedAt: e.Now, State: state, Reason: reason, Planned: e.Run.Planned, Outcomes: outcomes,
		Money: core.Money{Cap: e.Run.Cap, Charged: e.Run.Charged, Metered: e.Run.Metered, Absorbed: e.Run.Absorbed, Waived: e.Run.Waived}}
}

func (d *db) finalize(run core.RunID) core.State {
	d.t.Helper()
	state, err := d.Finalize(context.Background(), run, uuid.NewString(), uuid.NewString(), conclude)
	d.check(err)
	return state
}

func (d *db) run(id core.RunID) core.Run {
	d.t.Helper()
	r, err := d.Run(context.Background(), scope, id)
	d.check(err)
	return r
}

func (d *db) audit() []audit.Finding {
	d.t.Helper()
	found, err := d.Audit(context.Background())
	d.check(err)
	return found
}

func (d *db) clean() {
	d.t.Helper()
	for _, f := range d.audit() {
		d.t.Errorf("audit: %s %s: %s", f.Rule, f.Subject, f.Detail)
	}
}

func (d *db) credits() core.Credits {
	d.t.Helper()
	c, err := d.Credits(context.Background(), "w1", core.CreditBook)
	d.check(err)
	return c
}

func refused(err error, code core.Code) bool {
	return errors.Is(err, &core.Refusal{Code: code})
}
