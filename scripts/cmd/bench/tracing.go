package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/evalrouter/evalrouter/tracing"
	"github.com/evalrouter/evalrouter/tracing/fakeotlp"
)

// block is how many spans are timed at a time: fewer than make a capture send
// without waiting, so that what is timed is what the application pays.
const block = 500

// capturing measures trace capture, each figure beside its bar.
func capturing(args []string) error {
	n := 200
	if len(args) > 0 {
		if _, err := fmt.Sscan(args[0], &n); err != nil || n < 1 {
			return errUsage
		}
	}
	for _, part := range []func(int) error{overhead, burst, flushes, replays} {
		if err := part(n); err != nil {
			return err
		}
	}
	return nil
}

// capture sends to h in this process, or to an origin when one is named.
func capture(h http.Handler, origin string, change func(*tracing.Config)) (*tracing.TraceCapture, error) {
	r := fakeotlp.New()
	cfg := tracing.Config{
		Key: r.Key, ConnectionID: r.Connection, WorkspaceID: r.Workspace, BaseURL: origin, Service: "bench",
		Env: func(string) string { return "" }, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if h != nil {
		cfg.BaseURL, cfg.Delivery.Transport = "https://bench.example", handlerTransport{h}
	}
	if change != nil {
		change(&cfg)
	}
	return tracing.New(cfg)
}

type handlerTransport struct{ h http.Handler }

func (t handlerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	t.h.ServeHTTP(w, req)
	return w.Result(), nil
}

func taken(http.ResponseWriter, *http.Request) {}

// modelCall is a call to a model with what is usually recorded: four texts and
// two numbers.
func modelCall(ctx context.Context, c *tracing.TraceCapture, content any) {
	_, s := c.StartModel(ctx, "openai", "gpt-x")
	if content != nil {
		s.Input(content)
	}
	s.Usage(tracing.Usage{Input: 1200, Output: 340})
	s.End()
}

type idle struct{}

func (idle) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (idle) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (idle) Shutdown(context.Context) error                  { return nil }
func (idle) ForceFlush(context.Context) error                { return nil }

// contender is one way to make spans. after runs outside of the measurement.
type contender struct {
	name        string
	make, after func()
}

// overhead is the CPU time and memory of one span in the goroutine that makes
// it. The contenders take turns, block by block, so that all meet the same
// machine; the SDK alone is there to compare machines.
func overhead(n int) error {
	ctx := context.Background()
	type message struct{ Role, Content string }
	content := slices.Repeat([]message{{"user", strings.Repeat("What is it like? ", 28)}}, 8)
	var all []contender
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(idle{})).Tracer("bench")
	all = append(all, contender{"the SDK alone, nothing exported", func() {
		_, s := tracer.Start(ctx, "chat gpt-x", trace.WithSpanKind(trace.SpanKindClient))
		s.SetAttributes(attribute.String("evalrouter.kind", "model"), attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", "openai"),
			attribute.String("gen_ai.request.model", "gpt-x"), attribute.Int("gen_ai.usage.input_tokens", 1200), attribute.Int("gen_ai.usage.output_tokens", 340))
		s.End()
	}, func() {}})
	for _, k := range []struct {
		name    string
		content any
		change  func(*tracing.Config)
	}{
		{"capture, no content", nil, nil},
		{"capture, 4 KB of input", content, func(c *tracing.Config) { c.Delivery.QueueBytes = 64 << 20 }},
		{"capture, not sampled", nil, func(c *tracing.Config) { c.SampleRatio = 1e-12 }},
	} {
		c, err := capture(http.HandlerFunc(taken), "", func(cfg *tracing.Config) {
			cfg.Delivery.Interval = time.Hour
			if k.change != nil {
				k.change(cfg)
			}
		})
		if err != nil {
			return err
		}
		defer c.Close(ctx)
		runCtx, run := c.StartAgent(ctx, "bench")
		defer run.End()
		all = append(all, contender{k.name, func() { modelCall(runCtx, c, k.content) }, func() { _ = c.Flush(ctx) }})
	}
	var none *tracing.TraceCapture
	all = append(all, contender{"no capture", func() { modelCall(ctx, none, nil) }, func() {}})
	fmt.Printf("overhead of a span: %d blocks of %d; bars 3.5 us and 8 allocations without content, 20 us with 4 KB, 250 ns not sampled, 5 ns without capture\n", n, block)
	return compareSpans(all, n)
}

