package daemon

import (
	"context"
	"sync"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/wake"
)

// changes wakes whoever follows a run.
type changes struct {
	mu      sync.Mutex
	watched map[core.RunID]map[*watcher]bool
}

type watcher struct{ changed chan struct{} }

func newChanges() *changes { return &changes{watched: map[core.RunID]map[*watcher]bool{}} }

// Watch gives a channel that is closed at the next change of a run.
func (c *changes) Watch(run core.RunID) (<-chan struct{}, func()) {
	w := &watcher{make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watched[run] == nil {
		c.watched[run] = map[*watcher]bool{}
	}
	c.watched[run][w] = true
	return w.changed, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.watched[run], w)
		if len(c.watched[run]) == 0 {
			delete(c.watched, run)
		}
	}
}

// publish wakes every watcher of a run.
func (c *changes) publish(run core.RunID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.watched[run] {
		close(w.changed)
	}
	delete(c.watched, run)
}

// waker passes a change of a run's row on to the engine and to followers.
type waker struct {
	engine  *engine.Engine
	wake    *wake.Wake // nil where this process is alone
	changes *changes
}

// Wake tells both.
func (w waker) Wake(ws core.WorkspaceID, run core.RunID) {
	if w.wake == nil {
		w.engine.Wake(ws, run)
	} else {
		ctx, cancel := context.WithTimeout(context.Background(), askWithin)
		defer cancel()
		w.wake.Ask(ctx, ws, run)
	}
	w.changes.publish(run)
}

// endWaits lets the runs go on at once that wait for an endpoint which has just
// answered: without it they would look again in ten minutes.
func (s *service) endWaits(w waker) func(context.Context, core.Scope, core.ConnectionID) {
	return func(ctx context.Context, sc core.Scope, id core.ConnectionID) {
		target := core.Target{Kind: core.Connection, ConnectionID: id}
		ended, err := s.store.Waits().End(ctx, sc, target.Name(), engine.WaitsForEndpoint)
		if err != nil {
			s.log.Warn("runs that wait for an endpoint go on by themselves later", "connection", string(id), "error", err.Error())
			return
		}
		for _, run := range ended {
			w.Wake(sc.Workspace, run)
		}
	}
}
