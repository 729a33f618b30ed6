package run

import (
	"context"
	"errors"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/local"
)

// reader reads a run while it is watched. When the service on this machine is
// gone, nobody else will start it, so the reader does: the run goes on where it
// stopped, and so does watching.
type reader struct {
	runs flow.RunReader
	// restart starts the service again and reads from there; nil where the
	// service is not ours to start.
	restart func(context.Context) (flow.RunReader, error)
}

var _ flow.RunReader = (*reader)(nil)

// Get reads the run, over a restarted service if need be.
func (r *reader) Get(ctx context.Context, id string) (api.RunRecord, error) {
	run, err := r.runs.Get(ctx, id)
	if r.restart == nil || !flow.Refused(err) {
		return run, err
	}
	runs, again := r.restart(ctx)
	var refused *local.Error
	switch {
	case errors.As(again, &refused) && refused.Refused:
		return run, again // it says why, and waiting does not help
	case again != nil:
		return run, err
	}
	r.runs = runs
	return runs.Get(ctx, id)
}
