package otlp_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/tracing/internal/otlp"
)

// attributes draws a list and writes it both ways.
func attributes(t *rapid.T, field protowire.Number, label string) (b []byte, want []*commonpb.KeyValue) {
	for i := range rapid.IntRange(0, 5).Draw(t, label) {
		key := rapid.StringN(0, 200, 400).Draw(t, "key")
		v := &commonpb.AnyValue{}
		switch rapid.IntRange(0, 7).Draw(t, fmt.Sprint("kind", i)) {
		case 0:
			s := rapid.String().Draw(t, "text")
			b, v.Value = otlp.String(b, field, key, s), &commonpb.AnyValue_StringValue{StringValue: s}
		case 1:
			n := rapid.Int64().Draw(t, "int")
			b, v.Value = otlp.Int(b, field, key, n), &commonpb.AnyValue_IntValue{IntValue: n}
		case 2:
			x := rapid.Bool().Draw(t, "bool")
			b, v.Value = otlp.Bool(b, field, key, x), &commonpb.AnyValue_BoolValue{BoolValue: x}
		case 3:
			x := rapid.Float64().Draw(t, "double")
			b, v.Value = otlp.Double(b, field, key, x), &commonpb.AnyValue_DoubleValue{DoubleValue: x}
		case 4:
			list := rapid.SliceOfN(rapid.String(), 0, 5).Draw(t, "texts")
			b, v = otlp.Strings(b, field, key, list), array(list, func(s string) *commonpb.AnyValue {
				return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}
			})
		case 5:
			list := rapid.SliceOf(rapid.Int64()).Draw(t, "ints")
			b, v = scalars(t, b, field, key, attribute.Int64SliceValue(list)), array(list, func(n int64) *commonpb.AnyValue {
				return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: n}}
			})
		case 6:
			list := rapid.SliceOf(rapid.Bool()).Draw(t, "bools")
			b, v = scalars(t, b, field, key, attribute.BoolSliceValue(list)), array(list, func(x bool) *commonpb.AnyValue {
				return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: x}}
			})
		case 7:
			list := rapid.SliceOf(rapid.Float64()).Draw(t, "doubles")
			b, v = scalars(t, b, field, key, attribute.Float64SliceValue(list)), array(list, func(x float64) *commonpb.AnyValue {
				return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: x}}
			})
		}
		want = append(want, &commonpb.KeyValue{Key: key, Value: v})
	}
	return b, want
}

func scalars(t *rapid.T, b []byte, field protowire.Number, key string, v attribute.Value) []byte {
	b, ok := otlp.Scalars(b, field, key, v)
	if !ok {
		t.Fatalf("a list of %v is no list", v.Type())
	}
	return b
}

func array[T any](list []T, each func(T) *commonpb.AnyValue) *commonpb.AnyValue {
	out := &commonpb.ArrayValue{}
	for _, v := range list {
		out.Values = append(out.Values, each(v))
	}
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: out}}
}

