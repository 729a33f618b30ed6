package provider_test

import (
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// A long answer is asked for as a stream and waited for in proportion.
func TestLongAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit  int
		usual  time.Duration
		want   time.Duration
		stream bool
	}{
		{4096, 10 * time.Minute, 10 * time.Minute, false},
		{21_333, time.Second, time.Second, false},
		{32_000, 10 * time.Minute, 15 * time.Minute, true},
		{64_000, 10 * time.Minute, 30 * time.Minute, true},
		{1_000_000, 10 * time.Minute, time.Hour, true},
		{32_000, 2 * time.Hour, 2 * time.Hour, true},
	} {
		r := provider.Request{MaxOutput: c.limit}
		if got := provider.CallTime(c.limit, c.usual); got != c.want || r.Streams() != c.stream {
			t.Errorf("%d tokens: %s, stream %v; want %s, %v", c.limit, got, r.Streams(), c.want, c.stream)
		}
	}
	if r := (provider.Request{MaxOutput: 1, Target: core.Target{Stream: true}}); !r.Streams() {
		t.Error("a route that asks for streams")
	}
}
