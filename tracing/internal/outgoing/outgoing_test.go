package outgoing_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/evalrouter/evalrouter/lib/redact"
	"github.com/evalrouter/evalrouter/tracing/internal/otlp"
	"github.com/evalrouter/evalrouter/tracing/internal/outgoing"
)

const planted = "hunter2Zebra99"

func stub(attrs ...attribute.KeyValue) tracetest.SpanStub {
	return tracetest.SpanStub{
		Name: "chat gpt-x", SpanKind: trace.SpanKindClient, Attributes: attrs,
		SpanContext: trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled}),
		StartTime:   time.Unix(1, 0), EndTime: time.Unix(2, 0), Resource: resource.NewSchemaless(attribute.String("service.name", "agent")),
		InstrumentationScope: instrumentation.Scope{Name: "scope"},
	}
}

// leave makes a span leave the process and reads it back.
func leave(t testing.TB, p outgoing.Policy, s tracetest.SpanStub) (*tracepb.Span, []byte) {
	t.Helper()
	m := outgoing.NewMaker(p)
	r, ok := m.Make(nil, s.Snapshot(), trace.SpanID{})
	if !ok {
		t.Fatal("the span was not written")
	}
	body, err := otlp.Request(nil, []otlp.Group{{Origin: r.Origin, Spans: [][]byte{m.Finish(r)}}})
	if err != nil {
		t.Fatal(err)
	}
	var data tracepb.TracesData
	if err := proto.Unmarshal(body, &data); err != nil {
		t.Fatalf("what left is no OTLP: %v", err)
	}
	return data.ResourceSpans[0].ScopeSpans[0].Spans[0], body
}

func value(s *tracepb.Span, key string) (string, bool) {
	for _, kv := range s.Attributes {
		if kv.Key == key {
			if v, ok := kv.Value.Value.(*commonpb.AnyValue_StringValue); ok {
				return v.StringValue, true
			}
			return kv.Value.String(), true
		}
	}
	return "", false
}

func TestMake_TRC11_Attributes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 100)
	tests := []struct {
		name string
		kv   attribute.KeyValue
		want string
	}{
		{"a text", attribute.String("city", "Basel"), "Basel"},
		{"a sensitive name", attribute.String("api_key", planted), "[redacted:api_key]"},
		{"a sensitive number", attribute.Int("pin", 1234), "[redacted:pin]"},
		{"a sensitive list", attribute.StringSlice("credentials", []string{planted}), "[redacted:credentials]"},
		{"a sensitive truth value", attribute.Bool("auth", true), "bool_value:true"},
		{"a configured name", attribute.String("customerName", planted), "[redacted:configured]"},
		{"usage", attribute.Int("gen_ai.usage.input_tokens", 7), "int_value:7"},
		{"a credential in a text", attribute.String("note", "use password="+planted+" now"), "use password=[redacted:password] now"},
		{"a credential in a long text", attribute.String("note", long+"password="+planted), long + "password=[redacted:password]"},
		{"JSON in a text", attribute.String("args", `{"api_key":"`+planted+`"}`), `{"api_key":{"$redacted":"api_key"}}`},
		{"long JSON in a text", attribute.String("args", `{"api_key":"`+planted+`","x":"`+long+`"}`), `{"api_key":{"$redacted":"api_key"},"x":"` + long + `"}`},
		{"arguments of a command", attribute.StringSlice("argv", []string{"--password", planted}), `"[redacted:password]"`},
		{"a map", attribute.Map("map", attribute.String("api_key", planted)), `{"api_key":{"$redacted":"api_key"}}`},
		{"numbers", attribute.Int64Slice("n", []int64{1, 2}), "int_value:2"},
		{"a number of the vocabulary", attribute.String("gen_ai.request.model", "password="+planted), "password=[redacted:password]"},
		{"nothing in a field", attribute.String("token", ""), ""},
		{"broken UTF-8", attribute.String("x", "a\xffb"), "a\uFFFDb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, body := leave(t, outgoing.Policy{Redact: redact.Config{Fields: []string{"customer name"}}}, stub(tt.kv))
			got, ok := value(s, string(tt.kv.Key))
			if !ok || !strings.Contains(strings.ReplaceAll(got, "  ", " "), tt.want) {
				t.Errorf("left as %q", got)
			}
			if strings.Contains(string(body), planted) {
				t.Error("the secret left")
			}
			counted := false
			for _, kv := range s.Attributes {
				counted = counted || strings.HasPrefix(kv.Key, "evalrouter.redacted.")
			}
			if hidden := strings.Contains(tt.want, "redacted"); hidden != counted {
				t.Errorf("something was hidden: %v; counted: %v", hidden, counted)
			}
		})
	}
}

