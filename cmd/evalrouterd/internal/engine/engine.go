// Package engine runs evaluations: it takes the tasks of each live run in
// order, reserves, calls, records and grades them, and ends the run.
//
// The database is the truth and this package is only its motor. Whatever it
// holds in memory can be lost at any moment: a restart settles the calls of
// the dead process (store.Recover) and goes on from what was recorded.
//
// One goroutine a run decides what is asked next; one goroutine a call makes
// it. A provider call is never aborted because somebody stopped looking: it
// is recorded, for it will be billed.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// Journal is where calls are recorded before and after they are made.
type Journal interface {
	Reserve(context.Context, core.RunID, core.Lease, []core.Intent) (core.Reserved, error)
	MarkSent(context.Context, core.RunID, core.Intent) error
	Respond(context.Context, core.Response) error
	Retry(context.Context, core.Ended, core.CallState, core.Lease, core.Intent, map[string]any) error
	Replan(context.Context, core.Ended, core.CallState) error
	GiveUp(context.Context, core.Ended, core.CallState, bool, string) error
	MarkUnknown(context.Context, core.Ended) error
	// Late takes an answer that Respond could not, and gives the state that its
	// call then has: responded when an earlier attempt was made after all, late
	// when the call had become unknown and the answer was kept as evidence.
	Late(context.Context, core.Response) (core.CallState, error)
}

// Judging is what the journal and the record need where a task is more than one
// call: where models grade, and where it is asked in parts.
type Judging interface {
	// AskJudge journals a later call, to a judge or about a part; false says that
	// the run begins no more calls.
	AskJudge(context.Context, core.RunID, core.Lease, core.Intent) (bool, error)
	// LeaveUnjudged settles a task of a run that has stopped which is answered in
	// part.
	LeaveUnjudged(context.Context, core.RunID, int) error
	Replies(context.Context, core.Scope, core.RunID, int, int) ([]core.Reply, error)
	Parts(context.Context, core.Scope, core.RunID, int, int) ([]core.Reply, error)
}

// Answers are what was recorded, and what it is worth.
type Answers interface {
	Evidence(context.Context, core.RunID, int) (core.Evidence, bool, error)
	RecordGrade(context.Context, core.Grade) error
}

// Reuse is the grades that a continuation took over from earlier runs.
type Reuse interface {
	// Reused lists up to limit of them from a place on.
	Reused(ctx context.Context, run core.RunID, from, limit int) ([]core.Reused, error)
	// RecordMismatch keeps that an answer graded again had another score. The same
	// one again changes nothing.
	RecordMismatch(context.Context, core.RunID, core.Mismatch) error
}

// Spool keeps answers that the journal does not have yet.
type Spool interface {
	// Keep writes an answer; done says that the journal has it.
	Keep(core.Response) (done func(), err error)
	// Reset forgets what an earlier process kept.
	Reset() error
}

// Runs is what there is to do.
type Runs interface {
	Live(context.Context) ([]core.Run, error)
	Run(context.Context, core.Scope, core.RunID) (core.Run, error)
	Quote(context.Context, core.Scope, core.QuoteID) (core.QuoteState, error)
	Recover(context.Context) (core.Recovered, error)
	Progress(context.Context, core.RunID) (core.Progress, error)
}

// Life is how a run begins, stops and ends.
type Life interface {
	Start(context.Context, core.RunID) error
	Stop(context.Context, core.RunID, core.Stop) error
	Abandon(context.Context, core.RunID) error
	Park(context.Context, core.RunID, core.Micros, string) error
	AppendEvent(context.Context, core.RunID, string, map[string]any) error
	Finalize(context.Context, core.RunID, string, string, func(core.Ending) core.Result) (core.State, error)
}

// Tasks is where tasks and graders come from.
type Tasks interface {
	Task(context.Context, core.Profile, int) (bundle.Task, error)
	// TasksAt gives those at positions, or as many as fit into memory at once.
	TasksAt(context.Context, core.Profile, []int) (map[int]bundle.Task, error)
	Grader(core.Profile) (bundle.Grader, error)
}

// Keys opens the credential of a connection.
type Keys interface {
	Key(context.Context, core.Scope, core.Target) (provider.Secret, error)
}

// Clock is time, so that tests own it.
type Clock interface {
	Now() time.Time
	// Sleep waits, or returns the context's error.
	Sleep(context.Context, time.Duration) error
}

// Options of an Engine. All fields are required unless they say otherwise.
type Options struct {
	Journal Journal
	Answers Answers
	Judging Judging
	Spool   Spool
	// Reuse is what continuations took over; nil where there are none.
	Reuse    Reuse
	Runs     Runs
	Life     Life
	Tasks    Tasks
	Keys     Keys
	Adapters provider.Set
	Clock    Clock
	// NewID gives a random UUID, NewCallID a time-ordered one.
	NewID     func() string
	NewCallID func() string
	// Jitter gives a number in [0,1) for retry delays.
	Jitter func() float64
	// NewNonce gives 16 random hex digits, which fence an answer in a judge's
	// prompt. Whoever wrote the answer must not be able to foresee them.
	NewNonce func() string
	Log      *slog.Logger
	// Worker names this process in the journal.
	Worker string
	// CallTimeout is the deadline of a call whose answer is not a long one; 0
	// means 10 minutes.
	CallTimeout time.Duration
	// WorkspaceCalls is how many tasks of one workspace may be in flight in this
	// process, over all its runs; 0 means 1024.
	WorkspaceCalls int
	// Spawn runs a function beside others; nil means a goroutine. NewMail makes
	// a runner's mail; nil means one between goroutines. A simulator brings its
	// own of both.
	Spawn   func(func())
	NewMail func() Mail
	// Claims is where turns come from when several processes share the database,
	// and Lease how long one holds without being renewed; nil for a process that
	// is alone. Transient says that a read failed because the database was out
	// of reach; nil when that cannot be.
	Claims    Claims
	Lease     time.Duration
	Transient func(error) bool
	// Changed is told whenever a run's log may have grown; nil for nobody.
	Changed func(core.RunID)
}

