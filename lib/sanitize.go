package evalrouter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Limits of what an error answer may show.
const (
	maxText    = 2000
	maxName    = 100
	maxEntries = 100
	maxDepth   = 4
	redacted   = "[redacted]"
	tooDeep    = "[too deep]"
)

// readProblem reads an error envelope. Whatever is missing or malformed
// becomes http_error with a sentence of our own.
func readProblem(body []byte, status int, secrets []string) Problem {
	p := Problem{Code: api.HTTPError, Message: fmt.Sprintf("the service answered with status %d", status)}
	var in struct {
		Error struct {
			Code    any `json:"code"`
			Message any `json:"message"`
			Details any `json:"details"`
		} `json:"error"`
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if dec.Decode(&in) != nil {
		return p
	}
	if code, ok := in.Error.Code.(string); ok && validCode(code) && !containsAny(code, secrets) {
		p.Code = api.Code(code)
	}
	if m, ok := in.Error.Message.(string); ok && strings.TrimSpace(m) != "" {
		p.Message = cleanText(m, maxText, secrets)
	}
	switch d := cleanValue(in.Error.Details, 0, secrets).(type) {
	case nil:
	case map[string]any:
		p.Details = d
	default:
		p.Details = map[string]any{"value": d}
	}
	return p
}

// validCode is [a-z][a-z0-9_]{0,99}.
func validCode(s string) bool {
	if s == "" || len(s) > 100 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_') {
			return false
		}
	}
	return true
}

// requestID is [A-Za-z0-9_-]{1,100}, or nothing.
func requestID(s string, secrets []string) string {
	if s == "" || len(s) > 100 || containsAny(s, secrets) {
		return ""
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return ""
		}
	}
	return s
}

func cleanText(s string, limit int, secrets []string) string {
	for _, secret := range secrets {
		s = strings.ReplaceAll(s, secret, redacted)
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
	n := 0
	for i := range s {
		if n == limit {
			return s[:i]
		}
		n++
	}
	return s
}

func cleanValue(v any, depth int, secrets []string) any {
	switch v := v.(type) {
	case string:
		return cleanText(v, maxText, secrets)
	case json.Number:
		return json.Number(cleanText(string(v), maxText, secrets))
	case map[string]any:
		if depth >= maxDepth {
			return tooDeep
		}
		out := make(map[string]any, min(len(v), maxEntries))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if len(out) == maxEntries {
				break
			}
			name := cleanText(k, maxName, secrets)
			if secretName(k, "authorization", "cookie") {
				out[name] = redacted
				continue
			}
			out[name] = cleanValue(v[k], depth+1, secrets)
		}
		return out
	case []any:
		if depth >= maxDepth {
			return tooDeep
		}
		out := make([]any, 0, min(len(v), maxEntries))
		for _, e := range v[:min(len(v), maxEntries)] {
			out = append(out, cleanValue(e, depth+1, secrets))
		}
		return out
	}
	return v
}

// secretName says that a field of this name holds a secret. more are further
// words than the four that mark a request field.
func secretName(name string, more ...string) bool {
	name = strings.ToLower(name)
	for _, w := range append([]string{"key", "secret", "token", "password"}, more...) {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

// knownSecrets are the key and every text below a secret-looking field of the
// request, longest first so that a short one cannot tear a long one apart.
func knownSecrets(key string, payload []byte) []string {
	var out []string
	if key != "" {
		out = append(out, key)
	}
	var body any
	if payload != nil && json.Unmarshal(payload, &body) == nil {
		out = collectSecrets(out, body, false)
	}
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(out)
}

func collectSecrets(out []string, v any, secret bool) []string {
	switch v := v.(type) {
	case string:
		if secret && v != "" {
			out = append(out, v)
		}
	case map[string]any:
		for k, e := range v {
			out = collectSecrets(out, e, secret || secretName(k))
		}
	case []any:
		for _, e := range v {
			out = collectSecrets(out, e, secret)
		}
	}
	return out
}

func containsAny(s string, secrets []string) bool {
	return slices.ContainsFunc(secrets, func(x string) bool { return strings.Contains(s, x) })
}
