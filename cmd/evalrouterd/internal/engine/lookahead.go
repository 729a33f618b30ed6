package engine

import (
	"context"
	"fmt"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// lookahead is how many tasks are read at once beside the run, and how many are to
// be there beyond those that are about to be asked; of tasks so large that a read
// gives fewer, as many as are dispatched at once. They are read from the next window
// places, and no others are kept. Where the run itself reads one that is not there,
// it reads no more beside it than are dispatched at once.
const (
	lookahead = 256
	window    = 2 * lookahead
)

// tasksRead is what was read beside the run's own goroutine, by place. Nothing
// was where the read failed: whoever needs a task then reads it, and hears why.
type tasksRead struct {
	tasks map[int]bundle.Task
	large bool // fewer came than were asked for
}

// tasksAt reads the tasks of places about to be asked, and gives how many of
// these, from the first on, are there: the others are on their way.
func (r *runner) tasksAt(ctx context.Context, places []core.Redo) (int, error) {
	for i, p := range places {
		if _, ok := r.ahead[p.Idx]; ok {
			continue
		}
		if r.reading {
			return i, nil
		}
		if err := r.readNow(ctx, p.Idx); err != nil {
			return 0, err
		}
	}
	return len(places), nil
}

// readNow reads the task at a place, and those next in the queue.
func (r *runner) readNow(ctx context.Context, idx int) error {
	want, at := r.unread(window, maxDispatch, idx)
	for {
		tasks, err := r.e.o.Tasks.TasksAt(ctx, r.quote.Profile, want)
		if err != nil {
			return fmt.Errorf("read task %d: %w", idx, err)
		}
		r.keepTasks(byPlace(tasks, at))
		if _, ok := r.ahead[idx]; ok {
			return nil
		}
		want = want[:1] // large tasks: this one came too late to fit
	}
}

// readAhead reads the tasks after those of the next so many places, which are about
// to be taken, beside everything else: everything waits for the run's own goroutine.
func (r *runner) readAhead(taken int) {
	enough := lookahead
	if r.large {
		enough = maxDispatch
	}
	if r.reading || len(r.ahead)-taken >= enough {
		return
	}
	want, at := r.unread(taken+window, lookahead)
	if len(want) == 0 {
		return
	}
	r.reading = true
	r.e.o.Spawn(func() {
		var read tasksRead
		err := r.safely(func() error {
			tasks, err := r.e.o.Tasks.TasksAt(r.waiting, r.quote.Profile, want)
			read = tasksRead{byPlace(tasks, at), len(tasks) < len(want)}
			return err
		})
		if err != nil {
			read = tasksRead{}
		}
		r.mail.Put(Message{read: &read})
	})
}

// unread gives up to n positions of tasks that are needed now or come next in the
// queue, within so many places, and the place of each. Tasks lie scattered over a
// benchmark in the order they are asked.
func (r *runner) unread(within, n int, now ...int) (want []int, at map[int]int) {
	at = make(map[int]int, n)
	add := func(idx int) {
		pos := r.order.At(idx)
		_, have := r.ahead[idx]
		if _, wanted := at[pos]; !have && !wanted && len(want) < n {
			want, at[pos] = append(want, pos), idx
		}
	}
	for _, idx := range now {
		add(idx)
	}
	for p := range r.queue.peek(within) {
		if len(want) == n {
			break
		}
		add(p.Idx)
	}
	return want, at
}

func byPlace(tasks map[int]bundle.Task, at map[int]int) map[int]bundle.Task {
	out := make(map[int]bundle.Task, len(tasks))
	for pos, t := range tasks {
		out[at[pos]] = t
	}
	return out
}

// allRead takes what was read ahead.
func (r *runner) allRead(read tasksRead) {
	r.reading, r.large = false, read.large
	r.keepTasks(read.tasks)
}

func (r *runner) keepTasks(tasks map[int]bundle.Task) {
	for idx, t := range tasks {
		r.ahead[idx] = t
	}
}

// forget drops a task that has been taken.
func (r *runner) forget(idx int) { delete(r.ahead, idx) }

// task is one that tasksAt has read.
func (r *runner) task(idx int) bundle.Task { return r.ahead[idx] }
