package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/catalog"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/spool"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/storetest"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// scripted is an adapter whose outcomes a test decides. It counts how often
// each task was asked.
type scripted struct {
	answer func(task bundle.Task, attempt int) provider.Outcome
	// judge answers for routes that grade.
	judge func(r provider.Request) provider.Outcome
	// part answers how likely a prompt is.
	part func(r provider.Request) provider.Outcome
	// bound is what Bound gives; nil for 100.
	bound func(r provider.Request) int64

	mu    sync.Mutex
	asked map[string]int
	open  int
	most  int
}

func (s *scripted) Call(ctx context.Context, r provider.Request) provider.Outcome {
	s.mu.Lock()
	if s.asked == nil {
		s.asked = map[string]int{}
	}
	s.asked[whom(r)]++
	s.open++
	s.most = max(s.most, s.open)
	s.mu.Unlock()
	defer func() { s.mu.Lock(); s.open--; s.mu.Unlock() }()
	if r.Target.JudgeOnly {
		return s.judge(r)
	}
	if r.Likelihood {
		return s.part(r)
	}
	return s.answer(*r.Gold, r.Attempt)
}

// whom names what a request is about: a task, or a judge and a task.
func whom(r provider.Request) string {
	if r.Likelihood {
		return r.Messages[0].Text
	}
	if !r.Target.JudgeOnly {
		return r.Gold.ID
	}
	_, task, _ := strings.Cut(r.Messages[0].Text, "judged task ")
	task, _, _ = strings.Cut(task, "\n")
	return string(r.Target.RouteID) + " about " + task
}

func (s *scripted) times(task string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[task]
}

func (s *scripted) Render(r provider.Request) ([]byte, error) { return json.Marshal(r.Messages) }
func (s *scripted) Bound(r provider.Request) int64 {
	if s.bound != nil {
		return s.bound(r)
	}
	return 100
}
func (s *scripted) Parse(raw []byte) provider.Outcome {
	return provider.Outcome{Class: provider.Answered, Text: string(raw), Finish: bundle.FinishStop, Raw: raw}
}

// say is a complete answer that used as many tokens as its bound allows or less.
func say(text string, in, out int64) provider.Outcome {
	return provider.Outcome{
		Class: provider.Answered, Text: text, Finish: bundle.FinishStop, Raw: []byte(text), Status: 200,
		Usage: &core.Usage{Input: in, Output: out},
	}
}

func right(t bundle.Task) string { return bundle.Reply(t, true, 1) }
func wrong(t bundle.Task) string { return bundle.Reply(t, false, 1) }

type noKeys struct{}

func (noKeys) Key(context.Context, core.Scope, core.Target) (provider.Secret, error) {
	return provider.Secret{}, nil
}

// instant is a clock on which every sleep is over at once and moves time on.
type instant struct {
	mu  sync.Mutex
	now time.Time
}

func (c *instant) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *instant) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	c.now = c.now.Add(d)
	c.mu.Unlock()
	return ctx.Err()
}

// world is a service without its HTTP layer.
type world struct {
	t       testing.TB
	dir     string
	store   *store.Store
	catalog *catalog.Catalog
	adapter *scripted
	engine  *engine.Engine
	options engine.Options
	admit   *admission.Service
	clock   *instant
	changed chan core.RunID
	spool   *spool.Spool
	kept    []core.Response
}

var scope = core.Scope{Workspace: core.Local, Actor: "owner"}

var target = core.Target{
	Kind: core.Managed, RouteID: "practice.scripted", ModelID: "scripted", DisplayName: "Scripted", Provider: "practice",
	Protocol: core.PracticeProtocol, Revision: 1, Simulated: true, ContextWindow: 32768, MaxOutputTokens: 100, Priced: true,
	Prices:  core.Prices{Version: "t1", Input: usd.PerMillion(1 * usd.Dollar), Output: usd.PerMillion(2 * usd.Dollar), Reasoning: usd.PerMillion(2 * usd.Dollar)},
	Ceiling: 256, Auto: 8, Status: "active", Offers: []string{core.OffersLogprobs},
}

// mute is the same without log probabilities.
var mute = func() core.Target {
	t := target
	t.RouteID, t.Offers = "practice.mute", nil
	return t
}()

// narrow is the same with few calls in flight.
var narrow = func() core.Target {
	t := target
	t.RouteID, t.Ceiling = "practice.narrow", 4
	return t
}()

// worstCase is what one scripted call reserves: 100 tokens each way.
const worstCase = 300 * usd.Micro(1)

// morning is when a world's clock stands at first.
var morning = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// installed has the benchmarks that come with the service.
var installed = &storetest.Template{
	Now:  func() time.Time { return morning },
	Fill: func(s *store.Store) error { return catalog.New(s, nil, uuid.NewString).Install(context.Background()) },
}

func newWorld(t testing.TB, answer func(bundle.Task, int) provider.Outcome) *world {
	return newWorldIn(t, answer, func(path string) { installed.Copy(t, path) })
}

// newEmptyWorld has no benchmarks.
func newEmptyWorld(t testing.TB, answer func(bundle.Task, int) provider.Outcome) *world {
	return newWorldIn(t, answer, func(string) {})
}

