package tracing_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/evalrouter/evalrouter/tracing"
	"github.com/evalrouter/evalrouter/tracing/fakeotlp"
)

// service receives traces in place of EvalRouter, so that these examples run.
// An application leaves the fields out: the environment has them.
func service() (*fakeotlp.Receiver, tracing.Config, func()) {
	r := fakeotlp.New()
	server := httptest.NewServer(r)
	return r, tracing.Config{
		Key: r.Key, ConnectionID: r.Connection, WorkspaceID: r.Workspace, BaseURL: server.URL, Service: "example",
		Logger: slog.New(slog.DiscardHandler), Env: func(string) string { return "" },
	}, server.Close
}

// show prints what arrived, children below their parents.
func show(r *fakeotlp.Receiver) {
	children := map[string][]*tracepb.Span{}
	for _, s := range r.Spans() {
		children[string(s.ParentSpanId)] = append(children[string(s.ParentSpanId)], s.Span)
	}
	var walk func(parent, indent string)
	walk = func(parent, indent string) {
		for _, s := range children[parent] {
			fmt.Println(strings.TrimRight(indent+s.Name+" "+attr(s, "evalrouter.output"), " "))
			walk(string(s.SpanId), indent+"  ")
		}
	}
	walk("", "")
}

// A run of an agent with a call to a tool and a call to a model.
func Example() {
	r, cfg, stop := service()
	defer stop()
	ctx := context.Background()
	capture, err := tracing.New(cfg)
	if err != nil {
		fmt.Println(err) // a nil capture records nothing and may be used as it is
	}
	answer := func(ctx context.Context, call *tracing.Span) (string, error) {
		// This is where the provider is asked.
		call.Usage(tracing.Usage{Input: 120, Output: 9})
		call.Response("gpt-x-2026-11-01", "resp-1", "stop")
		call.Output("12 degrees and dry.")
		return "12 degrees and dry.", nil
	}
	err = capture.Agent(ctx, "weather", func(ctx context.Context, run *tracing.Span) error {
		run.Input("What is the weather in Basel?")
		err := capture.Tool(ctx, "forecast", func(_ context.Context, call *tracing.Span) error {
			call.Input(map[string]string{"city": "Basel", "api_key": "hunter2"})
			call.Output(map[string]any{"degrees": 12, "rain": false})
			return nil
		})
		if err != nil {
			return err
		}
		text, err := tracing.Do(ctx, capture, tracing.Model("openai", "gpt-x"), answer)
		run.Output(text)
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	if err := capture.Close(ctx); err != nil {
		fmt.Println(err)
	}
	show(r)
	// Output:
	// invoke_agent weather "12 degrees and dry."
	//   execute_tool forecast {"degrees":12,"rain":false}
	//   chat gpt-x "12 degrees and dry."
}

// A serverless function is frozen when it returns, so it flushes before.
func ExampleTraceCapture_Flush() {
	r, cfg, stop := service()
	defer stop()
	capture, err := tracing.New(cfg)
	if err != nil {
		fmt.Println(err)
	}
	handle := func(w http.ResponseWriter, req *http.Request) {
		err := capture.Agent(req.Context(), "handler", func(_ context.Context, run *tracing.Span) error {
			run.Output("done")
			return nil
		})
		// Two seconds are the most that traces may cost this invocation.
		ctx, cancel := context.WithTimeout(req.Context(), 2*time.Second)
		defer cancel()
		if late := capture.Flush(ctx); late != nil {
			slog.Warn("traces are late", "why", late)
		}
		if err != nil {
			http.Error(w, "failed", http.StatusInternalServerError)
		}
	}
	handle(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", nil))
	fmt.Println(len(r.Spans()), "span arrived")
	if err := capture.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: 1 span arrived
}

// A stream is no single call: the span is started and ended by hand.
func ExampleTraceCapture_Start() {
	r, cfg, stop := service()
	defer stop()
	capture, err := tracing.New(cfg)
	if err != nil {
		fmt.Println(err)
	}
	stream := func(ctx context.Context, parts ...string) {
		_, call := capture.Start(ctx, tracing.Model("anthropic", "claude-x"))
		defer call.End()
		var text strings.Builder
		for _, part := range parts {
			text.WriteString(part)
		}
		call.Output(text.String())
		call.Attr("gen_ai.conversation.id", "conversation-7")
	}
	stream(context.Background(), "Hello", ", ", "world")
	if err := capture.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	show(r)
	// Output: chat claude-x "Hello, world"
}

// An application that has a TracerProvider may keep one tree for everything.
func ExampleTraceCapture_SpanProcessor() {
	r, cfg, stop := service()
	defer stop()
	ctx := context.Background()
	provider := sdktrace.NewTracerProvider() // with exporters of its own
	cfg.TracerProvider = provider
	cfg.ExportAll = true // spans of other libraries as well
	capture, err := tracing.New(cfg)
	if err != nil {
		fmt.Println(err)
	}
	provider.RegisterSpanProcessor(capture.SpanProcessor())

	ctx, request := provider.Tracer("web").Start(ctx, "POST /ask")
	err = capture.Agent(ctx, "support", func(context.Context, *tracing.Span) error { return nil })
	if err != nil {
		fmt.Println(err)
	}
	request.End()
	if err := provider.Shutdown(ctx); err != nil {
		fmt.Println(err)
	}
	if err := capture.Close(ctx); err != nil {
		fmt.Println(err)
	}
	show(r)
	// Output:
	// POST /ask
	//   invoke_agent support
}

// What may leave is decided before it does.
func ExampleRedaction() {
	r, cfg, stop := service()
	defer stop()
	cfg.Redaction = tracing.Redaction{
		Fields: []string{"patient name"},
		Hook: func(attribute string, content []byte) ([]byte, error) {
			return []byte(strings.ReplaceAll(string(content), "Basel", "[city]")), nil
		},
	}
	capture, err := tracing.New(cfg)
	if err != nil {
		fmt.Println(err)
	}
	_, call := capture.StartTool(context.Background(), "lookup")
	call.Output(map[string]string{"patientName": "Ada", "city": "Basel", "note": "password: hunter2", "password": "hunter2"})
	call.End()
	if err := capture.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	show(r)
	// Output: execute_tool lookup {"city":"[city]","note":"password: [redacted:password]","password":{"$redacted":"password"},"patientName":{"$redacted":"configured"}}
}
