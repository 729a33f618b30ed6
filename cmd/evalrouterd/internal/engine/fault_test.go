package engine_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// A write that fails for a while loses nothing: it is tried again until the
// database can take it.
func TestFault_FailedWritesAreRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome { return say(right(task), 10, 10) })
	flaky := &flakyJournal{Journal: w.store}
	w.rewire(func(o *engine.Options) { o.Journal = flaky })
	id := w.start(30, 1*usd.Dollar, 4)
	r := w.wait(id)
	if r.State != core.Completed || r.Tallies[bundle.Right] != 30 || flaky.failed.Load() == 0 {
		t.Errorf("state %s (%s), outcomes %v, %d failed writes", r.State, r.Detail, r.Tallies, flaky.failed.Load())
	}
	for task, n := range w.adapter.asked {
		if n != 1 {
			t.Errorf("task %s was asked %d times", task, n)
		}
	}
}

// flakyJournal fails each kind of write every third time, before it is made
// or after.
type flakyJournal struct {
	engine.Journal
	n, failed atomic.Int64
}

var errBusy = errors.New("database is locked")

func (f *flakyJournal) fails() (before, after bool) {
	n := f.n.Add(1)
	if n%3 != 0 {
		return false, false
	}
	f.failed.Add(1)
	return n%6 == 0, n%6 != 0
}

func (f *flakyJournal) do(write func() error) error {
	before, after := f.fails()
	if before {
		return errBusy
	}
	if err := write(); err != nil {
		return err
	}
	if after {
		return errBusy
	}
	return nil
}

func (f *flakyJournal) Reserve(ctx context.Context, id core.RunID, l core.Lease, b []core.Intent) (out core.Reserved, err error) {
	err = f.do(func() error { out, err = f.Journal.Reserve(ctx, id, l, b); return err })
	return out, err
}

func (f *flakyJournal) MarkSent(ctx context.Context, run core.RunID, in core.Intent) error {
	return f.do(func() error { return f.Journal.MarkSent(ctx, run, in) })
}

func (f *flakyJournal) Respond(ctx context.Context, r core.Response) error {
	return f.do(func() error { return f.Journal.Respond(ctx, r) })
}

// What a grader may not give is an error of ours, and the run ends.
func TestFault_GraderNonsense(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		verdict bundle.Verdict
		panics  bool
	}{
		{name: "not a number", verdict: bundle.Verdict{Outcome: bundle.Right, Score: math.NaN()}},
		{name: "beyond one", verdict: bundle.Verdict{Outcome: bundle.Right, Score: 1e200}},
		{name: "an outcome nobody knows", verdict: bundle.Verdict{Outcome: "banana", Score: 1}},
		{name: "a label of ours", verdict: bundle.Verdict{Outcome: core.SkippedBudget, Score: 1}},
		{name: "a span that runs backwards", verdict: bundle.Verdict{Outcome: bundle.Right, Score: 1, Span: &[2]int{5, 2}}},
		{name: "a panic", panics: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome { return say(right(task), 10, 10) })
			w.rewire(func(o *engine.Options) { o.Tasks = badGrader{Tasks: o.Tasks, verdict: tt.verdict, panics: tt.panics} })
			r := w.wait(w.start(3, 1*usd.Dollar, 1))
			if r.Reason != core.AllTasksFailed || r.Tallies[core.GraderError] != 3 || r.Charged == 0 {
				t.Errorf("%s, %v, charged %s", r.Reason, r.Tallies, r.Charged)
			}
		})
	}
}

type badGrader struct {
	engine.Tasks
	verdict bundle.Verdict
	panics  bool
	class   string
}

// Grader gives one of the class that the benchmark's own has.
func (b badGrader) Grader(p core.Profile) (bundle.Grader, error) {
	g, err := b.Tasks.Grader(p)
	if err != nil {
		return nil, err
	}
	b.class = g.Identity().Compat
	return b, nil
}

func (b badGrader) Identity() bundle.Identity {
	return bundle.Identity{ID: "bad", Version: "1", Compat: b.class}
}

func (b badGrader) Grade(bundle.Task, bundle.Answer) (bundle.Verdict, error) {
	if b.panics {
		panic("a bug")
	}
	return b.verdict, nil
}

// NUL is in no text of PostgreSQL and in some answers of models.
func TestFault_NulInTheAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome { return say("ANSWER: 1\x00", 10, 10) })
	if r := w.wait(w.start(3, 1*usd.Dollar, 1)); r.State != core.Completed {
		t.Errorf("state %s, %v", r.State, r.Tallies)
	}
}

// A call that panics is one task of unknown outcome, not the end of the run.
func TestFault_AdapterPanic(t *testing.T) {
	t.Parallel()
	var once atomic.Bool
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome {
		if once.CompareAndSwap(false, true) {
			panic("a bug")
		}
		return say(right(task), 10, 10)
	})
	r := w.wait(w.start(10, 1*usd.Dollar, 2))
	if r.State != core.Partial || r.Tallies[bundle.Right] != 9 || r.Tallies[core.ProviderError] != 1 {
		t.Errorf("state %s (%s), %v", r.State, r.Detail, r.Tallies)
	}
}

