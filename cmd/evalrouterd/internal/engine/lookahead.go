package engine

import (
	"context"
	"fmt"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// lookahead is how many tasks are read at once.
const lookahead = 64

// tasksAt gives the tasks of places about to be asked. Tasks lie scattered over
// a benchmark in the order they are asked, so those that follow are read in
// the same breath.
func (r *runner) tasksAt(ctx context.Context, places []core.Redo) error {
	for _, p := range places {
		if _, ok := r.ahead[p.Idx]; ok {
			continue
		}
		if err := r.readAhead(ctx, p.Idx); err != nil {
			return err
		}
	}
	return nil
}

// readAhead reads the task at a place, and those next in the queue.
func (r *runner) readAhead(ctx context.Context, idx int) error {
	want, at := []int{r.order.At(idx)}, map[int]int{r.order.At(idx): idx}
	for _, p := range r.queue.peek(2 * lookahead) {
		pos := r.order.At(p.Idx)
		_, have := r.ahead[p.Idx]
		if _, wanted := at[pos]; have || wanted || len(want) == lookahead {
			continue
		}
		want, at[pos] = append(want, pos), p.Idx
	}
	for {
		tasks, err := r.e.o.Tasks.TasksAt(ctx, r.quote.Profile, want)
		if err != nil {
			return fmt.Errorf("read task %d: %w", idx, err)
		}
		for pos, t := range tasks {
			r.ahead[at[pos]] = t
		}
		if _, ok := r.ahead[idx]; ok {
			return nil
		}
		want = want[:1] // large tasks: this one came too late to fit
	}
}

// forget drops a task that has been taken.
func (r *runner) forget(idx int) { delete(r.ahead, idx) }

// task is one that tasksAt has read.
func (r *runner) task(idx int) bundle.Task { return r.ahead[idx] }
