package metric

import (
	"math"
	"slices"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/numpy"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Mean is the sum of numbers over their count. It raises ZeroDivisionError for
// no items.
func Mean(items []any) (float64, error) {
	if len(items) == 0 {
		return 0, pycompat.Raise("ZeroDivisionError", "mean of no items")
	}
	sum, err := value.Sum(items)
	if err != nil {
		return 0, err
	}
	return value.Divide(sum, int64(len(items)))
}

// SampleStddev is the standard deviation with n-1; one item raises
// ZeroDivisionError.
func SampleStddev(items []any) (float64, error) { return stddev(items, 1) }

// PopStddev is the standard deviation with n.
func PopStddev(items []any) (float64, error) { return stddev(items, 0) }

func stddev(items []any, ddof int) (float64, error) {
	mean, err := Mean(items)
	if err != nil {
		return 0, err
	}
	xs, err := floats(items)
	if err != nil {
		return 0, err
	}
	return spread(xs, mean, ddof)
}

func spread(xs []float64, mean float64, ddof int) (float64, error) {
	if len(xs) <= ddof {
		return 0, pycompat.Raise("ZeroDivisionError", "spread of %d items", len(xs))
	}
	var sum number.Adder
	for _, x := range xs {
		sum.Add((x - mean) * (x - mean))
	}
	return math.Sqrt(sum.Sum() / float64(len(xs)-ddof)), nil
}

// MeanStderr is the standard error of the mean.
func MeanStderr(items []any) (float64, error) {
	s, err := SampleStddev(items)
	return s / math.Sqrt(float64(len(items))), err
}

// median is the upper middle of the sorted items.
func median(items []any) (statistic, error) {
	xs, err := floats(items)
	return func(pick []int) (float64, error) {
		if len(pick) == 0 {
			return 0, pycompat.Raise("IndexError", "median of no items")
		}
		sorted := make([]float64, len(pick))
		for i, p := range pick {
			sorted[i] = xs[p]
		}
		slices.Sort(sorted)
		return sorted[len(sorted)/2], nil
	}, err
}

// nanmean ignores NaN; it is NaN if nothing is left.
func nanmean(items []any) (statistic, error) {
	xs, err := floats(items)
	return func(pick []int) (float64, error) {
		known := make([]float64, len(pick))
		n := 0
		for i, p := range pick {
			if !math.IsNaN(xs[p]) {
				known[i] = xs[p]
				n++
			}
		}
		return numpy.Sum(known) / float64(n), nil
	}, err
}

// perplexity is exp of the negated mean log-likelihood.
func perplexity(items []any) (statistic, error) {
	xs, err := floats(items)
	return func(pick []int) (float64, error) {
		if len(pick) == 0 {
			return 0, pycompat.Raise("ZeroDivisionError", "perplexity of no items")
		}
		var sum number.Adder
		for _, p := range pick {
			sum.Add(xs[p])
		}
		return exp(-sum.Sum() / float64(len(pick)))
	}, err
}

// exp is math.exp, which raises where the result would be infinite.
func exp(x float64) (float64, error) {
	y := math.Exp(x)
	if math.IsInf(y, 1) && !math.IsInf(x, 1) {
		return 0, pycompat.Raise("OverflowError", "exp of %g", x)
	}
	return y, nil
}

// WeightedMean is the sum of the first members over the sum of the second.
func WeightedMean(items []any) (float64, error) {
	a, b, err := columns(items)
	if err != nil {
		return 0, err
	}
	top, err := value.Sum(a)
	if err != nil {
		return 0, err
	}
	bottom, err := value.Sum(b)
	if err != nil {
		return 0, err
	}
	return value.Divide(top, bottom)
}

// WeightedPerplexity is exp of the negated log-likelihood per unit.
func WeightedPerplexity(items []any) (float64, error) {
	m, err := WeightedMean(items)
	if err != nil {
		return 0, err
	}
	return exp(-m)
}

// BitsPerByte is the negated log-likelihood per unit in bits.
func BitsPerByte(items []any) (float64, error) {
	m, err := WeightedMean(items)
	return -m / math.Ln2, err
}

// Softmax is exp(x) over its sum, shifted by the largest x.
func Softmax(xs []float64) []float64 {
	if len(xs) == 0 {
		return nil
	}
	top := slices.Max(xs)
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = math.Exp(x - top)
	}
	sum := numpy.Sum(out)
	for i := range out {
		out[i] /= sum
	}
	return out
}
