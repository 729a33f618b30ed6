package dialect_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/dialect"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/otlp"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces/sum"
)

var update = flag.Bool("update", false, "write the golden files anew")

func spansOf(t *testing.T, file string) []core.Span {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b, err := otlp.JSON(raw)
	if err != nil || b.Rejected != 0 {
		t.Fatalf("%s: %d rejected, %v", file, b.Rejected, err)
	}
	out := make([]core.Span, len(b.Spans))
	for i, s := range b.Spans {
		out[i] = encoded(t, s)
	}
	return out
}

// encoded is a span with its content as JSON.
func encoded(t *testing.T, in otlp.Span) core.Span {
	t.Helper()
	s, c := dialect.Span(in)
	for _, side := range []struct {
		v     any
		there bool
		to    *json.RawMessage
	}{{c.Input, c.HasInput, &s.Input}, {c.Output, c.HasOutput, &s.Output}, {c.Attributes, c.Attributes != nil, &s.Attributes}} {
		if side.there {
			raw, err := json.Marshal(side.v)
			if err != nil {
				t.Fatal(err)
			}
			*side.to = raw
		}
	}
	return s
}

func fixtures(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.otlp.json")
	if err != nil || len(files) < 7 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	return files
}

// What each dialect becomes, to the last attribute.
func TestSpan_Golden(t *testing.T) {
	t.Parallel()
	for _, file := range fixtures(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".otlp.json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := json.MarshalIndent(spansOf(t, file), "", " ")
			if err != nil {
				t.Fatal(err)
			}
			golden := "testdata/" + name + ".golden.json"
			if *update {
				if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
				t.Errorf("differs (-update writes it anew):\n%s", diff)
			}
		})
	}
}

