package tracing_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/evalrouter/evalrouter/tracing"
	"github.com/evalrouter/evalrouter/tracing/fakeotlp"
)

// inside carries requests to a handler in this process, so that tests need no
// port and can play with time.
type inside struct{ h http.Handler }

func (t inside) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	t.h.ServeHTTP(w, req)
	return w.Result(), nil
}

// settings are those of a capture that sends to r.
func settings(r http.Handler) tracing.Config {
	return tracing.Config{
		Key: "eri_test", ConnectionID: "connection", WorkspaceID: "workspace", BaseURL: "https://traces.example", Service: "agent",
		Delivery: tracing.Delivery{Transport: inside{r}},
		Env:      func(string) string { return "" }, Rand: func() float64 { return 0.5 },
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
}

// open makes a capture that the test closes.
func open(t *testing.T, cfg tracing.Config) *tracing.TraceCapture {
	t.Helper()
	c, err := tracing.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) }) // what a test leaves open is looked at in the test
	return c
}

func attr(s *tracepb.Span, key string) string {
	for _, kv := range s.Attributes {
		if kv.Key == key {
			return text(kv.Value)
		}
	}
	return ""
}

func text(v *commonpb.AnyValue) string {
	switch v := v.Value.(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	}
	return v.String()
}

func find(t *testing.T, spans []fakeotlp.Span, name string) fakeotlp.Span {
	t.Helper()
	for _, s := range spans {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no span %q among %d", name, len(spans))
	return fakeotlp.Span{}
}

// balanced checks that every span is accounted for.
func balanced(t *testing.T, s tracing.Stats) {
	t.Helper()
	if in, out := s.Started+s.Replayed, s.Open+s.Queued+s.Spooled+s.Exported+s.Rejected+s.Dropped.Total(); in != out {
		t.Errorf("%d spans came and %d are accounted for: %+v", in, out, s)
	}
}

func TestCapture_TRC03_TRC04_TRC05_Tree(t *testing.T) {
	t.Parallel()
	r := fakeotlp.New()
	c := open(t, settings(r))
	failure := errors.New("no such city")
	err := c.Agent(t.Context(), "weather", func(ctx context.Context, run *tracing.Span) error {
		run.Input("Is it raining in Basel?")
		err := c.Model(ctx, "openai", "gpt-x", func(ctx context.Context, call *tracing.Span) error {
			call.Usage(tracing.Usage{Input: 12, Output: 3, Reasoning: 1})
			call.Response("gpt-x-1", "resp-1", "tool_calls")
			return nil
		})
		if err != nil {
			return err
		}
		return c.Tool(ctx, "forecast", func(_ context.Context, call *tracing.Span) error {
			call.Input(map[string]string{"city": "Basle"})
			return failure
		})
	})
	if !errors.Is(err, failure) || err.Error() != failure.Error() {
		t.Fatalf("the error of the function came back as %v", err)
	}
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := r.Spans()
	agent, model, tool := find(t, spans, "invoke_agent weather"), find(t, spans, "chat gpt-x"), find(t, spans, "execute_tool forecast")
	if len(spans) != 3 || len(agent.ParentSpanId) != 0 {
		t.Errorf("%d spans, the run of the agent has the parent %x", len(spans), agent.ParentSpanId)
	}
	for _, s := range []fakeotlp.Span{model, tool} {
		if string(s.ParentSpanId) != string(agent.SpanId) || string(s.TraceId) != string(agent.TraceId) {
			t.Errorf("%s is not a child of the agent's run", s.Name)
		}
	}
	for _, want := range []struct {
		span       fakeotlp.Span
		key, value string
	}{
		{agent, "evalrouter.kind", "agent"}, {agent, "gen_ai.agent.name", "weather"}, {agent, "evalrouter.input", `"Is it raining in Basel?"`},
		{model, "evalrouter.kind", "model"}, {model, "gen_ai.provider.name", "openai"}, {model, "gen_ai.request.model", "gpt-x"},
		{model, "gen_ai.response.model", "gpt-x-1"}, {model, "gen_ai.usage.input_tokens", "int_value:12"}, {model, "gen_ai.usage.output_tokens", "int_value:3"},
		{tool, "evalrouter.kind", "tool"}, {tool, "gen_ai.tool.name", "forecast"}, {tool, "evalrouter.input", `{"city":"Basle"}`},
		{tool, "error.type", "*errors.errorString"},
	} {
		if got := attr(want.span.Span, want.key); got != want.value {
			t.Errorf("%s of %s is %q, want %q", want.key, want.span.Name, got, want.value)
		}
	}
	if tool.Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR || tool.Status.GetMessage() != "no such city" || model.Status.GetCode() != tracepb.Status_STATUS_CODE_OK {
		t.Errorf("statuses %v and %v", tool.Status, model.Status)
	}
	if model.Kind != tracepb.Span_SPAN_KIND_CLIENT || tool.Kind != tracepb.Span_SPAN_KIND_INTERNAL || tool.EndTimeUnixNano < tool.StartTimeUnixNano {
		t.Errorf("kinds %v and %v, or times", model.Kind, tool.Kind)
	}
	if !strings.Contains(agent.Resource.String(), `"agent"`) || agent.Scope.GetName() != tracing.ScopeName {
		t.Errorf("resource %v, scope %v", agent.Resource, agent.Scope)
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	balanced(t, c.Stats())
}
