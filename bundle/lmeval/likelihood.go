package lmeval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/lmeval/process"
)

// MultipleChoice is the kind of the grader for tasks in which no text is
// written: the choice that the model finds likeliest is its answer. Its option
// metric is acc (default), acc_norm or acc_bytes.
const MultipleChoice = "lmeval/multiple_choice"

// NeedsLogprobs says whether a kind can be graded only where a route gives log
// probabilities of the text that it is shown.
func NeedsLogprobs(kind string) bool { return kind == MultipleChoice }

// Likelihood decides by the log probabilities of the choices. The text of an
// answer is a JSON object from the letter of each choice to the sum of its
// tokens' log probabilities and whether every token was the likeliest, such as
// {"A": [-1.5, true], "B": [-7, false]}; a choice that is missing has no
// chance.
type Likelihood struct {
	id      bundle.Identity
	metric  string
	process process.MultipleChoice
}

var (
	_ bundle.Grader     = (*Likelihood)(nil)
	_ bundle.GoldWriter = (*Likelihood)(nil)
)

// NewLikelihood builds the grader that c declares.
func NewLikelihood(c bundle.GraderConfig) (*Likelihood, error) {
	o := struct {
		Metric string `json:"metric"`
	}{"acc"}
	if len(c.Options) > 0 {
		dec := json.NewDecoder(strings.NewReader(string(c.Options)))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&o); err != nil {
			return nil, fmt.Errorf("read options of %s: %w", c.Kind, err)
		}
	}
	if o.Metric != "acc" && o.Metric != "acc_norm" && o.Metric != "acc_bytes" {
		return nil, fmt.Errorf("read options of %s: want metric acc, acc_norm or acc_bytes", c.Kind)
	}
	p, err := process.NewMultipleChoice([]string{o.Metric})
	if err != nil {
		return nil, fmt.Errorf("build grader %s: %w", c.Kind, err)
	}
	sum := sha256.Sum256([]byte(o.Metric))
	return &Likelihood{
		metric: o.Metric, process: p,
		id: bundle.Identity{ID: c.Kind, Version: version, Compat: fmt.Sprintf("%s@%s+%s", c.Kind, version, hex.EncodeToString(sum[:6]))},
	}, nil
}

// Identity names the kind with its metric.
func (g *Likelihood) Identity() bundle.Identity { return g.id }

// Gold is what a model that is certain of a choice would give.
func (g *Likelihood) Gold(target string) string { return fmt.Sprintf(`{%q: [0, true]}`, target) }

// Grade compares the likeliest choice with the target, a letter.
func (g *Likelihood) Grade(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
	if len(t.Target) == 0 {
		return bundle.Verdict{}, errNoTarget
	}
	gold, err := choiceOf(t)
	if err != nil {
		return bundle.Verdict{}, err
	}
	var given map[string][2]any
	if err := json.Unmarshal([]byte(a.Text), &given); err != nil {
		return bundle.Verdict{}, errors.New("read log probabilities: the answer holds none")
	}
	answers := make([]process.LogLikelihood, len(t.Choices))
	for i := range answers {
		answers[i].Sum = math.Inf(-1)
		if p, ok := given[bundle.Letter(i)]; ok {
			sum, isSum := p[0].(float64)
			greedy, isFlag := p[1].(bool)
			if !isSum || !isFlag {
				return bundle.Verdict{}, fmt.Errorf("read log probabilities: choice %s has none", bundle.Letter(i))
			}
			answers[i] = process.LogLikelihood{Sum: sum, Greedy: greedy}
		}
	}
	metrics, err := g.process.Results(t.Choices, gold, answers)
	if err != nil {
		return bundle.Verdict{}, fmt.Errorf("compare log probabilities: %w", err)
	}
	if score, _ := metrics.Get(g.metric); score == 1.0 {
		return bundle.Verdict{Outcome: bundle.Right, Score: 1, Rule: g.metric + ", likeliest choice equal"}, nil
	}
	return bundle.Verdict{Outcome: bundle.Wrong, Rule: g.metric + ", another choice is likelier"}, nil
}

// choiceOf is the index of a task's target among its choices.
func choiceOf(t bundle.Task) (any, error) {
	var all []any
	for _, target := range t.Target {
		found := false
		for i := range t.Choices {
			if bundle.Letter(i) == target {
				all, found = append(all, int64(i)), true
			}
		}
		if !found {
			return nil, fmt.Errorf("read target %q: not the letter of a choice", target)
		}
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all, nil
}
