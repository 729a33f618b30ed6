package stat

import (
	"fmt"
	"math"
)

// Estimate is a mean and what is known of its error. Mean, FromSums,
// Clustered, PassAt, PassAll and Tally.WinRate make one.
type Estimate struct {
	Mean float64
	// N counts the values. Units counts the independent ones among them: the
	// clusters if clusters were given, else N.
	N, Units int

	stdErr float64
	reason Reason // why stdErr is unknown, or empty
}

// StdErr is the standard error of the mean, in the unit of the values. It
// fails with TooFew for one unit and with NoSpread where the formula gives
// zero: a sample without spread is no proof of certainty.
func (e Estimate) StdErr() (float64, error) {
	switch {
	case e.Units == 0:
		return 0, NoData
	case e.reason != "":
		return 0, e.reason
	}
	return e.stdErr, nil
}

// Interval is mean ± t·stderr with Student's t at Units-1 degrees of freedom.
// Confidence lies between 0 and 1. Fails as StdErr does.
//
// The interval may leave the range of the values; Interval.Within cuts it. It
// relies on a mean that is about normal: for pass or fail use Wilson.
func (e Estimate) Interval(confidence float64) (Interval, error) {
	if err := checkConfidence(confidence); err != nil {
		return Interval{}, err
	}
	se, err := e.StdErr()
	if err != nil {
		return Interval{}, err
	}
	half := tUpper((1-confidence)/2, float64(e.Units-1)) * se
	iv := Interval{e.Mean - half, e.Mean + half}
	if !finite(iv.Lower) || !finite(iv.Upper) {
		return Interval{}, fmt.Errorf("hold the interval in a float64: %w", Impossible)
	}
	return iv, nil
}

// P is the two-sided p-value of Student's t test that the mean is null. Fails
// as StdErr does.
func (e Estimate) P(null float64) (float64, error) {
	se, err := e.StdErr()
	if err != nil {
		return 0, err
	}
	if !finite(null) {
		return 0, fmt.Errorf("test the mean %v: %w", null, Impossible)
	}
	return 2 * tTail(math.Abs(e.Mean-null)/se, float64(e.Units-1)), nil
}

// Mean estimates the mean of independent values:
//
//	stderr² = Σ (xᵢ - mean)² / (n (n-1))
//
// It fails with NoData for none, with Impossible for a value that is not
// finite, and for values whose squares leave float64.
func Mean(values []float64) (Estimate, error) {
	return estimate(values, singles(values))
}

// FromSums is Mean of n values between 0 and 1 of which only the sum and the sum
// of squares are kept. A spread that rounding alone could have made is none. It
// fails as Mean does, and with Impossible for sums that no such values have.
func FromSums(n int, sum, squares float64) (Estimate, error) {
	count := float64(n)
	// rounding is the most that adding up n numbers of at most 1 can be off.
	rounding := count * count * 0x1p-52
	switch {
	case n == 0:
		return Estimate{}, NoData
	case n < 0, !(sum >= 0 && sum <= count+rounding), !(squares >= 0 && squares <= sum+rounding):
		return Estimate{}, fmt.Errorf("use the sums %v and %v of %d values: %w", sum, squares, n, Impossible)
	}
	e := Estimate{Mean: sum / count, N: n, Units: n}
	deviations := squares - sum*sum/count
	switch {
	case n == 1:
		e.reason = TooFew
	case deviations <= rounding:
		e.reason = NoSpread
	default:
		e.stdErr = math.Sqrt(deviations / (count - 1) / count)
	}
	return e, nil
}

// Clustered estimates the mean of values that are alike within a cluster,
// such as questions on one text. clusters[i] names the cluster of values[i];
// an empty name is a name like any other. With C clusters the cluster-robust
// (sandwich) error is
//
//	stderr² = C/(C-1) · Σ_c (Σ_{i in c} (xᵢ - mean))² / n²
//
// (Liang and Zeger 1986; the factor is Stata's and Inspect's), and t has C-1
// degrees of freedom. The mean itself weighs values equally, not clusters.
// Below about 50 clusters the error tends to be too small. Fails as Mean
// does, and with Impossible for lists of unequal length.
func Clustered(values []float64, clusters []string) (Estimate, error) {
	member, err := membership(values, clusters)
	if err != nil {
		return Estimate{}, err
	}
	return estimate(values, member)
}

// Differences is first[i]-second[i], for Mean, Clustered and Bootstrap to
// estimate the difference of two models on the same tasks. Both lists are in
// the order of the tasks; unequal lengths are Impossible.
func Differences(first, second []float64) ([]float64, error) {
	if len(first) != len(second) {
		return nil, fmt.Errorf("pair %d values with %d: %w", len(first), len(second), Impossible)
	}
	d := make([]float64, len(first))
	for i := range first {
		d[i] = first[i] - second[i]
	}
	return d, checkFinite(d)
}

func estimate(values []float64, member []int) (Estimate, error) {
	mean, units, err := deviations(values, member)
	if err != nil {
		return Estimate{}, err
	}
	e := Estimate{Mean: mean, N: len(values), Units: len(units)}
	if e.Units == 1 {
		e.reason = TooFew
		return e, nil
	}
	var squares total
	spread := false
	for _, u := range units {
		squares.add(u.deviation * u.deviation)
		spread = spread || u.deviation != 0
	}
	if !spread {
		e.reason = NoSpread
		return e, nil
	}
	c, n := float64(e.Units), float64(e.N)
	e.stdErr = math.Sqrt(c/(c-1)*squares.sum()) / n
	if !finite(e.stdErr) || e.stdErr == 0 {
		return Estimate{}, fmt.Errorf("hold the squared deviations in a float64: %w", Impossible)
	}
	return e, nil
}
