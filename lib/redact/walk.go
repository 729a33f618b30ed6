package redact

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// blobAt is the length from which base64 text is content of another kind.
const blobAt = 1024

// walk is one pass over one value.
type walk struct {
	r      *Redactor
	limits Limits
	counts Counts
}

// value redacts v. depth counts the containers around it, texts that hold JSON
// included; headers says that it stands below headers or cookies.
func (w *walk) value(v any, depth int, headers bool) any {
	switch v := v.(type) {
	case string:
		return w.text(v, depth)
	case json.Number:
		if len(v) > 64 {
			return w.cut("bytes", len(v))
		}
		return v
	case map[string]any:
		if isMark(v) {
			return v
		}
		if depth >= w.limits.Depth {
			w.counts.Truncated++
			return map[string]any{"$truncated": "depth"}
		}
		return w.object(v, depth, headers)
	case []any:
		if depth >= w.limits.Depth {
			w.counts.Truncated++
			return map[string]any{"$truncated": "depth"}
		}
		return w.array(v, depth, headers)
	}
	return v // true, false, null
}

func (w *walk) object(in map[string]any, depth int, headers bool) any {
	names := slices.Sorted(maps.Keys(in))
	out := make(map[string]any, min(len(names), w.limits.Keys))
	pairRule, pairValue := pair(in)
	kept := len(names)
	if kept > w.limits.Keys {
		kept = w.limits.Keys - 1
	}
	for _, name := range names[:kept] {
		v := in[name]
		rule, sensitive := w.r.match(name, headers)
		if pairRule != "" && name == pairValue {
			rule, sensitive = pairRule, true
		}
		key := w.name(name, out)
		if sensitive {
			out[key] = w.hide(v, rule)
			continue
		}
		out[key] = w.value(v, depth+1, headers || carriesHeaders(name))
	}
	if kept < len(names) {
		out["$truncated"] = w.cut("keys", len(names)).(map[string]any)["$truncated"]
	}
	return out
}

func (w *walk) array(in []any, depth int, headers bool) any {
	out := make([]any, 0, min(len(in), w.limits.Items))
	head, tail := len(in), 0
	if len(in) > w.limits.Items {
		tail = w.limits.Items / 4
		head = w.limits.Items - tail - 1
	}
	add := func(i int) {
		if i > 0 {
			// A name and its value, as in raw headers and argument lists.
			if s, ok := in[i-1].(string); ok && len(s) <= maxName {
				if rule, ok := w.r.match(s, headers); ok && listValue(s, in[i]) {
					out = append(out, w.hide(in[i], rule))
					return
				}
			}
		}
		out = append(out, w.value(in[i], depth+1, headers))
	}
	for i := range head {
		add(i)
	}
	if head < len(in) {
		out = append(out, w.cut("items", len(in)))
	}
	for i := len(in) - tail; i < len(in); i++ {
		add(i)
	}
	return out
}

// listValue says that an element is the value of the name before it: the name
// is a single word such as authorization or --api-key, not prose.
func listValue(name string, v any) bool {
	if strings.ContainsAny(name, " =:\n") {
		return false
	}
	s, ok := v.(string)
	if !ok {
		return true
	}
	return !strings.HasPrefix(s, "--")
}

// hide replaces the value of a sensitive field. What cannot be a secret stays.
func (w *walk) hide(v any, rule string) any {
	switch v := v.(type) {
	case nil, bool:
		return v
	case string:
		if v == "" {
			return v
		}
	case map[string]any:
		if len(v) == 1 && v["$redacted"] == rule {
			return v
		}
	}
	w.counts.Fields++
	return map[string]any{"$redacted": rule}
}

// match adds the configured names and the ones that are secret below headers.
func (r *Redactor) match(name string, headers bool) (string, bool) {
	if rule, ok := match(name); ok {
		return rule, true
	}
	if len(r.fields) == 0 && !headers {
		return "", false
	}
	joined := strings.Join(split(name), "_")
	if r.fields[joined] {
		return "configured", true
	}
	if headers && oneOf(joined, "session", "session_id", "sessionid", "sid", "connect_sid", "phpsessid", "jsessionid") {
		return "session", true
	}
	return "", false
}

func carriesHeaders(name string) bool {
	for _, word := range split(name) {
		if oneOf(word, "header", "headers", "cookie", "cookies") {
			return true
		}
	}
	return false
}

// pair recognises {"name":"authorization","value":"..."} and the like. It
// returns the member that holds the value.
func pair(in map[string]any) (rule, member string) {
	for _, n := range []string{"name", "key", "header", "field", "Name", "Key"} {
		s, ok := in[n].(string)
		if !ok || len(s) > maxName {
			continue
		}
		if rule, ok := match(s); ok {
			for _, v := range []string{"value", "val", "v", "Value"} {
				if _, ok := in[v]; ok {
					return rule, v
				}
			}
		}
	}
	return "", ""
}

