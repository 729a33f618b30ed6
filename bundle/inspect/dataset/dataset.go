// Package dataset reads samples from CSV, JSON and JSON Lines as Inspect does
// and shuffles them as Inspect does.
//
// Two departures, both about files that the reference cannot read right: a
// byte order mark is taken off and UTF-16 with a mark is decoded, where Inspect
// takes the mark for a part of the first column's name; and text that is not
// UTF-8 is refused with the place, never guessed at. Samples that ask for a
// sandbox, files or a setup script are refused, because nothing here runs them.
package dataset

import (
	"fmt"
	"math"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Sample is one question.
type Sample struct {
	ID      any // a str or an int of package value, nil when the file has none
	Input   []bundle.Message
	Choices []string
	Target  score.Target
	// List says that the target was an array, which a shuffle of the choices
	// and an export keep.
	List     bool
	Metadata *value.Dict
}

// Reader maps records to samples. The zero value reads records that are
// samples already.
type Reader struct {
	// Input, Target, Choices and ID name the fields; "" means the field of the
	// same name in lower case.
	Input, Target, Choices, ID string
	// Metadata names fields to keep; without it the field metadata is kept.
	Metadata []string
	// AutoID numbers samples from 1 instead.
	AutoID bool
	// Delimiter and Names are for CSV: the comma and the first row by default.
	Delimiter rune
	Names     []string
}

func or(name, fallback string) string {
	if name == "" {
		return fallback
	}
	return name
}

func (r Reader) samples(records []*value.Dict) ([]Sample, error) {
	out := make([]Sample, 0, len(records))
	for i, rec := range records {
		s, err := r.sample(rec)
		if err != nil {
			return nil, fmt.Errorf("read record %d: %w", i+1, err)
		}
		if r.AutoID {
			s.ID = int64(i + 1)
		}
		out = append(out, s)
	}
	return out, nil
}

func (r Reader) sample(rec *value.Dict) (Sample, error) {
	for _, name := range []string{"sandbox", "files", "setup"} {
		if v, _ := rec.Get(name); v != nil && v != "" {
			return Sample{}, fmt.Errorf("field %s asks for an environment, which is not supported", name)
		}
	}
	get := func(name, fallback string) any {
		v, _ := rec.Get(or(name, fallback))
		return v
	}
	s := Sample{ID: get(r.ID, "id"), Choices: Choices(get(r.Choices, "choices"))}
	s.Target, s.List = Target(get(r.Target, "target"))
	var err error
	if s.Input, err = input(get(r.Input, "input")); err != nil {
		return Sample{}, err
	}
	s.Metadata, err = r.metadata(rec)
	return s, err
}

func (r Reader) metadata(rec *value.Dict) (*value.Dict, error) {
	if len(r.Metadata) > 0 {
		d := value.DictOf()
		for _, name := range r.Metadata {
			v, _ := rec.Get(name)
			if err := d.Set(name, v); err != nil {
				return nil, err
			}
		}
		return d, nil
	}
	v, ok := rec.Get("metadata")
	if !ok {
		return nil, nil
	}
	if text, is := v.(string); is {
		parsed, err := value.Loads(text)
		if err != nil {
			return nil, fmt.Errorf("read metadata: %w", err)
		}
		v = parsed
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return nil, pycompat.Raise("ValueError", "metadata is a value of type %s, not an object", value.TypeName(v))
	}
	return d, nil
}

func absent(v any) bool {
	f, ok := v.(float64)
	return v == nil || ok && math.IsNaN(f)
}

// Target reads a target field: the texts of an array, else one text, empty for
// null and NaN.
func Target(v any) (t score.Target, list bool) {
	if absent(v) {
		return score.Target{""}, false
	}
	if items, ok := v.([]any); ok {
		t = make(score.Target, len(items))
		for i, item := range items {
			t[i] = value.Str(item)
		}
		return t, true
	}
	return score.Target{value.Str(v)}, false
}

// Choices reads a choices field: the texts of an array, or a text split at
// commas, else at white space. Blank choices are left out; nil for null and
// NaN.
func Choices(v any) []string {
	if absent(v) {
		return nil
	}
	var parts []string
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			parts = append(parts, value.Str(item))
		}
	case string:
		if parts = strings.Split(v, ","); len(parts) == 1 {
			parts = str.Split(v)
		}
		for i := range parts {
			parts[i] = str.Strip(parts[i])
		}
	default:
		parts = []string{value.Str(v)}
	}
	out := make([]string, 0, len(parts))
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}

