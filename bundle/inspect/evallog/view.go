package evallog

import (
	"fmt"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/inspect/dataset"
	"github.com/evalrouter/evalrouter/bundle/inspect/metric"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Sample is the part of a logged sample that scoring needs.
type Sample struct {
	ID         any // a str or an int of package value
	Epoch      int64
	Input      []bundle.Message
	Choices    []string
	Target     score.Target
	Completion string
	Finish     bundle.Finish
	Scores     []Named
	Metadata   *value.Dict
	Error      string // "" when the sample ran to its end
}

// Named is what one scorer said.
type Named struct {
	Scorer string
	Score  score.Score
}

// View reads a sample of a log.
func View(d *value.Dict) (Sample, error) {
	s := Sample{Metadata: dict(d, "metadata"), Error: text(dict(d, "error"), "message")}
	s.ID, _ = d.Get("id")
	if v, ok := d.Get("epoch"); ok {
		s.Epoch, _ = v.(int64)
	}
	if v, ok := d.Get("choices"); ok {
		s.Choices = dataset.Choices(v)
	}
	target, _ := d.Get("target")
	s.Target, _ = dataset.Target(target)
	var err error
	if s.Input, err = messages(d); err != nil {
		return Sample{}, fmt.Errorf("read input of sample %s: %w", value.Str(s.ID), err)
	}
	if s.Completion, s.Finish, err = output(dict(d, "output")); err != nil {
		return Sample{}, fmt.Errorf("read output of sample %s: %w", value.Str(s.ID), err)
	}
	for name, v := range dict(d, "scores").All() {
		if sc, ok := v.(*value.Dict); ok {
			s.Scores = append(s.Scores, Named{value.Str(name), readScore(sc)})
		}
	}
	return s, nil
}

func messages(d *value.Dict) ([]bundle.Message, error) {
	in, _ := d.Get("input")
	if t, ok := in.(string); ok {
		return []bundle.Message{{Role: bundle.User, Text: t}}, nil
	}
	var out []bundle.Message
	for _, item := range list(d, "input") {
		m, err := dataset.Message(item)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// output is the completion and why it ended. Older logs have no completion
// beside the message of the first choice.
func output(d *value.Dict) (string, bundle.Finish, error) {
	choices := list(d, "choices")
	if len(choices) == 0 {
		return text(d, "completion"), bundle.FinishUnknown, nil
	}
	first, _ := choices[0].(*value.Dict)
	if first == nil {
		return "", "", fmt.Errorf("choice is a value of type %s", value.TypeName(choices[0]))
	}
	finish := finishOf(text(first, "stop_reason"))
	if why := text(dict(d, "metadata"), "finish_reason"); why != "" && finish == bundle.FinishUnknown {
		finish = bundle.Finish(why) // one of ours that Inspect has no word for
	}
	if c, ok := d.Get("completion"); ok {
		if t, ok := c.(string); ok {
			return t, finish, nil
		}
	}
	content, ok := dict(first, "message").Get("content")
	if !ok {
		return "", finish, nil
	}
	t, err := dataset.Content(content)
	return t, finish, err
}

// finishOf maps Inspect's words to ours and stopReason the other way. A word
// that has no counterpart is kept, never taken for a normal end.
func finishOf(reason string) bundle.Finish {
	switch reason {
	case "stop":
		return bundle.FinishStop
	case "max_tokens", "model_length":
		return bundle.FinishLength
	case "content_filter":
		return bundle.FinishFilter
	case "", "unknown":
		return bundle.FinishUnknown
	}
	return bundle.Finish("other:" + reason)
}

func stopReason(f bundle.Finish) string {
	switch f {
	case bundle.FinishStop:
		return "stop"
	case bundle.FinishLength:
		return "max_tokens"
	case bundle.FinishFilter:
		return "content_filter"
	case "other:tool_calls":
		return "tool_calls"
	}
	return "unknown"
}

func readScore(d *value.Dict) score.Score {
	s := score.Score{Answer: optionalText(d, "answer"), Explanation: optionalText(d, "explanation")}
	s.Value, _ = d.Get("value")
	if m, ok := d.Get("metadata"); ok {
		s.Metadata, _ = m.(*value.Dict)
	}
	return s
}

// Results reads the figures of a log, those of logs of version 1 included,
// which have one scorer.
func (l *Log) Results() []metric.Result {
	results := dict(l.Head, "results")
	blocks := list(results, "scores")
	if old := dict(results, "scorer"); len(blocks) == 0 && old.Len() > 0 {
		name := text(old, "name")
		blocks = []any{value.DictOf("name", name, "scorer", name, "metrics", any(dict(results, "metrics")))}
	}
	var out []metric.Result
	for _, b := range blocks {
		d, ok := b.(*value.Dict)
		if !ok {
			continue
		}
		r := metric.Result{Name: text(d, "name"), Scorer: text(d, "scorer"), Reducer: text(d, "reducer")}
		r.Scored, r.Unscored = count(d, "scored_samples"), count(d, "unscored_samples")
		for key, m := range dict(d, "metrics").All() {
			figure, ok := m.(*value.Dict)
			if !ok {
				continue
			}
			v, _ := figure.Get("value")
			if f, ok := value.Float(v); ok {
				r.Figures = append(r.Figures, metric.Figure{Key: value.Str(key), Name: text(figure, "name"), Value: f})
			}
		}
		out = append(out, r)
	}
	return out
}

func count(d *value.Dict, key string) int {
	v, _ := d.Get(key)
	n, _ := v.(int64)
	return int(n)
}
