package engine

import (
	"context"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// WaitsForEndpoint is the word for a run that waits because nothing reaches the
// endpoint: there is no network, or nobody listens.
const WaitsForEndpoint = "endpoint_unreachable"

// How long a run waits before it looks whether the endpoint is reached again.
const (
	firstOutage = 30 * time.Second
	maxOutage   = 10 * time.Minute
)

// outages counts the waits of an outage. A network that is gone costs nothing
// but time, so it ends no run: that is for calls whose answers are lost.
type outages struct {
	waits int
}

// delay is how long to wait now. Tasks that failed together are one wait; each
// one is twice as long as the one before.
func (o *outages) delay(parked, now time.Time) time.Duration {
	if parked.After(now) {
		return parked.Sub(now)
	}
	o.waits++
	return min(firstOutage<<min(o.waits-1, 10), maxOutage)
}

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
