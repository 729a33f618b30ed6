package tracing_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/tracing"
	"github.com/evalrouter/evalrouter/tracing/fakeotlp"
)

func logTo(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// recording remembers where requests went.
type recording struct {
	inside
	urls *[]string
}

func (t recording) RoundTrip(req *http.Request) (*http.Response, error) {
	*t.urls = append(*t.urls, req.URL.String())
	return t.inside.RoundTrip(req)
}

func environment(with map[string]string) func(string) string {
	all := map[string]string{
		tracing.EnvKey: "eri_test", tracing.EnvConnection: "connection", tracing.EnvWorkspace: "workspace",
		tracing.EnvBaseURL: "https://traces.example/v1/",
	}
	for k, v := range with {
		all[k] = v
	}
	return func(name string) string { return all[name] }
}

func TestNew_TRC01_FromTheEnvironment(t *testing.T) {
	t.Parallel()
	r := fakeotlp.New()
	var urls []string
	c := open(t, tracing.Config{
		Env:      environment(map[string]string{tracing.EnvService: "shop"}),
		Delivery: tracing.Delivery{Transport: recording{inside{r}, &urls}},
	})
	call(t.Context(), c)
	flush(t, c)
	// The receiver refuses what does not carry key, workspace and connection.
	if err := r.Err(); err != nil || len(r.Spans()) != 1 {
		t.Fatalf("%d spans, %v", len(r.Spans()), err)
	}
	if len(urls) != 1 || urls[0] != "https://traces.example/v1/otlp/v1/traces" {
		t.Errorf("requests went to %q", urls)
	}
	if s := r.Spans()[0]; !strings.Contains(s.Resource.String(), "shop") || !strings.Contains(s.Scope.String(), "evalrouter.redaction.profile") {
		t.Errorf("resource %s, scope %s", s.Resource, s.Scope)
	}
}

func TestNew_Errors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		env    map[string]string
		change func(*tracing.Config)
		want   string
	}{
		{"no key", map[string]string{tracing.EnvKey: ""}, nil, "EVALROUTER_TRACE_KEY is not set; nothing is captured"},
		{"no connection", map[string]string{tracing.EnvConnection: ""}, nil, "EVALROUTER_TRACE_CONNECTION_ID is not set"},
		{"no workspace", map[string]string{tracing.EnvWorkspace: ""}, nil, "EVALROUTER_WORKSPACE_ID is not set"},
		{"a key with a line break", map[string]string{tracing.EnvKey: "hunter2\nX: y"}, nil, "must be printable ASCII"},
		{"plain http", map[string]string{tracing.EnvBaseURL: "http://hunter2.example"}, nil, "plain http is for loopback addresses only"},
		{"a password", map[string]string{tracing.EnvBaseURL: "https://u:hunter2@h.example"}, nil, "no user name"},
		{"a path", map[string]string{tracing.EnvBaseURL: "https://h.example/hunter2"}, nil, "no other path"},
		{"a query", map[string]string{tracing.EnvBaseURL: "https://h.example?hunter2"}, nil, "query"},
		{"no origin", map[string]string{tracing.EnvBaseURL: "hunter2"}, nil, "is not an origin"},
		{"another scheme", map[string]string{tracing.EnvBaseURL: "ftp://h.example"}, nil, "must begin with https://"},
		{"a ratio", nil, func(c *tracing.Config) { c.SampleRatio = 1.5 }, "between 0 and 1"},
		{"a content", nil, func(c *tracing.Config) { c.Content = 9 }, "no way to treat content"},
		{"a negative bound", nil, func(c *tracing.Config) { c.Delivery.QueueBytes = -1 }, "negative"},
		{"a spool that is a file", nil, func(c *tracing.Config) { c.Delivery.SpoolDir = "config_test.go" }, "open the spool"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := tracing.Config{Env: environment(tt.env)}
			if tt.change != nil {
				tt.change(&cfg)
			}
			c, err := tracing.New(cfg)
			if c != nil || err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v", err)
			}
			if errors.Is(err, tracing.ErrNotConfigured) != strings.Contains(tt.want, "is not set") {
				t.Errorf("%v is of the wrong kind", err)
			}
		})
	}
}

