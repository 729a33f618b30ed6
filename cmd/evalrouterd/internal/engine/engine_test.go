package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

func TestRun_EveryTaskIsAskedOnceAndGraded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome {
		if task.ID[len(task.ID)-1]%2 == 0 {
			return say(right(task), 50, 10)
		}
		return say(wrong(task), 50, 10)
	})
	id := w.start(200, 1*usd.Dollar, 16)
	r := w.wait(id)
	if r.State != core.Completed || r.Reason != core.ReasonCompleted {
		t.Fatalf("state %s, reason %s", r.State, r.Reason)
	}
	if n := r.Tallies[bundle.Right] + r.Tallies[bundle.Wrong]; n != 200 {
		t.Errorf("right and wrong are %d of 200: %v", n, r.Tallies)
	}
	for task, n := range w.adapter.asked {
		if n != 1 {
			t.Errorf("task %s was asked %d times", task, n)
		}
	}
	if want := 200 * usd.Micro(50+20); r.Charged != want { // 50 tokens at $1/M and 10 at $2/M each
		t.Errorf("charged %s, want %s", r.Charged, want)
	}
	if w.adapter.most > 16 {
		t.Errorf("%d calls in flight, limit 16", w.adapter.most)
	}
	res := w.result(id)
	if m := res.Metrics[0]; m.N != 200 || m.Interval == nil || m.Value != float64(r.Tallies[bundle.Right])/200 {
		t.Errorf("metric %+v", m)
	}
	w.events(id, r.Cap)
	c, err := w.store.Credits(context.Background(), core.Local, core.PracticeBook)
	if err != nil || c.Held != 0 || c.Available != 100*usd.Dollar-r.Charged {
		t.Errorf("credits %+v, %v", c, err)
	}
}

func TestRun_CapStopsInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome { return say(right(task), 100, 50) })
	cap := usd.Micro(10*200 + 299) // ten answers at 200 leave less than one worst case
	id := w.start(100, cap, 4)
	r := w.wait(id)
	if r.State != core.Partial || r.Reason != core.SpendingCap {
		t.Fatalf("state %s, reason %s", r.State, r.Reason)
	}
	if r.Tallies[bundle.Right] != 10 || r.Tallies[core.SkippedBudget] != 90 {
		t.Errorf("outcomes %v", r.Tallies)
	}
	if r.Charged != 2000 || r.Charged+r.Reserved > cap {
		t.Errorf("charged %d of %d", r.Charged, cap)
	}
	w.events(id, cap)
}

func TestRun_UsageBeyondTheBoundIsAbsorbed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome { return say(right(task), 900, 900) })
	id := w.start(5, 10*worstCase, 1)
	r := w.wait(id)
	if r.Reason != core.RoutePaused || r.Charged != 2*worstCase {
		t.Errorf("%s, charged %s; want %s after the second, and the reservations %s", r.Reason, r.Charged, core.RoutePaused, 2*worstCase)
	}
	if want := 2 * (usd.Micro(900+1800) - worstCase); r.Absorbed != want {
		t.Errorf("absorbed %s, want %s", r.Absorbed, want)
	}
}

