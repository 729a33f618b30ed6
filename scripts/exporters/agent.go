//go:build ignore

// The run of agent.mjs as a Go program with the exporter of OpenTelemetry sends
// it. scripts/peers makes it a module of its own: nothing of ours links gRPC.
//
//	agent ORIGIN INGEST_KEY
package main

import (
	"context"
	"fmt"
	"os"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, origin, key string) error {
	out, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(origin+"/v1/otlp/v1/traces"), otlptracehttp.WithInsecure(),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression), otlptracehttp.WithHeaders(map[string]string{"Authorization": "Bearer " + key}))
	if err != nil {
		return err
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(out))
	tracer := provider.Tracer("peer")
	step := func(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
		return tracer.Start(ctx, name, trace.WithAttributes(attributes...))
	}
	text := attribute.String
	said := func(role, content string) string {
		return fmt.Sprintf(`[{"role":%q,"parts":[{"type":"text","content":%q}]}]`, role, content)
	}
	root, agent := step(ctx, "support", text("gen_ai.operation.name", "invoke_agent"), text("gen_ai.agent.name", "support"))
	model := func(output string) {
		_, s := step(root, "chat gpt-x", text("gen_ai.operation.name", "chat"), text("gen_ai.provider.name", "openai"), text("gen_ai.request.model", "gpt-x"),
			attribute.Int("gen_ai.usage.input_tokens", 30), attribute.Int("gen_ai.usage.output_tokens", 9),
			text("gen_ai.input.messages", said("user", "What is 6 times 7?")), text("gen_ai.output.messages", said("assistant", output)))
		s.End()
	}
	model("I multiply.")
	_, tool := step(root, "multiply", text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", "multiply"),
		text("gen_ai.tool.call.arguments", `{"a":6,"b":7}`), text("gen_ai.tool.call.result", "42"))
	tool.End()
	model("It is 42.")
	agent.End()
	return provider.Shutdown(ctx)
}
