package lmeval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/lmeval/process"
	"github.com/evalrouter/evalrouter/bundle/lmeval/request"
)

// MultipleChoice is the kind of the grader for tasks in which no text is
// written: the choice that the model finds likeliest is its answer. Its
// options:
//
//	metric     acc (default), acc_norm, acc_bytes or acc_mutual_info
//	delimiter  what stands between the prompt and a choice, one blank by
//	           default: lm-eval's target_delimiter
//	letters    true where a model is asked for the letters of the choices, which
//	           the prompt shows, and not for their texts
//	prefix     what a choice is asked after where it is asked without its
//	           prompt, for acc_mutual_info: the text of the token that lm-eval
//	           puts there, such as <|endoftext|>. It is needed where a server
//	           puts no token of its own before a prompt, since the first token
//	           of all has no probability.
const MultipleChoice = bundle.LikelyChoices

// NeedsLogprobs says whether a kind can be graded only where a route gives log
// probabilities of the text that it is shown.
func NeedsLogprobs(kind string) bool {
	return kind == MultipleChoice || kind == LogLikelihood || kind == Rolling
}

// Likelihood decides by the log probabilities of the choices. The text of an
// answer is a JSON object from the letter of each choice to the sum of its
// tokens' log probabilities and whether every token was the likeliest, such as
// {"A": [-1.5, true], "B": [-7, false]}; a choice that is missing has no
// chance. For acc_mutual_info the sum without the prompt is the third.
type Likelihood struct {
	id      bundle.Identity
	o       likelihoodOptions
	process process.MultipleChoice
}

type likelihoodOptions struct {
	Metric    string  `json:"metric"`
	Delimiter *string `json:"delimiter,omitempty"`
	Letters   bool    `json:"letters,omitempty"`
	Prefix    string  `json:"prefix,omitempty"`
}

var (
	_ bundle.Likely     = (*Likelihood)(nil)
	_ bundle.GoldWriter = (*Likelihood)(nil)
)

// NewLikelihood builds the grader that c declares.
func NewLikelihood(c bundle.GraderConfig) (*Likelihood, error) {
	o := likelihoodOptions{Metric: "acc"}
	if len(c.Options) > 0 {
		dec := json.NewDecoder(strings.NewReader(string(c.Options)))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&o); err != nil {
			return nil, fmt.Errorf("read options of %s: %w", c.Kind, err)
		}
	}
	if !slices.Contains([]string{"acc", "acc_norm", "acc_bytes", mutualInfo}, o.Metric) {
		return nil, fmt.Errorf("read options of %s: want metric acc, acc_norm, acc_bytes or %s", c.Kind, mutualInfo)
	}
	if o.Prefix != "" && o.Metric != mutualInfo {
		return nil, fmt.Errorf("read options of %s: a prefix is for %s alone", c.Kind, mutualInfo)
	}
	p, err := process.NewMultipleChoice([]string{o.Metric})
	if err != nil {
		return nil, fmt.Errorf("build grader %s: %w", c.Kind, err)
	}
	return &Likelihood{
		o: o, process: p,
		id: bundle.Identity{ID: c.Kind, Version: version, Compat: fmt.Sprintf("%s@%s+%s", c.Kind, version, o.digest())},
	}, nil
}

// mutualInfo is the metric for which each choice is also asked alone.
const mutualInfo = "acc_mutual_info"

