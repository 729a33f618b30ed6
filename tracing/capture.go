package tracing

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/evalrouter/evalrouter/tracing/internal/deliver"
	"github.com/evalrouter/evalrouter/tracing/internal/outgoing"
	"github.com/evalrouter/evalrouter/tracing/internal/pump"
	"github.com/evalrouter/evalrouter/tracing/internal/queue"
	"github.com/evalrouter/evalrouter/tracing/internal/spool"
)

// ScopeName is the instrumentation scope of the spans made here.
const ScopeName = "github.com/evalrouter/evalrouter/tracing"

// Version of this library, as spans carry it.
const Version = "0.1.0"

// soonBytes is how much may wait before it is sent without waiting for more.
const soonBytes = 256 << 10

// TraceCapture makes spans and sends them. It is safe for concurrent use. All
// methods of a nil capture do nothing.
type TraceCapture struct {
	content Content
	maker   *outgoing.Maker
	queue   *queue.Queue
	pump    *pump.Pump
	spool   *spool.Log // nil without one
	reports *reports

	provider  *sdktrace.TracerProvider // nil when the caller has one
	tracer    trace.Tracer
	processor *processor // for providers of the caller
	transport http.RoundTripper
	scratch   sync.Pool
	start     [2][]trace.SpanStartOption // for internal and client spans

	closing atomic.Bool
	closed  sync.Once
	result  error
	live    live
}

// New checks the configuration, opens the spool and starts the goroutine that
// sends. It makes no request. Close ends the goroutine. The key is part of no
// error.
func New(cfg Config) (*TraceCapture, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	address, err := endpoint(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	c := &TraceCapture{content: cfg.Content, maker: outgoing.NewMaker(cfg.policy()), transport: cfg.Delivery.Transport}
	var held queue.Spool
	var left spool.Left
	if dir := cfg.Delivery.SpoolDir; dir != "" {
		if c.spool, left, err = spool.Open(dir, cfg.Delivery.SpoolBytes); err != nil {
			return nil, fmt.Errorf("trace capture is off: open the spool: %w", err)
		}
		held = c.spool
	}
	c.reports = &reports{logger: cfg.Logger, onLoss: cfg.OnLoss, now: time.Now}
	c.queue = queue.New(c.maker, held, left.Spans, int64(cfg.Delivery.QueueBytes))
	sender := deliver.New(deliver.Config{
		URL: address, Key: cfg.Key, Workspace: cfg.WorkspaceID, Connection: cfg.ConnectionID, Timeout: cfg.Delivery.RequestTimeout,
		Transport: cfg.Delivery.Transport, UserAgent: "evalrouter-tracing/" + Version + " " + runtime.Version(), Now: time.Now,
	})
	c.provide(cfg)
	c.pump = pump.Start(c.queue, sender, pump.Config{
		Interval: cfg.Delivery.Interval, Rand: cfg.Rand, Lost: c.reports.lost, Trouble: c.reports.trouble,
	})
	if cfg.Content == ContentRaw {
		cfg.Logger.Warn("inputs and outputs of traces are sent without redaction")
	}
	if left.Spans > 0 {
		c.pump.Kick(false)
	}
	return c, nil
}

// provide sets up who makes spans.
func (c *TraceCapture) provide(cfg Config) {
	c.scratch.New = func() any { b := make([]byte, 0, 1024); return &b }
	c.start = [2][]trace.SpanStartOption{{trace.WithSpanKind(trace.SpanKindInternal)}, {trace.WithSpanKind(trace.SpanKindClient)}}
	c.processor = &processor{c: c, all: cfg.ExportAll, open: map[openSpan]trace.SpanID{}}
	provider := cfg.TracerProvider
	if provider == nil {
		// Every option is given, so that no variable of the SDK changes what is captured.
		c.provider = sdktrace.NewTracerProvider(
			sdktrace.WithSampler(sampler(cfg.SampleRatio)),
			sdktrace.WithResource(resource.NewSchemaless(
				attribute.String("service.name", cfg.Service),
				attribute.String("telemetry.sdk.name", "evalrouter"), attribute.String("telemetry.sdk.language", "go"),
				attribute.String("telemetry.sdk.version", Version),
			)),
			sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{
				AttributeValueLengthLimit: -1, AttributeCountLimit: 128, EventCountLimit: 128, LinkCountLimit: 128,
				AttributePerEventCountLimit: 128, AttributePerLinkCountLimit: 128,
			}),
		)
		provider = c.provider
	}
	// By which rules spans were redacted stands with their scope, because a
	// provider of the application has its own resource.
	c.tracer = provider.Tracer(ScopeName, trace.WithInstrumentationVersion(Version), trace.WithInstrumentationAttributes(
		attribute.String("evalrouter.redaction.profile", c.maker.Profile()), attribute.String("evalrouter.content", cfg.Content.String()),
	))
}

