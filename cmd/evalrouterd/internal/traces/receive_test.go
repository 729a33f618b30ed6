package traces_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/otlp"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces"
)

// nowhere keeps nothing.
type nowhere struct{}

func (nowhere) Pack([]core.Arrival) {}

func (nowhere) Write(_ context.Context, a []core.Arrival) ([]int, error) {
	return make([]int, len(a)), nil
}

// BenchmarkReceive is what a span costs before the store has it: 1 KB of
// messages without anything to hide, 32 spans of a trace in a batch of 512.
func BenchmarkReceive(b *testing.B) {
	words := strings.Repeat("the weather of today and of the days to come ", 15)
	batch := otlp.Batch{}
	resource := otlp.Attributes{"service.name": "bench"}
	for i := range 512 {
		s := otlp.Span{TraceID: fmt.Sprintf("%032x", i/32+1), SpanID: fmt.Sprintf("%016x", i+1), Name: "chat m", Start: 1, End: 2, Resource: resource, Scope: "bench", Attributes: otlp.Attributes{
			"gen_ai.operation.name": "chat", "gen_ai.provider.name": "bench", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": int64(100), "gen_ai.usage.output_tokens": int64(20),
			"gen_ai.input.messages":  `[{"role":"user","parts":[{"type":"text","content":"` + words + `"}]}]`,
			"gen_ai.output.messages": `[{"role":"assistant","parts":[{"type":"text","content":"` + words[:len(words)/2] + `"}],"finish_reason":"stop"}]`,
		}}
		batch.Spans = append(batch.Spans, s)
	}
	door := traces.NewDoor(nowhere{})
	defer door.Close()
	in := &traces.Intake{Door: door}
	c := core.TraceConnection{ID: "c", Workspace: "w", Kind: core.TraceOTLP, Days: 30, Capture: core.Capture{Inputs: true, Outputs: true, MaxValue: 65536}}
	b.ReportAllocs()
	for b.Loop() {
		if n, reason, err := in.Receive(context.Background(), c, batch); n != 0 || err != nil {
			b.Fatal(n, reason, err)
		}
	}
}