// name is a member's name for the output: without secrets, bounded, unique.
func (w *walk) name(name string, taken map[string]any) string {
	s, n := scrub(name)
	w.counts.Values += n
	if len(s) > maxName {
		s = s[:cutAt(s, maxName)]
		w.counts.Truncated++
	}
	for i, base := 2, s; ; i++ {
		if _, dup := taken[s]; !dup {
			return s
		}
		s = fmt.Sprintf("%s#%d", base[:cutAt(base, maxName-8)], i)
	}
}

// text redacts one text: JSON in it as JSON, the rest by shapes, then bounds.
// Cutting can put new words together, so both are repeated until they agree.
func (w *walk) text(s string, depth int) any {
	if blob := asBlob(s); blob != nil {
		w.counts.Truncated++
		return blob
	}
	if len(s) >= 2 && looksJSON(s) {
		if v, ok := decode([]byte(s)); ok {
			if depth >= w.limits.Depth {
				w.counts.Truncated++
				return map[string]any{"$truncated": "depth"}
			}
			inner := walk{r: w.r, limits: w.limits}
			inner.limits.String = max(len(s), inner.limits.String) // the bound is for the whole text
			clean := inner.value(v, depth+1, false)
			if inner.counts != (Counts{}) {
				w.counts.Add(inner.counts)
				if s = string(encode(clean)); len(s) > w.limits.String {
					return w.cut("bytes", len(s))
				}
				return s
			}
			if len(s) <= w.limits.String {
				return s
			}
		}
	}
	if hidden(s) {
		w.counts.Values++
		return "[redacted:encoded]"
	}
	for range 4 {
		before := s
		var n int
		s, n = scrub(s)
		w.counts.Values += n
		if len(s) > w.limits.String {
			s = shorten(s, w.limits.String)
			w.counts.Truncated++
		}
		if s == before {
			return s
		}
	}
	w.counts.Values++
	return "[redacted:unstable]"
}

func looksJSON(s string) bool {
	t := strings.TrimLeft(s, " \t\r\n")
	return t != "" && (t[0] == '{' || t[0] == '[' || t[0] == '"')
}

// hasSecretJSON says that a JSON text has a field to hide.
func hasSecretJSON(s string) bool {
	v, ok := decode([]byte(s))
	if !ok {
		return false
	}
	w := walk{r: New(Config{})}
	w.limits = w.r.limits
	w.value(v, 0, false)
	return w.counts.Fields+w.counts.Values > 0
}

// shorten keeps three quarters from the head and the rest from the tail.
func shorten(s string, limit int) string {
	note := fmt.Sprintf("[truncated: %d bytes]", len(s))
	room := max(0, limit-len(note))
	head := cutAt(s, room-room/4)
	tail := len(s) - room/4
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + note + s[tail:]
}

// cutAt is the last boundary of a character at or before n.
func cutAt(s string, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// asBlob describes a data URI or a long run of base64 instead of keeping it.
func asBlob(s string) map[string]any {
	mime, data := "application/octet-stream", s
	if rest, ok := strings.CutPrefix(s, "data:"); ok && len(s) > 256 {
		head, body, found := strings.Cut(rest, ",")
		if !found || !strings.HasSuffix(head, ";base64") || len(head) > 100 {
			return nil
		}
		mime, data = strings.TrimSuffix(head, ";base64"), body
		if clean, n := scrub(mime); n > 0 || clean != mime {
			mime = "application/octet-stream"
		}
	} else if len(s) < blobAt || strings.ContainsAny(s[:64], " \t\n{[\"<") {
		return nil
	}
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil
	}
	if utf8.Valid(b) && len(data) == len(s) { // letters only, as in "aaaa...", are text
		return nil
	}
	sum := sha256.Sum256(b)
	return map[string]any{"$blob": map[string]any{"mime": mime, "bytes": json.Number(fmt.Sprint(len(b))), "sha256": hex.EncodeToString(sum[:])}}
}

func (w *walk) cut(reason string, original int) any {
	w.counts.Truncated++
	return truncated(reason, original)
}

func truncated(reason string, original int) map[string]any {
	return map[string]any{"$truncated": map[string]any{"reason": reason, "original": json.Number(fmt.Sprint(original))}}
}

// isMark recognises the marks of this package, to leave them as they are at
// any depth. Their whole shape is checked: what is let through here holds
// nothing but words of this package, a number and a digest.
func isMark(v map[string]any) bool {
	if len(v) != 1 {
		return false
	}
	if s, ok := v["$truncated"].(string); ok {
		return s == "depth"
	}
	m, ok := v["$truncated"].(map[string]any)
	if !ok || len(m) != 2 {
		return false
	}
	n, isNumber := m["original"].(json.Number)
	reason, _ := m["reason"].(string)
	return isNumber && len(n) <= 12 && oneOf(reason, "bytes", "keys", "items", "depth")
}