// What is written here is what the generated types of OTLP read.
func TestSpan_ReadByGeneratedTypes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var id trace.TraceID
		var span, parent trace.SpanID
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "trace"))
		copy(span[:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "span"))
		copy(parent[:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "parent"))
		kind := rapid.SampledFrom([]trace.SpanKind{trace.SpanKindInternal, trace.SpanKindServer, trace.SpanKindClient, trace.SpanKindProducer, trace.SpanKindConsumer}).Draw(t, "kind")
		code := rapid.SampledFrom([]codes.Code{codes.Unset, codes.Ok, codes.Error}).Draw(t, "code")
		h := otlp.Head{
			Context: trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: span, TraceFlags: trace.FlagsSampled}), Parent: parent,
			Name: rapid.String().Draw(t, "name"), Kind: kind, Status: code, StatusText: rapid.String().Draw(t, "why"),
			Start: time.Unix(0, rapid.Int64Min(0).Draw(t, "start")), End: time.Unix(0, rapid.Int64Min(0).Draw(t, "end")),
			DroppedAttributes: rapid.IntRange(0, 9).Draw(t, "da"), DroppedEvents: rapid.IntRange(0, 9).Draw(t, "de"), DroppedLinks: rapid.IntRange(0, 9).Draw(t, "dl"),
		}
		b := otlp.Span(nil, h)
		attrs, want := attributes(t, otlp.SpanAttributes, "attributes")
		onEvent, wantEvent := attributes(t, otlp.EventAttributes, "of event")
		onLink, wantLink := attributes(t, otlp.LinkAttributes, "of link")
		b = otlp.Event(append(b, attrs...), h.Start, "event", onEvent, 2)
		b = otlp.Link(b, h.Context, onLink, 1)
		resource, wantResource := attributes(t, otlp.ResourceAttributes, "of resource")
		origin := otlp.Origin{Resource: resource, Scope: "scope", ScopeVersion: "1"}.Encode()
		body, err := otlp.Request(nil, []otlp.Group{{Origin: origin, Spans: [][]byte{b, b}}, {Origin: origin, Spans: [][]byte{b}}})
		if err != nil {
			t.Fatal(err)
		}
		if over := len(body) - 3*len(b); over > 2*otlp.Overhead(origin)+3*otlp.SpanOverhead {
			t.Errorf("the request adds %d bytes", over)
		}
		var got tracepb.TracesData
		if err := proto.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.ResourceSpans) != 2 || len(got.ResourceSpans[0].ScopeSpans[0].Spans) != 2 || len(got.ResourceSpans[1].ScopeSpans[0].Spans) != 1 {
			t.Fatalf("groups became %v", &got)
		}
		head := got.ResourceSpans[0]
		if diff := cmp.Diff(wantResource, head.Resource.GetAttributes(), protocmp.Transform()); diff != "" || head.ScopeSpans[0].Scope.GetVersion() != "1" {
			t.Errorf("resource (-want +got):\n%s", diff)
		}
		wantSpan := &tracepb.Span{
			TraceId: id[:], SpanId: span[:], Name: h.Name, Kind: tracepb.Span_SpanKind(kind), Flags: 1,
			StartTimeUnixNano: uint64(h.Start.UnixNano()), EndTimeUnixNano: uint64(h.End.UnixNano()), Attributes: want,
			DroppedAttributesCount: uint32(h.DroppedAttributes), DroppedEventsCount: uint32(h.DroppedEvents), DroppedLinksCount: uint32(h.DroppedLinks),
			Events: []*tracepb.Span_Event{{TimeUnixNano: uint64(h.Start.UnixNano()), Name: "event", Attributes: wantEvent, DroppedAttributesCount: 2}},
			Links:  []*tracepb.Span_Link{{TraceId: id[:], SpanId: span[:], Attributes: wantLink, DroppedAttributesCount: 1, Flags: 1}},
		}
		if parent.IsValid() {
			wantSpan.ParentSpanId = parent[:]
		}
		switch code {
		case codes.Ok:
			wantSpan.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_OK}
		case codes.Error:
			wantSpan.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: h.StatusText}
		}
		if diff := cmp.Diff(wantSpan, head.ScopeSpans[0].Spans[0], protocmp.Transform()); diff != "" {
			t.Errorf("span (-want +got):\n%s", diff)
		}
	})
}

func TestDouble_NotFinite(t *testing.T) {
	t.Parallel()
	var b []byte
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		b = otlp.Double(b, otlp.SpanAttributes, "x", v)
	}
	var s tracepb.Span
	if err := proto.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, kv := range s.Attributes {
		got = append(got, kv.Value.GetStringValue())
	}
	if diff := cmp.Diff([]string{"NaN", "Infinity", "-Infinity"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	partial := func(fields ...[]byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), []byte(strings.Join(texts(fields), "")))
	}
	rejected := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 3)
	message := protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), "no")
	unknown := protowire.AppendFixed64(protowire.AppendTag(nil, 9, protowire.Fixed64Type), 1)
	tests := []struct {
		name string
		in   []byte
		want otlp.Answer
		bad  bool
	}{
		{"nothing", nil, otlp.Answer{}, false},
		{"an empty partial success", partial(), otlp.Answer{}, false},
		{"some rejected", partial(rejected, message), otlp.Answer{Rejected: 3, Message: "no"}, false},
		{"fields of a later version", append(partial(unknown, rejected), unknown...), otlp.Answer{Rejected: 3}, false},
		{"a page", []byte("<html>"), otlp.Answer{}, true},
		{"cut", partial(rejected, message)[:4], otlp.Answer{}, true},
		{"cut inside", partial(message[:2]), otlp.Answer{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := otlp.ReadAnswer(tt.in)
			if (err != nil) != tt.bad || !tt.bad && got != tt.want {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func texts(in [][]byte) (out []string) {
	for _, b := range in {
		out = append(out, string(b))
	}
	return out
}

// Whatever answers is read without a panic.
func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte("\x0a\x06\x08\x03\x12\x02no"))
	f.Add([]byte("<html>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := otlp.ReadAnswer(b)
		if err != nil && a != (otlp.Answer{}) {
			t.Errorf("an answer that does not read gave %+v", a)
		}
	})
}