func newWorldIn(t testing.TB, answer func(bundle.Task, int) provider.Outcome, furnish func(path string)) *world {
	w := &world{
		t: t, dir: t.TempDir(), adapter: &scripted{answer: answer}, changed: make(chan core.RunID, 1<<16),
		clock: &instant{now: morning},
	}
	furnish(w.database())
	w.open()
	t.Cleanup(func() { w.close() })
	ctx := context.Background()
	if _, err := w.store.CreateWorkspace(ctx, core.WorkspaceInfo{ID: core.Local, Slug: "local", Name: "Local", Practice: true}); err != nil {
		t.Fatal(err)
	}
	if err := w.store.Grant(ctx, "practice-grant", core.Local, core.PracticeBook, 100*usd.Dollar, "practice"); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) database() string { return filepath.Join(w.dir, "evalrouter.db") }

func (w *world) open() {
	s, err := store.Open(context.Background(), store.Options{Path: w.database(), Now: w.clock.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	w.store, w.catalog = s, catalog.New(s, append([]core.Target{target, mute, narrow, drawn("drawn", core.OffersTemperature, core.OffersStop), drawn("as it comes")}, judgeRoutes()...), uuid.NewString)
	sp, kept, err := spool.Open(filepath.Join(w.dir, "spool"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.spool, w.kept = sp, kept
	adapters := provider.Set{core.PracticeProtocol: w.adapter}
	w.options = engine.Options{
		Journal: s, Answers: s, Judging: s, Reuse: s.Continuation(), Spool: sp, Runs: s, Life: s, Tasks: w.catalog, Keys: noKeys{}, Adapters: adapters, Clock: w.clock,
		NewID: uuid.NewString, NewCallID: func() string { return uuid.Must(uuid.NewV7()).String() },
		NewNonce: func() string { return strings.ReplaceAll(uuid.NewString(), "-", "")[:16] },
		Jitter:   func() float64 { return 0.5 }, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Worker: "test",
		Changed: func(id core.RunID) { w.changed <- id },
	}
	w.engine = engine.New(w.options)
	w.admit = &admission.Service{Store: s, Chains: s.Continuation(), Catalog: w.catalog, Adapters: adapters, Engine: w.engine, NewID: uuid.NewString}
}

// rewire replaces an engine that has not begun to work by one with other
// parts.
func (w *world) rewire(change func(*engine.Options)) {
	change(&w.options)
	w.engine = engine.New(w.options)
	w.admit.Engine = w.engine
}

func (w *world) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := w.engine.Stop(ctx); err != nil {
		w.t.Errorf("stop engine: %v", err)
	}
	w.store.Close()
}

// start quotes and starts a run of n arithmetic tasks.
func (w *world) start(n int, cap usd.Micro, limit int) core.RunID {
	w.t.Helper()
	return w.quoteAndStart(admission.QuoteRequest{
		Profile: "arithmetic@1", Route: target.RouteID, SampleCount: &n, Cap: &cap, Concurrency: core.Concurrency{N: limit},
	})
}

// startFull starts a run of every task, with as many calls in flight as the
// route allows.
func (w *world) startFull(p core.ProfileID, cap usd.Micro) core.RunID {
	w.t.Helper()
	return w.quoteAndStart(admission.QuoteRequest{Profile: p, Route: target.RouteID, Full: true, Cap: &cap, Concurrency: core.Concurrency{Max: true}})
}

func (w *world) quoteAndStart(r admission.QuoteRequest) core.RunID {
	w.t.Helper()
	ctx := context.Background()
	q, err := w.admit.Quote(ctx, scope, r)
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := w.admit.Start(ctx, scope, admission.RunRequest{
		Quote: q.ID, Name: "test", Op: "POST /runs", Key: string(q.ID), RequestHash: "h",
		Encode: func(r core.Run, _ core.Quote) ([]byte, error) { return json.Marshal(r.ID) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out.Run
}

// wait waits until a run has ended and checks every invariant.
func (w *world) wait(id core.RunID) core.Run {
	w.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		r, err := w.store.Run(context.Background(), scope, id)
		if err != nil {
			w.t.Fatal(err)
		}
		if r.State.Terminal() {
			w.audit()
			return r
		}
		select {
		case <-w.changed:
		case <-deadline:
			w.t.Fatalf("run did not end; it is %s, %v", r.State, r.Tallies)
		}
	}
}

func (w *world) audit() {
	w.t.Helper()
	found, err := w.store.Audit(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range found {
		w.t.Errorf("audit: %s %s: %s", f.Rule, f.Subject, f.Detail)
	}
}

func (w *world) result(id core.RunID) store.Result {
	w.t.Helper()
	r, err := w.store.Result(context.Background(), scope, id, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// events checks on the way that no event shows more than the cap.
func (w *world) events(id core.RunID, cap usd.Micro) []core.Event {
	w.t.Helper()
	ev, err := w.store.Events(context.Background(), scope, id, history.EventQuery{Limit: 100000})
	if err != nil {
		w.t.Fatal(err)
	}
	for i, e := range ev {
		if e.Seq != int64(i+1) {
			w.t.Fatalf("event %d has sequence %d", i+1, e.Seq)
		}
		var spend, reserved usd.Micro
		if err := spend.UnmarshalText([]byte(fmt.Sprint(e.Data["spend_microusd"]))); err != nil {
			w.t.Fatal(err)
		}
		if err := reserved.UnmarshalText([]byte(fmt.Sprint(e.Data["reserved_microusd"]))); err != nil {
			w.t.Fatal(err)
		}
		if spend+reserved > cap {
			w.t.Errorf("event %d (%s): %s spent and %s reserved under a cap of %s", e.Seq, e.Type, spend, reserved, cap)
		}
	}
	return ev
}