// input reads a text as one user message, or an array of messages.
func input(v any) ([]bundle.Message, error) {
	if !value.Truth(v) {
		return nil, pycompat.Raise("ValueError", "no input in the record")
	}
	if text, ok := v.(string); ok {
		return []bundle.Message{{Role: bundle.User, Text: text}}, nil
	}
	items, ok := v.([]any)
	if !ok {
		return nil, pycompat.Raise("ValueError", "input is a value of type %s", value.TypeName(v))
	}
	var out []bundle.Message
	for i, item := range items {
		m, err := Message(item)
		if err != nil {
			return nil, fmt.Errorf("read message %d: %w", i+1, err)
		}
		out = append(out, m)
	}
	return out, nil
}

// Message reads one chat message of system, user or assistant, with its content
// as text or as an array of text parts. Anything else is refused.
func Message(v any) (bundle.Message, error) {
	d, ok := v.(*value.Dict)
	if !ok {
		return bundle.Message{}, pycompat.Raise("ValueError", "a message is a value of type %s", value.TypeName(v))
	}
	role, _ := d.Get("role")
	name, _ := role.(string)
	m := bundle.Message{Role: bundle.Role(name)}
	switch m.Role {
	case bundle.System, bundle.User, bundle.Assistant:
	default:
		return m, pycompat.Raise("ValueError", "a message has the role %s", value.Repr(role))
	}
	content, _ := d.Get("content")
	text, err := Content(content)
	m.Text = text
	return m, err
}

// Content reads the content of a message. Parts are joined with line breaks;
// reasoning parts are left out, and parts that are neither are refused.
func Content(v any) (string, error) {
	if text, ok := v.(string); ok {
		return text, nil
	}
	parts, ok := v.([]any)
	if !ok {
		return "", pycompat.Raise("ValueError", "message content is a value of type %s", value.TypeName(v))
	}
	var texts []string
	for _, part := range parts {
		if text, ok := part.(string); ok {
			texts = append(texts, text)
			continue
		}
		d, ok := part.(*value.Dict)
		if !ok {
			return "", pycompat.Raise("ValueError", "a content part is a value of type %s", value.TypeName(part))
		}
		kind, _ := d.Get("type")
		switch kind {
		case "text":
			text, _ := d.Get("text")
			texts = append(texts, value.Str(text))
		case "reasoning":
		default:
			return "", fmt.Errorf("content part of type %s is not supported", value.Repr(kind))
		}
	}
	return strings.Join(texts, "\n"), nil
}

// SortKey is the text by which Inspect orders samples: numbers padded to twenty
// digits, so that they sort as numbers, other text as it is.
func SortKey(id any) string {
	text := value.Str(id)
	if _, ok := id.(string); ok {
		if !str.IsDigit(text) {
			return text
		}
		n, err := number.ParseInt(text)
		if err != nil {
			return text
		}
		text = n.String()
	}
	if pad := 20 - str.Len(text); pad > 0 {
		sign := ""
		if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
			sign, text = text[:1], text[1:]
		}
		return sign + strings.Repeat("0", pad) + text
	}
	return text
}

// Task is the sample as a task without its prompt template: the choices stand
// beside the input and not in it.
func (s Sample) Task(id string) bundle.Task {
	return bundle.Task{ID: id, Input: s.Input, Target: s.Target, Choices: s.Choices}
}