func compareSpans(all []contender, n int) error {
	took := make([][]time.Duration, len(all))
	allocs, size := make([]uint64, len(all)), make([]uint64, len(all))
	for range n {
		for i, c := range all {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			from := time.Now()
			at, err := cpu()
			if err != nil {
				return err
			}
			for range block {
				c.make()
			}
			until, err := cpu()
			if err != nil {
				return err
			}
			// The smaller one: CPU time has coarse steps, wall time has neighbours.
			took[i] = append(took[i], min(until-at, time.Since(from))/block)
			runtime.ReadMemStats(&after)
			allocs[i] += after.Mallocs - before.Mallocs
			size[i] += after.TotalAlloc - before.TotalAlloc
			c.after()
		}
	}
	for i, c := range all {
		slices.Sort(took[i])
		spans := float64(n * block)
		fmt.Printf("  %-32s min %7d  median %7d ns   %4.1f allocations %6.0f bytes\n", c.name, took[i][0].Nanoseconds(), took[i][n/2].Nanoseconds(), float64(allocs[i])/spans, float64(size[i])/spans)
	}
	return nil
}

// slow takes 50 ms a request, over a real connection.
func slow(r *fakeotlp.Receiver) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		time.Sleep(50 * time.Millisecond)
		r.ServeHTTP(w, req)
	}))
}

// burst ends 20,000 spans at once.
func burst(int) error {
	const spans = 20_000
	ctx := context.Background()
	fmt.Println("burst of 20,000 spans into a service that takes 50 ms a request; bar: none lost, nobody waits")
	for _, content := range []any{nil, strings.Repeat("What is it like? ", 240)} {
		r := fakeotlp.New()
		server := slow(r)
		c, err := capture(nil, server.URL, nil)
		if err != nil {
			return err
		}
		from := time.Now()
		for range spans {
			modelCall(ctx, c, content)
		}
		ended := time.Since(from)
		err = c.Close(ctx)
		s := c.Stats()
		server.Close()
		if err != nil {
			return err
		}
		fmt.Printf("  content %-5v ended in %4d ms, delivered in %5d ms; %d arrived, %d lost, %d without their content\n", content != nil,
			ended.Milliseconds(), time.Since(from).Milliseconds(), len(r.Spans()), s.Dropped.Total()+s.Rejected, s.ContentShed)
	}
	lost := &counting{}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(lost))
	tracer := provider.Tracer("bench")
	for range spans {
		_, s := tracer.Start(ctx, "chat gpt-x")
		s.End()
	}
	if err := provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("shut the SDK down: %w", err)
	}
	fmt.Printf("  the SDK's batch processor with its defaults: %d arrived, %d lost\n", lost.n, spans-lost.n)
	return nil
}

// counting is an exporter that takes 50 ms a batch.
type counting struct{ n int }

func (c *counting) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	time.Sleep(50 * time.Millisecond)
	c.n += len(spans)
	return nil
}
func (c *counting) Shutdown(context.Context) error { return nil }

// flushes is how long a serverless function waits for 100 spans.
func flushes(n int) error {
	ctx := context.Background()
	r := fakeotlp.New()
	server := httptest.NewServer(r)
	defer server.Close()
	c, err := capture(nil, server.URL, nil)
	if err != nil {
		return err
	}
	var took []time.Duration
	for range n {
		for range 100 {
			modelCall(ctx, c, "hello")
		}
		from := time.Now()
		if err := c.Flush(ctx); err != nil {
			return err
		}
		took = append(took, time.Since(from))
	}
	if err := c.Close(ctx); err != nil {
		return err
	}
	slices.Sort(took)
	fmt.Printf("flush of 100 spans over loopback, %d times; bar: p99 50 ms\n  median %.1f  p99 %.1f  max %.1f ms; %d of %d arrived\n", n,
		ms(took[n/2]), ms(took[n*99/100]), ms(took[n-1]), len(r.Spans()), 100*n)
	return nil
}
