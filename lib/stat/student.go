package stat

import (
	"fmt"
	"math"
)

// maxDF bounds the degrees of freedom. Beyond it t is the normal distribution
// to the last bit.
const maxDF = 1e15

func checkDF(df float64) error {
	if !(df >= 1 && df <= maxDF) {
		return fmt.Errorf("use %v degrees of freedom: %w", df, Impossible)
	}
	return nil
}

// TCDF is the share of Student's t distribution with df degrees of freedom
// that lies at or below t: I(df/(df+t²); df/2, ½)/2 on the left side, with I
// the regularised incomplete beta function (DLMF 8.17, Abramowitz and Stegun
// 26.7.1). df is at least 1 and need not be whole. It is Impossible for a df
// below 1 or above 1e15 and for t not a number.
func TCDF(t, df float64) (float64, error) {
	if err := checkDF(df); err != nil {
		return 0, err
	}
	switch {
	case math.IsNaN(t):
		return 0, fmt.Errorf("take the share below %v: %w", t, Impossible)
	case t <= 0:
		return tTail(-t, df), nil
	}
	return 1 - tTail(t, df), nil
}

// TQuantile is the t below which a share p of Student's t distribution with
// df degrees of freedom lies. p lies strictly between 0 and 1, df between 1
// and 1e15; anything else is Impossible, and so is a result that a float64
// cannot hold. Both tails are equally precise.
func TQuantile(p, df float64) (float64, error) {
	if err := checkDF(df); err != nil {
		return 0, err
	}
	if !(p > 0 && p < 1) {
		return 0, fmt.Errorf("take the t quantile of %v: %w", p, Impossible)
	}
	q, sign := 1-p, 1.0
	if p < 0.5 {
		q, sign = p, -1
	}
	t := tUpper(q, df)
	if !finite(t) {
		return 0, fmt.Errorf("hold the t quantile of %v in a float64: %w", p, Impossible)
	}
	return sign * t, nil
}

// tUpper is the t ≥ 0 with a share q ≤ ½ above it.
func tUpper(q, df float64) float64 {
	switch {
	case q == 0.5:
		return 0
	case df == 1:
		return 1 / math.Tan(math.Pi*q)
	case df == 2:
		return (1 - 2*q) / math.Sqrt(2*q*(1-q))
	case q > 0.25:
		return tNearCentre(0.5-q, df)
	}
	// In ln t the logarithm of the tail falls and is concave. Newton's first
	// step leads from the left of the root to its right at most, the others
	// approach it from there.
	want := math.Log(q)
	u := math.Log(-Quantile(q))
	for range 100 {
		log, slope := tLogTail(math.Exp(u), df)
		step := (log - want) / slope
		u += step
		if math.Abs(step) < 1e-15 {
			break
		}
	}
	return math.Exp(u)
}

// tLogTail is ln P(T > t) and how fast it falls in ln t, for t > 0. It does
// not underflow where the tail itself would.
func tLogTail(t, df float64) (log, slope float64) {
	x, y, negLog := tParts(t, df)
	if central(x, df) {
		tail := 0.5 - tCentre(t, df)
		return math.Log(tail), t * tDensity(t, df) / tail
	}
	// t·density/tail shortens to 2 over the fraction.
	f := betaTail(df/2, 0.5, x, y)
	return math.Log(math.Sqrt(y/math.Pi)*gammaStep(df/2)/2*f) - negLog*df/2, 2 / f
}

// tNearCentre is the t with a share r between 0 and t. That share is concave
// in t, so Newton's steps approach the root from the left.
func tNearCentre(r, df float64) float64 {
	t := r / tDensity(0, df)
	for range 100 {
		step := (r - tCentre(t, df)) / tDensity(t, df)
		t += step
		if math.Abs(step) < 1e-16*t {
			break
		}
	}
	return t
}

// tParts gives x = df/(df+t²), 1-x and -ln x, each without cancellation.
func tParts(t, df float64) (x, y, negLog float64) {
	w := t / math.Sqrt(df)
	if w > 1e8 {
		negLog = 2 * math.Log(w)
		return math.Exp(-negLog), 1, negLog
	}
	return 1 / (1 + w*w), w * w / (1 + w*w), math.Log1p(w * w)
}

// central says that t is near enough to zero for the series of the centre;
// farther out the fraction of the tail is faster. The border is near t² = 3.
func central(x, df float64) bool { return x >= (df/2+1)/(df/2+2.5) }

// tTail is P(T > t) for t ≥ 0.
func tTail(t, df float64) float64 {
	if math.IsInf(t, 1) {
		return 0
	}
	x, y, negLog := tParts(t, df)
	if central(x, df) {
		return 0.5 - tCentre(t, df)
	}
	return betaFactor(y, negLog, df) / 2 * betaTail(df/2, 0.5, x, y)
}

// tCentre is P(0 < T < t) for a finite t ≥ 0.
func tCentre(t, df float64) float64 {
	x, y, negLog := tParts(t, df)
	if !central(x, df) {
		return 0.5 - tTail(t, df)
	}
	return betaFactor(y, negLog, df) / 2 * betaCentre(df/2, y)
}

// betaFactor is x^(df/2) y^½ / B(df/2, ½).
func betaFactor(y, negLog, df float64) float64 {
	return math.Exp(-negLog*df/2) * math.Sqrt(y/math.Pi) * gammaStep(df/2)
}

func tDensity(t, df float64) float64 {
	_, _, negLog := tParts(t, df)
	return gammaStep(df/2) / math.Sqrt(math.Pi*df) * math.Exp(-negLog*(df+1)/2)
}