// Every place of a span that can hold a text.
func TestMake_NoPlaceLeaks(t *testing.T) {
	t.Parallel()
	secret := "password=" + planted
	s := stub(attribute.String(secret, "x"))
	s.Name = secret
	s.Status = sdktrace.Status{Code: codes.Error, Description: secret}
	s.Events = []sdktrace.Event{{Name: secret, Attributes: []attribute.KeyValue{attribute.String("exception.message", secret), attribute.String("token", planted)}}}
	s.Links = []sdktrace.Link{{SpanContext: s.SpanContext, Attributes: []attribute.KeyValue{attribute.String("why", secret)}}}
	s.Resource = resource.NewSchemaless(attribute.String("process.command_line", "agent --password "+planted), attribute.StringSlice("process.command_args", []string{"--token", planted}))
	s.InstrumentationScope = instrumentation.Scope{Name: secret, Version: secret, Attributes: attribute.NewSet(attribute.String("api.key", planted))}
	state, err := trace.ParseTraceState("vendor=" + planted)
	if err != nil {
		t.Fatal(err)
	}
	s.SpanContext = s.SpanContext.WithTraceState(state)
	got, body := leave(t, outgoing.Policy{}, s)
	if strings.Contains(string(body), planted) {
		t.Errorf("the secret left in %v", got)
	}
	if len(got.Events) != 1 || len(got.Links) != 1 || !strings.Contains(got.Name, "[redacted:password]") {
		t.Errorf("too little left: %v", got)
	}
}

// The lists that the redactor is held to hold for the names of attributes.
func TestMake_NamesOfAttributes(t *testing.T) {
	t.Parallel()
	names := func(file string) []string {
		b, err := os.ReadFile("../../../lib/redact/testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(b)), "\n")
	}
	sensitive, harmless := names("sensitive.txt"), names("harmless.txt")
	if len(sensitive) < 120 || len(harmless) < 150 {
		t.Fatalf("%d sensitive and %d harmless names", len(sensitive), len(harmless))
	}
	for _, n := range sensitive {
		if s, body := leave(t, outgoing.Policy{}, stub(attribute.String(n, planted))); strings.Contains(string(body), planted) {
			t.Errorf("the value of %q left: %v", n, s)
		}
	}
	for _, n := range harmless {
		if s, _ := leave(t, outgoing.Policy{}, stub(attribute.String(n, "Basel"))); !strings.Contains(s.String(), "Basel") {
			t.Errorf("the value of %q was hidden: %v", n, s)
		}
	}
}

func TestContent(t *testing.T) {
	t.Parallel()
	secret := `{"q":"hi","api_key":"` + planted + `"}`
	failing := func(string, []byte) ([]byte, error) { return []byte(planted), errors.New("no") }
	panicking := func(string, []byte) ([]byte, error) { panic(planted) }
	upper := func(_ string, b []byte) ([]byte, error) { return []byte(strings.ToUpper(string(b))), nil }
	tests := []struct {
		name      string
		policy    outgoing.Policy
		key, in   string
		want      string
		mayRemain bool
	}{
		{"redacted", outgoing.Policy{}, "evalrouter.input", secret, `{"api_key":{"$redacted":"api_key"},"q":"hi"}`, false},
		{"none", outgoing.Policy{Content: outgoing.None}, "evalrouter.input", secret, "", false},
		{"none of others either", outgoing.Policy{Content: outgoing.None}, "gen_ai.input.messages", secret, "", false},
		{"none of flat messages", outgoing.Policy{Content: outgoing.None}, "llm.input_messages.0.message.content", "hi", "", false},
		{"raw", outgoing.Policy{Content: outgoing.Raw}, "evalrouter.output", secret, secret, true},
		{"raw and too long", outgoing.Policy{Content: outgoing.Raw, Redact: redact.Config{Limits: redact.Limits{Value: 300}}}, "evalrouter.output", `"` + strings.Repeat("x", 400) + `"`, `{"$truncated":{"original":402,"reason":"bytes"}}`, false},
		{"raw and no JSON", outgoing.Policy{Content: outgoing.Raw}, "evalrouter.output", "{\"\xff", `"{\"` + "\uFFFD" + `"`, false},
		{"raw text of others", outgoing.Policy{Content: outgoing.Raw}, "output.value", "a\xffb", "a\uFFFDb", false},
		{"text of others stays a text", outgoing.Policy{}, "output.value", "password=" + planted, "password=[redacted:password]", false},
		{"a hook comes first", outgoing.Policy{Hook: upper}, "evalrouter.input", `{"q":"hi","api_key":"x"}`, `{"API_KEY":{"$redacted":"api_key"},"Q":"HI"}`, false},
		{"a hook sees texts of others", outgoing.Policy{Hook: upper}, "output.value", "hi", "HI", false},
		{"a hook that fails", outgoing.Policy{Hook: failing}, "evalrouter.input", secret, `{"$redacted":"error"}`, false},
		{"a hook that fails and raw", outgoing.Policy{Hook: failing, Content: outgoing.Raw}, "evalrouter.input", secret, `{"$redacted":"error"}`, false},
		{"a hook that panics", outgoing.Policy{Hook: panicking}, "evalrouter.input", secret, `{"$redacted":"error"}`, false},
		{"a hook that fails on a text", outgoing.Policy{Hook: failing}, "output.value", planted, `[redacted:error]`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, body := leave(t, tt.policy, stub(attribute.String(tt.key, tt.in)))
			if got, _ := value(s, tt.key); got != tt.want {
				t.Errorf("left as %q, want %q", got, tt.want)
			}
			if strings.Contains(string(body), planted) != tt.mayRemain {
				t.Errorf("the secret left: %v", !tt.mayRemain)
			}
		})
	}
}

