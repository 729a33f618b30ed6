package engine_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// shelf is where tasks lie; read decides what the nth read of them gives.
type shelf struct {
	engine.Tasks
	reads *atomic.Int64
	read  func(ctx context.Context, nth int64, all func([]int) (map[int]bundle.Task, error), positions []int) (map[int]bundle.Task, error)
}

func (s shelf) TasksAt(ctx context.Context, p core.Profile, positions []int) (map[int]bundle.Task, error) {
	return s.read(ctx, s.reads.Add(1), func(some []int) (map[int]bundle.Task, error) { return s.Tasks.TasksAt(ctx, p, some) }, positions)
}

// Tasks are read beside the run. However such a read ends, every task is asked
// once and in order.
func TestLookahead(t *testing.T) {
	t.Parallel()
	type all = func([]int) (map[int]bundle.Task, error)
	for _, tt := range []struct {
		name string
		read func(ctx context.Context, nth int64, of all, positions []int) (map[int]bundle.Task, error)
	}{
		{"as asked", func(_ context.Context, _ int64, of all, positions []int) (map[int]bundle.Task, error) {
			return of(positions)
		}},
		{"one at a time, as large tasks come", func(_ context.Context, _ int64, of all, positions []int) (map[int]bundle.Task, error) {
			return of(positions[:1])
		}},
		{"a few from the front of the benchmark, as large tasks come", func(_ context.Context, _ int64, of all, positions []int) (map[int]bundle.Task, error) {
			lowest := slices.Sorted(slices.Values(positions))
			return of(lowest[:min(3, len(lowest))])
		}},
		{"the last only", func(_ context.Context, nth int64, of all, positions []int) (map[int]bundle.Task, error) {
			if nth%2 == 0 {
				return of(positions[len(positions)-1:])
			}
			return of(positions)
		}},
		{"every other one fails", func(_ context.Context, nth int64, of all, positions []int) (map[int]bundle.Task, error) {
			if nth%2 == 0 {
				return nil, errors.New("no such page")
			}
			return of(positions)
		}},
		{"every other one panics", func(_ context.Context, nth int64, of all, positions []int) (map[int]bundle.Task, error) {
			if nth%2 == 0 {
				panic("no such page")
			}
			return of(positions)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var asked, planned []string // one call at a time, in the run's order
			w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome {
				asked = append(asked, task.ID)
				return say(right(task), 10, 10)
			})
			w.rewire(func(o *engine.Options) { o.Tasks = shelf{o.Tasks, new(atomic.Int64), tt.read} })
			const n = 330 // three reads and more
			id := w.start(n, 1*usd.Dollar, 1)
			r := w.wait(id)
			if r.State != core.Completed || r.Tallies[bundle.Right] != n {
				t.Errorf("%s, %v", r.Reason, r.Tallies)
			}
			for sample, err := range w.store.Samples(t.Context(), scope, id, 0) {
				if err != nil {
					t.Fatal(err)
				}
				planned = append(planned, sample.TaskID)
			}
			if diff := cmp.Diff(planned, asked); diff != "" {
				t.Errorf("asked in another order (-planned +asked):\n%s", diff)
			}
		})
	}
}

// Tasks of which a read gives few are large: a run keeps few of them.
func TestLookahead_Large(t *testing.T) {
	t.Parallel()
	var read, asked, most atomic.Int64
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome {
		asked.Add(1)
		return say(right(task), 10, 10)
	})
	w.rewire(func(o *engine.Options) {
		o.Tasks = shelf{o.Tasks, new(atomic.Int64), func(_ context.Context, _ int64, of func([]int) (map[int]bundle.Task, error), positions []int) (map[int]bundle.Task, error) {
			some := positions[:min(8, len(positions))]
			if kept := read.Add(int64(len(some))) - asked.Load(); kept > most.Load() {
				most.Store(kept)
			}
			return of(some)
		}}
	})
	const n = 300
	if r := w.wait(w.start(n, 1*usd.Dollar, 8)); r.Tallies[bundle.Right] != n {
		t.Errorf("%s, %v", r.Reason, r.Tallies)
	}
	if got := most.Load(); got > 100 {
		t.Errorf("%d tasks were kept that nobody had asked yet", got)
	}
}

// A run that is cancelled does not wait for tasks that it will not ask.
func TestLookahead_Cancelled(t *testing.T) {
	t.Parallel()
	reading := make(chan struct{})
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome {
		<-reading
		return say(right(task), 10, 10)
	})
	w.rewire(func(o *engine.Options) {
		o.Tasks = shelf{o.Tasks, new(atomic.Int64), func(ctx context.Context, nth int64, of func([]int) (map[int]bundle.Task, error), positions []int) (map[int]bundle.Task, error) {
			if nth != 2 {
				return of(positions)
			}
			close(reading)
			<-ctx.Done()
			return nil, ctx.Err()
		}}
	})
	id := w.start(150, 1*usd.Dollar, 4)
	<-reading
	if err := w.store.RequestCancel(t.Context(), scope, id); err != nil {
		t.Fatal(err)
	}
	w.engine.Wake(core.Local, id)
	if r := w.wait(id); r.State != core.Cancelled || r.Tallies[core.CancelledTask]+r.Tallies[bundle.Right] != 150 {
		t.Errorf("state %s, outcomes %v", r.State, r.Tallies)
	}
}
