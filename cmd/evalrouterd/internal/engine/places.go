package engine

import (
	"context"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// room is how many more tasks may begin now.
func (r *runner) room() int {
	return min(r.open(), r.spare)
}

// overlap is the part of a run's calls that may begin while as many answers are
// being recorded. What one answer means for the run is not known until then, so
// a run of few calls goes one by one.
const overlap = 8

// open is how many more tasks the pace of the run allows.
func (r *runner) open() int {
	size := r.pace.size(r.e.o.Clock.Now())
	return size - r.inflight + min(r.recording, size/overlap)
}

// calling is how many tasks in flight are not all answered.
func (r *runner) calling() int { return r.inflight - r.recording }

// wish is how many tasks the run would begin if it were alone.
func (r *runner) wish() int {
	if r.row.State != core.Running {
		return 0
	}
	left := len(r.unjudged)
	if !r.blocked {
		left += r.queue.left()
	}
	return max(min(r.open(), left), 0)
}

// take exchanges the places that are not in use for as many as are wanted, or
// as there are.
func (r *runner) take(want int) {
	r.spare, r.short = r.share.take(r.spare, want)
	r.wanting = want - r.spare
}

// begin counts a task that begins, and numbers it.
func (r *runner) begin() int {
	r.inflight++
	r.spare--
	r.dispatched++
	return r.dispatched
}

// allAnswered counts a task of which every answer is there. It needs its place no
// more.
func (r *runner) allAnswered() {
	r.recording++
	r.spare++
}

// land counts a task that has settled.
func (r *runner) land(s settled) {
	r.inflight--
	if s.answered {
		r.recording--
	} else {
		r.spare++
	}
}

// rest waits before a call is made again, without a place; false says that the
// run makes no more calls.
func (r *runner) rest(d time.Duration) bool {
	r.share.rest()
	err := r.e.o.Clock.Sleep(r.waiting, d)
	return r.share.back(err == nil, r.e.o.NewMail)
}

// showWait says in the run's row that it waits for others to end their calls,
// while it has none in flight itself, and that this is over.
func (r *runner) showWait() error {
	stuck := ""
	if r.inflight == 0 && r.row.State == core.Running && r.parked.IsZero() {
		stuck = r.short
	}
	if stuck == r.stuck || r.row.State != core.Running {
		return nil
	}
	r.stuck = stuck
	if !r.parked.IsZero() {
		return nil // the row says why by now
	}
	return r.persist("wait", func(ctx context.Context) error { return r.held.Life.Park(ctx, r.id, 0, stuck) })
}

// part gives up what the run has of what runs share.
func (r *runner) part() {
	r.halt()
	if r.share != nil {
		r.share.leave()
	}
}
