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

// kept keeps what was brought.
type kept struct {
	nowhere
	spans    []core.Span
	redacted bool
}

func (k *kept) Write(_ context.Context, a []core.Arrival) ([]int, error) {
	for _, one := range a {
		k.spans, k.redacted = append(k.spans, one.Spans...), k.redacted || one.Redacted
	}
	return make([]int, len(a)), nil
}

// What the capture says of its own redaction is known of the trace: it was
// redacted, although nothing was left to find here, and which side was cut.
func TestReceive_KnowsWhatTheSenderRedacted(t *testing.T) {
	t.Parallel()
	const cut = `{"text":{"$truncated":{"original":9,"reason":"bytes"}}}`
	for _, tt := range []struct {
		name                  string
		more                  otlp.Attributes
		redacted, input, both bool
	}{
		{"nothing was done", nil, false, false, false},
		{"a field was hidden", otlp.Attributes{"evalrouter.redacted.fields": int64(2)}, true, false, false},
		{"a part of a text", otlp.Attributes{"evalrouter.redacted.values": int64(1)}, true, false, false},
		{"a value was lost", otlp.Attributes{"evalrouter.redacted.errors": int64(1)}, true, false, false},
		{"one side was cut", otlp.Attributes{"evalrouter.redacted.truncated": int64(1), "evalrouter.input": cut}, false, true, false},
		{"both were", otlp.Attributes{"evalrouter.redacted.truncated": int64(2), "evalrouter.input": cut, "evalrouter.output": "long[truncated: 9 bytes]er"}, false, true, true},
		{"a mark that the sender does not count", otlp.Attributes{"evalrouter.input": cut}, false, false, false},
		{"no number", otlp.Attributes{"evalrouter.redacted.fields": "2"}, false, false, false},
	} {
		k := &kept{}
		door := traces.NewDoor(k)
		attributes := otlp.Attributes{"evalrouter.kind": "tool", "evalrouter.input": "in", "evalrouter.output": "out"}
		for name, v := range tt.more {
			attributes[name] = v
		}
		in := &traces.Intake{Door: door}
		_, _, err := in.Receive(t.Context(), core.TraceConnection{ID: "c", Workspace: "w", Kind: core.TraceSDK, Days: 30, Capture: core.Capture{Inputs: true, Outputs: true, MaxValue: 65536}},
			otlp.Batch{Spans: []otlp.Span{{TraceID: "t", SpanID: "s", Start: 1, End: 2, Attributes: attributes}}})
		door.Close()
		if err != nil || len(k.spans) != 1 || k.redacted != tt.redacted || k.spans[0].InputCut != tt.input || k.spans[0].OutputCut != tt.both {
			t.Errorf("%s: %v, redacted %v, %+v", tt.name, err, k.redacted, k.spans)
		}
	}
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
