package request

import (
	"sort"

	"github.com/evalrouter/evalrouter/bundle/lmeval/process"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// LogLikelihoods reads the response of a completions route that echoed the
// prompt and generated one token more: one result for each choice, in order of
// index. contexts holds how many tokens of each prompt are context.
//
// A continuation is greedy if each of its tokens is as likely as the likeliest
// at its position.
func LogLikelihoods(response *value.Dict, contexts []int) ([]process.LogLikelihood, error) {
	raw, _ := response.Get("choices")
	choices, ok := raw.([]any)
	if !ok {
		return nil, pycompat.Raise("KeyError", "the response has no choices")
	}
	if len(choices) != len(contexts) {
		return nil, pycompat.Raise("ValueError", "%d choices for %d prompts", len(choices), len(contexts))
	}
	sorted := make([]*value.Dict, len(choices))
	for i, c := range choices {
		if sorted[i], ok = c.(*value.Dict); !ok {
			return nil, pycompat.Raise("TypeError", "choice %d is no object", i)
		}
	}
	sort.SliceStable(sorted, func(i, j int) bool { return index(sorted[i]) < index(sorted[j]) })
	out := make([]process.LogLikelihood, len(sorted))
	for i, c := range sorted {
		var err error
		if out[i], err = continuation(c, contexts[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func index(choice *value.Dict) float64 {
	v, _ := choice.Get("index")
	f, _ := value.Float(v)
	return f
}

// continuation sums what follows the context, without the generated token at
// the end.
func continuation(choice *value.Dict, context int) (process.LogLikelihood, error) {
	p, err := readProbs(choice)
	if err != nil {
		return process.LogLikelihood{}, err
	}
	if context < 0 || context > len(p.own)-1 {
		return process.LogLikelihood{}, pycompat.Raise("IndexError", "a context of %d tokens in a prompt of %d", context, len(p.own)-1)
	}
	return p.sum(context, len(p.own)-1)
}

// probs is what a choice says of each token: its log-probability, and those of
// the likeliest tokens at its place.
type probs struct{ own, best []any }

func readProbs(choice *value.Dict) (probs, error) {
	raw, _ := choice.Get("logprobs")
	d, ok := raw.(*value.Dict)
	if !ok {
		return probs{}, pycompat.Raise("KeyError", "a choice has no logprobs")
	}
	own, _ := d.Get("token_logprobs")
	best, _ := d.Get("top_logprobs")
	var p probs
	var ok1, ok2 bool
	p.own, ok1 = own.([]any)
	p.best, ok2 = best.([]any)
	if !ok1 || !ok2 || len(p.own) != len(p.best) {
		return probs{}, pycompat.Raise("TypeError", "token_logprobs and top_logprobs are no lists of one length")
	}
	return p, nil
}

// sum adds up the tokens [from, to).
func (p probs) sum(from, to int) (process.LogLikelihood, error) {
	out := process.LogLikelihood{Greedy: true}
	var sum number.Adder
	for i := from; i < to; i++ {
		own, ok := value.Float(p.own[i])
		if !ok {
			return out, pycompat.Raise("TypeError", "token %d has no log-probability", i)
		}
		sum.Add(own)
		top, ok := p.best[i].(*value.Dict)
		if !ok || top.Len() == 0 {
			return out, pycompat.Raise("TypeError", "token %d has no likeliest tokens", i)
		}
		out.Greedy = out.Greedy && own == likeliest(top)
	}
	out.Sum = sum.Sum()
	return out, nil
}

func likeliest(top *value.Dict) float64 {
	_, first := top.At(0)
	best, _ := value.Float(first)
	for _, v := range top.All() {
		if f, ok := value.Float(v); ok && f > best {
			best = f
		}
	}
	return best
}
