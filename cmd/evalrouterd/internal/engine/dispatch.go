package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// maxDispatch bounds how many calls are journalled in one commit. Those of a whole
// run at once would each dial a connection, where the first answers of a quick
// provider leave one to most of them.
const maxDispatch = 64

// leaseGrace is how long after a call's deadline its claim still holds.
const leaseGrace = time.Minute

// job is one call of a task on its way: to the model, or to a judge.
type job struct {
	intent core.Intent
	by     *asker
	task   bundle.Task
	about  *answered // what a judge is asked about
	parts            // of a task that is asked in parts
	req    provider.Request
	bound  int64 // most input tokens that can be billed
	// outBound is the same for output, and inputCost what the input alone can
	// cost.
	outBound  int64
	inputCost usd.Micro
	// notSent and pushedBack count the attempts of this process that failed in
	// each way; they have limits of their own.
	notSent, pushedBack int
	ticket
}

// ticket is what every call of one task in flight carries.
type ticket struct {
	// number counts the tasks of this process in the order they began.
	number int
	// answered tells the runner that the task's last answer is in the spool:
	// another task may begin while it is recorded.
	answered func()
}

// count takes an outcome into account.
func (j *job) count(o provider.Outcome) {
	switch o.Class {
	case provider.NotSent:
		j.notSent++
	case provider.Rejected:
		j.pushedBack++
	}
}

// tries is how often the task has ended as this outcome does.
func (j *job) tries(o provider.Outcome) int {
	if o.Class == provider.NotSent {
		return j.notSent
	}
	return max(j.pushedBack, 1)
}

// dispatch reserves the next tasks in order and starts their calls.
func (r *runner) dispatch(ctx context.Context) (started int, err error) {
	n := min(r.room(), maxDispatch)
	if r.tight {
		n = 1 // near the cap, what does not fit would be rendered again and again
	}
	places := slices.Collect(r.queue.peek(n))
	n, err = r.tasksAt(ctx, places)
	if err != nil || n == 0 {
		return 0, err
	}
	places = places[:n]
	r.readAhead(n)
	jobs := make([]*job, len(places))
	intents := make([]core.Intent, len(places))
	for i, p := range places {
		if jobs[i], err = r.prepare(p); err != nil {
			return 0, err
		}
		intents[i] = jobs[i].intent
	}
	res, err := r.held.Journal.Reserve(ctx, r.id, r.lease(), intents)
	if errors.Is(err, core.ErrFenced) {
		return 0, err
	}
	if err != nil {
		return 0, r.unreserve(ctx, intents, err)
	}
	if !res.Running {
		return 0, r.refresh(ctx)
	}
	r.queue.take(res.Granted)
	for _, j := range jobs[:res.Granted] {
		r.forget(j.intent.Idx)
		j.number = r.begin()
		r.e.o.Spawn(func() { r.call(j, r.askTask) })
	}
	r.tight = r.tight && res.Granted == 0
	if res.Granted < len(places) {
		return res.Granted, r.capReached(ctx, intents[res.Granted].Worst+intents[res.Granted].Pledge)
	}
	return res.Granted, nil
}

// unreserve settles a batch of which nobody knows whether it was journalled:
// what was, was not sent, and is planned again.
func (r *runner) unreserve(ctx context.Context, batch []core.Intent, cause error) error {
	if ctx.Err() != nil {
		return cause
	}
	r.e.o.Log.Warn("calls were not reserved", "run_id", string(r.id), "error", cause.Error())
	for _, in := range batch {
		e := core.Ended{Run: r.id, Idx: in.Idx, Call: in.Call, Reserved: in.Worst, Outcome: "not_reserved"}
		err := r.persist("void", func(ctx context.Context) error { return r.held.Journal.Replan(ctx, e, core.CallVoided) })
		if err != nil && !errors.Is(err, core.ErrMoved) {
			return err
		}
	}
	p, err := r.e.o.Runs.Progress(ctx, r.id)
	if err != nil {
		return fmt.Errorf("read progress: %w", err)
	}
	r.queue = newQueue(p, r.quote.Coverage.N)
	r.wakeIn(firstDelay)
	return nil
}

// capReached waits for calls in flight to give back what they do not use, and
// ends the run when there are none: a cheaper task never overtakes, for that
// would bias the score.
func (r *runner) capReached(ctx context.Context, worst usd.Micro) error {
	r.blocked, r.tight = true, true
	if r.inflight > 0 {
		return nil
	}
	return r.stop(ctx, core.Stop{
		Reason: core.SpendingCap, Event: core.EventCapReached, Detail: fmt.Sprintf("the next task can cost up to %s, more than is left under the cap", worst),
		Data: map[string]any{"next_task_worst_case_microusd": worst.Wire()},
	})
}

// prepare renders a task's request and bounds its cost.
func (r *runner) prepare(p core.Redo) (*job, error) {
	task := r.task(p.Idx)
	if r.likely != nil {
		return r.prepareParts(p, task)
	}
	req := provider.RequestFor(r.quote, task)
	if req.Gold != nil {
		req.Grader = r.grader // nil where judges decide
	}
	req.Key, req.Attempt = r.model.key, p.Attempt+1
	j, err := r.render(&r.model, req)
	if err != nil {
		return nil, fmt.Errorf("task %d: %w", p.Idx, err)
	}
	j.task, j.intent.Idx, j.intent.TaskID, j.intent.Opened = task, p.Idx, task.ID, p.Opened
	if r.judged != nil {
		if j.intent.Pledge, err = r.e.o.Adapters.Pledge(r.quote, r.judged, task); err != nil {
			return nil, fmt.Errorf("bound the judges of task %d: %w", p.Idx, err)
		}
	}
	return j, nil
}

// render is a call with its request's hash and worst case.
func (r *runner) render(by *asker, req provider.Request) (*job, error) {
	body, err := by.adapter.Render(req)
	if err != nil {
		return nil, fmt.Errorf("render request: %w", err)
	}
	req.Body = body
	j := &job{by: by, req: req, bound: by.adapter.Bound(req)}
	var worst usd.Micro
	if worst, j.outBound, err = by.target.Worst(j.bound, req.MaxOutput); err == nil {
		j.inputCost, err = by.target.Prices.Worst(j.bound, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("bound request: %w", err)
	}
	j.intent = core.Intent{Call: core.CallID(r.e.o.NewCallID()), Attempt: req.Attempt, Worst: worst, Hash: digest(body)}
	return j, nil
}

func (r *runner) lease() core.Lease {
	until := r.e.o.Clock.Now().Add(provider.CallTime(r.quote.OutputBound(), r.e.o.CallTimeout) + leaseGrace)
	return core.Lease{Worker: r.e.o.Worker, Until: core.Micros(until.UnixMicro()), Fence: r.fence.Load()}
}
