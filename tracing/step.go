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
	name     string // of the span
	op       string
	provider string
	model    string
	agent    string
	tool     string
}

// Agent is a run of an agent.
func Agent(name string) Step {
	return Step{kind: "agent", name: "invoke_agent " + name, op: "invoke_agent", agent: name}
}

// Model is a call to a model. The provider is named as the GenAI conventions of
// OpenTelemetry do: openai, anthropic, aws.bedrock, gcp.gemini and so on.
func Model(provider, model string) Step {
	return Step{kind: "model", name: "chat " + model, op: "chat", provider: provider, model: model}
}

// Tool is a call to a tool.
func Tool(name string) Step {
	return Step{kind: "tool", name: "execute_tool " + name, op: "execute_tool", tool: name}
}

// attributes appends what is known when the step begins.
func (w *Step) attributes(to []attribute.KeyValue) []attribute.KeyValue {
	to = append(to, attribute.String("evalrouter.kind", w.kind), attribute.String("gen_ai.operation.name", w.op))
	for _, a := range [...]struct{ key, value string }{
		{"gen_ai.provider.name", w.provider}, {"gen_ai.request.model", w.model},
		{"gen_ai.agent.name", w.agent}, {"gen_ai.tool.name", w.tool},
	} {
		if a.value != "" {
			to = append(to, attribute.String(a.key, a.value))
		}
	}
	return to
}

// spanKey finds our span in a context.
type spanKey struct{}

// Start begins a span, for work that is no single call: streams, callbacks. The
// caller ends it, best by deferring End directly, which notices a panic. Spans
// that are started with the returned context become its children.
func (c *TraceCapture) Start(ctx context.Context, step Step) (context.Context, *Span) {
	if c == nil || step.kind == "" || c.closing.Load() {
		return ctx, nil
	}
	s := &Span{c: c}
	s.attrs = step.attributes(s.room[:0])
	opts := c.start[0]
	if step.kind == "model" {
		opts = c.start[1]
	}
	if c.provider == nil {
		return s.startForeign(ctx, step.name, opts)
	}
	// Our provider must not make a span the child of one that we do not export:
	// it would hang in the air. So the parent is our own span in the context, and
	// a span of others that is there is linked to.
	parent := context.Background()
	if p, ok := ctx.Value(spanKey{}).(*Span); ok && p.c == c {
		parent = p.inner
	} else if ambient := trace.SpanContextFromContext(ctx); ambient.IsValid() {
		opts = append(opts[:len(opts):len(opts)], trace.WithLinks(trace.Link{SpanContext: ambient}))
	}
	s.inner, s.otel = c.tracer.Start(parent, step.name, opts...)
	if own, ok := s.otel.(sdktrace.ReadOnlySpan); ok && s.otel.IsRecording() {
		s.view.ReadOnlySpan = own
		c.queue.Start()
		c.live.add(s)
	} else {
		s.silent = true
	}
	// The span of others stays the current one for others: theirs must not become
	// children of a span that they do not export.
	return context.WithValue(ctx, spanKey{}, s), s
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
	return context.WithValue(ctx, spanKey{}, s), s
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
