package dialect

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/otlp"
)

// side names where each dialect keeps what went in, or what came out.
type side struct {
	// first and last hold a value each; between them come flattened messages.
	first, last []string
	// flat are prefixes of flattened messages, and wrap what each part of one
	// begins with.
	flat []flat
	// events are attributes of the event that carries a whole call, and legacy
	// the events that carry one message each.
	event  string
	legacy []string
}

type flat struct{ prefix, wrap string }

var inputs = side{
	first:  []string{"evalrouter.input", "langfuse.observation.input"},
	flat:   []flat{{"llm.input_messages.", "message."}, {"gen_ai.prompt.", ""}},
	last:   []string{"input.value", "gen_ai.input.messages", "gen_ai.tool.call.arguments", "ai.prompt.messages", "ai.prompt", "ai.toolCall.args", "traceloop.entity.input", "langfuse.trace.input"},
	event:  "gen_ai.input.messages",
	legacy: []string{"gen_ai.system.message", "gen_ai.user.message", "gen_ai.assistant.message", "gen_ai.tool.message"},
}

var outputs = side{
	first:  []string{"evalrouter.output", "langfuse.observation.output"},
	flat:   []flat{{"llm.output_messages.", "message."}, {"gen_ai.completion.", ""}},
	last:   []string{"output.value", "gen_ai.output.messages", "gen_ai.tool.call.result", "ai.response.text", "ai.response.object", "ai.response.toolCalls", "ai.toolCall.result", "traceloop.entity.output", "langfuse.trace.output"},
	event:  "gen_ai.output.messages",
	legacy: []string{"gen_ai.choice"},
}

// contentNames are the attributes that hold what went in or came out.
var contentNames = namesOf(inputs, outputs)

func namesOf(sides ...side) map[string]bool {
	out := map[string]bool{"input.mime_type": true, "output.mime_type": true, "gen_ai.system_instructions": true}
	for _, s := range sides {
		for _, n := range s.first {
			out[n] = true
		}
		for _, n := range s.last {
			out[n] = true
		}
	}
	return out
}

// isContent says that an attribute holds what went in or came out.
func isContent(name string) bool {
	if contentNames[name] {
		return true
	}
	for _, f := range inputs.flat {
		if strings.HasPrefix(name, f.prefix) {
			return true
		}
	}
	for _, f := range outputs.flat {
		if strings.HasPrefix(name, f.prefix) {
			return true
		}
	}
	return false
}

// content is one side of a span; ok is false without any.
func content(in otlp.Span, a attributes, kind string, s side) (v any, ok bool) {
	v, ok = a.value(s.first)
	for _, f := range s.flat {
		if !ok {
			v, ok = flattened(a, f)
		}
	}
	if !ok {
		v, ok = a.value(s.last)
	}
	if !ok {
		v, ok = fromEvents(in.Events, s)
	}
	if !ok {
		return nil, false
	}
	if kind == core.SpanModel || kind == core.SpanAgent {
		v = messages(v)
		if system, there := a.value([]string{"gen_ai.system_instructions"}); there && s.event == "gen_ai.input.messages" {
			if list, isList := v.([]any); isList {
				v = append([]any{message(map[string]any{"role": "system", "parts": system})}, list...)
			}
		}
	}
	return plain(v), true
}

// value is the first of these attributes that is there. JSON in a text is JSON.
func (a attributes) value(names []string) (any, bool) {
	for _, n := range names {
		v, ok := a[n]
		if !ok || v == nil || v == "" {
			continue
		}
		v = unwrap(v)
		if n == "traceloop.entity.input" {
			if v = called(v); v == nil {
				continue
			}
		}
		return v, true
	}
	return nil, false
}