func TestNew_Loopback(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{"http://127.0.0.1:7788", "http://localhost:7788/v1", "http://[::1]:7788"} {
		c, err := tracing.New(tracing.Config{Env: environment(map[string]string{tracing.EnvBaseURL: origin})})
		if err != nil {
			t.Errorf("%s: %v", origin, err)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// Content is captured where Input and Output are called, and the variable of
// OpenTelemetry turns it off; a field wins over it.
func TestContent_TRC06_TRC07_Modes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		env     string
		content tracing.Content
		input   string
	}{
		{"by default", "", 0, `{"api_key":{"$redacted":"api_key"},"q":"hi"}`},
		{"switched off", "NO_CONTENT", 0, ""},
		{"an unknown word", "perhaps", 0, ""},
		{"switched on", "SPAN_ONLY", 0, `{"api_key":{"$redacted":"api_key"},"q":"hi"}`},
		{"a field wins", "NO_CONTENT", tracing.ContentRedacted, `{"api_key":{"$redacted":"api_key"},"q":"hi"}`},
		{"none", "SPAN_ONLY", tracing.ContentNone, ""},
		{"raw", "", tracing.ContentRaw, `{"api_key":"hunter2","q":"hi"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := fakeotlp.New()
			cfg := settings(r)
			cfg.Env, cfg.Content = environment(map[string]string{tracing.EnvContent: tt.env}), tt.content
			var log strings.Builder
			cfg.Logger = logTo(&log)
			c := open(t, cfg)
			value := map[string]string{"q": "hi", "api_key": "hunter2"}
			_, s := c.StartTool(t.Context(), "t")
			s.Input(value)
			s.Output("first")
			s.Output(value)
			value["q"] = "changed afterwards"
			s.End()
			flush(t, c)
			got := r.Spans()[0].Span
			if in, out := attr(got, "evalrouter.input"), attr(got, "evalrouter.output"); in != tt.input || out != tt.input {
				t.Errorf("input %q, output %q", in, out)
			}
			if warned := strings.Contains(log.String(), "without redaction"); warned != (tt.content == tracing.ContentRaw) {
				t.Errorf("warned: %v", warned)
			}
		})
	}
}

func TestRedaction_TRC11_Configured(t *testing.T) {
	t.Parallel()
	r := fakeotlp.New()
	cfg := settings(r)
	cfg.Redaction = tracing.Redaction{
		Fields: []string{"customer name"}, MaxText: 64,
		Hook: func(attribute string, b []byte) ([]byte, error) {
			return []byte(strings.ReplaceAll(string(b), "Basel", attribute)), nil
		},
	}
	c := open(t, cfg)
	_, s := c.StartTool(t.Context(), "t")
	s.Input(map[string]string{"customerName": "Ada", "city": "Basel", "long": strings.Repeat("word ", 100)})
	s.Attr("customer-name", "Ada")
	s.End()
	flush(t, c)
	got := r.Spans()[0].Span
	in := attr(got, "evalrouter.input")
	for _, want := range []string{`"customerName":{"$redacted":"configured"}`, `"city":"evalrouter.input"`, "[truncated: 500 bytes]"} {
		if !strings.Contains(in, want) {
			t.Errorf("the input lacks %s: %s", want, in)
		}
	}
	if contains(r.Bytes(), "Ada") || attr(got, "evalrouter.redacted.fields") != "int_value:2" {
		t.Errorf("left: %v", got)
	}
}

// What cannot be JSON is a mark, never an error or a panic.
func TestContent_Values(t *testing.T) {
	t.Parallel()
	type node struct{ Next *node }
	cycle := &node{}
	cycle.Next = cycle
	r := fakeotlp.New()
	c := open(t, settings(r))
	values := []any{nil, "text", 7, cycle, func() {}, panics{}, []byte("abc"), strings.Repeat("word ", 1_000_000), map[string]any{"x": []int{1}}}
	for _, v := range values {
		_, s := c.StartTool(t.Context(), "t")
		s.Input(v)
		s.Attr("v", v)
		s.End()
	}
	flush(t, c)
	spans := r.Spans()
	if len(spans) != len(values) {
		t.Fatalf("%d spans of %d", len(spans), len(values))
	}
	for i, want := range []string{"null", `"text"`, "7", `{"$redacted":"error"}`, `{"$redacted":"error"}`, `{"$redacted":"error"}`, `"YWJj"`, "$truncated", `{"x":[1]}`} {
		if got := attr(spans[i].Span, "evalrouter.input"); !strings.Contains(got, want) {
			t.Errorf("%.20v was captured as %.100s", values[i], got)
		}
	}
}

type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("no") }

// Whole traces are chosen, never a part of one.
func TestSampleRatio(t *testing.T) {
	t.Parallel()
	r := fakeotlp.New()
	cfg := settings(r)
	cfg.SampleRatio = 0.5
	c := open(t, cfg)
	const traces = 300
	for range traces {
		ctx, run := c.StartAgent(t.Context(), "a")
		_, tool := c.StartTool(ctx, "t")
		tool.Input("x")
		tool.End()
		run.End()
	}
	flush(t, c)
	spans := map[string]int{}
	for _, s := range r.Spans() {
		spans[string(s.TraceId)]++
	}
	if len(spans) < traces/4 || len(spans) > 3*traces/4 {
		t.Errorf("%d of %d traces were captured", len(spans), traces)
	}
	for id, n := range spans {
		if n != 2 {
			t.Errorf("of the trace %x %d spans were captured", id, n)
		}
	}
	if s := c.Stats(); int(s.Started) != 2*len(spans) {
		t.Errorf("%+v", s)
	}
	balanced(t, c.Stats())
}

// A nil capture records nothing.
func TestNil(t *testing.T) {
	t.Parallel()
	var c *tracing.TraceCapture
	call(t.Context(), c)
	if c.Flush(t.Context()) != nil || c.Close(t.Context()) != nil || c.Stats() != (tracing.Stats{}) {
		t.Errorf("%+v", c.Stats())
	}
	_, s := c.StartModel(t.Context(), "a", "b")
	s.Input(1)
	s.Output(1)
	s.Response("m", "i", "stop")
	s.Attr("k", 1)
	s.Error(errors.New("x"))
	if s.TraceID() != "" {
		t.Error("a span that is not has a trace")
	}
}
