package openai

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/body"
)

// Text reads the text of an ordinary chat answer in one pass over its bytes: one
// choice, whole, not refused, with its content as one string and no field that
// Parse could read another way. Every other body is left to Parse.
func (a *Adapter) Text(raw []byte) (text string, ok bool) {
	if !a.api.chat {
		return "", false
	}
	var content []byte
	s := body.Scan(raw)
	s.Object(func(key string) bool {
		switch key {
		case "id", "object", "created", "model", "usage", "system_fingerprint", "service_tier", "provider", "prompt_logprobs", "timings":
			return s.Skip()
		case "error":
			return s.Null()
		case "choices":
			return content == nil && s.Single(func() bool {
				content, ok = ordinary(s)
				return ok
			})
		}
		return false
	})
	if !s.End() || content == nil {
		return "", false
	}
	return unquote(content)
}

// ordinary reads a choice, and gives its content as it stands in quotes.
func ordinary(s *body.Scanner) (content []byte, ok bool) {
	whole := false
	ok = s.Object(func(key string) bool {
		switch key {
		case "index", "logprobs", "stop_reason", "native_finish_reason":
			return s.Skip()
		case "finish_reason":
			word := string(s.String())
			whole = word == `"stop"` || word == `"length"`
			return whole
		case "message":
			return s.Object(func(key string) bool {
				switch key {
				case "role", "annotations", "audio", "reasoning", "reasoning_content", "tool_calls", "function_call":
					return s.Skip()
				case "refusal":
					return s.Null()
				case "content":
					content = s.String()
					return content != nil
				}
				return false
			})
		}
		return false
	})
	return content, ok && whole && content != nil
}

// unquote reads a string of JSON whose shape was looked at.
func unquote(b []byte) (string, bool) {
	inner := b[1 : len(b)-1]
	if !utf8.Valid(inner) {
		return slowly(b)
	}
	out, last := make([]byte, 0, len(inner)), 0
	for i := 0; i < len(inner); i++ {
		if inner[i] != '\\' {
			continue
		}
		out = append(out, inner[last:i]...)
		i++
		switch inner[i] {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case '"', '\\', '/':
			out = append(out, inner[i])
		default:
			return slowly(b)
		}
		last = i + 1
	}
	if last == 0 {
		return string(inner), true
	}
	return string(append(out, inner[last:]...)), true
}

func slowly(b []byte) (text string, ok bool) {
	return text, json.Unmarshal(b, &text) == nil
}
