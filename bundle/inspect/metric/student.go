package metric

import "math"

// Quantile is the p-quantile of Student's t with the given degrees of freedom,
// 0 < p < 1, found by bisection on the distribution function.
func Quantile(p, freedom float64) float64 {
	if p == 0.5 {
		return 0
	}
	if p < 0.5 {
		return -Quantile(1-p, freedom)
	}
	low, high := 0.0, 1.0
	for upperTail(high, freedom) > 1-p && high < 1e300 {
		low, high = high, high*2
	}
	for {
		mid := low + (high-low)/2
		if mid <= low || mid >= high {
			return mid
		}
		if upperTail(mid, freedom) > 1-p {
			low = mid
		} else {
			high = mid
		}
	}
}

// upperTail is the probability of a value above t >= 0.
func upperTail(t, freedom float64) float64 {
	return halfBeta(freedom/(freedom+t*t), t*t/(freedom+t*t), freedom/2) / 2
}

// halfBeta is the regularised incomplete beta function I_x(a, 1/2); y is 1-x,
// handed over so that it keeps its digits when x is near 1.
func halfBeta(x, y, a float64) float64 {
	switch {
	case x <= 0:
		return 0
	case y <= 0:
		return 1
	}
	front := gammaRatio(a) / math.Sqrt(math.Pi) * math.Exp(a*logOf(x, y)) * math.Sqrt(y)
	if x < (a+1)/(a+2.5) {
		return front * continued(x, a, 0.5) / a
	}
	return 1 - 2*front*continued(y, 0.5, a)
}

// gammaRatio is gamma(a+1/2)/gamma(a), by its series for large a. Logarithms of
// the two would lose the digits that they have in common.
func gammaRatio(a float64) float64 {
	shift := 1.0
	for ; a < 40; a++ {
		shift *= a / (a + 0.5)
	}
	z := 1 / a
	series := 1 + z*(-1./8+z*(1./128+z*(5./1024+z*(-21./32768+z*(-399./262144+z*(869./4194304))))))
	return shift * math.Sqrt(a) * series
}

// logOf is log x, by way of its complement when that is the small one.
func logOf(x, complement float64) float64 {
	if complement < 0.5 {
		return math.Log1p(-complement)
	}
	return math.Log(x)
}

// continued is the continued fraction of the incomplete beta function, by
// Lentz's method.
func continued(x, a, b float64) float64 {
	const tiny, steps = 1e-300, 10_000
	nonzero := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/nonzero(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m < steps; m++ {
		n := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / nonzero(1+n*d)
		c = nonzero(1 + n/c)
		h *= d * c
		n = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / nonzero(1+n*d)
		c = nonzero(1 + n/c)
		h *= d * c
		if math.Abs(d*c-1) < 1e-16 {
			break
		}
	}
	return h
}
