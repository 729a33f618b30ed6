package outgoing

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/lib/redact"
)

// Content is what becomes of inputs and outputs.
type Content int

// Contents. Redacted is what a value of this type is unless it is set.
const (
	Redacted Content = iota // redacted and bounded
	None                    // not captured
	Raw                     // bounded only
)

// Policy is what may leave the process.
type Policy struct {
	Content Content
	Redact  redact.Config
	// Hook sees content before the redactor of this package does, which then
	// redacts what it returns. An error or a panic costs the whole value. Nil
	// changes nothing.
	Hook func(attribute string, content []byte) ([]byte, error)
}

// Bounds of what is remembered of names and words. What is not remembered is
// looked at anew.
const (
	maxRemembered = 1024
	maxWord       = 64
)

// cleaner applies a policy. It is safe for concurrent use.
type cleaner struct {
	policy Policy
	r      *redact.Redactor
	limit  int // of one content value, as the redactor has it
	keys   memory[string, verdict]
	words  memory[string, struct{}]
}

// verdict is what there is to know of an attribute's name.
type verdict struct {
	key     string // as it may leave
	rule    string // why the value is hidden, empty when it is not
	content bool
	own     bool // an input or output of this library
}

func newCleaner(p Policy) *cleaner {
	limit := p.Redact.Limits.Value
	if limit == 0 {
		limit = 64 << 10
	}
	return &cleaner{policy: p, r: redact.New(p.Redact), limit: max(limit, 256)}
}

// key judges an attribute by its name.
func (c *cleaner) key(name string) verdict {
	if v, ok := c.keys.get(name); ok {
		return v
	}
	v := verdict{content: isContent(name), own: name == "evalrouter.input" || name == "evalrouter.output"}
	v.key, _ = c.r.Text(name)
	if len(v.key) > 256 {
		v.key = "[redacted:long_name]"
	}
	if rule, hidden := c.r.Field(name); hidden {
		v.rule = rule
	}
	if len(name) <= 4*maxWord {
		c.keys.put(strings.Clone(name), v)
	}
	return v
}

// word cleans a text out of a small vocabulary, such as the name of a model.
func (c *cleaner) word(s string, n *redact.Counts) string {
	if len(s) > maxWord {
		return c.text(s, n)
	}
	if _, ok := c.words.get(s); ok {
		return s
	}
	clean := c.text(s, n)
	if clean == s {
		c.words.put(strings.Clone(s), struct{}{})
	}
	return clean
}

// text cleans a text, as the value that it spells where it spells one.
func (c *cleaner) text(s string, n *redact.Counts) string {
	if holdsJSON(s) && json.Valid([]byte(s)) {
		clean, counts := c.r.JSON([]byte(s))
		n.Add(counts)
		return string(clean)
	}
	clean, counts := c.r.Text(s)
	n.Add(counts)
	return clean
}

// content cleans the JSON of an input or an output.
func (c *cleaner) content(attribute, raw string, n *redact.Counts) []byte {
	b, ok := c.hooked(attribute, raw)
	if !ok {
		n.Errors++
		return []byte(mark("redacted", "error"))
	}
	if c.policy.Content != Raw {
		clean, counts := c.r.JSON(b)
		n.Add(counts)
		return clean
	}
	if len(b) <= c.limit && utf8.Valid(b) && json.Valid(b) {
		return b
	}
	quoted, err := json.Marshal(strings.ToValidUTF8(string(b), "\uFFFD"))
	switch {
	case err != nil:
		n.Errors++
		return []byte(mark("redacted", "error"))
	case len(quoted) > c.limit:
		n.Truncated++
		return tooLong(len(b))
	}
	return quoted
}

// plain cleans content that is a text and stays one.
func (c *cleaner) plain(attribute, raw string, n *redact.Counts) []byte {
	b, ok := c.hooked(attribute, raw)
	switch {
	case !ok:
		n.Errors++
		return []byte("[redacted:error]")
	case c.policy.Content != Raw:
		return []byte(c.text(string(b), n))
	case len(b) > c.limit:
		n.Truncated++
		return tooLong(len(b))
	}
	return []byte(strings.ToValidUTF8(string(b), "\uFFFD"))
}

func mark(kind, rule string) string { return `{"$` + kind + `":"` + rule + `"}` }

func tooLong(n int) []byte {
	return fmt.Appendf(nil, `{"$truncated":{"original":%d,"reason":"bytes"}}`, n)
}

func (c *cleaner) hooked(attribute, raw string) (b []byte, ok bool) {
	if c.policy.Hook == nil {
		return []byte(raw), true
	}
	defer func() {
		if recover() != nil {
			b, ok = nil, false
		}
	}()
	b, err := c.policy.Hook(attribute, []byte(raw))
	return b, err == nil
}

func holdsJSON(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n")
	return s != "" && (s[0] == '{' || s[0] == '[' || s[0] == '"')
}

// isContent recognises the attributes in which the usual libraries put inputs
// and outputs, so that capturing none of them holds for spans of others too.
func isContent(name string) bool {
	switch name {
	case "evalrouter.input", "evalrouter.output", "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions",
		"gen_ai.tool.definitions", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.event.content", "input.value", "output.value",
		"traceloop.entity.input", "traceloop.entity.output", "langfuse.observation.input", "langfuse.observation.output",
		"langfuse.trace.input", "langfuse.trace.output", "ai.response.text", "ai.response.object", "ai.response.toolCalls",
		"ai.toolCall.args", "ai.toolCall.result", "ai.values", "exception.stacktrace":
		return true
	}
	for _, prefix := range []string{"gen_ai.prompt.", "gen_ai.completion.", "llm.input_messages.", "llm.output_messages.", "llm.prompts",
		"llm.completions", "llm.tools", "ai.prompt", "retrieval.documents.", "reranker.", "embedding.embeddings."} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// memory remembers a bounded number of answers. Reading it takes no lock and
// no memory, because it is read for every attribute of every span.
type memory[K comparable, V any] struct {
	known atomic.Pointer[map[K]V]
	mu    sync.Mutex
}

func (m *memory[K, V]) get(key K) (v V, ok bool) {
	known := m.known.Load()
	if known == nil {
		return v, false
	}
	v, ok = (*known)[key]
	return v, ok
}

func (m *memory[K, V]) put(key K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := map[K]V{}
	if known := m.known.Load(); known != nil {
		if len(*known) >= maxRemembered {
			return
		}
		next = maps.Clone(*known)
	}
	next[key] = v
	m.known.Store(&next)
}