func sampler(ratio float64) sdktrace.Sampler {
	if ratio == 0 || ratio == 1 {
		return sdktrace.AlwaysSample()
	}
	return sdktrace.ParentBased(sdktrace.TraceIDRatioBased(ratio))
}

// String names a way to treat content.
func (c Content) String() string {
	switch c {
	case ContentNone:
		return "none"
	case ContentRaw:
		return "raw"
	}
	return "redacted"
}

// end takes a span that ended. It is called in the goroutine that ended it.
func (c *TraceCapture) end(s sdktrace.ReadOnlySpan, parent trace.SpanID) {
	scratch := c.scratch.Get().(*[]byte)
	record, ok := c.maker.Make((*scratch)[:0], s, parent)
	waiting := c.queue.End(record, ok)
	if cap(record.Span) <= 64<<10 && cap(record.Span) > cap(*scratch) {
		*scratch = record.Span
	}
	c.scratch.Put(scratch)
	c.pump.Kick(waiting >= soonBytes)
}

// patience is the deadline of a Flush or a Close whose context has none: an
// application must not hang on its traces.
const patience = 10 * time.Second

func patient(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, patience)
}

// Flush sends what ended before it. Call it before a serverless invocation
// exits. A context without a deadline is given one of 10 s. An error is a
// *FlushError: what it counts is kept and still tried.
func (c *TraceCapture) Flush(ctx context.Context) error {
	if c == nil {
		return nil
	}
	ctx, cancel := patient(ctx)
	defer cancel()
	if pending, why := c.pump.Flush(ctx); pending > 0 {
		return &FlushError{Pending: pending, Why: why, Kept: true}
	}
	return nil
}

// Close ends the spans that are open, marked as incomplete, sends what waits and
// ends the goroutine that sends. What the service did not take before the
// context ended is counted in a *FlushError; it is lost, or with a spool kept
// for the next process. A context without a deadline is given one of 10 s. Later
// calls return what the first one did.
func (c *TraceCapture) Close(ctx context.Context) error {
	if c == nil {
		return nil
	}
	c.closed.Do(func() { c.result = c.close(ctx) })
	return c.result
}

func (c *TraceCapture) close(ctx context.Context) error {
	ctx, cancel := patient(ctx)
	defer cancel()
	c.closing.Store(true)
	c.live.endAll()
	c.queue.Close()
	pending, why := c.pump.Flush(ctx)
	c.pump.Stop()
	abandoned := c.queue.Abandon()
	var err error
	if pending > 0 {
		err = &FlushError{Pending: pending, Why: why, Kept: abandoned == 0}
	}
	if c.spool != nil {
		err = errors.Join(err, c.spool.Close())
	}
	if t, ok := c.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
	c.reports.lost(queue.Undelivered.String(), uint64(abandoned))
	return err
}

// FlushError says that spans were not delivered in time.
type FlushError struct {
	Pending int    // spans
	Why     string // what stood in the way
	Kept    bool   // they are still tried, by this process or the next one
}

func (e *FlushError) Error() string {
	after := "they are lost"
	if e.Kept {
		after = "they are kept"
	}
	return fmt.Sprintf("%d spans were not delivered (%s); %s", e.Pending, e.Why, after)
}
