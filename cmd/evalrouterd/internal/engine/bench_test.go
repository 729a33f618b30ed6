package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
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

// BenchmarkQuote_Million quotes a stored benchmark of a million tasks, whole
// and in the largest sample, and reports the memory that the process took from
// the system.
func BenchmarkQuote_Million(b *testing.B) {
	w := newWorld(b, nil)
	p := core.Profile{ID: "million@1", Slug: "million", Version: "1", Name: "Million", Status: "active", TaskCount: 1_000_000, MaxOutputTokens: 100, ManifestSHA256: "m",
		GraderConfig: []byte(`{"kind":"numeric"}`)}
	if _, err := w.store.PutProfile(context.Background(), "c", p, func(yield func(bundle.Task, error) bool) {
		for i := range p.TaskCount {
			id := fmt.Sprint("t", i)
			if !yield(bundle.Task{ID: id, Input: []bundle.Message{{Role: "user", Text: "What is " + id + "?"}}, Target: []string{id}}, nil) {
				return
			}
		}
	}); err != nil {
		b.Fatal(err)
	}
	sample, cap := 1000, 50*usd.Dollar
	for _, r := range []admission.QuoteRequest{{Profile: p.ID, Route: target.RouteID, Full: true, Cap: &cap}, {Profile: p.ID, Route: target.RouteID, SampleCount: &sample, Cap: &cap}} {
		b.Run(fmt.Sprintf("full=%t", r.Full), func(b *testing.B) {
			debug.FreeOSMemory()
			for b.Loop() {
				if _, err := w.admit.Quote(context.Background(), scope, r); err != nil {
					b.Fatal(err)
				}
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapSys)/1e6, "MB-heap")
		})
	}
}

// BenchmarkStart_HundredThousandOpen starts an engine over a run of which a
// hundred thousand calls were sent and none was answered.
func BenchmarkStart_HundredThousandOpen(b *testing.B) {
	w := newWorld(b, func(bundle.Task, int) provider.Outcome { return say("ANSWER: 1", 50, 10) })
	p, err := w.catalog.Generate(context.Background(), "arithmetic", 1, 100_000)
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	b.N = 1
	w.admit.Engine = nobody{}
	id := w.startFull(p.ID, 90*usd.Dollar)
	if err := w.store.Start(ctx, id); err != nil {
		b.Fatal(err)
	}
	for at := 0; at < 100_000; at += 1000 {
		var batch []core.Intent
		for i := range 1000 {
			batch = append(batch, core.Intent{Call: core.CallID(w.options.NewCallID()), Idx: at + i, TaskID: fmt.Sprint(at + i), Attempt: 1, Worst: worstCase, Hash: "h"})
		}
		if res, err := w.store.Reserve(ctx, id, core.Lease{Worker: "dead"}, batch); err != nil || res.Granted != 1000 {
			b.Fatal(res, err)
		}
		var group calls
		for _, in := range batch {
			group.Go(func() error { return w.store.MarkSent(ctx, id, in) })
		}
		if err := group.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	found, err := w.store.Recover(ctx)
	b.StopTimer()
	if err != nil || found.Unknown != 100_000 {
		b.Fatal(found, err)
	}
	w.audit()
}

// calls waits for functions and keeps their first error.
type calls struct {
	sync.WaitGroup
	once sync.Once
	err  error
}

func (g *calls) Go(f func() error) {
	g.Add(1)
	go func() {
		defer g.Done()
		if err := f(); err != nil {
			g.once.Do(func() { g.err = err })
		}
	}()
}

func (g *calls) Wait() error { g.WaitGroup.Wait(); return g.err }

// nobody works on what is admitted.
type nobody struct{}

func (nobody) Wake(core.WorkspaceID, core.RunID) {}
