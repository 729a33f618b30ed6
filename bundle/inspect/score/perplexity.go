package score

import (
	"math"

	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Perplexity scores the log probabilities that a model gave to the tokens of a
// prompt. The value is the mean negative log-likelihood. Metadata carries
// num_tokens, sum_log_probs and perplexity for the metrics. Without tokens the
// sample is unscored.
func Perplexity(logProbs []float64) Score { return tail(logProbs, len(logProbs)) }

// TargetPerplexity is Perplexity of the last n tokens, those of the target; of
// the last one if n is nil. Unscored if there are not so many.
func TargetPerplexity(logProbs []float64, n *int) Score {
	if n == nil {
		return tail(logProbs, 1)
	}
	return tail(logProbs, *n)
}

func tail(logProbs []float64, count int) Score {
	if count <= 0 || count > len(logProbs) {
		return Unscored("", "not enough prompt log probabilities")
	}
	sum := number.Sum(logProbs[len(logProbs)-count:])
	nll := -sum / float64(count)
	return Score{Value: nll, Metadata: value.DictOf(
		"num_tokens", int64(count), "sum_log_probs", sum, "perplexity", math.Exp(nll))}
}
