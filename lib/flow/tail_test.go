package flow_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
)

// log is ten events, out of reach for a while after some of
// them, and whose answers may get lost behind them.
type log struct {
	start    time.Time
	down     func(since time.Duration) error
	size     int64 // events an answer
	gap      bool
	asked    []int64
	loseNext bool
}

func (l *log) Events(ctx context.Context, _ string, q evalrouter.EventQuery) (api.EventPage, error) {
	l.asked = append(l.asked, q.After)
	if err := l.down(time.Since(l.start)); err != nil {
		return api.EventPage{}, err
	}
	var p api.EventPage
	for n := q.After + 1; n <= 10 && n <= q.After+l.size; n++ {
		if l.gap && n == 5 {
			continue
		}
		p.Data = append(p.Data, api.RunEvent{Sequence: n})
	}
	p.HasMore, p.Terminal = q.After+l.size < 10, true
	if l.loseNext {
		l.loseNext = false
		return api.EventPage{}, callError(api.NetworkError, 0)
	}
	return p, ctx.Err()
}

// EVT-02: nothing is left out and nothing comes twice, whatever the connection
// does; REC-11: after 90 s it ends, and says where to go on.
func TestTail_EVT02(t *testing.T) {
	t.Parallel()
	network := callError(api.NetworkError, 0)
	up := func(time.Duration) error { return nil }
	window := func(from, to time.Duration, err error) func(time.Duration) error {
		return func(since time.Duration) error {
			if since >= from && since < to {
				return err
			}
			return nil
		}
	}
	tests := []struct {
		name  string
		log   log
		want  api.Code
		last  int64
		downs int
	}{
		{"one answer", log{down: up, size: 20}, "", 10, 0},
		{"many answers", log{down: up, size: 3}, "", 10, 0},
		{"a lost answer", log{down: up, size: 3, loseNext: true}, "", 10, 1},
		{"a short outage", log{down: window(0, 20*time.Second, network), size: 3}, "", 10, 1},
		{"a deployment", log{down: window(0, 40*time.Second, callError(api.Unavailable, 503)), size: 3}, "", 10, 1},
		{"REC-11 a long one", log{down: window(0, time.Hour, network), size: 3}, api.WatchLost, 0, 1},
		{"a refused key is an answer", log{down: window(0, time.Hour, callError(api.Unauthenticated, 401)), size: 3}, api.Unauthenticated, 0, 0},
		{"a gap", log{down: up, size: 20, gap: true}, api.InvalidResponse, 4, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := tt.log
				l.start = time.Now()
				downs := 0
				tail := &flow.Tail{
					Runs: &l, Disconnect: 90 * time.Second, Now: time.Now, Sleep: sleep, Chance: func() float64 { return 0.5 },
					Down: func(cause error) {
						if cause != nil {
							downs++
						}
					},
				}
				var got []int64
				last, err := tail.Follow(t.Context(), "r", evalrouter.EventQuery{}, func(e api.RunEvent) error {
					got = append(got, e.Sequence)
					return nil
				})
				if tt.want == "" && err != nil || tt.want != "" && !errors.Is(err, tt.want) {
					t.Fatalf("error %v, want %q", err, tt.want)
				}
				var want []int64
				for n := int64(1); n <= tt.last; n++ {
					want = append(want, n)
				}
				if last != tt.last || !slices.Equal(got, want) || downs != tt.downs {
					t.Errorf("events %v, last %d, %d outages", got, last, downs)
				}
				if d := time.Since(l.start); tt.want == api.WatchLost && (d < 90*time.Second || d > 91*time.Second) {
					t.Errorf("it ended after %s", d)
				}
			})
		})
	}
}

// Whoever is told an event and fails ends following, and so does the end of ctx.
func TestTailEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &log{down: func(time.Duration) error { return nil }, size: 3, start: time.Now()}
		tail := &flow.Tail{Runs: l, Disconnect: time.Minute, Now: time.Now, Sleep: sleep, Chance: func() float64 { return 0.5 }}
		full := errors.New("full")
		last, err := tail.Follow(t.Context(), "r", evalrouter.EventQuery{After: 2}, func(e api.RunEvent) error {
			if e.Sequence == 4 {
				return full
			}
			return nil
		})
		if !errors.Is(err, full) || last != 3 {
			t.Errorf("last %d, %v", last, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := tail.Follow(ctx, "r", evalrouter.EventQuery{}, func(api.RunEvent) error { return nil }); !errors.Is(err, api.WaitCancelled) {
			t.Errorf("after the end of the context: %v", err)
		}
	})
}