// What OpenLLMetry puts around the arguments of a function is no part of them.
func TestSpan_ArgumentsOfOpenLLMetry(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, input, want string }{
		{"by name", `{"args":[],"kwargs":{"a":6}}`, `{"a":6}`},
		{"one", `{"args":["q"],"kwargs":{}}`, `"q"`},
		{"none", `{"args":[],"kwargs":{}}`, ``},
		{"several", `{"args":["q",2],"kwargs":{}}`, `{"args":["q",2],"kwargs":{}}`},
		{"both", `{"args":["q"],"kwargs":{"a":6}}`, `{"args":["q"],"kwargs":{"a":6}}`},
		{"a tool with such arguments of its own", `{"args":[],"kwargs":{},"more":1}`, `{"args":[],"kwargs":{},"more":1}`},
		{"a text", `plain`, `"plain"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := encoded(t, otlp.Span{Attributes: otlp.Attributes{"traceloop.span.kind": "tool", "traceloop.entity.input": tt.input}})
			if string(got.Input) != tt.want {
				t.Errorf("%s, want %s", got.Input, tt.want)
			}
		})
	}
}

// step is what must not depend on who recorded the scenario.
type step struct {
	Kind, Parent, Model, Tool string
	In, Out                   int64
	Said                      []string
}

// The same agent run, recorded by seven kinds of instrumentation, is the same
// tree with the same model, tokens and texts, and its tokens count once.
func TestSpan_OneScenarioInEveryDialect(t *testing.T) {
	t.Parallel()
	want := []step{
		{Kind: "agent"},
		{Kind: "model", Parent: "agent", Model: "gpt-x", In: 20, Out: 8, Said: []string{"system: Be brief.", "user: What is 6 times 7?", "call multiply {\"a\":6,\"b\":7}"}},
		{Kind: "tool", Parent: "agent", Tool: "multiply", Said: []string{`{"a":6,"b":7}`, `"42"`}},
		{Kind: "model", Parent: "agent", Model: "gpt-x", In: 41, Out: 11, Said: []string{
			"system: Be brief.", "user: What is 6 times 7?", "call multiply {\"a\":6,\"b\":7}", "tool: 42", "assistant: 6 times 7 is 42.",
		}},
	}
	for _, file := range fixtures(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			all := spansOf(t, file)
			kinds := map[string]string{}
			for _, s := range all {
				kinds[s.ID] = s.Kind
			}
			var got []step
			for _, s := range all {
				one := step{Kind: s.Kind, Parent: kinds[s.ParentID], Model: s.Model}
				switch s.Kind {
				case core.SpanModel:
					one.In, one.Out = *s.Usage.Input, *s.Usage.Output
					one.Said = append(said(t, s.Input), said(t, s.Output)...)
				case core.SpanTool:
					one.Tool, one.Said = s.Name, []string{string(s.Input), string(s.Output)}
				default:
					one.Model = ""
				}
				got = append(got, one)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			v := sum.Of(all)
			if *v.Usage.Input != 61 || *v.Usage.Output != 19 || v.Agent != "support" || v.Conversation != "conv-1" || v.Models != 2 || v.Tools != 1 || !slices.Equal(v.ModelNames, []string{"gpt-x"}) || !slices.Equal(v.ToolNames, []string{"multiply"}) {
				t.Errorf("together: %+v", v)
			}
		})
	}
}

// said reads messages as a person would.
func said(t *testing.T, raw json.RawMessage) (out []string) {
	t.Helper()
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []string{"assistant: " + text}
	}
	var list []struct {
		Role, Content string
		Calls         []struct {
			Name      string
			Arguments json.RawMessage
		} `json:"tool_calls"`
		ToolCallID string `json:"tool_call_id"`
		// a bare list of calls, as one dialect has it
		Name, ToolName string
		Args           json.RawMessage
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	for _, m := range list {
		if m.ToolName != "" {
			out = append(out, "call "+m.ToolName+" "+string(m.Args))
		}
		if m.Content != "" {
			out = append(out, m.Role+": "+m.Content)
		}
		for _, c := range m.Calls {
			out = append(out, "call "+c.Name+" "+string(c.Arguments))
		}
	}
	return out
}

// The first dialect that states a fact is believed.
func TestSpan_Precedence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   otlp.Attributes
		want core.Span
	}{
		{"ours over all", otlp.Attributes{"evalrouter.kind": "tool", "langfuse.observation.type": "generation", "openinference.span.kind": "LLM", "gen_ai.operation.name": "chat"}, core.Span{Kind: "tool"}},
		{"Langfuse's span says nothing", otlp.Attributes{"langfuse.observation.type": "span", "openinference.span.kind": "AGENT"}, core.Span{Kind: "agent", Agent: "n"}},
		{"OpenInference over GenAI", otlp.Attributes{"openinference.span.kind": "RETRIEVER", "gen_ai.operation.name": "chat"}, core.Span{Kind: "retrieval"}},
		{"GenAI over OpenLLMetry", otlp.Attributes{"gen_ai.operation.name": "embeddings", "traceloop.span.kind": "tool"}, core.Span{Kind: "embedding"}},
		{"Vercel's outer call is no model call", otlp.Attributes{"ai.operationId": "ai.streamText", "ai.model.id": "m"}, core.Span{Kind: "workflow", Model: "m"}},
		{"Vercel's inner call", otlp.Attributes{"ai.operationId": "ai.streamText.doStream"}, core.Span{Kind: "model"}},
		{"a model makes a model call", otlp.Attributes{"gen_ai.request.model": "m"}, core.Span{Kind: "model", Model: "m"}},
		{"nothing known", otlp.Attributes{"http.method": "GET"}, core.Span{Kind: "span"}},
		{"a word that nobody knows", otlp.Attributes{"openinference.span.kind": "NEW", "evalrouter.kind": 7}, core.Span{Kind: "span"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := encoded(t, otlp.Span{Name: "n", Attributes: c.in, Start: 1, End: 2})
			if got.Kind != c.want.Kind || got.Model != c.want.Model || got.Agent != c.want.Agent {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestSpan_StatusAndFigures(t *testing.T) {
	t.Parallel()
	exception := otlp.Event{Name: "exception", Attributes: otlp.Attributes{"exception.type": "Timeout", "exception.message": "too late"}}
	for _, c := range []struct {
		name string
		in   otlp.Span
		want string
	}{
		{"it goes on", otlp.Span{Start: 1}, "open"},
		{"it was cut off by its process", otlp.Span{Start: 1, End: 2, Attributes: otlp.Attributes{"evalrouter.incomplete": true}}, "open"},
		{"it ended", otlp.Span{Start: 1, End: 2, Code: otlp.StatusOK, Message: "not an error"}, "ok"},
		{"an error with a type", otlp.Span{Start: 1, End: 2, Code: otlp.StatusError, Message: "m", Attributes: otlp.Attributes{"error.type": "E"}}, "error E m"},
		{"an error with an exception", otlp.Span{Start: 1, End: 2, Code: otlp.StatusError, Events: []otlp.Event{exception}}, "error Timeout too late"},
		{"Langfuse's level", otlp.Span{Start: 1, End: 2, Attributes: otlp.Attributes{"langfuse.observation.level": "ERROR", "langfuse.observation.status_message": "bad"}}, "error bad"},
		{"an exception that was handled", otlp.Span{Start: 1, End: 2, Events: []otlp.Event{exception}}, "ok"},
		{"a cost as a number", otlp.Span{Start: 1, End: 2, Attributes: otlp.Attributes{"llm.cost.total": 0.0000125}}, "ok 13"},
		{"a cost as a text", otlp.Span{Start: 1, End: 2, Attributes: otlp.Attributes{"gen_ai.usage.cost": "1.5"}}, "ok 1500000"},
		{"no cost", otlp.Span{Start: 1, End: 2, Attributes: otlp.Attributes{"llm.cost.total": -1.0}}, "ok"},
		{"a cost that is huge", otlp.Span{Start: 1, End: 2, Attributes: otlp.Attributes{"gen_ai.usage.cost": "1e999999"}}, "ok"},
		{"tokens below zero", otlp.Span{Start: 1, End: 2, Attributes: otlp.Attributes{"gen_ai.usage.input_tokens": int64(-1), "gen_ai.usage.prompt_tokens": 7.0}}, "ok in 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := encoded(t, c.in)
			got := strings.Join(slices.DeleteFunc([]string{s.Status, s.ErrorType, s.ErrorText}, func(t string) bool { return t == "" }), " ")
			if s.Cost != nil {
				b, err := json.Marshal(int64(*s.Cost))
				if err != nil {
					t.Fatal(err)
				}
				got += " " + string(b)
			}
			if s.Usage.Input != nil {
				got += " in " + string(rune('0'+*s.Usage.Input))
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// Content is what its dialect means, and never stays among the attributes.
func TestSpan_ContentLeavesTheAttributes(t *testing.T) {
	t.Parallel()
	for _, file := range fixtures(t) {
		for _, s := range spansOf(t, file) {
			if strings.Contains(string(s.Attributes), "6 times 7") {
				t.Errorf("%s: %s", file, s.Attributes)
			}
			for _, raw := range []json.RawMessage{s.Input, s.Output, s.Attributes} {
				if raw != nil && !json.Valid(raw) {
					t.Errorf("%s: %s", file, raw)
				}
			}
		}
	}
}
