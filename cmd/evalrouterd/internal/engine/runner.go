package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// progressEvery is the least time between two run.progress events.
const progressEvery = time.Second

// runner works on one run. Everything but its mail is touched by its own
// goroutine only, and what load read is not changed after it.
type runner struct {
	e     *Engine
	id    core.RunID
	scope core.Scope
	mail  Mail
	// held is where this run's writes go, under the turn with this fence; 0
	// while there is no turn, and for a process that is alone.
	held  Held
	fence atomic.Int64

	row core.Run
	// createdAt is the row's, for the goroutines of calls.
	createdAt core.Micros
	book      core.Book
	quote     core.Quote
	order     core.Order
	model     asker
	judges    []asker
	grader    bundle.Grader
	judged    bundle.Judged // the grader, where models grade
	likely    bundle.Likely // the grader, where tasks are asked in parts

	queue      queue
	ahead      map[int]bundle.Task // tasks read and not yet taken, by place
	reading    bool                // more of them are on their way
	large      bool                // the last read gave fewer than it was asked for
	inflight   int
	recording  int // of these, the tasks of which every answer is there
	dispatched int // calls begun by this process
	// share is what the run has of the places that runs share, and spare how
	// many of them are not in use. short is what more are waited for, stuck the
	// same once the run's row says so because nothing of it is in flight.
	share        *share
	spare        int
	wanting      int
	short, stuck string
	// blocked says that the next task did not fit under the cap: nothing is
	// tried again until a call in flight settles.
	blocked bool
	// tight says that the cap has blocked a task before.
	tight   bool
	breaker breaker
	// doubts are the breakers of the judges.
	doubts []breaker
	// unjudged are tasks that are answered in part: their judges, or their
	// further parts, are to be asked, in order.
	unjudged []int
	pace     pace
	// parked is until when the run makes no calls, because its provider said so.
	parked time.Time
	// outage is how long the endpoint has not been reached.
	outage outages
	// waiting ends when the run stops: no retry is waited for after that.
	waiting     context.Context
	stopWaiting context.CancelFunc
	shown       time.Time
	dirty       bool
}

func newRunner(e *Engine, id core.RunID, ws core.WorkspaceID) *runner {
	r := &runner{
		e: e, id: id, scope: core.Scope{Workspace: ws}, mail: e.o.NewMail(), held: e.steady(Held{e.o.Journal, e.o.Answers, e.o.Judging, e.o.Life}), ahead: map[int]bundle.Task{},
	}
	r.waiting, r.stopWaiting = context.WithCancel(e.dispatch)
	return r
}

// halt ends every wait for a retry or a place.
func (r *runner) halt() {
	r.stopWaiting()
	if r.share != nil {
		r.share.close()
	}
}

// run works until the run has ended or the engine stops. A fault of ours ends
// the run as failed, never silently.
func (r *runner) run() {
	defer r.part()
	if !r.claim(r.e.dispatch) {
		return
	}
	defer r.release()
	err := r.safely(r.work)
	if err == nil || errors.Is(err, errStopping) {
		return
	}
	if errors.Is(err, core.ErrFenced) {
		r.leave()
		return
	}
	if r.e.dispatch.Err() != nil {
		r.drain() // what was cut off by the stop is settled by the next start
		return
	}
	why := stopFor(err)
	r.e.o.Log.Error("run stopped", "run_id", string(r.id), "reason", string(why.Reason), "error", err.Error())
	r.fail(why)
}

func (r *runner) work() error {
	ctx := r.e.dispatch
	answered, err := r.load(ctx)
	if err != nil {
		return err
	}
	if r.row.State.Terminal() {
		return nil
	}
	if err := r.persist("start", func(ctx context.Context) error { return r.held.Life.Start(ctx, r.id) }); err != nil {
		return err
	}
	if err := r.gradeStored(ctx, answered); err != nil {
		return err
	}
	if err := r.refresh(ctx); err != nil {
		return err
	}
	if r.row.State == core.Running {
		if err := r.openKeys(ctx); err != nil {
			return err
		}
	}
	if r.row.RetryAt != 0 {
		r.waitUntil(time.UnixMicro(int64(r.row.RetryAt)))
	}
	for {
		if err := r.step(ctx); err != nil {
			return err
		}
		if r.done() {
			if err := r.replayReused(ctx); err != nil {
				return err
			}
			_, err := r.finalize(ctx)
			return err
		}
		if err := r.wait(ctx); err != nil {
			return err
		}
	}
}

// load reads everything that a run's work depends on, and gives the places
// whose stored answers wait for a grade.
func (r *runner) load(ctx context.Context) (answered []int, err error) {
	if r.row, err = r.e.o.Runs.Run(ctx, r.scope, r.id); err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	q, err := r.e.o.Runs.Quote(ctx, r.scope, r.row.QuoteID)
	if err != nil {
		return nil, fmt.Errorf("read quote: %w", err)
	}
	if q.Algorithm != core.OrderAlgorithm {
		return nil, fmt.Errorf("%w: tasks in the order %q", errOtherRules, q.Algorithm)
	}
	r.quote, r.order, r.book, r.createdAt = q.Quote, q.Quote.Order(), r.row.Book, r.row.CreatedAt
	if r.model, err = r.asker(r.quote.Target); err != nil {
		return nil, err
	}
	if r.grader, err = r.e.o.Tasks.Grader(r.quote.Profile); err != nil {
		return nil, fmt.Errorf("make grader: %w", err)
	}
	if is, was := r.grader.Identity().Compat, q.Profile.Grader.Compat; is != was {
		return nil, fmt.Errorf("%w: grades of class %q", errOtherRules, was)
	}
	if err := r.loadJudges(); err != nil {
		return nil, err
	}
	p, err := r.e.o.Runs.Progress(ctx, r.id)
	if err != nil {
		return nil, fmt.Errorf("read progress: %w", err)
	}
	r.queue, r.pace = newQueue(p, r.quote.Coverage.N), newPace(r.quote.Limit)
	r.unjudged = p.Judging
	r.breaker = newBreaker(core.ProviderDown, r.row.Unreported)
	r.share = r.e.gate.join(r.scope.Workspace, r.quote, r.createdAt, func() { r.mail.Put(Message{place: true}) })
	if r.row.State == core.Running && r.row.RetryAt == 0 {
		r.stuck = r.row.WaitingReason
	}
	return p.Answered, nil
}

