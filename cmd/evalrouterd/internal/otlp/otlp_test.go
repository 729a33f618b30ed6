package otlp_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/otlp"
)

// drawValue draws a value as the generated types hold it, and what it must
// become.
func drawValue(t *rapid.T, depth int) (*common.AnyValue, any) {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		s := rapid.String().Draw(t, "text")
		return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: s}}, s
	case 1:
		b := rapid.Bool().Draw(t, "bool")
		return &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: b}}, b
	case 2:
		n := rapid.Int64().Draw(t, "int")
		return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: n}}, n
	case 3:
		f := rapid.Float64().Draw(t, "float")
		return &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: f}}, f
	case 4:
		b := rapid.SliceOfN(rapid.Byte(), 1, 8).Draw(t, "bytes")
		return &common.AnyValue{Value: &common.AnyValue_BytesValue{BytesValue: b}}, b
	case 5:
		list, want := &common.ArrayValue{}, []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			v, w := drawValue(t, depth-1)
			list.Values, want = append(list.Values, v), append(want, w)
		}
		return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: list}}, want
	}
	pairs, want := drawPairs(t, depth-1)
	return &common.AnyValue{Value: &common.AnyValue_KvlistValue{KvlistValue: &common.KeyValueList{Values: pairs}}}, want
}

func drawPairs(t *rapid.T, depth int) ([]*common.KeyValue, otlp.Attributes) {
	var out []*common.KeyValue
	want := otlp.Attributes{}
	for _, key := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z][a-z._]{0,6}`), 0, 4, rapid.ID).Draw(t, "names") {
		v, w := drawValue(t, depth)
		out = append(out, &common.KeyValue{Key: key, Value: v})
		want[key] = w
	}
	return out, want
}

func drawID(t *rapid.T, n int, name string) []byte {
	id := rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, name)
	id[0] |= 1
	return id
}

func drawSpan(t *rapid.T, shared otlp.Attributes) (*trace.Span, otlp.Span) {
	attributes, want := drawPairs(t, 2)
	start := rapid.Uint64Range(1, 1<<62).Draw(t, "start")
	s := &trace.Span{
		TraceId: drawID(t, 16, "trace"), SpanId: drawID(t, 8, "span"), Name: rapid.String().Draw(t, "name"), TraceState: "x=y", Flags: 257, DroppedAttributesCount: 3, Kind: 3,
		StartTimeUnixNano: start, EndTimeUnixNano: start + 5, Attributes: attributes, Links: []*trace.Span_Link{{TraceId: drawID(t, 16, "link")}},
		Status: &trace.Status{Code: trace.Status_StatusCode(rapid.IntRange(0, 2).Draw(t, "code")), Message: "m"},
	}
	out := otlp.Span{
		TraceID: hex.EncodeToString(s.TraceId), SpanID: hex.EncodeToString(s.SpanId), Name: s.Name, Start: int64(start), End: int64(start) + 5,
		Code: int(s.Status.Code), Message: "m", Attributes: want, Resource: shared, Scope: "scope",
	}
	if rapid.Bool().Draw(t, "has a parent") {
		s.ParentSpanId = drawID(t, 8, "parent")
		out.ParentID = hex.EncodeToString(s.ParentSpanId)
		if out.ParentID == out.SpanID {
			out.ParentID = ""
		}
	} else {
		s.ParentSpanId = make([]byte, 8) // some senders write a root so
	}
	if rapid.Bool().Draw(t, "has an event") {
		pairs, want := drawPairs(t, 1)
		s.Events = []*trace.Span_Event{{TimeUnixNano: 7, Name: "e", Attributes: pairs}}
		out.Events = []otlp.Event{{At: 7, Name: "e", Attributes: want}}
	}
	return s, out
}

// Whatever the official types hold: both encodings say the same, and what they
// hold.
func TestBothEncodings_AgreeWithTheOfficialTypes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		pairs, shared := drawPairs(rt, 1)
		in, want := &trace.TracesData{}, otlp.Batch{}
		scope := &trace.ScopeSpans{Scope: &common.InstrumentationScope{Name: "scope", Version: "1"}}
		for range rapid.IntRange(0, 3).Draw(rt, "spans") {
			s, w := drawSpan(rt, shared)
			scope.Spans, want.Spans = append(scope.Spans, s), append(want.Spans, w)
		}
		in.ResourceSpans = []*trace.ResourceSpans{{Resource: &resource.Resource{Attributes: pairs}, ScopeSpans: []*trace.ScopeSpans{scope}, SchemaUrl: "u"}}
		options := cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateEmpty()}
		raw, err := proto.Marshal(in)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := otlp.Protobuf(raw)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got, options); diff != "" {
			rt.Fatalf("protobuf:\n%s", diff)
		}
		got, err = otlp.JSON(asOTLP(rt, in))
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got, options); diff != "" {
			rt.Fatalf("JSON:\n%s", diff)
		}
	})
}

// asOTLP is the JSON of the official types with ids in hexadecimal, as the
// protocol wants them.
func asOTLP(t *rapid.T, in *trace.TracesData) []byte {
	raw, err := protojson.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for k, e := range v {
				if s, ok := e.(string); ok && (k == "traceId" || k == "spanId" || k == "parentSpanId") {
					var id []byte
					if err := json.Unmarshal([]byte(`"`+s+`"`), &id); err != nil {
						t.Fatal(err)
					}
					v[k] = hex.EncodeToString(id)
					continue
				}
				walk(e)
			}
		}
	}
	walk(doc)
	raw, err = json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

const goodIDs = `"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0102030405060708"`

func spans(list string) []byte {
	return []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[` + list + `]}]}]}`)
}

