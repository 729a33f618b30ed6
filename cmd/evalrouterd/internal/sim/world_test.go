package sim_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/catalog"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	past "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
	"github.com/evalrouter/evalrouter/lib/usd"
)

var scope = core.Scope{Workspace: core.Local, Actor: "owner"}

var target = core.Target{
	Kind: core.Managed, RouteID: "practice.sim", ModelID: "sim", DisplayName: "Sim", Provider: "practice", Protocol: core.PracticeProtocol,
	Revision: 1, Simulated: true, ContextWindow: 32768, MaxOutputTokens: 100, Priced: true,
	Prices:  core.Prices{Version: "s1", Input: usd.PerMillion(usd.Dollar), Output: usd.PerMillion(2 * usd.Dollar), Reasoning: usd.PerMillion(2 * usd.Dollar)},
	Ceiling: 64, Auto: 4, Status: "active", Offers: []string{core.OffersLogprobs},
}

// world is one history: the production engine and store, a hostile provider,
// impatient users and a machine that dies.
type world struct {
	t       testing.TB
	s       *sched
	path    string
	store   *store.Store
	catalog *catalog.Catalog
	engine  *engine.Engine
	admit   *admission.Service
	model   *model
	runs    []core.RunID
	spool   *memorySpool
	graded  map[string]bool
	likely  map[core.RunID]bool // runs whose tasks are asked in parts
	seen    map[string]int      // fates and crash points, for coverage
	crashes int
	faults  bool
	// allowed is how often the provider may work on a prompt more than once,
	// because somebody consented to it.
	allowed map[string]int
}

func newWorld(t testing.TB, seed uint64) *world {
	dir := t.TempDir()
	if shm, err := os.MkdirTemp("/dev/shm", "sim"); err == nil { // commits to memory: a history has thousands
		t.Cleanup(func() { os.RemoveAll(shm) })
		dir = shm
	}
	w := &world{t: t, s: newSched(seed), path: filepath.Join(dir, "sim.db"), graded: map[string]bool{}, likely: map[core.RunID]bool{}, seen: map[string]int{}, allowed: map[string]int{}, faults: true}
	w.spool = &memorySpool{w: w}
	w.model = &model{w: w, processed: map[string]int{}, faults: true}
	w.open()
	w.countSteps()
	ctx := context.Background()
	w.must(w.store.CreateWorkspace(ctx, core.WorkspaceInfo{ID: core.Local, Slug: "local", Name: "Local", Practice: true}))
	w.check(w.store.Grant(ctx, "grant", core.Local, core.PracticeBook, usd.Micro(20_000+w.s.random.IntN(200_000)), ""))
	return w
}

func (w *world) must(_ any, err error) { w.t.Helper(); w.check(err) }

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) id() string {
	return fmt.Sprintf("%016x-%016x", w.s.random.Uint64(), w.s.random.Uint64())
}

func (w *world) open() {
	s, err := store.Open(context.Background(), store.Options{Path: w.path, Now: clock{w.s}.Now})
	w.check(err)
	j := &journal{Store: s, w: w}
	w.store, w.catalog = s, catalog.New(s, append(siblings(), judges()...), w.id)
	adapters := provider.Set{core.PracticeProtocol: w.model}
	w.engine = engine.New(engine.Options{
		Journal: j, Answers: j, Judging: j, Reuse: s.Continuation(), Spool: w.spool, Runs: j, Life: j, Tasks: w.catalog, Keys: noKeys{}, Adapters: adapters, Clock: clock{w.s},
		NewID: w.id, NewCallID: w.id, NewNonce: w.nonce, Jitter: w.s.random.Float64, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Worker: "sim",
		Spawn: w.s.spawn, NewMail: func() engine.Mail { return &mail{s: w.s} },
	})
	w.admit = &admission.Service{Store: s, Chains: s.Continuation(), Catalog: w.catalog, Adapters: adapters, Engine: w.engine, NewID: w.id, Groups: s.Groups()}
}

type noKeys struct{}

func (noKeys) Key(context.Context, core.Scope, core.Target) (provider.Secret, error) {
	return provider.Secret{}, nil
}

// point is a place where a function gives way and the machine may die.
func (w *world) point(name string) {
	w.seen[name]++
	w.s.yield(nil)
}

// play lets the history run: users act, functions take turns, the machine
// dies now and then. The end is free of faults, so that everything can end.
func (w *world) play() {
	runs := 1 + w.s.random.IntN(4)
	for len(w.runs) < runs {
		w.start()
	}
	for range 200 + w.s.random.IntN(2500) {
		switch n := w.s.random.IntN(1000); {
		case n < 4:
			w.crash()
		case n < 5:
			w.cancel()
		case n < 8:
			w.s.now = w.s.now.Add(-1e9) // the clock is set back
		case n < 20:
			w.resume()
		}
		if !w.s.step() {
			break
		}
	}
	w.crash()
	w.model.faults = false
	for range 4 {
		for w.s.step() {
		}
		w.resume()
	}
	for w.s.step() {
	}
}