// refresh reads the run's row again, and lets go of waiting retries when the
// run no longer makes calls.
func (r *runner) refresh(ctx context.Context) (err error) {
	if r.row, err = r.e.o.Runs.Run(ctx, r.scope, r.id); err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	if r.row.State != core.Running {
		r.halt()
	} else if r.row.RetryAt == 0 && !r.parked.IsZero() { // somebody knows that the wait is over
		r.parked, r.outage = time.Time{}, outages{}
	}
	return nil
}

// step starts as many calls as may be started now.
func (r *runner) step(ctx context.Context) error {
	err := r.start(ctx)
	if r.spare > 0 {
		r.take(0)
	}
	return errors.Join(err, r.showWait())
}

func (r *runner) start(ctx context.Context) error {
	if r.row.State == core.Running && r.timeLeft() <= 0 {
		return r.stop(ctx, core.Stop{Reason: core.TimeLimit, Detail: "a run may go on for 24 hours"})
	}
	if waits, err := r.unpark(); waits || err != nil {
		r.take(0)
		return err
	}
	r.take(r.wish())
	r.resumeJudging()
	for r.row.State == core.Running && !r.blocked && r.room() > 0 && !r.queue.empty() {
		started, err := r.dispatch(ctx)
		if err != nil || started == 0 {
			return err
		}
	}
	return nil
}

// done says that nothing is left to do: no call is in flight and no task is being
// read, and either no task is left or none may start any more.
func (r *runner) done() bool {
	return r.inflight == 0 && !r.reading && (r.queue.empty() && len(r.unjudged) == 0 || r.row.State != core.Running)
}

func (r *runner) timeLeft() time.Duration {
	started := max(r.row.StartedAt, r.row.CreatedAt)
	return time.Duration(int64(started)+core.RunLimit-r.e.o.Clock.Now().UnixMicro()) * time.Microsecond
}

// wait blocks until something happened, and takes all of it into account.
func (r *runner) wait(ctx context.Context) error {
	var faults error
	changed := false
	for _, m := range r.mail.Take() {
		switch {
		case m.settled != nil:
			faults = errors.Join(faults, r.settle(ctx, *m.settled))
		case m.fenced:
			faults = errors.Join(faults, core.ErrFenced)
		case m.answered:
			r.allAnswered()
		case m.read != nil:
			r.allRead(*m.read)
		case m.overload:
			r.pace.overloaded(r.e.o.Clock.Now())
		case m.place: // step takes it
		default:
			changed = true
		}
	}
	switch {
	case faults != nil:
		return faults
	case ctx.Err() != nil:
		r.drain()
		return errStopping
	case changed:
		if err := r.refresh(ctx); err != nil {
			return err
		}
	}
	r.e.o.Changed(r.id)
	return r.progress(ctx, false)
}

// stop ends dispatch for a reason.
func (r *runner) stop(ctx context.Context, why core.Stop) error {
	if err := r.persist("stop", func(ctx context.Context) error { return r.held.Life.Stop(ctx, r.id, why) }); err != nil {
		return err
	}
	return r.refresh(ctx)
}

// progress appends a run.progress event, at most once in progressEvery.
func (r *runner) progress(ctx context.Context, last bool) error {
	now := r.e.o.Clock.Now()
	if !r.dirty || !last && now.Sub(r.shown) < progressEvery {
		return nil
	}
	run, err := r.e.o.Runs.Run(ctx, r.scope, r.id)
	if err != nil {
		return err
	}
	r.shown, r.dirty = now, false
	data := progressData(run, r.calling(), r.quote.Limit, r.wanting)
	if r.short != "" {
		data["waiting_reason"] = r.short
	}
	return r.persist("progress", func(ctx context.Context) error { return r.held.Life.AppendEvent(ctx, r.id, core.EventProgress, data) })
}

func progressData(run core.Run, open, limit, waiting int) map[string]any {
	outcomes := map[string]int{}
	for o, n := range run.Tallies {
		outcomes[string(o)] = n
	}
	return map[string]any{
		"phase": string(run.State), "planned": run.Planned, "processed": run.Tallies.Total(), "graded": run.Tallies.Graded(),
		"errors": run.Tallies.Errors(), "outcomes": outcomes, "right": run.Tallies[bundle.Right], "scored": run.Tallies.Graded(),
		"open_calls": open, "limit": limit, "wait_count": waiting,
	}
}

// finalize freezes the result.
func (r *runner) finalize(ctx context.Context) (state core.State, err error) {
	if err := r.leaveUnjudged(); err != nil {
		return "", err
	}
	if err := r.progress(ctx, true); err != nil {
		return "", err
	}
	result, transfer := r.e.o.NewID(), r.e.o.NewID()
	err = r.persist("end", func(ctx context.Context) (err error) {
		state, err = r.held.Life.Finalize(ctx, r.id, result, transfer, conclude)
		return err
	})
	return state, err
}
