package export

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Sample is one document of the samples file under one filter.
type Sample struct {
	DocID    int
	Task     bundle.Task
	GenArgs  *value.Dict // nil for none
	Answer   string
	Filtered string
	Filter   string
	Metric   string
	Value    float64
	// Likely is what a multiple_choice task asked, a request for each, in the
	// place of Answer, Filtered and GenArgs; nil for texts.
	Likely []Likelihood
}

// Likelihood is one request for a log-probability with its answer.
type Likelihood struct {
	bundle.Ask
	bundle.LogProb
}

// SampleFile writes a samples file line by line and sums up what the results
// file says about it. It holds one number for each sample.
type SampleFile struct {
	w     io.Writer
	task  hash.Hash
	Items []any // the values, in order
}

// NewSampleFile starts a file.
func NewSampleFile(w io.Writer) *SampleFile { return &SampleFile{w: w, task: sha256.New()} }

// Add writes a sample.
func (f *SampleFile) Add(s Sample) error {
	doc, prompt, target := document(s.Task), promptOf(s.Task.Input), targetOf(s.Task.Target)
	h, err := HashSample(doc, prompt, target)
	if err != nil {
		return fmt.Errorf("hash document %d: %w", s.DocID, err)
	}
	args, resps, filtered := s.requests(prompt)
	line, err := value.Dump{Unicode: true}.Dumps(value.DictOf(
		"doc_id", int64(s.DocID), "doc", doc, "target", value.Str(target),
		"arguments", args, "resps", resps, "filtered_resps", filtered, "filter", s.Filter, "metrics", []any{s.Metric},
		"doc_hash", h.Doc, "prompt_hash", h.Prompt, "target_hash", h.Target, s.Metric, s.Value,
	))
	if err != nil {
		return fmt.Errorf("write document %d: %w", s.DocID, err)
	}
	if _, err := io.WriteString(f.w, line+"\n"); err != nil {
		return fmt.Errorf("write document %d: %w", s.DocID, err)
	}
	io.WriteString(f.task, h.Doc+h.Prompt+h.Target) // a hash takes everything
	f.Items = append(f.Items, s.Value)
	return nil
}

// requests lays out what was asked and answered. lm-eval writes every value
// within answers as text.
func (s Sample) requests(prompt string) (args *value.Dict, resps, filtered []any) {
	if s.Likely == nil {
		kwargs := s.GenArgs
		if kwargs == nil {
			kwargs = value.DictOf()
		}
		return value.DictOf("gen_args_0", value.DictOf("arg_0", prompt, "arg_1", kwargs)), []any{[]any{s.Answer}}, []any{s.Filtered}
	}
	args = value.DictOf()
	for i, l := range s.Likely {
		set(args, fmt.Sprintf("gen_args_%d", i), value.DictOf("arg_0", l.Context, "arg_1", l.Continuation))
		pair := []any{value.Str(l.Sum), value.Str(l.Greedy)}
		resps, filtered = append(resps, []any{pair}), append(filtered, pair)
	}
	return args, resps, filtered
}

// TaskHash is that of the samples added so far.
func (f *SampleFile) TaskHash() string { return hex.EncodeToString(f.task.Sum(nil)) }

// document is a task as lm-eval's document: it was rendered before, so the row
// of the data set that it came from is not in it.
func document(t bundle.Task) *value.Dict {
	d := value.DictOf("id", t.ID, "input", messages(t.Input), "target", texts(t.Target))
	if len(t.Choices) > 0 {
		set(d, "choices", texts(t.Choices))
	}
	if t.Group != "" {
		set(d, "group", t.Group)
	}
	return d
}

// promptOf is what the model was asked: one message as its text, else the
// messages as JSON, as lm-eval gives them to chat endpoints.
func promptOf(in []bundle.Message) string {
	if len(in) == 1 && in[0].Role == bundle.User {
		return in[0].Text
	}
	text, err := value.Dump{}.Dumps(messages(in))
	if err != nil {
		panic("export: messages are text: " + err.Error())
	}
	return text
}

func messages(in []bundle.Message) []any {
	out := make([]any, len(in))
	for i, m := range in {
		out[i] = value.DictOf("role", string(m.Role), "content", m.Text)
	}
	return out
}

func targetOf(target []string) any {
	if len(target) == 1 {
		return target[0]
	}
	return texts(target)
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func set(d *value.Dict, key, v any) {
	if err := d.Set(key, v); err != nil {
		panic("export: a text cannot be a key: " + err.Error())
	}
}
