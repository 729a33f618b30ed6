// Package spans makes batches of spans as an OpenTelemetry exporter sends them,
// for benchmarks and proofs: protobuf, written by hand so that making them costs
// little beside what is measured.
package spans

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math/rand/v2"
	"strings"
)

// Maker makes batches of traces of agents. It is for one goroutine.
type Maker struct {
	// Steps is how many spans a trace has, Content how many bytes of content a
	// span has.
	Steps, Content int
	r              *rand.Rand
	at             uint64 // unix nanoseconds of the next trace
}

// New makes a maker whose ids and texts follow from the seed.
func New(steps, content int, seed, at uint64) *Maker {
	return &Maker{Steps: steps, Content: content, r: rand.New(rand.NewPCG(seed, 7)), at: at}
}

// Batch is n spans of whole traces, the last of which may be cut short, and the
// ids of the traces.
func (m *Maker) Batch(n int) (body []byte, traces [][16]byte) {
	var all []byte
	for n > 0 {
		var trace [16]byte
		binary.BigEndian.PutUint64(trace[:8], m.r.Uint64()|1)
		binary.BigEndian.PutUint64(trace[8:], m.r.Uint64())
		traces = append(traces, trace)
		steps := min(n, m.Steps)
		for i := range steps {
			all = field(all, 2, m.span(trace, i))
		}
		n -= steps
		m.at += 1_000_000
	}
	resource := field(nil, 1, attribute("service.name", "bench"))
	scope := field(nil, 1, field(nil, 1, []byte("bench")))
	spans := field(field(nil, 1, resource), 2, append(scope, all...))
	return field(nil, 1, spans), traces
}

// span is the root of a trace, or a call of a model or a tool inside it.
func (m *Maker) span(trace [16]byte, i int) []byte {
	id := func(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n+1)) }
	b := field(nil, 1, trace[:])
	b = field(b, 2, id(i))
	if i > 0 {
		b = field(b, 4, id(0))
	}
	start := m.at + uint64(i)*10_000
	b = binary.LittleEndian.AppendUint64(append(b, 7<<3|1), start)
	b = binary.LittleEndian.AppendUint64(append(b, 8<<3|1), start+5_000)
	add := func(k, v string) { b = field(b, 9, attribute(k, v)) }
	switch {
	case i == 0:
		b = field(b, 5, []byte("invoke_agent bench"))
		add("gen_ai.operation.name", "invoke_agent")
		add("gen_ai.agent.name", "bench")
	case i%4 == 3:
		b = field(b, 5, []byte("execute_tool look"))
		add("gen_ai.operation.name", "execute_tool")
		add("gen_ai.tool.name", "look")
		add("gen_ai.tool.call.arguments", `{"query":"`+m.words(m.Content/2)+`"}`)
		add("gen_ai.tool.call.result", m.words(m.Content/2))
	default:
		b = field(b, 5, []byte("chat bench-1"))
		add("gen_ai.operation.name", "chat")
		add("gen_ai.provider.name", "bench")
		add("gen_ai.request.model", "bench-1")
		b = field(b, 9, append(field(nil, 1, []byte("gen_ai.usage.input_tokens")), field(nil, 2, []byte{3 << 3, 100})...))
		b = field(b, 9, append(field(nil, 1, []byte("gen_ai.usage.output_tokens")), field(nil, 2, []byte{3 << 3, 20})...))
		add("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":"`+m.words(m.Content*2/3)+`"}]}]`)
		add("gen_ai.output.messages", `[{"role":"assistant","parts":[{"type":"text","content":"`+m.words(m.Content/3)+`"}],"finish_reason":"stop"}]`)
	}
	return b
}

// words is text of about n bytes: letters in words, as compressible as prose.
func (m *Maker) words(n int) string {
	var b strings.Builder
	for b.Len() < n {
		w := m.r.Uint64()
		for range 2 + w%8 {
			w >>= 4
			b.WriteByte("etaoinshrdlucmfw"[w&15])
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func field(b []byte, num byte, value []byte) []byte {
	b = binary.AppendUvarint(append(b, num<<3|2), uint64(len(value)))
	return append(b, value...)
}

func attribute(k, v string) []byte {
	return append(field(nil, 1, []byte(k)), field(nil, 2, field(nil, 1, []byte(v)))...)
}

// Zip compresses as exporters do, only faster.
func Zip(body []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is one of gzip's own
	}
	_, _ = z.Write(body) // into memory
	_ = z.Close()
	return b.Bytes()
}
