package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Delays between attempts to write what has happened to a call.
const (
	firstPersist = 50 * time.Millisecond
	maxPersist   = 15 * time.Second
)

// persist writes what happened to a call, again and again while the database
// cannot take it: what was paid for must not be lost to a full disk or a lock.
// It gives up when the engine no longer waits for calls. The steps that it
// writes are made by their owner alone, so one that finds itself made already
// after a failed attempt was made by that attempt.
func (r *runner) persist(step string, write func(context.Context) error) error {
	for try := 0; ; try++ {
		err := write(context.Background())
		switch {
		case err == nil, try > 0 && errors.Is(err, core.ErrMoved):
			return nil
		case errors.Is(err, core.ErrMoved), errors.Is(err, core.ErrFenced):
			return err
		}
		r.e.o.Log.Warn("not recorded yet", "run_id", string(r.id), "step", step, "error", err.Error())
		delay := min(firstPersist<<min(try, 12), maxPersist)
		if r.e.o.Clock.Sleep(r.e.calls, delay) != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
	}
}

// sound says whether a verdict is one that a grader may give. Anything else
// is a fault of the grader, never a score.
func sound(v bundle.Verdict) error {
	if !core.Scored(v.Outcome) {
		return fmt.Errorf("outcome %q is not one of a graded answer", v.Outcome)
	}
	if math.IsNaN(v.Score) || v.Score < 0 || v.Score > 1 {
		return fmt.Errorf("score %v is not within 0 and 1", v.Score)
	}
	if v.Span != nil && (v.Span[0] < 0 || v.Span[1] < v.Span[0]) {
		return fmt.Errorf("span %v is none", *v.Span)
	}
	return nil
}