// Events of the GenAI conventions hold messages.
func TestContent_NoneInEvents(t *testing.T) {
	t.Parallel()
	s := stub()
	s.Events = []sdktrace.Event{
		{Name: "gen_ai.user.message", Attributes: []attribute.KeyValue{attribute.String("content", "hi there")}},
		{Name: "exception", Attributes: []attribute.KeyValue{attribute.String("exception.type", "x"), attribute.String("exception.stacktrace", "hi there")}},
	}
	got, body := leave(t, outgoing.Policy{Content: outgoing.None}, s)
	if strings.Contains(string(body), "hi there") || len(got.Events) != 2 || len(got.Events[1].Attributes) != 1 {
		t.Errorf("left: %v", got.Events)
	}
}

// Whatever a span holds, what leaves is bounded, and says what is missing.
func TestMake_Bounds(t *testing.T) {
	t.Parallel()
	var many []attribute.KeyValue
	for i := range 300 {
		many = append(many, attribute.String(fmt.Sprint("k", i), strings.Repeat("word ", 4000)))
	}
	s := stub(many...)
	for range 300 {
		s.Events = append(s.Events, sdktrace.Event{Name: "e", Attributes: many})
		s.Links = append(s.Links, sdktrace.Link{SpanContext: s.SpanContext})
	}
	got, body := leave(t, outgoing.Policy{}, s)
	if len(body) > 512<<10 {
		t.Errorf("%d bytes left", len(body))
	}
	if got.DroppedAttributesCount != 172 || got.DroppedEventsCount != 172 || got.DroppedLinksCount != 172 {
		t.Errorf("dropped %d attributes, %d events, %d links", got.DroppedAttributesCount, got.DroppedEventsCount, got.DroppedLinksCount)
	}
	if n, _ := value(got, "evalrouter.redacted.truncated"); n == "" {
		t.Error("what was cut is not counted")
	}
}

// A span whose own methods panic is not written, and nothing of it leaves.
func TestMake_Panic(t *testing.T) {
	t.Parallel()
	m := outgoing.NewMaker(outgoing.Policy{})
	if r, ok := m.Make(nil, broken{stub().Snapshot()}, trace.SpanID{}); ok || r.Weight() != 0 {
		t.Errorf("made %+v", r)
	}
}

type broken struct{ sdktrace.ReadOnlySpan }

func (broken) Attributes() []attribute.KeyValue { panic("broken") }

// A program with endless names and words costs no endless memory, and is still
// cleaned.
func TestMake_EndlessVocabulary(t *testing.T) {
	t.Parallel()
	m := outgoing.NewMaker(outgoing.Policy{})
	for i := range 1500 {
		r, ok := m.Make(nil, stub(attribute.String("gen_ai.request.model", fmt.Sprint("m", i)), attribute.String(fmt.Sprint("password", i), planted)).Snapshot(), trace.SpanID{})
		if out := string(m.Finish(r)); !ok || strings.Contains(out, planted) || !strings.Contains(out, fmt.Sprint("m", i)) {
			t.Fatalf("span %d left as %q", i, out)
		}
	}
}

// A secret below a sensitive name leaves by no attribute, whatever is around it.
func FuzzMake(f *testing.F) {
	for _, s := range []string{"api_key", "Password", "x-auth-token", "client.secret", "city"} {
		f.Add(s, "before", "after", uint8(0))
		f.Add(s, `{"a":[`, `]}`, uint8(3))
	}
	f.Fuzz(func(t *testing.T, name, before, after string, where uint8) {
		const secret = "zqSecretqz77"
		if !redact.Sensitive(name) || strings.Contains(name+before+after, "zqS") {
			return // not sensitive, or the text holds the secret itself
		}
		inText := fmt.Sprintf("{%q:%q}", name, secret)
		if !strings.Contains(inText, `"`+name+`"`) {
			return // the name has another spelling in JSON
		}
		s := stub(attribute.String("x", before), attribute.String("y", after))
		switch where % 5 {
		case 0:
			s.Attributes = append(s.Attributes, attribute.String(name, secret))
		case 1:
			s.Attributes = append(s.Attributes, attribute.StringSlice(name, []string{before, secret, after}))
		case 2:
			s.Attributes = append(s.Attributes, attribute.String("evalrouter.input", inText))
		case 3:
			s.Attributes = append(s.Attributes, attribute.String("gen_ai.tool.call.arguments", inText))
		case 4:
			s.Events = []sdktrace.Event{{Name: before, Attributes: []attribute.KeyValue{attribute.String(name, secret), attribute.String("body", inText)}}}
		}
		if got, body := leave(t, outgoing.Policy{}, s); strings.Contains(string(body), secret) {
			t.Fatalf("the secret below %q left: %v", name, got)
		}
	})
}
