package numpy

import (
	"math"
	"slices"
)

const (
	blockSize = 128
	unrolled  = 8
)

// Sum is np.sum of a contiguous array of doubles: pairwise, in blocks of 128
// with eight accumulators. The order decides the last bits of the result.
func Sum(xs []float64) float64 {
	n := len(xs)
	if n < unrolled {
		sum := 0.0
		if n > 0 {
			sum = math.Copysign(0, -1) // keeps a sum of negative zeros negative
		}
		for _, x := range xs {
			sum += x
		}
		return sum
	}
	if n <= blockSize {
		return sumBlock(xs)
	}
	half := n / 2
	half -= half % unrolled
	return Sum(xs[:half]) + Sum(xs[half:])
}

func sumBlock(xs []float64) float64 {
	var r [unrolled]float64
	copy(r[:], xs)
	i := unrolled
	for ; i+unrolled <= len(xs); i += unrolled {
		for k := range r {
			r[k] += xs[i+k]
		}
	}
	sum := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	for _, x := range xs[i:] {
		sum += x
	}
	return sum
}

// Mean is np.mean; NaN for no values.
func Mean(xs []float64) float64 { return Sum(xs) / float64(len(xs)) }

// Var is np.var(xs, ddof=ddof): the mean of the squared deviations, divided by
// n - ddof. It is NaN or infinite when that is not positive, as in numpy,
// which takes a negative divisor for 0.
func Var(xs []float64, ddof int) float64 {
	mean := Mean(xs)
	squares := make([]float64, len(xs))
	for i, x := range xs {
		d := x - mean
		squares[i] = d * d
	}
	return Sum(squares) / float64(max(len(xs)-ddof, 0))
}

// Std is np.std(xs, ddof=ddof).
func Std(xs []float64, ddof int) float64 { return math.Sqrt(Var(xs, ddof)) }

// Quantile is np.quantile(xs, q) with linear interpolation, 0 <= q <= 1. It is
// NaN for no values and when a value is NaN. xs is not changed.
func Quantile(xs []float64, q float64) float64 {
	sorted := slices.Clone(xs)
	slices.Sort(sorted)
	return SortedQuantile(sorted, q)
}

// SortedQuantile is Quantile for values that slices.Sort has sorted.
func SortedQuantile(sorted []float64, q float64) float64 {
	n := len(sorted)
	if n == 0 || math.IsNaN(sorted[0]) {
		return math.NaN()
	}
	at := float64(n-1) * q
	low := math.Floor(at)
	i := min(max(int(low), 0), n-1)
	a, b := sorted[i], sorted[min(i+1, n-1)]
	// Interpolates from the nearer end, so that t = 1 gives b exactly.
	t, diff := at-low, b-a
	if t >= 0.5 {
		return b - diff*(1-t)
	}
	return a + diff*t
}

// ArgMax is np.argmax: the first maximum, or the first NaN. It panics for no
// values, where numpy raises.
func ArgMax(xs []float64) int {
	best := 0
	for i := range xs {
		if math.IsNaN(xs[i]) {
			return i
		}
		if xs[i] > xs[best] {
			best = i
		}
	}
	if len(xs) == 0 {
		panic("numpy: argmax of no values")
	}
	return best
}
