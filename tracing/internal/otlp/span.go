package otlp

import (
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// Head is what a span has besides its attributes, events and links. Texts are
// written as they are: whoever calls has redacted them. The trace state is not
// among it: it is the baggage of other systems, and nobody here reads it.
type Head struct {
	Context    trace.SpanContext
	Parent     trace.SpanID // zero for a root
	Name       string
	Kind       trace.SpanKind
	Start, End time.Time
	Status     codes.Code
	StatusText string
	// Dropped counts what the span lost to bounds.
	DroppedAttributes, DroppedEvents, DroppedLinks int
}

// Span appends the fields of h. Attributes, events and links may be appended
// behind it.
func Span(b []byte, h Head) []byte {
	trace, span := h.Context.TraceID(), h.Context.SpanID()
	b = field(b, 1, trace[:])
	b = field(b, 2, span[:])
	if h.Parent.IsValid() {
		b = field(b, 4, h.Parent[:])
	}
	b = field(b, 5, h.Name)
	b = number(b, 6, kind(h.Kind))
	b = nanos(b, 7, h.Start)
	b = nanos(b, 8, h.End)
	b = number(b, 10, uint64(h.DroppedAttributes))
	b = number(b, 12, uint64(h.DroppedEvents))
	b = number(b, 14, uint64(h.DroppedLinks))
	b = status(b, h.Status, h.StatusText)
	b = protowire.AppendTag(b, 16, protowire.Fixed32Type)
	return protowire.AppendFixed32(b, uint32(h.Context.TraceFlags()))
}

// kind: the API counts from internal, the wire has "unspecified" before it.
func kind(k trace.SpanKind) uint64 {
	switch k {
	case trace.SpanKindServer:
		return 2
	case trace.SpanKindClient:
		return 3
	case trace.SpanKindProducer:
		return 4
	case trace.SpanKindConsumer:
		return 5
	}
	return 1
}

// status: the numbers of ok and error are the other way round on the wire.
func status(b []byte, code codes.Code, text string) []byte {
	var body []byte
	switch code {
	case codes.Ok:
		body = number(body, 3, 1)
	case codes.Error:
		if text != "" {
			body = field(body, 2, text)
		}
		body = number(body, 3, 2)
	default:
		return b
	}
	return field(b, 15, body)
}

// Event appends an event whose attributes are already written, with
// EventAttributes as their field.
func Event(b []byte, at time.Time, name string, attributes []byte, dropped int) []byte {
	var body []byte
	body = nanos(body, 1, at)
	body = field(body, 2, name)
	body = append(body, attributes...)
	body = number(body, 4, uint64(dropped))
	return field(b, 11, body)
}

// Link appends a link whose attributes are already written, with
// LinkAttributes as their field.
func Link(b []byte, to trace.SpanContext, attributes []byte, dropped int) []byte {
	trace, span := to.TraceID(), to.SpanID()
	var body []byte
	body = field(body, 1, trace[:])
	body = field(body, 2, span[:])
	body = append(body, attributes...)
	body = number(body, 5, uint64(dropped))
	body = protowire.AppendTag(body, 6, protowire.Fixed32Type)
	body = protowire.AppendFixed32(body, uint32(to.TraceFlags()))
	return field(b, 13, body)
}

func field[T string | []byte](b []byte, n protowire.Number, v T) []byte {
	b = protowire.AppendTag(b, n, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(v)))
	return append(b, v...)
}

func number(b []byte, n protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
}

func nanos(b []byte, n protowire.Number, t time.Time) []byte {
	ns := t.UnixNano()
	if ns < 0 || t.IsZero() {
		ns = 0
	}
	return protowire.AppendFixed64(protowire.AppendTag(b, n, protowire.Fixed64Type), uint64(ns))
}
