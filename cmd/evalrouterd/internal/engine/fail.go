package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// errOtherRules says that a run began under rules that this version has changed.
var errOtherRules = errors.New("this version of the service cannot go on with")

// stopFor is the stop that an error of a run means: a refusal is told in its
// own words, anything else is a fault of ours.
func stopFor(err error) core.Stop {
	var no *core.Refusal
	switch {
	case errors.Is(err, errOtherRules):
		return core.Stop{Reason: core.InternalFailure, Detail: "this version of the service orders or grades tasks by other rules than the run began with; grades of both would not mix, so nothing more was asked or graded"}
	case errors.As(err, &no) && no.Code == core.ModelUnavailable:
		return core.Stop{Reason: core.ProviderDown, Detail: no.Message}
	case errors.As(err, &no):
		return core.Stop{Reason: core.CredentialFailed, Detail: no.Message}
	}
	return core.Stop{Reason: core.InternalFailure, Detail: "the service met a fault of its own; its log says more"}
}

// fail ends a run that cannot go on: what is in flight is waited for, what is
// open is settled, and the rest is not run. A database that cannot take it is
// tried again until the engine stops.
func (r *runner) fail(stop core.Stop) {
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"stop", func(ctx context.Context) error { return r.held.Life.Stop(ctx, r.id, stop) }},
		{"drain", func(context.Context) error { r.drain(); return nil }},
		{"abandon", func(ctx context.Context) error { return r.held.Life.Abandon(ctx, r.id) }},
		{"end", func(ctx context.Context) error { _, err := r.finalize(ctx); return err }},
	} {
		err := r.persist(step.name, step.do)
		if errors.Is(err, core.ErrFenced) {
			r.leave()
			return
		}
		if err != nil {
			r.e.o.Log.Error("run could not be ended", "run_id", string(r.id), "error", err.Error())
			return
		}
	}
}

// safely turns a panic into an error, with its type and stack in the log and
// nothing of the data it was about.
func (r *runner) safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.e.o.Log.Error("panic", "run_id", string(r.id), "type", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			err = errors.New("panic in a run")
		}
	}()
	return f()
}
