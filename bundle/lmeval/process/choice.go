package process

import (
	"fmt"
	"slices"

	"github.com/evalrouter/evalrouter/bundle/lmeval/metric"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/numpy"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// missing is the gold index of an answer that is none of the choices.
const missing = -100

// MultipleChoice scores a document by the likelihood of each choice.
type MultipleChoice struct{ metrics []string }

// NewMultipleChoice refuses metrics that multiple_choice does not have.
func NewMultipleChoice(metrics []string) (MultipleChoice, error) {
	known := []string{
		"acc", "f1", "mcc", "acc_norm", "acc_bytes", "exact_match", "brier_score", "likelihood", "acc_mutual_info",
	}
	for _, m := range metrics {
		if !slices.Contains(known, m) {
			return MultipleChoice{}, fmt.Errorf("multiple_choice has no metric %s", m)
		}
	}
	return MultipleChoice{metrics}, nil
}

// Unconditional reports whether each choice must also be asked without its
// context; the answers to these follow the others.
func (m MultipleChoice) Unconditional() bool { return slices.Contains(m.metrics, "acc_mutual_info") }

// Results scores one document. gold is the index of a choice, the text of one,
// or a list of indices of which any may be right. An index beyond the choices
// is never right.
func (m MultipleChoice) Results(choices []string, gold any, answers []LogLikelihood) (*value.Dict, error) {
	n := len(choices)
	want := n
	if m.Unconditional() {
		want *= 2
	}
	if n == 0 || len(answers) != want {
		return nil, pycompat.Raise("ValueError", "%d answers for %d choices, want %d", len(answers), n, want)
	}
	golds, err := goldIndices(choices, gold)
	if err != nil {
		return nil, err
	}
	c := chosen{choices: choices, golds: golds, greedy: answers[:n]}
	_, c.several = gold.([]any)
	for _, a := range answers[:n] {
		c.lls = append(c.lls, a.Sum)
	}
	for _, a := range answers[n:] {
		c.alone = append(c.alone, a.Sum)
	}
	return c.results(m.metrics)
}

// chosen is one document with its answers.
type chosen struct {
	choices    []string
	golds      []int64
	several    bool
	greedy     []LogLikelihood
	lls, alone []float64
}

// gold is how the reference stores what was right.
func (c chosen) gold() any {
	if !c.several {
		return c.golds[0]
	}
	list := make([]any, len(c.golds))
	for i, g := range c.golds {
		list[i] = g
	}
	return list
}

func (c chosen) right(pred int) bool { return slices.Contains(c.golds, int64(pred)) }

func (c chosen) results(metrics []string) (*value.Dict, error) {
	out := collect()
	pred := numpy.ArgMax(c.lls)
	use := func(name string) bool { return slices.Contains(metrics, name) }
	if use("acc") {
		out.set("acc", number(c.right(pred)))
	}
	if use("f1") {
		out.set("f1", []any{c.gold(), int64(pred)})
	}
	if use("mcc") {
		out.set("mcc", []any{c.gold(), int64(pred)})
	}
	if use("acc_norm") {
		out.set("acc_norm", number(c.right(c.normed(str.Len))))
	}
	if use("acc_bytes") {
		out.set("acc_bytes", number(c.right(c.normed(func(s string) int { return len(s) }))))
	}
	if use("exact_match") {
		exact, err := c.exact()
		if err != nil {
			return nil, err
		}
		out.set("exact_match", exact)
	}
	if use("brier_score") {
		out.set("brier_score", []any{c.gold(), boxed(metric.Softmax(c.lls))})
	}
	if use("likelihood") {
		out.set("likelihood", []any{c.gold(), boxed(c.lls)})
	}
	if use("acc_mutual_info") {
		gain := make([]float64, len(c.lls))
		for i := range gain {
			gain[i] = c.lls[i] - c.alone[i]
		}
		out.set("acc_mutual_info", number(c.right(numpy.ArgMax(gain))))
	}
	return out.d, nil
}

// normed is the likeliest choice per unit of length. An empty choice divides
// by zero, as in numpy.
func (c chosen) normed(length func(string) int) int {
	xs := make([]float64, len(c.lls))
	for i, x := range c.lls {
		xs[i] = x / float64(length(c.choices[i]))
	}
	return numpy.ArgMax(xs)
}

// exact is 1 if a gold choice is what the model would say by itself. Negative
// indices count from the end.
func (c chosen) exact() (int64, error) {
	hit := false
	for _, g := range c.golds {
		if g == missing {
			continue
		}
		if g < 0 {
			g += int64(len(c.greedy))
		}
		if g < 0 {
			return 0, pycompat.Raise("IndexError", "gold index before the first choice")
		}
		hit = hit || c.greedy[g].Greedy
	}
	return integer(hit), nil
}

func boxed(xs []float64) []any {
	out := make([]any, len(xs))
	for i, x := range xs {
		out[i] = x
	}
	return out
}

// goldIndices reads what doc_to_target gave.
func goldIndices(choices []string, gold any) ([]int64, error) {
	one := func(v any) (int64, error) {
		if b, ok := v.(bool); ok {
			v = integer(b)
		}
		switch v := v.(type) {
		case int64:
			if v >= int64(len(choices)) {
				return missing, nil
			}
			return v, nil
		case string:
			if i := slices.Index(choices, v); i >= 0 {
				return int64(i), nil
			}
			return missing, nil
		}
		return 0, pycompat.Raise("TypeError", "a target of type %s names no choice", value.TypeName(v))
	}
	list, ok := gold.([]any)
	if !ok {
		g, err := one(gold)
		return []int64{g}, err
	}
	var out []int64
	for _, v := range list {
		if _, text := v.(string); text {
			return nil, pycompat.Raise("TypeError", "a list of targets holds text, not indices")
		}
		g, err := one(v)
		if err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}
