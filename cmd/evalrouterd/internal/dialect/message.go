package dialect

import (
	"encoding/json"
	"strings"
)

// messages brings a list of messages into one form. What is none stays as it
// is; a bare answer of a model stays a text.
func messages(v any) any {
	if m, ok := v.(map[string]any); ok {
		if inner, ok := m["messages"].([]any); ok {
			v = inner
		} else if _, ok := m["role"].(string); ok {
			v = []any{m}
		}
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return v
	}
	out := make([]any, len(list))
	for i, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			return v
		}
		if _, ok := m["role"].(string); !ok {
			return v
		}
		out[i] = message(m)
	}
	return out
}

// message is {role, content, tool_calls, finish_reason}. The parts of the
// OpenTelemetry form and the content lists of others become a text where all of
// them are text.
func message(m map[string]any) map[string]any {
	out := map[string]any{"role": m["role"]}
	for _, key := range []string{"name", "tool_call_id", "finish_reason"} {
		if v, ok := m[key]; ok && v != nil && v != "" {
			out[key] = v
		}
	}
	var calls, others []any
	texts := []string{}
	parts, isList := m["parts"].([]any)
	if !isList {
		parts, isList = m["content"].([]any)
	}
	for _, p := range parts {
		part, _ := p.(map[string]any)
		switch part["type"] {
		case "text":
			texts = append(texts, textOf(part))
		case "tool_call", "tool-call":
			calls = append(calls, call(part))
		case "tool_call_response", "tool-result":
			others = append(others, p)
			texts = append(texts, answerOf(part))
		default:
			others = append(others, p)
		}
	}
	switch {
	case !isList:
		if c, ok := m["content"]; ok && c != nil {
			out["content"] = c
		}
	case len(others) == 0, len(others) == len(parts) && len(texts) == len(parts):
		if len(texts) > 0 {
			out["content"] = strings.Join(texts, "\n")
		}
	default:
		out["content"] = parts
	}
	if given, ok := m["tool_calls"].([]any); ok {
		for _, c := range given {
			if one, ok := c.(map[string]any); ok {
				calls = append(calls, call(one))
			}
		}
	}
	if len(calls) > 0 {
		out["tool_calls"] = calls
	}
	return out
}

func textOf(part map[string]any) string {
	for _, key := range []string{"content", "text"} {
		if s, ok := part[key].(string); ok {
			return s
		}
	}
	return ""
}

func answerOf(part map[string]any) string {
	for _, key := range []string{"response", "result", "output"} {
		switch v := part[key].(type) {
		case nil:
		case string:
			return v
		default:
			b, err := json.Marshal(plain(v))
			if err != nil { // it never is: plain made it
				return ""
			}
			return string(b)
		}
	}
	return ""
}

// call is {id, name, arguments} of a call to a tool, in whichever form.
func call(in map[string]any) map[string]any {
	out := map[string]any{}
	if f, ok := in["function"].(map[string]any); ok {
		for _, key := range []string{"name", "arguments"} {
			if v, ok := f[key]; ok {
				out[key] = unwrap(v)
			}
		}
	}
	for _, key := range [][2]string{{"id", "id"}, {"toolCallId", "id"}, {"name", "name"}, {"toolName", "name"}, {"arguments", "arguments"}, {"args", "arguments"}, {"input", "arguments"}} {
		if v, ok := in[key[0]]; ok && v != nil {
			out[key[1]] = unwrap(v)
		}
	}
	return out
}
