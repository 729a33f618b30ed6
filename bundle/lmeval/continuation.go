package lmeval

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/lmeval/process"
	"github.com/evalrouter/evalrouter/bundle/lmeval/request"
)

// LogLikelihood is the kind of the grader for lm-eval's output type
// loglikelihood: the task's one target is shown after its prompt, and the answer
// is right when every token of it was the model's likeliest. Its one option is
// delimiter, as for MultipleChoice.
const LogLikelihood = "lmeval/loglikelihood"

// Rolling is lm-eval's output type that measures the perplexity of whole texts.
// It gives no task a score between 0 and 1, so there is no grader for it.
const Rolling = "lmeval/loglikelihood_rolling"

// Likely is a grader of this family that reads log probabilities.
type Likely interface {
	bundle.Likely
	// Metric is lm-eval's name of the declared metric.
	Metric() string
}

// NewLikely builds the grader of either kind that reads log probabilities.
func NewLikely(c bundle.GraderConfig) (Likely, error) {
	switch c.Kind {
	case MultipleChoice:
		g, err := NewLikelihood(c)
		if err != nil {
			return nil, err
		}
		return g, nil
	case LogLikelihood:
		g, err := NewContinuation(c)
		if err != nil {
			return nil, err
		}
		return g, nil
	case Rolling:
		return nil, fmt.Errorf("build grader %s: a perplexity of texts is no score of a task between 0 and 1; it is not run here", c.Kind)
	}
	return nil, fmt.Errorf("build grader %s: it reads no log probabilities", c.Kind)
}

// Continuation decides by the log probability of one continuation. The text of
// an answer is [sum, greedy], such as [-1.5, true].
type Continuation struct {
	id        bundle.Identity
	delimiter string
}

var (
	_ bundle.Likely     = (*Continuation)(nil)
	_ bundle.GoldWriter = (*Continuation)(nil)
)

// NewContinuation builds the grader that c declares.
func NewContinuation(c bundle.GraderConfig) (*Continuation, error) {
	var o struct {
		Delimiter *string `json:"delimiter"`
	}
	if len(c.Options) > 0 {
		dec := json.NewDecoder(strings.NewReader(string(c.Options)))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&o); err != nil {
			return nil, fmt.Errorf("read options of %s: %w", c.Kind, err)
		}
	}
	g := &Continuation{delimiter: " "}
	if o.Delimiter != nil {
		g.delimiter = *o.Delimiter
	}
	digest := likelihoodOptions{Metric: "acc", Delimiter: o.Delimiter}.digest()
	g.id = bundle.Identity{ID: c.Kind, Version: version, Compat: fmt.Sprintf("%s@%s+%s", c.Kind, version, digest)}
	return g, nil
}

// Identity names the kind with its options.
func (g *Continuation) Identity() bundle.Identity { return g.id }

// Metric is acc: whether the target is what the model would have written.
func (g *Continuation) Metric() string { return "acc" }

// Gold is what a model that is certain of the target would give.
func (g *Continuation) Gold(string) string { return "[0, true]" }

// Asks is the one target after the prompt.
func (g *Continuation) Asks(t bundle.Task) ([]bundle.Ask, error) {
	if len(t.Target) != 1 || t.Target[0] == "" {
		return nil, errors.New("ask for log probabilities: a task has one target that is not empty")
	}
	return []bundle.Ask{{Context: contextOf(t), Continuation: g.delimiter + t.Target[0]}}, nil
}

// Read implements bundle.Likely.
func (g *Continuation) Read(a bundle.Ask, response []byte) (bundle.LogProb, error) {
	return readEcho(a, response)
}

// Text implements bundle.Likely.
func (g *Continuation) Text(_ bundle.Task, read []bundle.LogProb) (string, error) {
	if len(read) != 1 {
		return "", fmt.Errorf("write log probabilities: %d for one continuation", len(read))
	}
	b, err := json.Marshal([]any{read[0].Sum, read[0].Greedy})
	if err != nil {
		return "", fmt.Errorf("write log probabilities: %w", err)
	}
	return string(b), nil
}

// Grade is lm-eval's acc.
func (g *Continuation) Grade(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
	if len(t.Target) == 0 {
		return bundle.Verdict{}, errNoTarget
	}
	var pair []any
	if err := json.Unmarshal([]byte(a.Text), &pair); err != nil || len(pair) != 2 {
		return bundle.Verdict{}, errors.New("read log probabilities: the answer holds none")
	}
	sum, isSum := pair[0].(float64)
	greedy, isFlag := pair[1].(bool)
	if !isSum || !isFlag {
		return bundle.Verdict{}, errors.New("read log probabilities: the continuation has none")
	}
	if acc, _ := process.Likelihood(process.LogLikelihood{Sum: sum, Greedy: greedy}).Get(g.Metric()); acc == int64(1) {
		return bundle.Verdict{Outcome: bundle.Right, Score: 1, Rule: "acc, every token was the likeliest"}, nil
	}
	return bundle.Verdict{Outcome: bundle.Wrong, Rule: "acc, another token was likelier"}, nil
}

// contextOf is a prompt as a completions route is asked: its messages are one
// text, a blank line between them.
func contextOf(t bundle.Task) string {
	texts := make([]string, len(t.Input))
	for i, m := range t.Input {
		texts[i] = m.Text
	}
	return strings.Join(texts, "\n\n")
}

func readEcho(a bundle.Ask, response []byte) (bundle.LogProb, error) {
	l, err := request.Echo(string(response), request.Pair(a))
	if err != nil {
		return bundle.LogProb{}, fmt.Errorf("read log probabilities: %w", err)
	}
	return bundle.LogProb(l), nil
}
