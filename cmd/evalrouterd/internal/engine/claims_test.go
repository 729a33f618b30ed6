package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// turns gives out the store's turns and can lose the answer to a claim that was
// committed.
type turns struct {
	*store.Store
	lost atomic.Int32
}

func (t *turns) Claim(ctx context.Context, run core.RunID, worker string, lease time.Duration) (core.Claim, bool, error) {
	c, ok, err := t.Store.Claim(ctx, run, worker, lease)
	if t.lost.Add(-1) >= 0 {
		return core.Claim{}, false, errors.New("the connection broke")
	}
	return c, ok, err
}

func (t *turns) Holding(c core.Claim) engine.Held {
	s := t.Store.Holding(c)
	return engine.Held{Journal: s, Answers: s, Judging: s, Life: s}
}

// waits is a clock whose sleeps take their time.
type waits struct{ *instant }

func (waits) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A turn whose beginning was committed without this process learning of it is
// renewed with the others, so nobody else may take the run: this process must.
func TestClaim_CommittedUnheard(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome { return say(right(task), 10, 10) })
	claims := &turns{Store: w.store}
	claims.lost.Store(1)
	w.rewire(func(o *engine.Options) { o.Claims, o.Lease, o.Clock = claims, 30*time.Millisecond, waits{w.clock} })
	if err := w.engine.Start(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if r := w.wait(w.start(5, usd.Dollar, 2)); r.State != core.Completed {
		t.Errorf("the run is %s", r.State)
	}
}