func TestJSON_TakesWhatTheMappingAllows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, span string
		want       func(otlp.Span) bool
	}{
		{"numbers as numbers", `{` + goodIDs + `,"startTimeUnixNano":1544712660000000000,"endTimeUnixNano":1544712661000000000}`, func(s otlp.Span) bool { return s.Start == 1544712660000000000 && s.End == s.Start+1e9 }},
		{"numbers as texts", `{` + goodIDs + `,"startTimeUnixNano":"1544712660000000000"}`, func(s otlp.Span) bool { return s.Start == 1544712660000000000 && s.End == 0 }},
		{"an end before the start", `{` + goodIDs + `,"startTimeUnixNano":"9","endTimeUnixNano":"5"}`, func(s otlp.Span) bool { return s.End == 9 }},
		{"a status by its name", `{` + goodIDs + `,"status":{"code":"STATUS_CODE_ERROR"}}`, func(s otlp.Span) bool { return s.Code == otlp.StatusError }},
		{"a status by its number", `{` + goodIDs + `,"status":{"code":1}}`, func(s otlp.Span) bool { return s.Code == otlp.StatusOK }},
		{"unknown fields", `{` + goodIDs + `,"entirelyNew":{"a":[1]},"kind":"SPAN_KIND_CLIENT"}`, func(s otlp.Span) bool { return s.SpanID == "0102030405060708" }},
		{"upper-case ids", `{"traceId":"0102030405060708090A0B0C0D0E0F10","spanId":"0102030405060708","parentSpanId":""}`, func(s otlp.Span) bool { return s.TraceID == "0102030405060708090a0b0c0d0e0f10" && s.ParentID == "" }},
		{"integers as 1.0 and texts", `{` + goodIDs + `,"attributes":[{"key":"a","value":{"intValue":1.0}},{"key":"b","value":{"intValue":"-7"}},{"key":"c","value":{}}]}`,
			func(s otlp.Span) bool {
				return s.Attributes["a"] == int64(1) && s.Attributes["b"] == int64(-7) && s.Attributes["c"] == nil && len(s.Attributes) == 3
			}},
		{"no number as a double", `{` + goodIDs + `,"attributes":[{"key":"a","value":{"doubleValue":"NaN"}},{"key":"b","value":{"doubleValue":"-Infinity"}}]}`,
			func(s otlp.Span) bool {
				return math.IsNaN(s.Attributes["a"].(float64)) && math.IsInf(s.Attributes["b"].(float64), -1)
			}},
		{"a name twice", `{` + goodIDs + `,"attributes":[{"key":"a","value":{"intValue":1}},{"key":"a","value":{"intValue":2}}]}`, func(s otlp.Span) bool { return s.Attributes["a"] == int64(2) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, err := otlp.JSON(spans(c.span))
			if err != nil || len(b.Spans) != 1 || b.Rejected != 0 || !c.want(b.Spans[0]) {
				t.Errorf("%+v, %v", b, err)
			}
		})
	}
}

