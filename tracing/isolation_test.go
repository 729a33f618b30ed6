package tracing_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/evalrouter/evalrouter/tracing"
	"github.com/evalrouter/evalrouter/tracing/fakeotlp"
)

func namesOf(spans []fakeotlp.Span) (names []string) {
	for _, s := range spans {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

func flush(t *testing.T, c *tracing.TraceCapture) {
	t.Helper()
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Nothing global is touched, spans of others are not captured, and neither side's
// spans become children of the other's.
func TestCapture_KeepsToItself(t *testing.T) {
	t.Parallel()
	before := otel.GetTracerProvider()
	r := fakeotlp.New()
	c := open(t, settings(r))
	theirs := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(theirs))
	tracer := provider.Tracer("web")
	ctx, request := tracer.Start(t.Context(), "GET /")
	err := c.Agent(ctx, "a", func(ctx context.Context, _ *tracing.Span) error {
		ctx, query := tracer.Start(ctx, "SELECT")
		defer query.End()
		return c.Tool(ctx, "t", func(context.Context, *tracing.Span) error { return nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	request.End()
	flush(t, c)
	if otel.GetTracerProvider() != before {
		t.Error("the global provider was replaced")
	}
	spans := r.Spans()
	if got := namesOf(spans); !slices.Equal(got, []string{"execute_tool t", "invoke_agent a"}) {
		t.Fatalf("captured %q", got)
	}
	agent, tool := find(t, spans, "invoke_agent a"), find(t, spans, "execute_tool t")
	if len(agent.ParentSpanId) != 0 || string(tool.ParentSpanId) != string(agent.SpanId) {
		t.Errorf("parents %x and %x", agent.ParentSpanId, tool.ParentSpanId)
	}
	up := request.SpanContext()
	if traceID, spanID := up.TraceID(), up.SpanID(); len(agent.Links) != 1 || string(agent.Links[0].TraceId) != string(traceID[:]) || string(agent.Links[0].SpanId) != string(spanID[:]) || len(tool.Links) != 0 {
		t.Errorf("links %v and %v", agent.Links, tool.Links)
	}
	stubs := theirs.GetSpans()
	if len(stubs) != 2 || stubs[0].Parent.SpanID() != up.SpanID() {
		t.Errorf("their spans became %v", stubs)
	}
}

func TestCapture_TwoAtOnce(t *testing.T) {
	t.Parallel()
	r1, r2 := fakeotlp.New(), fakeotlp.New()
	c1, c2 := open(t, settings(r1)), open(t, settings(r2))
	ctx, outer := c1.StartAgent(t.Context(), "one")
	ctx, inner := c2.StartAgent(ctx, "two")
	_, tool := c1.StartTool(ctx, "three")
	tool.End()
	inner.End()
	outer.End()
	flush(t, c1)
	flush(t, c2)
	if got := append(namesOf(r1.Spans()), namesOf(r2.Spans())...); !slices.Equal(got, []string{"execute_tool three", "invoke_agent one", "invoke_agent two"}) {
		t.Fatalf("captured %q", got)
	}
	if s := r2.Spans()[0]; len(s.ParentSpanId) != 0 {
		t.Error("a span is the child of one that another capture exports")
	}
	if up, down := find(t, r1.Spans(), "invoke_agent one"), find(t, r1.Spans(), "execute_tool three"); string(down.ParentSpanId) != string(up.SpanId) {
		t.Error("a span lost its parent to another capture")
	}
}

// ownProvider is a provider of the application with our processor, and what else
// it exports to.
func ownProvider(t *testing.T, all bool, times int) (*tracing.TraceCapture, *fakeotlp.Receiver, trace.Tracer, *tracetest.InMemoryExporter) {
	t.Helper()
	r := fakeotlp.New()
	others := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(others))
	cfg := settings(r)
	cfg.TracerProvider, cfg.ExportAll = provider, all
	c := open(t, cfg)
	for range times {
		provider.RegisterSpanProcessor(c.SpanProcessor())
	}
	return c, r, provider.Tracer("web"), others
}

// journey is a request of the application that runs an agent that calls a tool
// over the network.
func journey(t *testing.T, c *tracing.TraceCapture, tracer trace.Tracer) {
	t.Helper()
	ctx, request := tracer.Start(t.Context(), "GET /")
	err := c.Agent(ctx, "a", func(ctx context.Context, _ *tracing.Span) error {
		ctx, call := tracer.Start(ctx, "POST /")
		defer call.End()
		return c.Tool(ctx, "t", func(_ context.Context, s *tracing.Span) error {
			s.Input(map[string]string{"api_key": "hunter2"})
			return errors.New("refused with password=hunter2")
		})
	})
	if err == nil {
		t.Error("the error is gone")
	}
	request.End()
	flush(t, c)
	balanced(t, c.Stats())
}

// A provider that the application owns: only our spans are exported, and their
// parents are ours; what its other exporters see of content is redacted too.
func TestCapture_ProviderOfTheApplication(t *testing.T) {
	t.Parallel()
	c, r, tracer, others := ownProvider(t, false, 1)
	journey(t, c, tracer)
	spans := r.Spans()
	if got := namesOf(spans); !slices.Equal(got, []string{"execute_tool t", "invoke_agent a"}) {
		t.Fatalf("captured %q", got)
	}
	agent, tool := find(t, spans, "invoke_agent a"), find(t, spans, "execute_tool t")
	if len(agent.ParentSpanId) != 0 || string(tool.ParentSpanId) != string(agent.SpanId) || string(tool.TraceId) != string(agent.TraceId) {
		t.Errorf("parents %x and %x", agent.ParentSpanId, tool.ParentSpanId)
	}
	if s := c.Stats(); s.Started != 2 || s.Exported != 2 {
		t.Errorf("%+v", s)
	}
	if len(others.GetSpans()) != 4 {
		t.Errorf("the other exporter saw %d spans", len(others.GetSpans()))
	}
	for _, s := range others.GetSpans() {
		for _, kv := range s.Attributes {
			if v := kv.Value.String(); v == `{"api_key":"hunter2"}` || s.Status.Description == "refused with password=hunter2" {
				t.Errorf("another exporter saw %s = %s, %s", kv.Key, v, s.Status.Description)
			}
		}
	}
	if string(r.Bytes()) == "" || contains(r.Bytes(), "hunter2") {
		t.Error("a secret left")
	}
}

func TestCapture_ExportAll(t *testing.T) {
	t.Parallel()
	for name, times := range map[string]int{"registered once": 1, "registered three times": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, r, tracer, _ := ownProvider(t, true, times)
			journey(t, c, tracer)
			spans := r.Spans()
			if got := namesOf(spans); !slices.Equal(got, []string{"GET /", "POST /", "execute_tool t", "invoke_agent a"}) {
				t.Fatalf("captured %q", got)
			}
			agent, tool, call := find(t, spans, "invoke_agent a"), find(t, spans, "execute_tool t"), find(t, spans, "POST /")
			if string(tool.ParentSpanId) != string(call.SpanId) || string(call.ParentSpanId) != string(agent.SpanId) {
				t.Error("the tree is not the application's")
			}
			for _, s := range spans {
				if s.Times != 1 {
					t.Errorf("%s came %d times", s.Name, s.Times)
				}
			}
		})
	}
}

// Shutting down the application's provider delivers what is there.
func TestSpanProcessor_Shutdown(t *testing.T) {
	t.Parallel()
	r := fakeotlp.New()
	provider := sdktrace.NewTracerProvider()
	cfg := settings(r)
	cfg.TracerProvider = provider
	c := open(t, cfg)
	provider.RegisterSpanProcessor(c.SpanProcessor())
	_, s := c.StartAgent(t.Context(), "a")
	s.End()
	if err := provider.Shutdown(t.Context()); err != nil || len(r.Spans()) != 1 {
		t.Errorf("%d spans, %v", len(r.Spans()), err)
	}
	var none *tracing.TraceCapture
	sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(none.SpanProcessor())).Tracer("x")
}

// A provider without our processor exports nothing, which is said once.
func TestCapture_ProcessorForgotten(t *testing.T) {
	t.Parallel()
	r := fakeotlp.New()
	cfg := settings(r)
	cfg.TracerProvider = sdktrace.NewTracerProvider()
	var log strings.Builder
	cfg.Logger = logTo(&log)
	c := open(t, cfg)
	call(t.Context(), c)
	call(t.Context(), c)
	flush(t, c)
	if n := strings.Count(log.String(), "register SpanProcessor"); n != 1 || len(r.Spans()) != 0 {
		t.Errorf("said %d times, %d spans arrived", n, len(r.Spans()))
	}
}
