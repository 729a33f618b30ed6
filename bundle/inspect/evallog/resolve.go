package evallog

import (
	"errors"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Bounds of what Resolve makes.
const (
	maxResolved = 256 << 20 // bytes of text that references are replaced by
	maxExpanded = 1 << 20   // messages that pools are expanded to
)

// Resolve returns a sample with its references filled in: texts that the log
// keeps in attachments, and the messages that model events share through a
// pool. The attachments stay, the pool is gone, as when Inspect reads a log.
// Unchanged parts are shared with the argument, which is not changed.
func Resolve(sample *value.Dict) (*value.Dict, error) {
	r := resolver{attachments: dict(sample, "attachments")}
	out := value.DictOf()
	for key, v := range sample.All() {
		if key != "attachments" {
			v = r.value(v)
		}
		if err := out.Set(key, v); err != nil {
			return nil, err
		}
	}
	r.pools(out)
	out.Delete("message_pool")
	out.Delete("call_pool")
	if r.err != nil {
		return nil, fmt.Errorf("resolve sample: %w", r.err)
	}
	return out, nil
}

// resolver fills in references and keeps the first error.
type resolver struct {
	attachments *value.Dict
	bytes       int
	messages    int
	err         error
}

func (r *resolver) value(v any) any {
	switch v := v.(type) {
	case string:
		return r.text(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = r.value(item)
		}
		return out
	case *value.Dict:
		out := value.DictOf()
		for key, item := range v.All() {
			r.set(out, key, r.value(item))
		}
		return out
	}
	return v
}

func (r *resolver) set(d *value.Dict, key, v any) {
	if err := d.Set(key, v); err != nil && r.err == nil {
		r.err = err
	}
}

// text replaces every reference in s. What it is replaced by is not searched.
func (r *resolver) text(s string) string {
	if !strings.Contains(s, "://") || r.err != nil {
		return s
	}
	var b strings.Builder
	rest := s
	for {
		i, n, hash := reference(rest)
		if i < 0 {
			break
		}
		found, ok := r.attachments.Get(hash)
		content, is := found.(string)
		if !ok || !is {
			b.WriteString(rest[:i+n])
			rest = rest[i+n:]
			continue
		}
		if r.bytes += len(content); r.bytes > maxResolved {
			r.err = ErrTooLarge
			return s
		}
		if i == 0 && n == len(s) {
			return content
		}
		b.WriteString(rest[:i])
		b.WriteString(content)
		rest = rest[i+n:]
	}
	b.WriteString(rest)
	return b.String()
}

// reference finds the first attachment://HASH, or tc://HASH of older logs.
func reference(s string) (at, length int, hash string) {
	const digits = 32
	for from := 0; ; {
		i := strings.Index(s[from:], "://")
		if i < 0 {
			return -1, 0, ""
		}
		i += from
		for _, scheme := range [...]string{"attachment", "tc"} {
			end := i + len("://") + digits
			if strings.HasSuffix(s[:i], scheme) && end <= len(s) && isHex(s[end-digits:end]) {
				return i - len(scheme), len(scheme) + len("://") + digits, s[end-digits : end]
			}
		}
		from = i + 1
	}
}

func isHex(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// pools puts pooled messages back into model events. The sample and its events
// are copies already.
func (r *resolver) pools(sample *value.Dict) {
	messages, calls := list(sample, "message_pool"), list(sample, "call_pool")
	for _, e := range list(sample, "events") {
		event, ok := e.(*value.Dict)
		if !ok || text(event, "event") != "model" {
			continue
		}
		if refs, ok := event.Get("input_refs"); ok && refs != nil {
			r.set(event, "input", r.expand(refs, messages))
			event.Delete("input_refs")
		}
		call := dict(event, "call")
		if refs, ok := call.Get("call_refs"); ok && refs != nil {
			key := text(call, "call_key")
			if key == "" {
				key = "messages"
			}
			r.set(dict(call, "request"), key, r.expand(refs, calls))
			call.Delete("call_refs")
			call.Delete("call_key")
		}
	}
}

// expand takes the ranges [start,end) of refs out of a pool.
func (r *resolver) expand(refs any, pool []any) []any {
	ranges, ok := refs.([]any)
	if !ok {
		r.fail("message references are a value of type %s", value.TypeName(refs))
	}
	var out []any
	for _, item := range ranges {
		pair, _ := item.([]any)
		if len(pair) != 2 {
			r.fail("a message reference is no pair")
			break
		}
		from, isFrom := pair[0].(int64)
		to, isTo := pair[1].(int64)
		if !isFrom || !isTo || from < 0 || to < from || to > int64(len(pool)) {
			r.fail("a message reference points outside the pool")
			break
		}
		if r.messages += int(to - from); r.messages > maxExpanded {
			r.err = errors.Join(r.err, ErrTooLarge)
			break
		}
		out = append(out, pool[from:to]...)
	}
	return out
}

func (r *resolver) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}
