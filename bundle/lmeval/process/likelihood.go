package process

import (
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Likelihood gives the metrics of output type loglikelihood.
func Likelihood(a LogLikelihood) *value.Dict {
	out := collect()
	out.set("perplexity", a.Sum)
	out.set("acc", integer(a.Greedy))
	return out.d
}

// Rolling gives the metrics of output type loglikelihood_rolling: the
// log-likelihood of a whole text with its number of words and of UTF-8 bytes.
// An empty text has one word and no bytes.
func Rolling(text string, sum float64) *value.Dict {
	out := collect()
	out.set("word_perplexity", []any{sum, int64(words(text))})
	out.set("byte_perplexity", []any{sum, int64(len(text))})
	out.set("bits_per_byte", []any{sum, int64(len(text))})
	return out.d
}

// words counts the parts between runs of white space, empty ones at the ends
// included.
func words(text string) int {
	n, inside := 1, false
	for _, r := range str.Runes(text) {
		space := str.Of(r).Space()
		if space && !inside {
			n++
		}
		inside = space
	}
	return n
}
