// Package tracing captures what an agent does and sends it to the Traces of an
// EvalRouter workspace: the runs of the agent, its calls to models and its calls
// to tools, with times, token counts, errors and, where asked for, inputs and
// outputs.
//
//	capture, err := tracing.New(tracing.Config{})
//	if err != nil {
//		log.Print(err) // a nil capture records nothing and may be used as it is
//	}
//	defer capture.Close(ctx)
//
//	err = capture.Agent(ctx, "support", func(ctx context.Context, run *tracing.Span) error {
//		run.Input(question)
//		answer, err := tracing.Do(ctx, capture, tracing.Model("openai", "gpt-x"), ask)
//		run.Output(answer)
//		return err
//	})
//
// Decisions:
//
//   - It never gets in the way. Nothing here waits for the service, fails the
//     work that is observed, or changes what it returns; a panic goes on with the
//     same value. Only with a spool does the end of a span write to a file.
//   - What is lost is counted. Spans wait in a queue that is bounded in bytes;
//     one that does not fit is dropped, counted and reported. Stats adds up at
//     every moment. The batch processor of the OpenTelemetry SDK drops a batch
//     whose export failed, and says so to nobody; here a batch is kept until the
//     service took or refused it.
//   - It keeps to itself. The default TracerProvider is private: nothing global
//     is set, no other library's spans are captured, and spans of others are not
//     made children of ours. An application with its own provider can name it.
//   - Nothing leaves unredacted. Content is captured only where Input or Output
//     is called, is redacted by the words of field names and the shapes of
//     credentials, and is bounded. Where redaction fails, the value is lost, not
//     sent.
//   - It is light. Requests are OTLP over HTTP with protobuf and gzip, written
//     by a few hundred lines here instead of an exporter that brings gRPC. This
//     package is a module of its own, so that lib needs no OpenTelemetry.
//
// Dependencies: go.opentelemetry.io/otel and its SDK, because a span must be
// one for other tools too; protowire of google.golang.org/protobuf, to write
// OTLP; go.opentelemetry.io/proto/otlp, with which the tests read it.
package tracing