// One span at fault costs no other.
func TestBatch_RefusesSpansAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, bad, reason string }{
		{"no ids, as in logs", `{"body":{"stringValue":"x"}}`, "not logs"},
		{"a trace id of zeros", `{"traceId":"00000000000000000000000000000000","spanId":"0102030405060708"}`, "trace id"},
		{"a short trace id", `{"traceId":"01","spanId":"0102030405060708"}`, "trace id"},
		{"a span id of zeros", `{"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0000000000000000"}`, "span id"},
		{"a long parent", `{` + goodIDs + `,"parentSpanId":"010203040506070809"}`, "parent"},
		{"no hexadecimal", `{"traceId":"zz","spanId":"0102030405060708"}`, "hexadecimal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, err := otlp.JSON(spans(c.bad + `,{` + goodIDs + `},` + c.bad))
			if err != nil || len(b.Spans) != 1 || b.Rejected != 2 || !strings.Contains(b.Reason, c.reason) {
				t.Errorf("%+v, %v", b, err)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	deep := `{"stringValue":"x"}`
	for range 60 {
		deep = `{"arrayValue":{"values":[` + deep + `]}}`
	}
	b, err := otlp.JSON(spans(`{` + goodIDs + `,"attributes":[{"key":"a","value":` + deep + `}]}`))
	if err != nil || len(b.Spans) != 1 {
		t.Fatal(err)
	}
	if out, _ := json.Marshal(b.Spans[0].Attributes["a"]); !strings.Contains(string(out), "nested too deeply") {
		t.Errorf("%s", out)
	}
	if _, err := otlp.JSON(spans(strings.Repeat(`{},`, 1_000_001) + `{}`)); !errors.Is(err, otlp.ErrTooMany) {
		t.Errorf("a million empty spans: %v", err)
	}
	// An empty span takes two bytes.
	scope := append([]byte{0x12, 0xA0, 0x9C, 0x01}, bytes.Repeat([]byte{0x12, 0}, 10_000)...)
	one := append([]byte{0x0A, 0xA4, 0x9C, 0x01}, scope...)
	if _, err := otlp.Protobuf(bytes.Repeat(one, 3)); !errors.Is(err, otlp.ErrTooMany) {
		t.Errorf("30,000 empty spans: %v", err)
	}
	if b, err := otlp.Protobuf(one); err != nil || b.Rejected != 10_000 {
		t.Errorf("10,000 empty spans: %d, %v", b.Rejected, err)
	}
	for _, bad := range []string{"\x0a\xff", "\x0a\x05abc", "not protobuf at all", "\x0b"} {
		if _, err := otlp.Protobuf([]byte(bad)); !errors.Is(err, otlp.ErrMalformed) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := otlp.JSON([]byte(`{"resourceSpans":`)); !errors.Is(err, otlp.ErrMalformed) {
		t.Errorf("half of JSON: %v", err)
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	if got := string(otlp.Answer(true, 0, "")); got != "{}" {
		t.Error(got)
	}
	if got := otlp.Answer(false, 0, ""); got == nil || len(got) != 0 {
		t.Errorf("%q", got)
	}
	if got := string(otlp.Answer(true, 3, "no ids")); got != `{"partialSuccess":{"errorMessage":"no ids","rejectedSpans":"3"}}` {
		t.Error(got)
	}
	if got, want := otlp.Answer(false, 3, "no ids"), "\x0a\x0a\x08\x03\x12\x06no ids"; string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Whatever comes: no panic, bounded results, ids in order.
func FuzzProtobuf(f *testing.F) {
	good, err := proto.Marshal(&trace.TracesData{ResourceSpans: []*trace.ResourceSpans{{ScopeSpans: []*trace.ScopeSpans{{Spans: []*trace.Span{{
		TraceId: bytes.Repeat([]byte{1}, 16), SpanId: bytes.Repeat([]byte{2}, 8), Name: "n",
		Attributes: []*common.KeyValue{{Key: "k", Value: &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: &common.ArrayValue{Values: []*common.AnyValue{{}}}}}}},
	}}}}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte("\x0a\x05\x12\x03\x12\x01\x0a"))
	f.Fuzz(func(t *testing.T, in []byte) {
		b, err := otlp.Protobuf(in)
		check(t, b, err)
	})
}

func FuzzJSON(f *testing.F) {
	f.Add(spans(`{` + goodIDs + `,"attributes":[{"key":"a","value":{"kvlistValue":{"values":[{"key":"b","value":{"bytesValue":"AQ=="}}]}}}]}`))
	f.Add([]byte(`{"resourceSpans":[null,{"scopeSpans":[null]}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		b, err := otlp.JSON(in)
		check(t, b, err)
	})
}

func check(t *testing.T, b otlp.Batch, err error) {
	if err != nil && !errors.Is(err, otlp.ErrMalformed) && !errors.Is(err, otlp.ErrTooMany) {
		t.Fatal(err)
	}
	for _, s := range b.Spans {
		if len(s.TraceID) != 32 || len(s.SpanID) != 16 || s.ParentID != "" && len(s.ParentID) != 16 || s.End != 0 && s.End < s.Start {
			t.Fatalf("%+v", s)
		}
	}
	if (b.Rejected > 0) != (b.Reason != "") {
		t.Fatalf("%d rejected because %q", b.Rejected, b.Reason)
	}
}
