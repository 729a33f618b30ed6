package engine

import (
	"context"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// park makes the run wait as long as its provider asked, in the open: the run
// says why and until when, and holds no call for it and no reservation, but for
// the judges of tasks that are answered.
func (r *runner) park(s settled) error {
	until := r.e.o.Clock.Now().Add(s.park)
	if !until.After(r.parked) {
		return nil
	}
	err := r.persist("park", func(ctx context.Context) error {
		return r.held.Life.Park(ctx, r.id, core.Micros(until.UnixMicro()), s.why)
	})
	if err != nil {
		return err
	}
	r.waitUntil(until)
	return nil
}

// waitUntil wakes the runner at a time, at the run's time limit if that is
// earlier, or when the run stops before it.
func (r *runner) waitUntil(until time.Time) {
	r.parked = until
	r.wakeIn(min(until.Sub(r.e.o.Clock.Now()), r.timeLeft()))
}

// wakeIn makes the runner look around after a while, or when the run stops.
func (r *runner) wakeIn(d time.Duration) {
	r.e.group.Add(1) // the runner itself is counted, so nobody has stopped waiting
	r.e.o.Spawn(func() {
		defer r.e.group.Done()
		_ = r.e.o.Clock.Sleep(r.waiting, d) // an early end wakes too
		r.mail.Put(Message{})
	})
}

// unpark says whether the run still waits, and ends a wait that is over.
func (r *runner) unpark() (waits bool, err error) {
	if r.parked.IsZero() || r.row.State != core.Running {
		return false, nil
	}
	if r.e.o.Clock.Now().Before(r.parked) {
		return true, nil
	}
	r.parked = time.Time{}
	return false, r.persist("go on", func(ctx context.Context) error { return r.held.Life.Park(ctx, r.id, 0, "") })
}
