// Package rule is the rules that look at traces. Each is a function of a trace
// and its steps: it calls no model and costs nothing.
//
// What a rule finds has a signature. The same signature in another trace is the
// same finding: numbers and ids inside of messages do not count.
package rule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// config is the settings of every rule; each reads its own.
type config struct {
	Times  int    `json:"times"`
	MS     int64  `json:"ms"`
	Tokens int64  `json:"tokens"`
	Cost   int64  `json:"microusd"`
	Phrase string `json:"phrase"`
}

type rule struct {
	needs string // the setting that must be given
	find  func(config, core.Trace, []core.Span) []core.Hit
}

// rules are all of them.
var rules = map[string]rule{
	"error":        {"", failed},
	"tool_error":   {"", toolFailed},
	"tool_loop":    {"times", loops},
	"empty_output": {"", empty},
	"truncated":    {"", truncated},
	"slow":         {"ms", slow},
	"tokens":       {"tokens", tokens},
	"cost":         {"microusd", cost},
	"phrase":       {"phrase", phrase},
}

// Names lists the rules.
func Names() []string {
	out := make([]string, 0, len(rules))
	for n := range rules {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// ErrConfig is a rule that does not exist, or settings that are not its own.
var ErrConfig = errors.New("no such rule, or not its settings")

// Check says whether a rule has these settings.
func Check(name string, settings json.RawMessage) error {
	_, _, err := read(name, settings)
	return err
}

func read(name string, settings json.RawMessage) (rule, config, error) {
	var c config
	r, ok := rules[name]
	if !ok {
		return r, c, fmt.Errorf("%w: the rules are %s", ErrConfig, strings.Join(Names(), ", "))
	}
	d := json.NewDecoder(bytes.NewReader(settings))
	d.DisallowUnknownFields()
	if len(settings) > 0 {
		if err := d.Decode(&c); err != nil {
			return r, c, fmt.Errorf("%w: the settings of %s cannot be read", ErrConfig, name)
		}
	}
	given := map[string]bool{"": true, "times": c.Times >= 2, "ms": c.MS > 0, "tokens": c.Tokens > 0, "microusd": c.Cost > 0, "phrase": strings.TrimSpace(c.Phrase) != ""}
	if !given[r.needs] {
		return r, c, fmt.Errorf("%w: %s needs the setting %s", ErrConfig, name, r.needs)
	}
	return r, c, nil
}

// Look applies a rule to a trace with its steps.
func Look(name string, settings json.RawMessage, t core.Trace, spans []core.Span) ([]core.Hit, error) {
	r, c, err := read(name, settings)
	if err != nil {
		return nil, err
	}
	return r.find(c, t, spans), nil
}

var (
	varying = regexp.MustCompile(`0x[0-9a-fA-F]+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|[0-9]+`)
	spaces  = regexp.MustCompile(`\s+`)
)

// shape is a message without what differs from time to time.
func shape(message string) string {
	s := spaces.ReplaceAllString(varying.ReplaceAllString(message, "#"), " ")
	return strings.TrimSpace(s[:min(len(s), 200)])
}

func one(span, signature, title, detail string) []core.Hit {
	return []core.Hit{{Span: span, Signature: signature, Title: title, Detail: detail}}
}

func root(spans []core.Span) string {
	for _, s := range spans {
		if s.ParentID == "" {
			return s.ID
		}
	}
	return ""
}

func failed(_ config, t core.Trace, spans []core.Span) []core.Hit {
	if t.Status != core.TraceError {
		return nil
	}
	what := strings.TrimSpace(t.ErrorType + " " + shape(t.ErrorText))
	return one(root(spans), t.Agent+"\n"+what, "A run failed: "+what, t.ErrorText)
}

func toolFailed(_ config, _ core.Trace, spans []core.Span) (hits []core.Hit) {
	seen := map[string]bool{}
	for _, s := range spans {
		what := s.Name + "\n" + s.ErrorType + "\n" + shape(s.ErrorText)
		if s.Kind == core.SpanTool && s.Status == core.TraceError && !seen[what] {
			seen[what] = true
			hits = append(hits, core.Hit{Span: s.ID, Signature: what, Title: "The tool " + s.Name + " failed", Detail: strings.TrimSpace(s.ErrorType + " " + s.ErrorText)})
		}
	}
	return hits
}

// loops finds a tool that was called again and again with the same input.
func loops(c config, _ core.Trace, spans []core.Span) (hits []core.Hit) {
	calls := map[string]int{}
	for _, s := range spans {
		if s.Kind != core.SpanTool || s.Input == nil {
			continue
		}
		same := s.Name + "\n" + string(s.Input)
		if calls[same]++; calls[same] == c.Times {
			hits = append(hits, core.Hit{Span: s.ID, Signature: s.Name, Title: "The tool " + s.Name + " was called over and over with the same input", Detail: fmt.Sprintf("at least %d times in one run", c.Times)})
		}
	}
	return hits
}

// empty finds model calls that answered nothing: no text and no call to a tool.
func empty(_ config, _ core.Trace, spans []core.Span) []core.Hit {
	for _, s := range spans {
		if s.Kind == core.SpanModel && s.Status == core.TraceOK && s.Output != nil && says(s.Output) == "" {
			return one(s.ID, s.Model, "The model "+s.Model+" answered nothing", "")
		}
	}
	return nil
}

// says is the text and the calls of an output.
func says(output json.RawMessage) string {
	var text string
	if json.Unmarshal(output, &text) == nil {
		return strings.TrimSpace(text)
	}
	var list []map[string]json.RawMessage
	if json.Unmarshal(output, &list) != nil {
		return string(output)
	}
	for _, m := range list {
		for _, name := range []string{"content", "tool_calls"} {
			switch v := strings.TrimSpace(string(m[name])); v {
			case "", "null", `""`, "[]":
			default:
				text += v
			}
		}
	}
	return text
}

var cutOff = regexp.MustCompile(`"finish_reasons?":\[?"?(length|max_tokens|MAX_TOKENS)"`)

func truncated(_ config, _ core.Trace, spans []core.Span) []core.Hit {
	for _, s := range spans {
		if s.Kind == core.SpanModel && (cutOff.Match(s.Output) || bytes.Contains(s.Attributes, []byte(`finish_reasons":["length"`))) {
			return one(s.ID, s.Model, "An answer of "+s.Model+" was cut off", "its output limit was reached")
		}
	}
	return nil
}

func slow(c config, t core.Trace, spans []core.Span) []core.Hit {
	if took := (t.End - t.Start) / 1_000_000; t.End != 0 && took > c.MS {
		return one(root(spans), t.Name, t.Name+" took too long", fmt.Sprintf("%d ms, more than %d", took, c.MS))
	}
	return nil
}

func tokens(c config, t core.Trace, spans []core.Span) []core.Hit {
	total := int64(0)
	for _, n := range []*int64{t.Usage.Input, t.Usage.Output} {
		if n != nil {
			total += *n
		}
	}
	if total > c.Tokens {
		return one(root(spans), t.Name, t.Name+" used too many tokens", fmt.Sprintf("%d, more than %d", total, c.Tokens))
	}
	return nil
}

func cost(c config, t core.Trace, spans []core.Span) []core.Hit {
	if t.Cost != nil && int64(*t.Cost) > c.Cost {
		return one(root(spans), t.Name, t.Name+" cost too much", fmt.Sprintf("%d micro-dollars, more than %d", int64(*t.Cost), c.Cost))
	}
	return nil
}

// phrase finds what a model said, without regard to case.
func phrase(c config, _ core.Trace, spans []core.Span) []core.Hit {
	wanted := strings.ToLower(c.Phrase)
	for _, s := range spans {
		if s.Kind == core.SpanModel && strings.Contains(strings.ToLower(says(s.Output)), wanted) {
			return one(s.ID, wanted+"\n"+s.Model, fmt.Sprintf("%s said %q", s.Model, c.Phrase), "")
		}
	}
	return nil
}