// digest tells options apart that can give different verdicts.
func (o likelihoodOptions) digest() string {
	text := o.Metric
	if o.Delimiter != nil || o.Letters || o.Prefix != "" {
		b, err := json.Marshal(o)
		if err != nil {
			panic("lmeval: options are texts: " + err.Error())
		}
		text = string(b)
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// Identity names the kind with its options.
func (g *Likelihood) Identity() bundle.Identity { return g.id }

// Metric is lm-eval's name of the declared metric.
func (g *Likelihood) Metric() string { return g.o.Metric }

// Gold is what a model that is certain of a choice would give.
func (g *Likelihood) Gold(target string) string { return fmt.Sprintf(`{%q: [0, true, 0]}`, target) }

// choices are what a model is asked about, and what lengths are counted of.
func (g *Likelihood) choices(t bundle.Task) []string {
	if !g.o.Letters {
		return t.Choices
	}
	out := make([]string, len(t.Choices))
	for i := range out {
		out[i] = bundle.Letter(i)
	}
	return out
}

// Asks is each choice after the prompt, and for acc_mutual_info then each alone.
func (g *Likelihood) Asks(t bundle.Task) ([]bundle.Ask, error) {
	if len(t.Choices) == 0 {
		return nil, errors.New("ask for log probabilities: the task has no choices")
	}
	form := request.Form{Delimiter: " ", Unconditional: g.process.Unconditional()}
	if g.o.Delimiter != nil {
		form.Delimiter = *g.o.Delimiter
	}
	var out []bundle.Ask
	for i, p := range form.Choices(contextOf(t), g.choices(t)) {
		if i >= len(t.Choices) {
			p.Context = g.o.Prefix
		}
		if p.Continuation == "" {
			return nil, errors.New("ask for log probabilities: a choice has no text")
		}
		out = append(out, bundle.Ask(p))
	}
	return out, nil
}

// Read implements bundle.Likely.
func (g *Likelihood) Read(a bundle.Ask, response []byte) (bundle.LogProb, error) {
	return readEcho(a, response)
}

// Text implements bundle.Likely.
func (g *Likelihood) Text(t bundle.Task, read []bundle.LogProb) (string, error) {
	n, want := len(t.Choices), len(t.Choices)
	if g.process.Unconditional() {
		want *= 2
	}
	if len(read) != want {
		return "", fmt.Errorf("write log probabilities: %d for %d choices, want %d", len(read), n, want)
	}
	var b strings.Builder
	for i, l := range read[:n] {
		entry := []any{l.Sum, l.Greedy}
		if g.process.Unconditional() {
			entry = append(entry, read[n+i].Sum)
		}
		text, err := json.Marshal(entry)
		if err != nil {
			return "", fmt.Errorf("write log probabilities: %w", err)
		}
		fmt.Fprintf(&b, ", %q: %s", bundle.Letter(i), text)
	}
	return "{" + strings.TrimPrefix(b.String(), ", ") + "}", nil
}

// Grade compares the likeliest choice with the target, a letter.
func (g *Likelihood) Grade(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
	if len(t.Target) == 0 {
		return bundle.Verdict{}, errNoTarget
	}
	gold, err := choiceOf(t)
	if err != nil {
		return bundle.Verdict{}, err
	}
	answers, err := g.given(t, a.Text)
	if err != nil {
		return bundle.Verdict{}, err
	}
	metrics, err := g.process.Results(g.choices(t), gold, answers)
	if err != nil {
		return bundle.Verdict{}, fmt.Errorf("compare log probabilities: %w", err)
	}
	if score, _ := metrics.Get(g.o.Metric); score == 1.0 {
		return bundle.Verdict{Outcome: bundle.Right, Score: 1, Rule: g.o.Metric + ", likeliest choice equal"}, nil
	}
	return bundle.Verdict{Outcome: bundle.Wrong, Rule: g.o.Metric + ", another choice is likelier"}, nil
}

// given reads the text of an answer: one result for each choice, and for
// acc_mutual_info then those without the prompt.
func (g *Likelihood) given(t bundle.Task, text string) ([]process.LogLikelihood, error) {
	var given map[string][]any
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		return nil, errors.New("read log probabilities: the answer holds none")
	}
	answers, alone := make([]process.LogLikelihood, len(t.Choices)), make([]process.LogLikelihood, len(t.Choices))
	for i := range answers {
		answers[i].Sum = math.Inf(-1)
		p, ok := given[bundle.Letter(i)]
		if !ok {
			continue
		}
		p = append(p, nil, nil, nil)
		sum, isSum := p[0].(float64)
		greedy, isFlag := p[1].(bool)
		without, isAlone := p[2].(float64)
		if !isSum || !isFlag || g.process.Unconditional() && !isAlone {
			return nil, fmt.Errorf("read log probabilities: choice %s has none", bundle.Letter(i))
		}
		answers[i], alone[i] = process.LogLikelihood{Sum: sum, Greedy: greedy}, process.LogLikelihood{Sum: without}
	}
	if g.process.Unconditional() {
		answers = append(answers, alone...)
	}
	return answers, nil
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