// start admits a run, as an impatient user does: the same request twice, and
// once more under another key.
func (w *world) start() {
	ctx := context.Background()
	n, cap := 1+w.s.random.IntN(40), usd.Micro(300+w.s.random.IntN(12_000))
	var p core.Profile
	var err error
	switch w.s.random.IntN(5) {
	case 0, 1:
		p, err = w.catalog.Generate(ctx, "arithmetic", uint64(1000+len(w.runs)), 40)
	case 2, 3:
		cap *= 6
		p, err = w.addJudged(ctx, 1+w.s.random.IntN(2))
	default:
		cap *= 2
		p, err = w.addLikely(ctx)
	}
	w.check(err)
	w.submit(admission.QuoteRequest{Profile: p.ID, Route: target.RouteID, SampleCount: &n, Cap: &cap, Concurrency: core.Concurrency{N: 1 + w.s.random.IntN(8)}})
}

func (w *world) submit(r admission.QuoteRequest) {
	ctx := context.Background()
	q, err := w.admit.Quote(ctx, scope, r)
	w.check(err)
	req := admission.RunRequest{
		Quote: q.ID, Name: "sim", Op: "POST /runs", Key: "key-" + string(q.ID), RequestHash: "h",
		Encode: func(r core.Run, _ core.Quote) ([]byte, error) { return json.Marshal(r.ID) },
	}
	out, err := w.admit.Start(ctx, scope, req)
	if errors.Is(err, &core.Refusal{Code: core.InsufficientCredit}) {
		w.check(w.store.Grant(ctx, w.id(), core.Local, core.PracticeBook, q.Cap, "top up"))
		out, err = w.admit.Start(ctx, scope, req)
	}
	w.check(err)
	again, err := w.admit.Start(ctx, scope, req)
	w.check(err)
	if again.Run != out.Run || !again.Replayed {
		w.t.Errorf("a repeated submission gave %+v after %+v", again, out)
	}
	req.Key = "another"
	if _, err := w.admit.Start(ctx, scope, req); !errors.Is(err, &core.Refusal{Code: core.QuoteAlreadyAccepted}) {
		w.t.Errorf("another key with the same quote: %v", err)
	}
	w.runs = append(w.runs, out.Run)
	w.likely[out.Run] = len(q.Profile.Needs) > 0
}

func (w *world) cancel() {
	id := w.runs[w.s.random.IntN(len(w.runs))]
	w.check(w.store.RequestCancel(context.Background(), scope, id))
	w.engine.Wake(core.Local, id)
}

// crash kills the process and starts another.
func (w *world) crash() {
	w.crashes++
	w.s.crash()
	w.noteJudging()
	w.check(w.store.Close())
	w.open()
	w.adopt()
	w.oracle()
	w.check(w.engine.Start(context.Background(), w.spool.left()))
}

// oracle holds what may never be untrue, whatever happened.
func (w *world) oracle() {
	w.t.Helper()
	ctx := context.Background()
	found, err := w.store.Audit(ctx)
	w.check(err)
	for _, f := range found {
		w.t.Errorf("audit: %s %s: %s", f.Rule, f.Subject, f.Detail)
	}
	for p, n := range w.model.processed {
		if n > 1+w.allowed[p] {
			w.t.Errorf("the provider worked %d times on %q, of which %d with consent", n, p, w.allowed[p])
		}
	}
	w.check(w.spool.lost())
	now := map[string]bool{}
	for _, id := range w.runs {
		for s, err := range w.store.Samples(ctx, scope, id, 0) {
			w.check(err)
			if s.State == core.SampleGraded {
				now[fmt.Sprintf("%s/%d %s %s", id, s.Idx, s.Outcome, s.Charge)] = true
			}
		}
	}
	for g := range w.graded {
		if !now[g] {
			w.t.Errorf("a graded task was lost or changed: %s", g)
		}
	}
	w.graded = now
}

// end checks what must be true once everything has ended, and gives the hash
// of the whole history.
func (w *world) end() string {
	w.t.Helper()
	w.oracle()
	ctx := context.Background()
	h := sha256.New()
	for _, id := range w.runs {
		r, err := w.store.Run(ctx, scope, id)
		w.check(err)
		if !r.State.Terminal() || r.Reserved != 0 || !r.HoldReleased {
			w.t.Errorf("run %s is %s with %s reserved", id, r.State, r.Reserved)
		}
		w.seen["ended "+string(r.State)+" "+string(r.Reason)]++
		events, err := w.store.Events(ctx, scope, id, past.EventQuery{Limit: 1 << 20})
		w.check(err)
		for i, e := range events {
			spend, reserved := amount(w.t, e.Data["spend_microusd"]), amount(w.t, e.Data["reserved_microusd"])
			if e.Seq != int64(i+1) || spend+reserved > r.Cap {
				w.t.Errorf("event %d of run %s: %s spent and %s reserved under %s", e.Seq, id, spend, reserved, r.Cap)
			}
			b, err := json.Marshal(e)
			w.check(err)
			h.Write(b)
		}
	}
	c, err := w.store.Credits(ctx, core.Local, core.PracticeBook)
	w.check(err)
	if c.Held != 0 {
		w.t.Errorf("%s is held after every run has ended", c.Held)
	}
	w.check(w.store.Close())
	w.steps()
	w.raw(func(db *sql.DB) error { // graders of a history do not change
		var n int
		err := db.QueryRow(`SELECT count(*) FROM reuse_mismatches`).Scan(&n)
		if n > 0 {
			w.t.Errorf("%d reused answers got another score", n)
		}
		return err
	})
	return hex.EncodeToString(h.Sum(nil))
}

func amount(t testing.TB, v any) (m usd.Micro) {
	if err := m.UnmarshalText([]byte(fmt.Sprint(v))); err != nil {
		t.Fatal(err)
	}
	return m
}