// A run that cannot be taken up after a restart ends, and gives back what it
// holds; answers that were paid and cannot be graded are errors of ours.
func TestFault_RunThatCannotBeLoaded(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{}, 100)
	block := make(chan struct{})
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome {
		entered <- struct{}{}
		<-block
		return say(right(task), 10, 10)
	})
	id := w.start(10, 1*usd.Dollar, 2)
	<-entered
	<-entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	go close(block)
	_ = w.engine.Stop(ctx) // says that calls were left, if they were
	w.store.Close()
	w.open()
	w.rewire(func(o *engine.Options) { o.Tasks = noGrader{o.Tasks} })
	if err := w.engine.Start(context.Background(), w.kept); err != nil {
		t.Fatal(err)
	}
	r := w.wait(id)
	if r.State != core.Failed || r.Reason != core.InternalFailure || !r.HoldReleased {
		t.Errorf("state %s, reason %s, hold released %v", r.State, r.Reason, r.HoldReleased)
	}
}

type noGrader struct{ engine.Tasks }

func (noGrader) Grader(core.Profile) (bundle.Grader, error) { return nil, errors.New("gone") }

// Rate limits and missing connections have limits of their own: a busy
// provider whose network hiccups once is not down.
func TestFault_KindsOfFailureAreCountedApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(task bundle.Task, attempt int) provider.Outcome {
		switch {
		case attempt <= 4:
			return provider.Outcome{Class: provider.Rejected, Reach: provider.Overload, Status: 429}
		case attempt == 5:
			return provider.Outcome{Class: provider.NotSent}
		}
		return say(right(task), 10, 10)
	})
	if r := w.wait(w.start(2, 1*usd.Dollar, 1)); r.State != core.Completed {
		t.Errorf("state %s (%s, %s), %v", r.State, r.Reason, r.Detail, r.Tallies)
	}
}

// newer is a service whose grader decides by other rules.
type newer struct{ engine.Tasks }

func (n newer) Grader(p core.Profile) (bundle.Grader, error) {
	g, err := n.Tasks.Grader(p)
	return otherClass{g}, err
}

type otherClass struct{ bundle.Grader }

func (o otherClass) Identity() bundle.Identity {
	id := o.Grader.Identity()
	id.Compat += "+"
	return id
}

// Grades of two classes do not mix in one run: a service with another grader
// than the run began with asks and grades nothing.
func TestFault_AnotherGraderClass(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome { return say(right(task), 10, 10) })
	w.admit.Engine = asleep{}
	id := w.start(3, usd.Dollar, 1)
	w.rewire(func(o *engine.Options) { o.Tasks = newer{o.Tasks} })
	if err := w.engine.Start(context.Background(), w.kept); err != nil {
		t.Fatal(err)
	}
	r := w.wait(id)
	if r.State != core.Failed || r.Tallies[core.PendingTask] != 3 || !strings.Contains(r.Detail, "other rules") || r.Charged != 0 {
		t.Errorf("%s %s %q, %v", r.State, r.Reason, r.Detail, r.Tallies)
	}
	w.rewire(func(o *engine.Options) { o.Tasks = newer{w.catalog} })
	if r := w.wait(w.start(3, usd.Dollar, 1)); r.State != core.Failed {
		t.Errorf("a quote names the grader of another service: %s", r.State)
	}
}

// goneKeys opens no credential any more.
type goneKeys struct{}

func (goneKeys) Key(context.Context, core.Scope, core.Target) (provider.Secret, error) {
	return provider.Secret{}, core.Refuse(core.ModelUnavailable, "the operator no longer offers it")
}

// A route that is gone ends the run, and takes no answer with it that was paid
// for before: that is graded first.
func TestFault_RouteIsGone(t *testing.T) {
	t.Parallel()
	ctx, lease := context.Background(), core.Lease{Worker: "dead", Until: 1}
	w := newWorld(t, nil)
	w.admit.Engine = asleep{}
	id := w.start(3, usd.Dollar, 1)
	in := core.Intent{Call: "call-1", TaskID: "000000", Attempt: 1, Worst: worstCase, Hash: "h"}
	sum := sha256.Sum256([]byte("ANSWER: 1"))
	for _, step := range []func() error{
		func() error { return w.store.Start(ctx, id) },
		func() error { _, err := w.store.Reserve(ctx, id, lease, []core.Intent{in}); return err },
		func() error { return w.store.MarkSent(ctx, id, in) },
		func() error {
			return w.store.Respond(ctx, core.Response{Run: id, Workspace: core.Local, Book: core.PracticeBook, Call: in.Call, Raw: []byte("ANSWER: 1"),
				RawSHA256: hex.EncodeToString(sum[:]), Finish: "stop", Reserved: in.Worst, ExpiresAt: 1})
		},
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	w.rewire(func(o *engine.Options) { o.Keys = goneKeys{} })
	if err := w.engine.Start(ctx, w.kept); err != nil {
		t.Fatal(err)
	}
	r := w.wait(id)
	if r.Reason != core.ProviderDown || r.Tallies.Graded() != 1 || r.Tallies[core.GraderError] != 0 {
		t.Errorf("%s, %v", r.Reason, r.Tallies)
	}
}
