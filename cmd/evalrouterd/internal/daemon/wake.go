package daemon

import (
	"context"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/changes"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/wake"
)

// waker passes a change of a run's row on to the engine and to followers.
type waker struct {
	engine  *engine.Engine
	wake    *wake.Wake // nil where this process is alone
	changes *changes.Changes
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
	w.changes.Publish(run)
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