// called takes what a function was called with out of what OpenLLMetry puts
// around it. nil is a call without arguments.
func called(v any) any {
	m, _ := v.(map[string]any)
	args, listed := m["args"].([]any)
	named, keyed := m["kwargs"].(map[string]any)
	switch {
	case !listed || !keyed || len(m) != 2:
		return v
	case len(args) == 0 && len(named) == 0:
		return nil
	case len(args) == 0:
		return named
	case len(args) == 1 && len(named) == 0:
		return args[0]
	}
	return v
}

// unwrap reads an object or list that stands in a text. Numbers stay as they
// are written.
func unwrap(v any) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	t := strings.TrimSpace(s)
	if t == "" || t[0] != '{' && t[0] != '[' && t[0] != '"' {
		return s
	}
	if v, ok := parse(t); ok {
		return v
	}
	d := json.NewDecoder(strings.NewReader(t))
	d.UseNumber()
	var out any
	if d.Decode(&out) != nil || d.More() {
		return s
	}
	return out
}

func fromEvents(events []otlp.Event, s side) (any, bool) {
	var list []any
	for _, e := range events {
		x := attributes(e.Attributes)
		if e.Name == "gen_ai.client.inference.operation.details" {
			if v, ok := x.value([]string{s.event}); ok {
				return v, true
			}
		}
		for _, name := range s.legacy {
			if e.Name != name {
				continue
			}
			m := map[string]any{"role": strings.TrimSuffix(strings.TrimPrefix(name, "gen_ai."), ".message")}
			if name == "gen_ai.choice" {
				m["role"] = "assistant"
			}
			for _, key := range []string{"role", "content", "message", "tool_calls"} {
				if v, ok := x[key]; ok {
					m[key] = unwrap(v)
				}
			}
			if inner, ok := m["message"].(map[string]any); ok {
				delete(m, "message")
				for k, v := range inner {
					m[k] = v
				}
			}
			list = append(list, m)
		}
	}
	return list, len(list) > 0
}

// maxFlat bounds the messages, parts and calls of a flattened list.
const maxFlat = 1_000

// flattened puts messages together again whose parts are attributes of their
// own: PREFIX<n>.<wrap>role, .content, .contents.<m>..., .tool_calls.<m>...
func flattened(a attributes, f flat) (any, bool) {
	if !a.begin(f.prefix) {
		return nil, false
	}
	var list []any
	for i := range maxFlat {
		at := f.prefix + strconv.Itoa(i) + "." + f.wrap
		m := map[string]any{}
		for _, key := range []string{"role", "content", "finish_reason"} {
			if v, ok := a[at+key]; ok {
				m[key] = v
			}
		}
		if parts := flatParts(a, at+"contents."); parts != nil && m["content"] == nil {
			m["content"] = parts
		}
		if calls := flatCalls(a, at+"tool_calls."); calls != nil {
			m["tool_calls"] = calls
		}
		if len(m) == 0 {
			break
		}
		list = append(list, m)
	}
	return list, len(list) > 0
}

// begin says that some attribute's name begins so.
func (a attributes) begin(prefix string) bool {
	for name := range a {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func flatParts(a attributes, prefix string) (out []any) {
	for i := range maxFlat {
		at := prefix + strconv.Itoa(i) + ".message_content."
		kind, ok := a[at+"type"]
		if !ok {
			return out
		}
		p := map[string]any{"type": kind}
		for _, key := range []string{"text", "image.image.url"} {
			if v, ok := a[at+key]; ok {
				p[key] = v
			}
		}
		out = append(out, p)
	}
	return out
}

func flatCalls(a attributes, prefix string) (out []any) {
	for i := range maxFlat {
		at := prefix + strconv.Itoa(i) + "."
		c := map[string]any{}
		for _, n := range [][2]string{{"tool_call.id", "id"}, {"tool_call.function.name", "name"}, {"tool_call.function.arguments", "arguments"}, {"id", "id"}, {"name", "name"}, {"arguments", "arguments"}} {
			if v, ok := a[at+n[0]]; ok {
				c[n[1]] = unwrap(v)
			}
		}
		if len(c) == 0 {
			return out
		}
		out = append(out, c)
	}
	return out
}
