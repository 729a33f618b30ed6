package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// settled is what a call's goroutine reports at its end.
type settled struct {
	idx int
	// again is set when the task was planned again, and unjudged when it is
	// answered and judges are still to be asked. open is what was answered, where
	// the next judge is to be asked at once.
	again    *core.Redo
	unjudged bool
	open     *bundle.Answer
	// read is what the parts of a task came to so far, and earlier how the calls
	// before this one ended.
	read    []bundle.LogProb
	earlier []settled
	// resumed says that the model was not asked, only judges; replies is how
	// the calls to them ended.
	resumed bool
	replies []settledReply
	// stop is the reason to end the run, "" to go on.
	stop core.Reason
	// park is how long the provider wants the run to wait, 0 not to.
	park time.Duration
	// outage says that nothing reached whoever was asked.
	outage bool
	// why is a word for what happened and detail a sentence.
	why, detail string
	unknown     bool
	// unusable says that a judge's reply came and holds no verdict.
	unusable bool
	// number counts the calls of this process in the order they began.
	number int
	// unreported says that a priced answer came without usable usage.
	unreported bool
	// overBound says that an answer cost more than its published bound.
	overBound bool
	// answered says that the runner was told so before.
	answered bool
	err      error
}

// reached says that somebody was asked and took the request.
func (s settled) reached() bool {
	return !s.outage && s.again == nil && !s.unjudged && !s.resumed && s.err == nil && s.stop == ""
}

// settledReply is how one call to a judge ended.
type settledReply struct {
	part int
	settled
}

// drain waits for the calls in flight and takes no further notice of them.
func (r *runner) drain() {
	r.halt()
	for r.inflight > 0 || r.reading {
		for _, m := range r.mail.Take() {
			if m.read != nil {
				r.reading = false
			}
			if m.answered {
				r.allAnswered()
			}
			if m.settled == nil {
				continue
			}
			r.land(*m.settled)
			if err := m.settled.err; err != nil {
				r.e.o.Log.Error("call was not recorded", "run_id", string(r.id), "index", m.settled.idx, "error", err.Error())
			}
		}
		r.take(0)
	}
}

// settle takes one finished task into account.
func (r *runner) settle(ctx context.Context, s settled) error {
	r.land(s)
	r.blocked, r.dirty = false, true
	if s.err != nil {
		return fmt.Errorf("task %d: %w", s.idx, s.err)
	}
	if s.again != nil {
		r.queue.again(*s.again)
	}
	if s.unjudged {
		r.unjudged = append(r.unjudged, s.idx)
	}
	if s.outage {
		s.park, s.why = r.outage.delay(r.parked, r.e.o.Clock.Now()), WaitsForEndpoint
	} else if s.reached() {
		r.outage = outages{}
	}
	if s.park > 0 && r.row.State == core.Running {
		return r.park(s)
	}
	why := core.Stop{Reason: s.stop, Detail: s.detail}
	if why.Reason == "" {
		why = r.trip(s)
	}
	if why.Reason == "" || r.row.State != core.Running {
		return nil
	}
	return r.stop(ctx, why)
}