func TestRun_Outcomes(t *testing.T) {
	t.Parallel()
	rejected := func(reach provider.Reach, refused bool) provider.Outcome {
		return provider.Outcome{Class: provider.Rejected, Reach: reach, Refused: refused, Status: 400, Code: "scripted"}
	}
	for _, tt := range []struct {
		name    string
		answer  func(bundle.Task, int) provider.Outcome
		state   core.State
		reason  core.Reason
		tallies core.Tallies
		asked   int // calls in all; 0 = not checked
	}{
		{
			name: "rate limit twice, then an answer", asked: 12,
			answer: func(task bundle.Task, attempt int) provider.Outcome {
				if attempt < 3 {
					return provider.Outcome{Class: provider.Rejected, Reach: provider.Overload, Status: 429, HasRetryAfter: true, RetryAfter: time.Second}
				}
				return say(right(task), 10, 10)
			},
			state: core.Completed, reason: core.ReasonCompleted, tallies: core.Tallies{bundle.Right: 4},
		},
		{
			name: "credential rejected stops at once and plans the tasks again",
			answer: func(bundle.Task, int) provider.Outcome {
				return provider.Outcome{Class: provider.Rejected, Reach: provider.Connection, Status: 401}
			},
			state: core.Failed, reason: core.CredentialFailed, tallies: core.Tallies{core.PendingTask: 4},
		},
		{
			name: "unknown outcomes in a row stop the run and are never repeated", asked: 3,
			answer: func(bundle.Task, int) provider.Outcome {
				return provider.Outcome{Class: provider.Unknown, Code: "reset"}
			},
			state: core.Failed, reason: core.ProviderDown, tallies: core.Tallies{core.ProviderError: 3, core.PendingTask: 1},
		},
		{
			name: "a refusal before an answer", asked: 4,
			answer: func(bundle.Task, int) provider.Outcome { return rejected(provider.ThisTask, true) },
			state:  core.Failed, reason: core.AllTasksFailed, tallies: core.Tallies{bundle.Refused: 4},
		},
		{
			name: "a refusal as the answer is paid and not graded", asked: 4,
			answer: func(bundle.Task, int) provider.Outcome {
				o := say("", 10, 1)
				o.Refused = true
				return o
			},
			state: core.Failed, reason: core.AllTasksFailed, tallies: core.Tallies{bundle.Refused: 4},
		},
		{
			name: "too long for the model", asked: 4,
			answer: func(bundle.Task, int) provider.Outcome { return rejected(provider.ThisTask, false) },
			state:  core.Failed, reason: core.AllTasksFailed, tallies: core.Tallies{core.ProviderError: 4},
		},
		{
			name: "no usage three times stops a priced run",
			answer: func(task bundle.Task, _ int) provider.Outcome {
				o := say(right(task), 0, 0)
				o.Usage = nil
				return o
			},
			state: core.Partial, reason: core.UsageUnreported, tallies: core.Tallies{bundle.Right: 3, core.PendingTask: 1}, asked: 3,
		},
		{
			name: "an unreadable answer with usage is paid and settled", asked: 4,
			answer: func(bundle.Task, int) provider.Outcome {
				o := say("{", 10, 1)
				o.Malformed = true
				return o
			},
			state: core.Failed, reason: core.AllTasksFailed, tallies: core.Tallies{core.ProviderError: 4},
		},
		{
			name: "empty answers are graded as empty", asked: 4,
			answer: func(bundle.Task, int) provider.Outcome { return say("", 10, 0) },
			state:  core.Completed, reason: core.ReasonCompleted, tallies: core.Tallies{bundle.Empty: 4},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tt.answer)
			id := w.start(4, 1*usd.Dollar, 1)
			r := w.wait(id)
			if r.State != tt.state || r.Reason != tt.reason {
				t.Errorf("state %s, reason %s; want %s, %s", r.State, r.Reason, tt.state, tt.reason)
			}
			for o, n := range tt.tallies {
				if r.Tallies[o] != n {
					t.Errorf("%s: %d, want %d (%v)", o, r.Tallies[o], n, r.Tallies)
				}
			}
			calls := 0
			for _, n := range w.adapter.asked {
				calls += n
			}
			if tt.asked != 0 && calls != tt.asked {
				t.Errorf("%d calls, want %d", calls, tt.asked)
			}
			if r.Reserved != 0 || !r.HoldReleased {
				t.Errorf("reserved %s, hold released %v", r.Reserved, r.HoldReleased)
			}
			w.events(id, r.Cap)
		})
	}
}

func TestRun_CancelDrainsCallsInFlight(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	entered := make(chan struct{}, 100)
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome {
		entered <- struct{}{}
		<-release
		return say(right(task), 10, 10)
	})
	id := w.start(50, 1*usd.Dollar, 4)
	for range 4 {
		<-entered
	}
	if err := w.store.RequestCancel(context.Background(), scope, id); err != nil {
		t.Fatal(err)
	}
	w.engine.Wake(core.Local, id)
	close(release)
	r := w.wait(id)
	if r.State != core.Cancelled || r.Tallies[bundle.Right] != 4 || r.Tallies[core.CancelledTask] != 46 {
		t.Errorf("state %s, outcomes %v", r.State, r.Tallies)
	}
	if want := 4 * usd.Micro(30); r.Charged != want {
		t.Errorf("charged %s, want %s: calls in flight are paid", r.Charged, want)
	}
}

