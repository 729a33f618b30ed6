package tracing

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// ended is a span of the private provider as the queue takes it. That provider
// has no processor: it would make a copy of every span for it, sort its
// attributes, and cost as much again as all that this package does. The span
// itself is read instead, which nobody else can change after it ended.
type ended struct {
	sdktrace.ReadOnlySpan
	attributes []attribute.KeyValue
	status     sdktrace.Status
}

func (e *ended) Attributes() []attribute.KeyValue { return e.attributes }
func (e *ended) Status() sdktrace.Status          { return e.status }

// SpanProcessor is for a TracerProvider of the application: it exports the spans
// made by this package, and with Config.ExportAll those of every library. Only
// spans that start after it was registered are exported, and each of them once,
// however often it is registered. Shutting the provider down flushes; the capture
// stays open until Close.
//
// Where only our spans are exported, a span whose parent is not among them is
// given the nearest one that is.
func (c *TraceCapture) SpanProcessor() sdktrace.SpanProcessor {
	if c == nil {
		return &processor{}
	}
	return c.processor
}

type openSpan struct {
	trace trace.TraceID
	span  trace.SpanID
}

type processor struct {
	c   *TraceCapture // nil does nothing
	all bool

	mu   sync.Mutex
	open map[openSpan]trace.SpanID // with the parent to export
}

func (p *processor) OnStart(ctx context.Context, s sdktrace.ReadWriteSpan) {
	sc := s.SpanContext()
	if p.c == nil || !sc.IsSampled() || !p.all && s.InstrumentationScope().Name != ScopeName {
		return
	}
	parent := s.Parent().SpanID()
	if !p.all {
		parent = trace.SpanID{}
		if ours, ok := ctx.Value(spanKey{p.c}).(*Span); ok {
			if up := ours.otel.SpanContext(); up.TraceID() == sc.TraceID() && up.IsSampled() {
				parent = up.SpanID()
			}
		}
	}
	id := openSpan{sc.TraceID(), sc.SpanID()}
	p.mu.Lock()
	_, again := p.open[id]
	p.open[id] = parent
	p.mu.Unlock()
	if !again {
		p.c.queue.Start()
	}
}

// knows says whether the processor saw a span begin.
func (p *processor) knows(sc trace.SpanContext) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.open[openSpan{sc.TraceID(), sc.SpanID()}]
	return ok
}

func (p *processor) OnEnd(s sdktrace.ReadOnlySpan) {
	if p.c == nil {
		return
	}
	id := openSpan{s.SpanContext().TraceID(), s.SpanContext().SpanID()}
	p.mu.Lock()
	parent, ok := p.open[id]
	delete(p.open, id)
	p.mu.Unlock()
	if ok {
		p.c.end(s, parent)
	}
}

func (p *processor) Shutdown(ctx context.Context) error { return p.ForceFlush(ctx) }

func (p *processor) ForceFlush(ctx context.Context) error {
	if p.c == nil {
		return nil
	}
	return p.c.Flush(ctx)
}
