// Package metric is how Inspect turns scores into results: reducers join the
// epochs of a sample, metrics sum up the samples, and Results does both as the
// reference does, names and unscored samples included.
//
// Sums follow the reference exactly: accuracy adds one by one, mean and the
// errors are numpy's pairwise sums, the mean reducer is an exact rational. A
// bootstrap needs a seed here, where the reference draws from an unseeded
// generator: its results agree with a live run of Inspect within their own
// noise, and with every repetition of ours to the last bit.
package metric

import (
	"math"

	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/numpy"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Sample is the score of one sample, of one epoch or reduced. ID is a str or an
// int of package value.
type Sample struct {
	ID       any
	Score    score.Score
	Metadata *value.Dict
}

// Metric sums up samples. Compute returns a float64, or a *value.Dict from text
// to float64 for a metric with several figures. Unscored samples are the
// caller's to leave out.
type Metric interface {
	Name() string
	Compute(samples []Sample) (any, error)
}

// Map is the mapping of values to numbers that metrics and reducers share; nil
// is the default of the reference.
type Map = *score.ToFloat

func mapping(m Map) score.ToFloat {
	if m != nil {
		return *m
	}
	return score.DefaultToFloat()
}

func float(m Map, v any) float64 {
	f, _ := mapping(m).Float(v)
	return f
}

func floats(m Map, samples []Sample) []float64 {
	out := make([]float64, len(samples))
	for i := range samples {
		out[i] = float(m, samples[i].Score.Value)
	}
	return out
}

// Accuracy is the sum of the values over their number, 0 for none.
type Accuracy struct{ Map Map }

// Name is accuracy.
func (Accuracy) Name() string { return "accuracy" }

// Compute adds one by one, in order.
func (a Accuracy) Compute(samples []Sample) (any, error) {
	if len(samples) == 0 {
		return 0.0, nil
	}
	return number.PlainSum(floats(a.Map, samples)) / float64(len(samples)), nil
}

// Mean is the mean of the values, 0 for none.
type Mean struct{ Map Map }

// Name is mean.
func (Mean) Name() string { return "mean" }

// Compute adds pairwise.
func (m Mean) Compute(samples []Sample) (any, error) {
	return mean(floats(m.Map, samples)), nil
}

func mean(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	return numpy.Mean(xs)
}

// Std is the sample standard deviation, 0 for fewer than two samples.
type Std struct{ Map Map }

// Name is std.
func (Std) Name() string { return "std" }

// Compute divides by n-1.
func (s Std) Compute(samples []Sample) (any, error) {
	if len(samples) < 2 {
		return 0.0, nil
	}
	return numpy.Std(floats(s.Map, samples), 1), nil
}

// Var is the sample variance, 0 for fewer than two samples.
type Var struct{ Map Map }

// Name is var.
func (Var) Name() string { return "var" }

// Compute divides by n-1.
func (v Var) Compute(samples []Sample) (any, error) {
	if len(samples) < 2 {
		return 0.0, nil
	}
	return numpy.Var(floats(v.Map, samples), 1), nil
}

// perplexityParts reads what score.Perplexity left in the metadata; a sample
// without it counts as having no tokens.
func perplexityParts(s Sample) (tokens int, sum float64) {
	if s.Score.Metadata == nil {
		return 0, 0
	}
	n, _ := s.Score.Metadata.Get("num_tokens")
	lp, _ := s.Score.Metadata.Get("sum_log_probs")
	f, ok := value.Float(n)
	sum, known := value.Float(lp)
	if !ok || !known {
		return 0, 0
	}
	return int(f), sum
}

// PerplexityPerToken weighs samples by their tokens.
type PerplexityPerToken struct{}

// Name is perplexity_per_token.
func (PerplexityPerToken) Name() string { return "perplexity_per_token" }

// Compute is NaN when there are no tokens.
func (PerplexityPerToken) Compute(samples []Sample) (any, error) {
	tokens, sum := 0, 0.0
	for _, s := range samples {
		n, lp := perplexityParts(s)
		tokens, sum = tokens+n, sum+lp
	}
	if tokens == 0 {
		return math.NaN(), nil
	}
	return exp(-sum / float64(tokens))
}

// PerplexityPerSeq weighs all samples alike.
type PerplexityPerSeq struct{}

// Name is perplexity_per_seq.
func (PerplexityPerSeq) Name() string { return "perplexity_per_seq" }

// Compute is NaN when no sample has tokens.
func (PerplexityPerSeq) Compute(samples []Sample) (any, error) {
	var each []float64
	for _, s := range samples {
		if n, sum := perplexityParts(s); n > 0 {
			each = append(each, -sum/float64(n))
		}
	}
	if len(each) == 0 {
		return math.NaN(), nil
	}
	return exp(number.Sum(each) / float64(len(each)))
}

// exp is math.exp, which raises where Go's gives an infinity.
func exp(x float64) (any, error) {
	f := math.Exp(x)
	if math.IsInf(f, 1) && !math.IsInf(x, 1) {
		return nil, pycompat.Raise("OverflowError", "math range error")
	}
	return f, nil
}
