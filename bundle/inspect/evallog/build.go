package evallog

import (
	"fmt"
	"math"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/inspect/metric"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Run is a run to be written as a log.
type Run struct {
	Eval    Eval
	Status  string // started, success, cancelled or error
	Started string // RFC 3339
	Ended   string // RFC 3339, "" while it goes on
	// Plan computes the results; its scorer names the scores of the samples.
	Plan metric.Plan
	// Total is how many samples were planned, epochs included; those that are
	// missing from Samples were never run.
	Total   int
	Samples []RunSample
	Usage   Usage // of all samples
	Error   string
}

// Eval identifies what was run. Config and ModelArgs may be nil.
type Eval struct {
	RunID, TaskID, Task, Model string
	Created                    string // RFC 3339
	TaskVersion                string
	Dataset                    string
	Epochs                     int
	Config, ModelArgs          *value.Dict
}

// RunSample is one sample of one epoch. Score is nil when there is none, and
// Error then says why.
type RunSample struct {
	ID       string
	Epoch    int // from 1
	Task     bundle.Task
	Answer   bundle.Answer
	Score    *score.Score
	Metadata *value.Dict
	Usage    Usage
	Error    string
}

// Usage is tokens.
type Usage struct{ Input, Output int64 }

func (u Usage) dict() *value.Dict {
	return value.DictOf("input_tokens", u.Input, "output_tokens", u.Output, "total_tokens", u.Input+u.Output)
}

// FromVerdict is a verdict as a score: C or I where it is all or nothing, else
// the number. The outcome and the rule stand in its metadata.
func FromVerdict(v bundle.Verdict) score.Score {
	var val any = v.Score
	switch v.Score {
	case 1:
		val = score.Correct
	case 0:
		val = score.Incorrect
	}
	return score.Score{Value: val, Answer: &v.Extracted, Metadata: value.DictOf("outcome", string(v.Outcome), "rule", v.Rule)}
}

// formatVersion is the log format that is written.
const formatVersion = int64(2)

// Log builds the log. Results are computed from the scores of the samples; a
// figure that is not finite is left out, and a score that is not finite is
// refused. Reading what WriteJSON or WriteArchive make of it gives it back.
func (r Run) Log() (*Log, error) {
	l := &Log{}
	t := tally{seen: map[string]bool{}}
	for _, s := range r.Samples {
		d, err := s.dict(r.Eval.Model, r.Plan.Scorer)
		if err != nil {
			return nil, fmt.Errorf("build sample %s of epoch %d: %w", s.ID, s.Epoch, err)
		}
		l.Samples = append(l.Samples, d)
		t.add(s)
		if s.Score != nil {
			t.scores[len(t.scores)-1] = metric.Sample{ID: s.ID, Score: *s.Score, Metadata: s.Metadata}
		}
	}
	sortSamples(l.Samples)
	head, reductions, err := r.head(t)
	if err != nil {
		return nil, err
	}
	l.Head = head
	for _, red := range reductions {
		l.Reductions = append(l.Reductions, reduction(r.Plan.Scorer, red))
	}
	return l, nil
}

// head is everything but samples and reductions.
func (r Run) head(t tally) (*value.Dict, []metric.Reduction, error) {
	results, reductions, err := r.Plan.Results(t.scores)
	if err != nil {
		return nil, nil, fmt.Errorf("build log: %w", err)
	}
	head := value.DictOf(
		"version", formatVersion,
		"status", r.Status,
		"eval", r.eval(t.ids),
		"plan", value.DictOf("name", "plan", "steps", []any{value.DictOf("solver", "generate", "params", value.DictOf())}, "config", value.DictOf()),
		"results", value.DictOf("total_samples", int64(r.Total), "completed_samples", int64(t.completed), "scores", blocks(results)),
		"stats", value.DictOf("started_at", r.Started, "completed_at", r.Ended, "model_usage", value.DictOf(r.Eval.Model, r.Usage.dict())),
	)
	if r.Error != "" {
		put(head, "error", failure(r.Error))
	}
	return head, reductions, nil
}

func (r Run) eval(ids []any) *value.Dict {
	if ids == nil {
		ids = []any{}
	}
	config := value.DictOf("epochs", int64(max(r.Eval.Epochs, 1)))
	if names := r.reducerNames(); len(names) > 0 {
		put(config, "epochs_reducer", names)
	}
	if r.Eval.Config != nil {
		for key, v := range r.Eval.Config.All() {
			put(config, key, v)
		}
	}
	var metrics []any
	for _, m := range r.Plan.Metrics {
		metrics = append(metrics, value.DictOf("name", "inspect_ai/"+m.Name(), "options", value.DictOf()))
	}
	return value.DictOf(
		"eval_id", r.Eval.RunID, "run_id", r.Eval.RunID, "created", r.Eval.Created,
		"task", r.Eval.Task, "task_id", r.Eval.TaskID, "task_version", r.Eval.TaskVersion, "task_attribs", value.DictOf(), "task_args", value.DictOf(),
		"dataset", value.DictOf("name", r.Eval.Dataset, "samples", int64(len(ids)), "sample_ids", ids, "shuffled", false),
		"model", r.Eval.Model, "model_args", orEmpty(r.Eval.ModelArgs), "config", config, "packages", value.DictOf(),
		"scorers", []any{value.DictOf("name", r.Plan.Scorer, "options", value.DictOf(), "metrics", metrics, "metadata", value.DictOf())},
	)
}

func (r Run) reducerNames() []any {
	var names []any
	for _, reducer := range r.Plan.Reducers {
		names = append(names, reducer.Name())
	}
	return names
}

func orEmpty(d *value.Dict) *value.Dict {
	if d == nil {
		return value.DictOf()
	}
	return d
}

// put sets a text key of a dict.
func put(d *value.Dict, key, v any) {
	if err := d.Set(key, v); err != nil {
		panic("evallog: a text cannot be a key: " + err.Error())
	}
}

func failure(message string) *value.Dict {
	return value.DictOf("message", message, "traceback", "", "traceback_ansi", "")
}

func (s RunSample) dict(model, scorer string) (*value.Dict, error) {
	d := value.DictOf("id", s.ID, "epoch", int64(s.Epoch), "input", input(s.Task.Input))
	if len(s.Task.Choices) > 0 {
		put(d, "choices", texts(s.Task.Choices))
	}
	var target any = score.Target(s.Task.Target).Text()
	if len(s.Task.Target) > 1 {
		target = texts(s.Task.Target)
	}
	put(d, "target", target)
	var chat []any
	for _, m := range s.Task.Input {
		chat = append(chat, value.DictOf("role", string(m.Role), "content", m.Text, "source", "input"))
	}
	reply := value.DictOf("role", "assistant", "content", s.Answer.Text, "source", "generate", "model", model)
	out := value.DictOf("model", model, "choices", []any{}, "completion", s.Answer.Text, "usage", s.Usage.dict())
	if s.Error == "" {
		chat = append(chat, reply)
		put(out, "choices", []any{value.DictOf("message", reply, "stop_reason", stopReason(s.Answer.Finish))})
	}
	if why := stopReason(s.Answer.Finish); finishOf(why) != s.Answer.Finish {
		put(out, "metadata", value.DictOf("finish_reason", string(s.Answer.Finish)))
	}
	put(d, "messages", chat)
	put(d, "output", out)
	scores := value.DictOf()
	if s.Score != nil {
		if err := finite(s.Score.Value); err != nil {
			return nil, fmt.Errorf("score: %w", err)
		}
		put(scores, scorer, scoreDict(*s.Score))
	}
	put(d, "scores", scores)
	put(d, "metadata", orEmpty(s.Metadata))
	put(d, "store", value.DictOf())
	put(d, "events", []any{})
	put(d, "model_usage", value.DictOf(model, s.Usage.dict()))
	if s.Error != "" {
		put(d, "error", failure(s.Error))
	}
	put(d, "attachments", value.DictOf())
	_, err := sampleName(d)
	return d, err
}

// input is one user message as text, else the messages.
func input(messages []bundle.Message) any {
	if len(messages) == 1 && messages[0].Role == bundle.User {
		return messages[0].Text
	}
	out := []any{}
	for _, m := range messages {
		out = append(out, value.DictOf("role", string(m.Role), "content", m.Text))
	}
	return out
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func scoreDict(s score.Score) *value.Dict {
	d := value.DictOf("value", s.Value)
	if s.Answer != nil {
		put(d, "answer", *s.Answer)
	}
	if s.Explanation != nil {
		put(d, "explanation", *s.Explanation)
	}
	if s.Metadata != nil {
		put(d, "metadata", s.Metadata)
	}
	return d
}

func blocks(results []metric.Result) []any {
	out := []any{}
	for _, r := range results {
		d := value.DictOf("name", r.Name, "scorer", r.Scorer)
		if r.Reducer != "" {
			put(d, "reducer", r.Reducer)
		}
		put(d, "scored_samples", int64(r.Scored))
		put(d, "unscored_samples", int64(r.Unscored))
		put(d, "params", value.DictOf())
		figures := value.DictOf()
		for _, f := range r.Figures {
			if !math.IsNaN(f.Value) && !math.IsInf(f.Value, 0) {
				put(figures, f.Key, value.DictOf("name", f.Name, "value", f.Value, "params", value.DictOf()))
			}
		}
		put(d, "metrics", figures)
		out = append(out, d)
	}
	return out
}

func reduction(scorer string, r metric.Reduction) *value.Dict {
	d := value.DictOf("scorer", scorer)
	if r.Reducer != "" {
		put(d, "reducer", r.Reducer)
	}
	samples := []any{}
	for _, s := range r.Samples {
		if score.IsUnscored(s.Score.Value) {
			continue
		}
		one := scoreDict(s.Score)
		put(one, "sample_id", s.ID)
		samples = append(samples, one)
	}
	put(d, "samples", samples)
	return d
}