// A restart after a stop that left calls sent makes those unknown, plans the
// rest again and asks nobody twice.
func TestRestart_AsksNobodyTwice(t *testing.T) {
	t.Parallel()
	block := make(chan struct{})
	entered := make(chan struct{}, 100)
	first := true
	w := newWorld(t, nil)
	w.adapter.answer = func(task bundle.Task, _ int) provider.Outcome {
		if first {
			entered <- struct{}{}
			<-block
			return provider.Outcome{Class: provider.Unknown}
		}
		return say(right(task), 10, 10)
	}
	id := w.start(20, 1*usd.Dollar, 2)
	<-entered
	<-entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // no grace
	go func() { <-ctx.Done(); close(block) }()
	if err := w.engine.Stop(ctx); err == nil {
		t.Fatal("stop without grace did not say that calls were left")
	}
	w.store.Close()
	first = false
	w.open()
	if err := w.engine.Start(context.Background(), w.kept); err != nil {
		t.Fatal(err)
	}
	r := w.wait(id)
	if r.State != core.Partial || r.Tallies[bundle.Right] != 18 || r.Tallies[core.ProviderError] != 2 {
		t.Errorf("state %s, outcomes %v", r.State, r.Tallies)
	}
	for task, n := range w.adapter.asked {
		if n != 1 {
			t.Errorf("task %s was asked %d times", task, n)
		}
	}
	if r.Waived != 2*worstCase {
		t.Errorf("waived %s, want %s", r.Waived, 2*worstCase)
	}
}

// A service that stops in good order loses nothing at all, however often it
// does so in a run.
func TestStop_InGoodOrderLosesNothing(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{}, 1000)
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome {
		entered <- struct{}{}
		return say(right(task), 10, 10)
	})
	id := w.start(300, 1*usd.Dollar, 8)
	for range 10 {
		for range 20 {
			<-entered
		}
		if err := w.engine.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		w.store.Close()
		w.open()
		if err := w.engine.Start(context.Background(), w.kept); err != nil {
			t.Fatal(err)
		}
		w.audit()
	}
	r := w.wait(id)
	if r.State != core.Completed || r.Tallies[bundle.Right] != 300 || r.Waived != 0 {
		t.Errorf("state %s, outcomes %v, waived %s", r.State, r.Tallies, r.Waived)
	}
	for task, n := range w.adapter.asked {
		if n != 1 {
			t.Errorf("task %s was asked %d times", task, n)
		}
	}
}

// A provider that asks for a long wait parks the run in the open.
func TestPark(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		hint   time.Duration
		state  core.State
		reason core.Reason
	}{
		{name: "an hour", hint: time.Hour, state: core.Completed, reason: core.ReasonCompleted},
		{name: "longer than a run may go on", hint: 25 * time.Hour, state: core.Failed, reason: core.TimeLimit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(task bundle.Task, attempt int) provider.Outcome {
				if attempt == 1 {
					return provider.Outcome{Class: provider.Rejected, Reach: provider.Overload, Status: 429, HasRetryAfter: true, RetryAfter: tt.hint, Reason: "quota_exhausted"}
				}
				return say(right(task), 10, 10)
			})
			id := w.start(3, 1*usd.Dollar, 1)
			r := w.wait(id)
			if r.State != tt.state || r.Reason != tt.reason {
				t.Errorf("state %s, reason %s, outcomes %v", r.State, r.Reason, r.Tallies)
			}
			waiting := 0
			for _, e := range w.events(id, r.Cap) {
				if e.Type == core.EventWaiting {
					waiting++
					if e.Data["reason"] != "quota_exhausted" || e.Data["reserved_microusd"] != "0" {
						t.Errorf("waiting: %v", e.Data)
					}
				}
			}
			if waiting == 0 {
				t.Error("the run waited in secret")
			}
		})
	}
}

// A stop that is hurried on while nothing is under way cuts nothing off, and does
// not say that it did.
func TestStop_HurriedWhileIdle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome { return say(right(task), 10, 10) })
	w.wait(w.start(3, usd.Dollar, 3))
	for w.engine.Active() > 0 {
		<-w.changed
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 50 {
		if err := w.engine.Stop(ctx); err != nil {
			t.Fatalf("an idle engine says %v", err)
		}
	}
}
