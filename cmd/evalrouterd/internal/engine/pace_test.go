package engine

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestPace(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	type signal struct {
		at   time.Duration
		size int // the window right after
	}
	for _, tt := range []struct {
		name    string
		limit   int
		signals []signal
		at      time.Duration
		want    int
	}{
		{name: "nothing happens", limit: 64, at: time.Hour, want: 64},
		{name: "a signal halves", limit: 64, signals: []signal{{0, 32}}, at: time.Second, want: 32},
		{name: "signals of one moment count once", limit: 64, signals: []signal{{0, 32}, {100 * time.Millisecond, 32}, {900 * time.Millisecond, 32}}, at: time.Second, want: 32},
		{name: "each second halves again", limit: 64, signals: []signal{{0, 32}, {time.Second, 16}, {2 * time.Second, 8}}, at: 3 * time.Second, want: 8},
		{name: "never below one", limit: 2, signals: []signal{{0, 1}, {time.Second, 1}}, at: 2 * time.Second, want: 1},
		{name: "it grows by half every five seconds", limit: 64, signals: []signal{{0, 32}}, at: 5 * time.Second, want: 48},
		{name: "and never beyond the limit", limit: 64, signals: []signal{{0, 32}}, at: time.Hour, want: 64},
		{name: "from one it grows by one", limit: 64, signals: []signal{{0, 32}, {1e9, 16}, {2e9, 8}, {3e9, 4}, {4e9, 2}, {5e9, 1}}, at: 10 * time.Second, want: 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPace(tt.limit)
			for _, s := range tt.signals {
				p.overloaded(start.Add(s.at))
				if p.window != s.size {
					t.Errorf("after the signal at %s: %d, want %d", s.at, p.window, s.size)
				}
			}
			if got := p.size(start.Add(tt.at)); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

// However long and dense a storm was, two minutes after it the window is back
// at four fifths of the limit.
func TestPace_RecoversWithinTwoMinutes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
		limit := rapid.IntRange(1, 256).Draw(t, "limit")
		p := newPace(limit)
		for range rapid.IntRange(1, 300).Draw(t, "signals") {
			now = now.Add(time.Duration(rapid.IntRange(0, 12_000).Draw(t, "ms")) * time.Millisecond)
			p.overloaded(now)
			if n := p.size(now); n < 1 || n > limit {
				t.Fatalf("window %d of %d", n, limit)
			}
		}
		if got := p.size(now.Add(2 * time.Minute)); got*5 < limit*4 {
			t.Fatalf("two minutes after the storm %d of %d", got, limit)
		}
	})
}
