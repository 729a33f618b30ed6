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
	return c
}

// call is a call to a model without content, with what is usually recorded.
func call(ctx context.Context, c *tracing.TraceCapture) {
	_, s := c.StartModel(ctx, "openai", "gpt-x")
	s.Usage(tracing.Usage{Input: 1200, Output: 340})
	s.End()
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
