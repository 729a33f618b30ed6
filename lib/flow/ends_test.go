package flow_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
)

// held answers as a service that holds its answers back until the run ends.
type held struct {
	end   time.Time
	err   error
	asked []evalrouter.EventQuery
}

func (h *held) Events(ctx context.Context, _ string, q evalrouter.EventQuery) (api.EventPage, error) {
	h.asked = append(h.asked, q)
	if h.err != nil {
		return api.EventPage{}, h.err
	}
	if err := sleep(ctx, min(q.Wait, max(0, time.Until(h.end)))); err != nil {
		return api.EventPage{}, err
	}
	return api.EventPage{NextSequence: int64(len(h.asked)), Terminal: !time.Now().Before(h.end)}, nil
}

func TestWatchLearnsTheEnd(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		end   time.Duration // of the run
		log   error         // what the log answers
		by    time.Duration
		reads int
	}{
		{"at once, not with the next read", 700 * time.Millisecond, nil, 700 * time.Millisecond, 3},
		{"also late in a long run, where reads are seconds apart", 101 * time.Second, nil, 101 * time.Second, 75},
		{"with the next read where the log cannot be read", 700 * time.Millisecond, callError(api.NotFound, 404), time.Second, 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				log := &held{end: time.Now().Add(test.end), err: test.log}
				s := &script{start: time.Now(), at: func(since time.Duration) (api.RunStatus, error) {
					if since < test.end {
						return api.StatusRunning, nil
					}
					return api.StatusCompleted, nil
				}}
				w := &flow.Watcher{
					Runs: s, Ends: flow.Ends(log, sleep), Disconnect: flow.DefaultDisconnect, Seen: func(flow.Update) {},
					Now: time.Now, Sleep: sleep, Chance: func() float64 { return 0.5 },
				}
				run, err := w.Watch(t.Context(), "r1")
				if took := time.Since(s.start); err != nil || run.Status != api.StatusCompleted || took > test.by+300*time.Millisecond || s.calls > test.reads {
					t.Errorf("%s after %s and %d reads (%v); want it by %s and %d", run.Status, took, s.calls, err, test.by, test.reads)
				}
				for i, q := range log.asked {
					if q.After != int64(i) || len(q.Types) != 1 {
						t.Errorf("question %d is %+v: it must go on behind the last answer and ask for the end alone", i, q)
					}
				}
			})
		})
	}
}

func TestWatchIsNotHurriedTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{start: time.Now(), at: func(since time.Duration) (api.RunStatus, error) {
			if since < 10*time.Second {
				return api.StatusRunning, nil
			}
			return api.StatusCompleted, nil
		}}
		w := &flow.Watcher{
			Runs: s, Ends: func(context.Context, string) error { return nil }, Disconnect: flow.DefaultDisconnect, Seen: func(flow.Update) {},
			Now: time.Now, Sleep: sleep, Chance: func() float64 { return 0.5 },
		}
		if _, err := w.Watch(t.Context(), "r1"); err != nil || s.calls > 25 {
			t.Errorf("a log that claims an end too early made %d reads in 10 s: %v", s.calls, err)
		}
	})
}

func TestWatchStopsListening(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		s := &script{start: time.Now(), at: func(time.Duration) (api.RunStatus, error) { return api.StatusRunning, nil }}
		stopped := make(chan error, 1)
		w := &flow.Watcher{
			Runs: s, Disconnect: flow.DefaultDisconnect, Seen: func(flow.Update) {}, Now: time.Now, Sleep: sleep, Chance: func() float64 { return 0.5 },
			Ends: func(ctx context.Context, _ string) error {
				<-ctx.Done()
				stopped <- ctx.Err()
				return ctx.Err()
			},
		}
		time.AfterFunc(3*time.Second, func() { cancel(errors.New("as asked")) })
		_, err := w.Watch(ctx, "r1")
		var e *flow.Error
		if !errors.As(err, &e) || e.Code != api.WaitCancelled || len(stopped) != 1 {
			t.Errorf("got %v, and %d listeners stopped", err, len(stopped))
		}
	})
}
