package stat

import "math"

// Interval is a range of values of a parameter.
type Interval struct{ Lower, Upper float64 }

// Within is the part of the interval between two bounds that the parameter
// cannot pass, such as 0 and 1 for a share. Beyond them it is the bound.
func (i Interval) Within(lower, upper float64) Interval {
	return Interval{min(max(i.Lower, lower), upper), min(max(i.Upper, lower), upper)}
}

// Wilson is the score interval for a proportion after k successes in n
// trials (E. B. Wilson, 1927), without continuity correction. Confidence is
// between 0 and 1, such as 0.95. It stays within [0,1] and has a width above
// zero even at k = 0 and k = n.
//
// With n = 0 it is [0,1]: nothing is known. Counts that are impossible give
// NaN.
func Wilson(k, n int, confidence float64) Interval {
	if k < 0 || n < 0 || k > n || !(confidence > 0 && confidence < 1) {
		return Interval{math.NaN(), math.NaN()}
	}
	if n == 0 {
		return Interval{0, 1}
	}
	z := criticalValue(confidence)
	upper := wilsonUpper(float64(k), float64(n), z)
	// The lower bound is the upper bound of the failures, mirrored: neither
	// end suffers from cancellation at its own extreme.
	lower := 1 - wilsonUpper(float64(n-k), float64(n), z)
	if k == 0 {
		lower = 0
	}
	if k == n {
		upper = 1
	}
	return Interval{lower, upper}
}

func wilsonUpper(k, n, z float64) float64 {
	z2 := z * z
	return (k + z2/2 + z*math.Sqrt(k*(n-k)/n+z2/4)) / (n + z2)
}

// Newcombe is the interval for the difference p1-p2 of two independent
// proportions, combined from their Wilson intervals (R. G. Newcombe, 1998,
// method 10). It is not for two models on the same tasks: their answers are
// paired, see Pairs.
func Newcombe(k1, n1, k2, n2 int, confidence float64) Interval {
	a, b := Wilson(k1, n1, confidence), Wilson(k2, n2, confidence)
	if n1 == 0 || n2 == 0 {
		return Interval{a.Lower - b.Upper, a.Upper - b.Lower}
	}
	p1, p2 := float64(k1)/float64(n1), float64(k2)/float64(n2)
	d := p1 - p2
	return Interval{
		Lower: d - math.Hypot(p1-a.Lower, b.Upper-p2),
		Upper: d + math.Hypot(a.Upper-p1, p2-b.Lower),
	}
}

// criticalValue is the two-sided z of a confidence.
func criticalValue(confidence float64) float64 { return -Quantile((1 - confidence) / 2) }
