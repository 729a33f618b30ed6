package engine

import (
	"context"
	"errors"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Claims gives out turns at runs where several processes share a database.
type Claims interface {
	// Claim takes a run's next turn for a worker; ok is false when another
	// worker has it or the run has ended. What the turn before left open is
	// settled by it.
	Claim(ctx context.Context, run core.RunID, worker string, lease time.Duration) (c core.Claim, ok bool, err error)
	// Renew lengthens every turn of a worker and lists those that it still has.
	Renew(ctx context.Context, worker string, lease time.Duration) ([]core.Claim, error)
	// Release ends a turn early.
	Release(context.Context, core.Claim) error
	// Holding is what the holder of a claim writes through: it is refused with
	// core.ErrFenced once the turn is over.
	Holding(core.Claim) Held
}

// Held is where the holder of a run writes.
type Held struct {
	Journal Journal
	Answers Answers
	Judging Judging
	Life    Life
}

// renewals is how many times a lease is renewed within its length: two may
// fail before the turn is lost.
const renewals = 3

// leaveWithin bounds giving a turn back.
const leaveWithin = 5 * time.Second

// claim takes the run's turn. A process that is alone needs none.
func (r *runner) claim(ctx context.Context) bool {
	if r.e.o.Claims == nil {
		return true
	}
	c, ok, err := r.e.o.Claims.Claim(ctx, r.id, r.e.o.Worker, r.e.o.Lease)
	if err != nil {
		r.e.o.Log.Warn("run was not claimed", "run_id", string(r.id), "error", err.Error())
	}
	if !ok || err != nil {
		return false // whoever looks for runs without a worker finds it again
	}
	r.held = r.e.steady(r.e.o.Claims.Holding(c))
	r.fence.Store(c.Fence)
	return true
}

// release gives the turn back, so that nobody waits for the end of its lease.
// A run that has ended, or that somebody else took over, is left alone by it.
func (r *runner) release() {
	fence := r.fence.Load()
	if fence == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
	defer cancel()
	if err := r.e.o.Claims.Release(ctx, core.Claim{Run: r.id, Workspace: r.scope.Workspace, Fence: fence}); err != nil {
		r.e.o.Log.Warn("run was not released; it is taken up again, or its lease runs out", "run_id", string(r.id), "error", err.Error())
	}
}

// leave ends the work on a run that another process took over: no call begins,
// and answers that still come are kept as late ones.
func (r *runner) leave() {
	r.e.o.Log.Info("run was taken over by another process", "run_id", string(r.id))
	r.drain()
}

// beat renews the turns of this process until the engine has stopped.
func (e *Engine) beat() {
	for e.o.Clock.Sleep(e.beating, e.o.Lease/renewals) == nil {
		e.renew()
	}
}

// renew tells every runner whether its turn goes on; those whose does look
// around, in case nobody could tell them that they were asked to stop.
func (e *Engine) renew() {
	before := map[*runner]int64{} // a turn that begins now is not in the answer
	e.mu.Lock()
	for _, r := range e.runners {
		if fence := r.fence.Load(); fence != 0 {
			before[r] = fence
		}
	}
	e.mu.Unlock()
	held, err := e.o.Claims.Renew(e.beating, e.o.Worker, e.o.Lease)
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			e.o.Log.Warn("leases were not renewed", "error", err.Error())
		}
		return
	}
	fences := map[core.RunID]int64{}
	for _, c := range held {
		fences[c.Run] = c.Fence
		e.takeUp(c)
	}
	for r, fence := range before {
		r.mail.Put(Message{fenced: fences[r.id] != fence})
	}
}

// takeUp works on a run whose turn this process has and nobody uses: it was
// claimed, or not released, in a commit whose answer was lost. Renewed with the
// others, such a turn would keep the run from everybody.
func (e *Engine) takeUp(c core.Claim) {
	e.mu.Lock()
	_, working := e.runners[c.Run]
	e.mu.Unlock()
	if !working {
		e.wake(c.Run, c.Workspace)
	}
}

// Nudge makes the worker of a run look around, if this process is it.
func (e *Engine) Nudge(run core.RunID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r, ok := e.runners[run]; ok {
		r.mail.Put(poke)
	}
}
