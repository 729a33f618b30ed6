package sob

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Reading says how an answer is made from what a model said.
type Reading uint8

const (
	// Rescue parses the whole text and, if that fails, what stands from the
	// first { to the last }. It is the rule for most providers, and ours.
	Rescue Reading = iota
	// Whole parses the whole text only, as SOB does for OpenAI.
	Whole
)

// Found is an answer and where it stands in the text, in bytes. Parsed is false
// when the text is no JSON under the rule; Value is then the text itself.
type Found struct {
	Value    any
	From, To int
	Parsed   bool
}

// Extract reads an answer from what a model said. It never fails: a text that
// is no JSON is an answer too, a wrong one.
func Extract(text string, rule Reading) Found {
	if v, err := value.Loads(text); err == nil {
		inner := strings.Trim(text, " \t\n\r")
		from := strings.Index(text, inner)
		return Found{Value: v, From: from, To: from + len(inner), Parsed: true}
	}
	if rule == Rescue {
		from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')+1
		if from >= 0 && from < to {
			if v, err := value.Loads(text[from:to]); err == nil {
				return Found{Value: v, From: from, To: to, Parsed: true}
			}
		}
	}
	return Found{Value: text}
}

// structured reports whether v can be an answer at all: an object or an array.
func structured(v any) bool {
	switch v.(type) {
	case *value.Dict, []any:
		return true
	}
	return false
}

// span is a region of bytes in code points.
func span(text string, from, to int) *[2]int {
	start := str.Len(text[:from])
	return &[2]int{start, start + str.Len(text[from:to])}
}
