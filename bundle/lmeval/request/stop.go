package request

import (
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// MaxChatStops is how many stop sequences a chat request carries; the rest are
// applied to the answer.
const MaxChatStops = 4

// Stops reads the until argument: null, a text or a list of texts. eos, unless
// empty, is added if it is not there. Anything else raises ValueError.
func Stops(until any, eos string) ([]string, error) {
	out := []string{}
	switch v := until.(type) {
	case nil:
	case string:
		out = append(out, v)
	case []any:
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil, pycompat.Raise("ValueError", "a stop sequence is of type %s", value.TypeName(item))
			}
			out = append(out, s)
		}
	default:
		return nil, pycompat.Raise("ValueError", "until is of type %s", value.TypeName(until))
	}
	if eos != "" && !slices.Contains(out, eos) {
		out = append(out, eos)
	}
	return out, nil
}

// Trim cuts an answer as a local model of lm-eval would: first everything up to
// the last thinkEnd goes, with the white space after it, then the text ends
// before each stop sequence in turn. Empty ones do nothing, thinkEnd too.
func Trim(text string, stops []string, thinkEnd string) string {
	if thinkEnd != "" {
		if i := strings.LastIndex(text, thinkEnd); i >= 0 {
			text = text[i+len(thinkEnd):]
		}
		text = str.LStrip(text)
	}
	for _, s := range stops {
		if s != "" {
			text, _, _ = strings.Cut(text, s)
		}
	}
	return text
}
