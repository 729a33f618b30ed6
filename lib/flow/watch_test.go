package flow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
)

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

func callError(code api.Code, status int) *evalrouter.Error {
	return &evalrouter.Error{Problem: evalrouter.Problem{Code: code, Message: "as asked"}, Status: status}
}

// script answers by the time since it was made.
type script struct {
	start time.Time
	at    func(since time.Duration) (api.RunStatus, error)
	hang  bool // failures take until the context ends
	calls int
}

func (s *script) Get(ctx context.Context, id string) (api.RunRecord, error) {
	s.calls++
	status, err := s.at(time.Since(s.start))
	if err != nil && s.hang {
		<-ctx.Done()
		return api.RunRecord{}, callError(api.RequestTimeout, 0)
	}
	return api.RunRecord{ID: id, Status: status, PlannedCount: 10}, err
}

// down says that the service is out of reach for a while from the beginning,
// and that the run ends with it.
func down(d time.Duration, err error) func(time.Duration) (api.RunStatus, error) {
	return func(since time.Duration) (api.RunStatus, error) {
		if since < d {
			return "", err
		}
		return api.StatusCompleted, nil
	}
}

func TestWatchOutage(t *testing.T) {
	t.Parallel()
	network := callError(api.NetworkError, 0)
	slow := callError(api.Unavailable, 503)
	slow.RetryAfter = time.Minute
	tests := []struct {
		name string
		at   func(time.Duration) (api.RunStatus, error)
		hang bool
		want api.Code
		by   time.Duration // the time at which watching must have stopped
	}{
		{"REC-10 a short outage", down(20*time.Second, network), false, "", 26 * time.Second},
		{"REC-10 a 503 of a deployment", down(20*time.Second, callError(api.HTTPError, 503)), false, "", 26 * time.Second},
		{"89.9 s survive", down(89900*time.Millisecond, network), false, "", 90 * time.Second},
		{"REC-11 90.1 s do not", down(90100*time.Millisecond, network), false, api.WatchLost, 90 * time.Second},
		{"89.9 s of silence survive", down(80*time.Second, network), true, "", 91 * time.Second},
		{"90.1 s of silence do not", down(200*time.Second, network), true, api.WatchLost, 91 * time.Second},
		{"Retry-After does not outlast the budget", down(89900*time.Millisecond, slow), false, "", 90 * time.Second},
		{"too many requests are an outage", down(30*time.Second, callError(api.RateLimited, 429)), false, "", 36 * time.Second},
		{"a missing run is an answer", down(time.Second, callError(api.NotFound, 404)), false, api.NotFound, 0},
		{"a refused key is an answer", down(time.Second, callError(api.Unauthenticated, 401)), false, api.Unauthenticated, 0},
		{"an unknown status is refused", func(time.Duration) (api.RunStatus, error) { return "paused", nil }, false, api.InvalidResponse, 0},
	}
	for _, chance := range []float64{0, 0.5, 0.999} {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := &script{start: time.Now(), at: tt.at, hang: tt.hang}
					w := &flow.Watcher{
						Runs: s, Disconnect: 90 * time.Second, Seen: func(flow.Update) {},
						Now: time.Now, Sleep: sleep, Chance: func() float64 { return chance },
					}
					run, err := w.Watch(t.Context(), "r")
					if tt.want == "" && (err != nil || run.Status != api.StatusCompleted) || tt.want != "" && !errors.Is(err, tt.want) {
						t.Fatalf("after %s: %s, %v; want %q", time.Since(s.start), run.Status, err, tt.want)
					}
					if got := time.Since(s.start); got > tt.by {
						t.Errorf("took %s, want at most %s", got, tt.by)
					}
				})
			})
		}
	}
}

func TestWatchFlappingNeverStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const end = 2 * time.Hour
		s := &script{start: time.Now()}
		s.at = func(since time.Duration) (api.RunStatus, error) {
			switch {
			case since >= end:
				return api.StatusCompleted, nil
			case since%(85*time.Second) > 10*time.Second: // up for 10 s in every 85
				return "", callError(api.NetworkError, 0)
			}
			return api.StatusRunning, nil
		}
		w := &flow.Watcher{Runs: s, Disconnect: 90 * time.Second, Seen: func(flow.Update) {}, Now: time.Now, Sleep: sleep, Chance: func() float64 { return 0.5 }}
		if _, err := w.Watch(t.Context(), "r"); err != nil {
			t.Fatalf("stopped after %s: %v", time.Since(s.start), err)
		}
	})
}

func TestWatchStops(t *testing.T) {
	t.Parallel()
	running := func(time.Duration) (api.RunStatus, error) { return api.StatusRunning, nil }
	tests := []struct {
		name  string
		limit time.Duration
		leave time.Duration
		want  api.Code
		took  time.Duration
	}{
		{"at the limit", 100 * time.Second, time.Hour, api.RequestTimeout, 100 * time.Second},
		{"when the person leaves", 0, 33 * time.Second, api.WaitCancelled, 33 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tt.leave)
				defer cancel()
				s := &script{start: time.Now(), at: running}
				w := &flow.Watcher{Runs: s, Disconnect: 90 * time.Second, Limit: tt.limit, Seen: func(flow.Update) {}, Now: time.Now, Sleep: sleep, Chance: func() float64 { return 0 }}
				run, err := w.Watch(ctx, "r")
				var e *flow.Error
				if !errors.As(err, &e) || e.Code != tt.want || e.RunID != "r" {
					t.Fatalf("error %v, want %s of run r", err, tt.want)
				}
				if run.Status != api.StatusRunning {
					t.Errorf("last record %+v is not kept", run)
				}
				if got := time.Since(s.start); got != tt.took {
					t.Errorf("took %s, want %s", got, tt.took)
				}
			})
		})
	}
}

func TestWatchSlowsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{start: time.Now(), at: down(0, nil)}
		s.at = func(since time.Duration) (api.RunStatus, error) {
			if since >= 10*time.Minute {
				return api.StatusCompleted, nil
			}
			return api.StatusRunning, nil
		}
		w := &flow.Watcher{Runs: s, Disconnect: 90 * time.Second, Seen: func(flow.Update) {}, Now: time.Now, Sleep: sleep, Chance: func() float64 { return 0 }}
		if _, err := w.Watch(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		// 20 reads in the first 10 s, then fewer and fewer down to one in 5 s.
		if s.calls < 150 || s.calls > 180 {
			t.Errorf("%d reads in ten minutes", s.calls)
		}
	})
}

// PRG-09: the percentage counts processed tasks. What a stopped run left out
// was not processed, and an ended run does not get older.
func TestProgressCounts_PRG09(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		run  api.RunRecord
		want int
	}{
		{"running", api.RunRecord{ProcessedCount: 5, GradedCount: 4, ErrorCount: 1, Outcomes: map[string]int{"right": 4, "provider_error": 1, "pending": 5}}, 5},
		{"cancelled", api.RunRecord{ProcessedCount: 10, GradedCount: 3, ErrorCount: 1, Outcomes: map[string]int{"right": 3, "provider_error": 1, "cancelled": 6}}, 4},
		{"stopped by the cap", api.RunRecord{ProcessedCount: 10, GradedCount: 2, Outcomes: map[string]int{"wrong": 2, "skipped_budget": 8}}, 2},
		{"given back", api.RunRecord{ProcessedCount: 10, Outcomes: map[string]int{"pending": 10}}, 0},
		{"a service without outcomes", api.RunRecord{ProcessedCount: 7}, 7},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := flow.Progress(flow.Update{Run: tt.run}, time.Now()).Processed; got != tt.want {
				t.Errorf("processed %d, want %d", got, tt.want)
			}
		})
	}
}

// Whoever comes back to a run sees its age, not that of the watching.
func TestElapsedIsTheRunsAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started := time.Now().Add(-10 * time.Minute)
		ended := started.Add(10*time.Minute + 3*time.Second)
		var seen []time.Duration
		w := &flow.Watcher{
			Runs: readerFunc(func() api.RunRecord {
				if time.Since(started) < 10*time.Minute+5*time.Second {
					return api.RunRecord{Status: api.StatusRunning, StartedAt: &started}
				}
				return api.RunRecord{Status: api.StatusCompleted, StartedAt: &started, FinishedAt: &ended}
			}),
			Disconnect: 90 * time.Second, Seen: func(u flow.Update) { seen = append(seen, u.Elapsed) },
			Now: time.Now, Sleep: sleep, Chance: func() float64 { return 0 },
		}
		if _, err := w.Watch(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		if first, last := seen[0], seen[len(seen)-1]; first != 10*time.Minute || last != 10*time.Minute+3*time.Second {
			t.Errorf("elapsed goes from %s to %s", first, last)
		}
	})
}

type readerFunc func() api.RunRecord

func (f readerFunc) Get(context.Context, string) (api.RunRecord, error) { return f(), nil }

func TestPercent(t *testing.T) {
	t.Parallel()
	n := func(n int) *int { return &n }
	tests := []struct {
		name      string
		processed int
		planned   *int
		want      int
		ok        bool
	}{
		{"none yet", 0, n(10), 0, true},
		{"a third", 1, n(3), 33, true},
		{"all", 3, n(3), 100, true},
		{"almost all is not all", 999, n(1000), 99, true},
		{"unknown plan", 1, nil, 0, false},
		{"empty plan", 0, n(0), 0, false},
		{"more than planned", 4, n(3), 0, false},
		{"negative", -1, n(3), 0, false},
	}
	for _, tt := range tests {
		t.Run("PRG-04 "+tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := flow.Percent(api.Progress{Processed: tt.processed, Planned: tt.planned})
			if got != tt.want || ok != tt.ok {
				t.Errorf("Percent = %d, %v; want %d, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

// What is out of reach for now is an outage, whether a request or the renewal of a
// token met it; a sign-in that has ended is none.
func TestOutage(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		&evalrouter.Error{Problem: api.Error{Code: api.NetworkError}}:                true,
		&evalrouter.Error{Problem: api.Error{Code: api.Unavailable}, Status: 503}:    true,
		&evalrouter.Error{Problem: api.Error{Code: api.SessionExpired}, Status: 401}: false,
		&flow.Error{Code: api.NetworkError}:                                          true,
		&flow.Error{Code: api.Unavailable}:                                           true,
		&flow.Error{Code: api.SessionExpired}:                                        false,
		errors.New("else"):                                                           false,
	} {
		if got := flow.Outage(fmt.Errorf("watch: %w", err)); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}
