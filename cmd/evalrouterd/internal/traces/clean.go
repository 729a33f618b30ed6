package traces

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/dialect"
	"github.com/evalrouter/evalrouter/lib/redact"
)

// Bounds of what is kept beside content.
const (
	maxAttributes = 16 << 10
	maxText       = 2 << 10
	maxWord       = 200
)

// cleaner redacts and bounds spans by the settings of one connection. It is
// safe for concurrent use.
type cleaner struct {
	capture          core.Capture
	content, details *redact.Redactor
}

func newCleaner(c core.Capture) *cleaner {
	return &cleaner{
		capture: c,
		content: redact.New(redact.Config{Limits: redact.Limits{Value: c.MaxValue, String: max(64, c.MaxValue/2)}, Fields: c.Fields}),
		details: redact.New(redact.Config{Limits: redact.Limits{Value: maxAttributes, String: maxText}, Fields: c.Fields}),
	}
}

// span redacts a span whose content is JSON, and says whether anything was
// taken out.
func (c *cleaner) span(s core.Span) (core.Span, bool) {
	n := c.names(&s)
	side := func(raw json.RawMessage, kept bool) (json.RawMessage, bool) {
		if raw == nil || !kept {
			return nil, false
		}
		out, m := c.content.JSON(raw)
		n.Add(m)
		return out, m.Truncated > 0
	}
	s.Input, s.InputCut = side(s.Input, c.capture.Inputs)
	s.Output, s.OutputCut = side(s.Output, c.capture.Outputs)
	if s.Attributes != nil {
		var m redact.Counts
		s.Attributes, m = c.details.JSON(s.Attributes)
		n.Add(m)
	}
	return s, n.Fields+n.Values+n.Errors > 0
}

// fill redacts a span and puts its content into it, and says whether anything
// was taken out.
func (c *cleaner) fill(s *core.Span, content dialect.Content) bool {
	n := c.names(s)
	side := func(v any, kept bool) (json.RawMessage, bool) {
		if !kept {
			return nil, false
		}
		out, m := c.content.Value(v)
		n.Add(m)
		return out, m.Truncated > 0
	}
	s.Input, s.InputCut = side(content.Input, content.HasInput && c.capture.Inputs)
	s.Output, s.OutputCut = side(content.Output, content.HasOutput && c.capture.Outputs)
	if content.Attributes != nil {
		var m redact.Counts
		s.Attributes, m = c.details.Value(content.Attributes)
		n.Add(m)
	}
	return n.Fields+n.Values+n.Errors > 0
}

// names redacts and bounds the texts of a span.
func (c *cleaner) names(s *core.Span) (n redact.Counts) {
	text := func(t string) string { return c.text(t, &n) }
	word := func(t string) string { return cut(text(t), maxWord) }
	s.Name, s.ErrorText, s.ErrorType = text(s.Name), text(s.ErrorText), word(s.ErrorType)
	s.Provider, s.Model, s.Agent, s.Conversation = word(s.Provider), word(s.Model), word(s.Agent), word(s.Conversation)
	return n
}

// text redacts a text that stands beside content. What no database keeps is
// replaced first: a name is never a reason to lose a span.
func (c *cleaner) text(t string, n *redact.Counts) string {
	if t == "" {
		return ""
	}
	out, m := c.details.Text(core.Storable(t))
	n.Add(m)
	return out
}

// trace redacts and bounds the texts of a whole trace.
func (c *cleaner) trace(t *core.ImportedTrace) (n redact.Counts) {
	t.Name, t.Conversation = c.text(t.Name, &n), cut(c.text(t.Conversation, &n), maxWord)
	for _, list := range [][]string{t.Reasons, t.Labels} {
		for i := range list {
			list[i] = cut(c.text(list[i], &n), maxWord)
		}
	}
	return n
}

// cut bounds a text that names something.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// cleaners are made once for each setting.
type cleaners struct {
	mu sync.Mutex
	by map[string]*cleaner
}

// maxCleaners bounds how many settings are remembered.
const maxCleaners = 1_000

func (c *cleaners) of(capture core.Capture) *cleaner {
	key := fmt.Sprintf("%v %v %d %q", capture.Inputs, capture.Outputs, capture.MaxValue, capture.Fields)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.by) >= maxCleaners || c.by == nil {
		c.by = map[string]*cleaner{}
	}
	one, ok := c.by[key]
	if !ok {
		one = newCleaner(capture)
		c.by[key] = one
	}
	return one
}
