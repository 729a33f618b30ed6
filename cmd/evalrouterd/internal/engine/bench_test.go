package engine_test

import (
	"context"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// BenchmarkRun is the engine's own cost a sample: an instant provider, 256
// calls in flight, every call journalled and its reservation committed before
// it is made. It reports durable commits a sample.
func BenchmarkRun(b *testing.B) {
	w := newWorld(b, func(task bundle.Task, _ int) provider.Outcome { return say("ANSWER: 1", 50, 10) })
	p, err := w.catalog.Generate(context.Background(), "arithmetic", 1, max(b.N, 256))
	if err != nil {
		b.Fatal(err)
	}
	before := w.store.Commits()
	b.ResetTimer()
	id := w.startFull(p.ID, 50*usd.Dollar)
	w.wait(id)
	b.StopTimer()
	b.ReportMetric(float64(w.store.Commits()-before)/float64(max(b.N, 256)), "commits/op")
}
