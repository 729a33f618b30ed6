package engine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// startOn starts a run of n tasks on a route, with as many calls in flight as
// it allows.
func (w *world) startOn(route core.RouteID, n int) core.RunID {
	w.t.Helper()
	cap := usd.Dollar
	return w.quoteAndStart(admission.QuoteRequest{Profile: "arithmetic@1", Route: route, SampleCount: &n, Cap: &cap, Concurrency: core.Concurrency{Max: true}})
}

// until waits until a run's row is as wanted.
func (w *world) until(id core.RunID, what string, holds func(core.Run) bool) core.Run {
	w.t.Helper()
	deadline, look := time.After(20*time.Second), time.NewTicker(2*time.Millisecond)
	defer look.Stop()
	for {
		r, err := w.store.Run(context.Background(), scope, id)
		if err != nil {
			w.t.Fatal(err)
		}
		if holds(r) {
			return r
		}
		select {
		case <-look.C: // a run that begins calls tells nobody before one of them ends
		case <-deadline:
			w.t.Fatalf("run %s never %s; it is %s, waiting for %q", id, what, r.State, r.WaitingReason)
		}
	}
}

// Two runs of one route have no more calls in flight together than the route
// allows. The one that has none says what it waits for, and the first places
// that become free are its.
func TestPlaces_RunsShareARoute(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	letGo := sync.OnceFunc(func() { close(open) })
	defer letGo()
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome { <-open; return say(right(task), 50, 10) })
	first := w.startOn(narrow.RouteID, 40)
	w.until(first, "had its calls in flight", func(r core.Run) bool { return r.Reserved == 4*worstCase })
	second := w.startOn(narrow.RouteID, 40)
	got := w.until(second, "said what it waits for", func(r core.Run) bool { return r.WaitingReason != "" })
	if got.WaitingReason != "route_limit" || got.RetryAt != 0 || got.State != core.Running {
		t.Errorf("waits for %q until %d, %s", got.WaitingReason, got.RetryAt, got.State)
	}
	for range 3 { // three of the first run's calls end; their places are the second's until both have two
		open <- struct{}{}
	}
	w.until(second, "went on", func(r core.Run) bool { return r.WaitingReason == "" && r.Reserved > 0 })
	letGo()
	for _, id := range []core.RunID{first, second} {
		if r := w.wait(id); r.State != core.Completed || r.Tallies[bundle.Right] != 40 {
			t.Errorf("run %s: %s %v", id, r.State, r.Tallies)
		}
	}
	if w.adapter.most != narrow.Ceiling {
		t.Errorf("%d calls were in flight at once, the route allows %d", w.adapter.most, narrow.Ceiling)
	}
	waits := 0
	for _, e := range w.events(second, usd.Dollar) {
		if e.Type == core.EventWaiting {
			if _, has := e.Data["retry_at"]; has || e.Data["reason"] != "route_limit" {
				t.Errorf("event %v", e.Data)
			}
			waits++
		}
	}
	if waits == 0 {
		t.Error("no event says that the run waited")
	}
}

// A workspace has its own limit over all routes, and another workspace does not
// feel it.
func TestPlaces_WorkspaceLimit(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	letGo := sync.OnceFunc(func() { close(open) })
	defer letGo()
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome { <-open; return say(right(task), 50, 10) })
	w.rewire(func(o *engine.Options) { o.WorkspaceCalls = 3 })
	first := w.startOn(target.RouteID, 20)
	w.until(first, "had its calls in flight", func(r core.Run) bool { return r.Reserved == 3*worstCase })
	second := w.startOn(mute.RouteID, 20)
	if got := w.until(second, "waited", func(r core.Run) bool { return r.WaitingReason != "" }); got.WaitingReason != "workspace_limit" {
		t.Errorf("waits for %q", got.WaitingReason)
	}
	letGo()
	w.wait(first)
	w.wait(second)
	if w.adapter.most != 3 {
		t.Errorf("%d calls were in flight at once, the workspace may have 3", w.adapter.most)
	}
}

// still is a clock on which nobody's sleep ends before it is let go.
type still struct {
	*instant
	asleep chan struct{}
	wake   chan struct{}
}

func (c still) Sleep(ctx context.Context, _ time.Duration) error {
	select {
	case c.asleep <- struct{}{}:
	default:
	}
	select {
	case <-c.wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Calls that wait to be made again take nothing from other runs, and go on once
// there is a place for them.
func TestPlaces_RetriesStarveNobody(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	pushed := map[string]bool{}
	w := newWorld(t, func(task bundle.Task, attempt int) provider.Outcome {
		mu.Lock()
		defer mu.Unlock()
		if attempt == 1 && len(pushed) < 3 {
			pushed[task.ID] = true
			return provider.Outcome{Class: provider.Rejected, Reach: provider.Overload, Status: 429}
		}
		return say(right(task), 50, 10)
	})
	clock := still{instant: w.clock, asleep: make(chan struct{}, 3), wake: make(chan struct{})}
	w.rewire(func(o *engine.Options) { o.WorkspaceCalls, o.Clock = 3, clock })
	stormy := w.start(3, usd.Dollar, 3)
	for range 3 {
		<-clock.asleep
	}
	calm := w.startOn(mute.RouteID, 20)
	if r := w.wait(calm); r.State != core.Completed || r.Tallies[bundle.Right] != 20 {
		t.Errorf("the other run: %s %v", r.State, r.Tallies)
	}
	close(clock.wake)
	if r := w.wait(stormy); r.State != core.Completed || r.Tallies[bundle.Right] != 3 {
		t.Errorf("the run that was pushed back: %s %v", r.State, r.Tallies)
	}
	if w.adapter.most > 3 {
		t.Errorf("%d calls were in flight at once", w.adapter.most)
	}
}

// A run whose calls wait for a place can be cancelled, and an engine stops.
func TestPlaces_WaitsEnd(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	letGo := sync.OnceFunc(func() { close(open) })
	defer letGo()
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome { <-open; return say(right(task), 50, 10) })
	first := w.startOn(narrow.RouteID, 8)
	w.until(first, "had its calls in flight", func(r core.Run) bool { return r.Reserved == 4*worstCase })
	second := w.startOn(narrow.RouteID, 8)
	w.until(second, "waited", func(r core.Run) bool { return r.WaitingReason != "" })
	if err := w.store.RequestCancel(context.Background(), scope, second); err != nil {
		t.Fatal(err)
	}
	w.engine.Wake(scope.Workspace, second)
	if r := w.wait(second); r.State != core.Cancelled || r.Charged != 0 || r.WaitingReason != "" {
		t.Errorf("%s, %s charged, waiting for %q", r.State, r.Charged, r.WaitingReason)
	}
	third := w.startOn(narrow.RouteID, 8)
	w.until(third, "waited", func(r core.Run) bool { return r.WaitingReason != "" })
	letGo()
	w.close()
	w.open()
	if err := w.engine.Start(context.Background(), w.kept); err != nil {
		t.Fatal(err)
	}
	for _, id := range []core.RunID{first, third} {
		if r := w.wait(id); r.State != core.Completed || r.WaitingReason != "" {
			t.Errorf("after a restart: %s, waiting for %q", r.State, r.WaitingReason)
		}
	}
}
