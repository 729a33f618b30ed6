package request

import (
	"math"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/lmeval/process"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Echo reads the response to one prompt, p's context and continuation in one
// text, from a completions route that echoed it with log-probabilities.
//
// lm-eval counts the tokens of the context with the model's own tokenizer,
// which is not here. The echoed tokens say the same: a token belongs to the
// context if it begins before the context's last character that is no white
// space has ended. What was generated after the prompt is never read, however
// much it is.
func Echo(response string, p Pair) (process.LogLikelihood, error) {
	v, err := value.Loads(response)
	if err != nil {
		return process.LogLikelihood{}, err
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return process.LogLikelihood{}, pycompat.Raise("TypeError", "the response is no object")
	}
	raw, _ := d.Get("choices")
	choices, ok := raw.([]any)
	if !ok || len(choices) != 1 {
		return process.LogLikelihood{}, pycompat.Raise("ValueError", "the response to one prompt has not one choice")
	}
	choice, ok := choices[0].(*value.Dict)
	if !ok {
		return process.LogLikelihood{}, pycompat.Raise("TypeError", "the choice is no object")
	}
	probs, err := readProbs(choice)
	if err != nil {
		return process.LogLikelihood{}, err
	}
	tokens, ok := tokenTexts(choice)
	if !ok || len(tokens) != len(probs.own) {
		return process.LogLikelihood{}, pycompat.Raise("TypeError", "tokens and token_logprobs are no lists of one length")
	}
	from, to, ok := Bounds(tokens, p)
	if !ok {
		return process.LogLikelihood{}, pycompat.Raise("ValueError", "the echoed tokens do not spell the continuation")
	}
	out, err := probs.sum(from, to)
	if err == nil && (math.IsNaN(out.Sum) || math.IsInf(out.Sum, 0)) {
		err = pycompat.Raise("ValueError", "a log-probability is no finite number")
	}
	return out, err
}

func tokenTexts(choice *value.Dict) ([]string, bool) {
	raw, _ := choice.Get("logprobs")
	probs, ok := raw.(*value.Dict)
	if !ok {
		return nil, false
	}
	list, _ := probs.Get("tokens")
	items, ok := list.([]any)
	out := make([]string, len(items))
	for i, item := range items {
		s, isText := item.(string)
		if !isText {
			return nil, false
		}
		out[i] = s
	}
	return out, ok
}

// Bounds finds the continuation among the tokens of an echoed prompt:
// tokens[from:to], at least one of them. ok is false when the tokens do not
// spell it.
//
// A first token that is not in the prompt is a mark which the server put before
// it. Where the texts of tokens are no exact pieces of the prompt, as of those
// that are parts of one character, the continuation is looked for at the end,
// before the one generated token, which is where lm-eval looks.
func Bounds(tokens []string, p Pair) (from, to int, ok bool) {
	p = p.Split()
	for first := range min(2, len(tokens)) {
		if from, to, ok = forward(tokens, first, p); ok {
			return from, to, from < to
		}
	}
	return backward(tokens, p)
}

func forward(tokens []string, first int, p Pair) (from, to int, ok bool) {
	whole, at := p.Context+p.Continuation, 0
	from = -1
	for i := first; i < len(tokens); i++ {
		if i == 0 && tokens[i] == "" {
			continue // a mark without a text
		}
		if from < 0 && at >= len(p.Context) {
			from = i
		}
		if at == len(whole) {
			return from, i, true
		}
		if !strings.HasPrefix(whole[at:], tokens[i]) {
			return 0, 0, false
		}
		at += len(tokens[i])
	}
	if from < 0 {
		from = len(tokens)
	}
	return from, len(tokens), at == len(whole)
}

func backward(tokens []string, p Pair) (from, to int, ok bool) {
	to = len(tokens) - 1
	got := ""
	for from = to - 1; from >= 0; from-- {
		got = tokens[from] + got
		switch {
		case got == p.Continuation:
			return from, to, true
		case strings.HasSuffix(p.Continuation, got):
		default: // a token that holds the end of the context too is the context's
			return from + 1, to, from+1 < to && strings.HasSuffix(got, p.Continuation)
		}
	}
	return 0, 0, false
}
