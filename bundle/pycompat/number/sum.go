package number

import (
	"math"
	"math/big"
	"slices"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
)

// Sum is sum(xs) for floats in CPython 3.12 and later, which carries
// Neumaier's compensation along. The sum of nothing is 0.
func Sum(xs []float64) float64 {
	var a Adder
	for _, x := range xs {
		a.Add(x)
	}
	return a.Sum()
}

// Adder is Sum for values that come one by one. The zero value is an empty sum.
type Adder struct {
	sum, c  float64
	started bool
}

// Start begins the float part of a sum whose first summands were integers
// with the total n: the first float is added to it without compensation.
func (a *Adder) Start(n, first float64) { a.sum, a.c, a.started = n+first, 0, true }

// Add adds a float.
func (a *Adder) Add(x float64) {
	if !a.started {
		a.Start(0, x)
		return
	}
	t := a.sum + x
	if math.Abs(a.sum) >= math.Abs(x) {
		a.c += (a.sum - t) + x
	} else {
		a.c += (x - t) + a.sum
	}
	a.sum = t
}

// AddInt adds an integer after the first float: plainly, as Python does.
func (a *Adder) AddInt(n int64) { a.sum += float64(n) }

// Sum returns the sum so far, with the compensation if that is finite.
func (a *Adder) Sum() float64 {
	if a.c != 0 && !math.IsInf(a.c, 0) && !math.IsNaN(a.c) {
		return a.sum + a.c
	}
	return a.sum
}

// PlainSum is sum(xs) before CPython 3.12, and any loop of +=.
func PlainSum(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum
}

// FSum is math.fsum(xs): the exact sum, rounded once.
func FSum(xs []float64) (float64, error) {
	var partials []float64
	special, infinite := 0.0, 0.0
	for _, x := range xs {
		given := x
		kept := 0
		for _, y := range partials {
			if math.Abs(x) < math.Abs(y) {
				x, y = y, x
			}
			hi := x + y
			if lo := y - (hi - x); lo != 0 {
				partials[kept] = lo
				kept++
			}
			x = hi
		}
		partials = partials[:kept]
		if math.IsInf(x, 0) || math.IsNaN(x) {
			if !math.IsInf(given, 0) && !math.IsNaN(given) {
				return 0, pycompat.Raise("OverflowError", "intermediate overflow in fsum")
			}
			if math.IsInf(given, 0) {
				infinite += given
			}
			special += given
			partials = partials[:0]
		} else if x != 0 {
			partials = append(partials, x)
		}
	}
	if special != 0 {
		if math.IsNaN(infinite) {
			return 0, pycompat.Raise("ValueError", "-inf + inf in fsum")
		}
		return special, nil
	}
	return roundPartials(partials), nil
}

// roundPartials adds partials, which do not overlap and grow in size, so that
// the result is the exact sum rounded half to even.
func roundPartials(partials []float64) float64 {
	n := len(partials)
	if n == 0 {
		return 0
	}
	n--
	hi, lo := partials[n], 0.0
	for n > 0 && lo == 0 {
		n--
		x, y := hi, partials[n]
		hi = x + y
		lo = y - (hi - x)
	}
	if n > 0 && (lo < 0) == (partials[n-1] < 0) && lo != 0 {
		// Half-way as far as lo tells: what is left decides.
		y := lo * 2
		if x := hi + y; y == x-hi {
			hi = x
		}
	}
	return hi
}

// Mean is statistics.mean(xs): the exact sum over the count, rounded once.
func Mean(xs []float64) (float64, error) {
	if len(xs) == 0 {
		return 0, pycompat.Raise("StatisticsError", "mean requires at least one data point")
	}
	total, term := new(big.Rat), new(big.Rat)
	for _, x := range xs {
		if term.SetFloat64(x) == nil { // not finite: floats decide
			return PlainSum(xs) / float64(len(xs)), nil
		}
		total.Add(total, term)
	}
	mean, _ := total.Quo(total, new(big.Rat).SetInt64(int64(len(xs)))).Float64()
	return mean, nil
}

// Median is statistics.median(xs): the middle, or half the sum of the two.
func Median(xs []float64) (float64, error) {
	if len(xs) == 0 {
		return 0, pycompat.Raise("StatisticsError", "no median for empty data")
	}
	sorted := slices.Clone(xs)
	slices.Sort(sorted)
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2], nil
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2, nil
}