// DefaultWorkspaceCalls is how many tasks of one workspace may be in flight
// unless the operator says otherwise: as many as the largest ceiling of a route.
const DefaultWorkspaceCalls = 1024

// Engine runs everything that is live. Start it once.
type Engine struct {
	o     Options
	gate  *gate
	heard *heard

	mu      sync.Mutex
	runners map[core.RunID]*runner
	stopped bool
	group   sync.WaitGroup
	// dispatch ends when no new call may begin; calls ends when the calls in
	// flight may no longer be waited for.
	dispatch, calls         context.Context
	stopDispatch, stopCalls context.CancelFunc
	// beating ends once no turn needs to be renewed any more.
	beating  context.Context
	stopBeat context.CancelFunc
	beats    sync.WaitGroup
}

// New makes an engine that does nothing yet.
func New(o Options) *Engine {
	if o.CallTimeout == 0 {
		o.CallTimeout = 10 * time.Minute
	}
	if o.WorkspaceCalls == 0 {
		o.WorkspaceCalls = DefaultWorkspaceCalls
	}
	if o.NewMail == nil {
		o.NewMail = newMail
	}
	if o.Changed == nil {
		o.Changed = func(core.RunID) {}
	}
	e := &Engine{o: o, gate: newGate(o.WorkspaceCalls), heard: newHeard(o.Log, o.Clock), runners: map[core.RunID]*runner{}}
	e.dispatch, e.stopDispatch = context.WithCancel(context.Background())
	e.calls, e.stopCalls = context.WithCancel(context.Background())
	if o.Spawn == nil {
		e.o.Spawn = newCrew(e.dispatch.Done()).spawn
	}
	e.beating, e.stopBeat = context.WithCancel(context.Background())
	if o.Transient != nil {
		e.o.Runs, e.o.Tasks, e.o.Keys = steadyRuns{o.Runs, e}, steadyTasks{o.Tasks, e}, steadyKeys{o.Keys, e}
	}
	return e
}

// Start settles what a dead process left and takes up every live run: answers
// that it had received are recorded, and calls without one become unknown. The
// caller must be the only process that makes calls, unless there are Claims:
// then runs are taken up as Wake names them.
func (e *Engine) Start(ctx context.Context, kept []core.Response) error {
	if err := e.recordKept(ctx, kept); err != nil {
		return err
	}
	if e.o.Claims != nil {
		e.beats.Go(e.beat)
		return nil
	}
	found, err := e.o.Runs.Recover(ctx)
	if err != nil {
		return err
	}
	if found.Voided+found.Unknown > 0 {
		e.o.Log.Info("recovered calls of an earlier process", "voided", found.Voided, "unknown", found.Unknown)
	}
	live, err := e.o.Runs.Live(ctx)
	if err != nil {
		return fmt.Errorf("list live runs: %w", err)
	}
	for _, r := range live {
		e.wake(r.ID, r.Workspace)
	}
	return nil
}

// recordKept records answers that were received and not yet recorded when the
// earlier process died. Those that it did record are left alone.
func (e *Engine) recordKept(ctx context.Context, kept []core.Response) error {
	saved := 0
	for _, r := range kept {
		err := e.o.Journal.Respond(ctx, r)
		if err == nil {
			saved++
			continue
		}
		if errors.Is(err, core.ErrMoved) { // recorded already, or unknown by now
			_, err = e.o.Journal.Late(ctx, r)
		}
		if err != nil {
			return fmt.Errorf("record a kept answer: %w", err)
		}
	}
	if saved > 0 {
		e.o.Log.Info("recorded answers that an earlier process had received", "answers", saved)
	}
	return e.o.Spool.Reset()
}

// Wake tells the engine that a run was admitted or asked to stop.
func (e *Engine) Wake(ws core.WorkspaceID, run core.RunID) { e.wake(run, ws) }

func (e *Engine) wake(id core.RunID, ws core.WorkspaceID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return
	}
	if r, ok := e.runners[id]; ok {
		r.mail.Put(poke)
		return
	}
	r := newRunner(e, id, ws)
	e.runners[id] = r
	e.group.Add(1)
	e.o.Spawn(func() {
		defer e.group.Done()
		r.run()
		e.mu.Lock()
		delete(e.runners, id)
		e.mu.Unlock()
		e.o.Changed(id)
	})
}

// Active is the number of runs being worked on.
func (e *Engine) Active() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.runners)
}

// Stop begins no more calls and waits for those in flight until ctx ends;
// what has no answer by then is left sent, and a restart makes it unknown.
// Live runs stay live.
func (e *Engine) Stop(ctx context.Context) error {
	e.mu.Lock()
	e.stopped = true
	e.stopDispatch()
	for _, r := range e.runners {
		r.mail.Put(poke)
	}
	e.mu.Unlock()
	done := make(chan struct{})
	go func() { e.group.Wait(); e.stopBeat(); e.beats.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	working := e.Active() > 0
	e.stopCalls()
	<-done
	if !working {
		return nil // nothing was cut off
	}
	return context.Cause(ctx)
}

// errStopping ends a runner whose engine stops.
var errStopping = errors.New("the engine is stopping")
