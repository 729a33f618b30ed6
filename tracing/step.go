package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Step says what a span is about.
type Step struct {
	kind     string
	op       string
	subject  string // the model, agent or tool
	key      string // the attribute that names it
	provider string
}

// Agent is a run of an agent.
func Agent(name string) Step {
	return Step{kind: "agent", op: "invoke_agent", key: "gen_ai.agent.name", subject: name}
}

// Model is a call to a model. The provider is named as the GenAI conventions of
// OpenTelemetry do: openai, anthropic, aws.bedrock, gcp.gemini and so on.
func Model(provider, model string) Step {
	return Step{kind: "model", op: "chat", key: "gen_ai.request.model", subject: model, provider: provider}
}

// Tool is a call to a tool.
func Tool(name string) Step {
	return Step{kind: "tool", op: "execute_tool", key: "gen_ai.tool.name", subject: name}
}

// attributes appends what is known when the step begins.
func (w *Step) attributes(to []attribute.KeyValue) []attribute.KeyValue {
	to = append(to, attribute.String("evalrouter.kind", w.kind), attribute.String("gen_ai.operation.name", w.op))
	if w.subject != "" {
		to = append(to, attribute.String(w.key, w.subject))
	}
	if w.provider != "" {
		to = append(to, attribute.String("gen_ai.provider.name", w.provider))
	}
	return to
}

// name is the span's, as the GenAI conventions have it.
func (w *Step) name() string { return w.op + " " + w.subject }

// spanKey finds the span of a capture in a context, which may hold those of
// several.
type spanKey struct{ c *TraceCapture }

// Start begins a span, for work that is no single call: streams, callbacks. The
// caller ends it, best by deferring End directly, which notices a panic. Spans
// that are started with the returned context become its children.
func (c *TraceCapture) Start(ctx context.Context, step Step) (context.Context, *Span) {
	if c == nil || step.kind == "" || c.closing.Load() {
		return ctx, nil
	}
	up, _ := ctx.Value(spanKey{c}).(*Span)
	if up != nil && up.silent && c.provider != nil {
		return ctx, up // of a trace that is not captured nothing is
	}
	s := &Span{c: c}
	s.attrs = step.attributes(s.room[:0])
	opts := c.start[0]
	if step.kind == "model" {
		opts = c.start[1]
	}
	if c.provider == nil {
		return s.startForeign(ctx, step.name(), opts)
	}
	// Our provider must not make a span the child of one that we do not export:
	// it would hang in the air. So the parent is our own span in the context, and
	// a span of others that is there is linked to.
	parent := context.Background()
	if up != nil {
		parent = up.inner
	} else if ambient := trace.SpanContextFromContext(ctx); ambient.IsValid() {
		opts = append(opts[:len(opts):len(opts)], trace.WithLinks(trace.Link{SpanContext: ambient}))
	}
	s.inner, s.otel = c.tracer.Start(parent, step.name(), opts...)
	if own, ok := s.otel.(sdktrace.ReadOnlySpan); ok && s.otel.IsRecording() {
		s.view.ReadOnlySpan = own
		c.queue.Start()
		c.live.add(s)
	} else {
		s.silent = true
	}
	// The span of others stays the current one for others: theirs must not become
	// children of a span that they do not export.
	return context.WithValue(ctx, spanKey{c}, s), s
}

// startForeign begins a span of the caller's provider, in which it takes its
// usual place. What is known of it is there for their sampler and processors.
func (s *Span) startForeign(ctx context.Context, name string, opts []trace.SpanStartOption) (context.Context, *Span) {
	opts = append(opts[:len(opts):len(opts)], trace.WithAttributes(s.attrs...))
	s.attrs = s.attrs[:0]
	ctx, s.otel = s.c.tracer.Start(ctx, name, opts...)
	s.silent = !s.otel.IsRecording()
	if !s.silent {
		s.c.live.add(s)
	}
	if s.otel.SpanContext().IsSampled() && !s.c.processor.knows(s.otel.SpanContext()) {
		s.c.reports.say("spans are not exported: register SpanProcessor with the TracerProvider that the capture was given")
	}
	return context.WithValue(ctx, spanKey{s.c}, s), s
}

// StartAgent is Start of a run of an agent.
func (c *TraceCapture) StartAgent(ctx context.Context, name string) (context.Context, *Span) {
	if c == nil {
		return ctx, nil
	}
	return c.Start(ctx, Agent(name))
}

// StartModel is Start of a call to a model.
func (c *TraceCapture) StartModel(ctx context.Context, provider, model string) (context.Context, *Span) {
	if c == nil {
		return ctx, nil
	}
	return c.Start(ctx, Model(provider, model))
}

// StartTool is Start of a call to a tool.
func (c *TraceCapture) StartTool(ctx context.Context, name string) (context.Context, *Span) {
	if c == nil {
		return ctx, nil
	}
	return c.Start(ctx, Tool(name))
}
