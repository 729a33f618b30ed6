package tracing_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/tracing"
)

// waiting is a capture whose spans are not sent while it is measured.
func waiting(t testing.TB) *tracing.TraceCapture {
	t.Helper()
	cfg := settings(http.NotFoundHandler())
	cfg.Delivery.Interval, cfg.Delivery.QueueBytes = time.Hour, 1<<30
	c, err := tracing.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) }) // nothing is there to deliver to
	return c
}

// call is a call to a model without content, with what is usually recorded.
func call(ctx context.Context, c *tracing.TraceCapture) {
	_, s := c.StartModel(ctx, "openai", "gpt-x")
	s.Usage(tracing.Usage{Input: 1200, Output: 340})
	s.End()
}

// The bound that is promised: 8 allocations for a span without content, none
// without a capture. It runs alone, because it counts those of the whole process.
func TestOverhead_Allocations(t *testing.T) {
	c := waiting(t)
	ctx, run := c.StartAgent(t.Context(), "a")
	defer run.End()
	var none *tracing.TraceCapture
	for _, tt := range []struct {
		name string
		most float64
		call func()
	}{
		{"a span", 8, func() { call(ctx, c) }},
		{"no capture", 0, func() { call(ctx, none) }},
	} {
		if got := testing.AllocsPerRun(1000, tt.call); got > tt.most {
			t.Errorf("%s: %v allocations, at most %v are promised", tt.name, got, tt.most)
		}
	}
}

func BenchmarkSpan(b *testing.B) {
	c := waiting(b)
	ctx, run := c.StartAgent(b.Context(), "a")
	defer run.End()
	b.ReportAllocs()
	for b.Loop() {
		call(ctx, c)
	}
}
