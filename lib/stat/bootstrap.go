package stat

import (
	"fmt"
	"math"
	"slices"
)

// Limits of Bootstrap.Resamples.
const (
	DefaultResamples = 10_000
	MaxResamples     = 1_000_000
)

// Method names how a bootstrap interval is read off the resampled means.
type Method string

const (
	// PercentileMethod takes the quantiles of the resampled means themselves.
	PercentileMethod Method = "percentile"
	// BCa shifts them for bias and skewness (B. Efron, "Better Bootstrap
	// Confidence Intervals", 1987).
	BCa Method = "bca"
)

// Bootstrap resamples a list of values, or whole clusters of them, with
// replacement and as many as there are. The same settings draw the same
// resamples on every machine and in every version. The zero value draws
// DefaultResamples with seed 0 and reads percentiles.
type Bootstrap struct {
	Seed      uint64
	Resamples int    // 0 means DefaultResamples
	Method    Method // empty means PercentileMethod
}

// Resampled is what a bootstrap says about a mean. StdErr is the standard
// deviation of the resampled means, in the unit of the values.
type Resampled struct {
	Mean, StdErr float64
	Interval     Interval
	// P is the two-sided p-value that the mean is zero, meant for
	// differences: the share of resamples, this sample counted as one, whose
	// mean lies at least as many of their own standard errors from the
	// sample's mean as that lies from zero, in its standard errors (the
	// bootstrap-t of B. Efron, 1981). It is at least 1/(Resamples+1).
	P                   float64
	N, Units, Resamples int
	Seed                uint64
}

// Mean resamples independent values. Differences of paired values make it the
// paired bootstrap. It takes about three nanoseconds a value and resample and
// holds 8 bytes a resample.
//
// It fails with NoData, with TooFew for one value, with NoSpread for equal
// ones, where every resample would be the same, and with Impossible for
// values that are not finite or settings out of range. Below about 20 values
// the interval is too narrow; Estimate.Interval is not.
func (b Bootstrap) Mean(values []float64, confidence float64) (Resampled, error) {
	return b.run(values, singles(values), confidence)
}

// ClusteredMean resamples whole clusters, named as for Clustered. A resample
// of large clusters holds more values than one of small clusters; its mean
// weighs values equally. Fails as Mean does.
func (b Bootstrap) ClusteredMean(values []float64, clusters []string, confidence float64) (Resampled, error) {
	member, err := membership(values, clusters)
	if err != nil {
		return Resampled{}, err
	}
	return b.run(values, member, confidence)
}

func (b Bootstrap) settings(confidence float64) (Bootstrap, error) {
	if b.Resamples == 0 {
		b.Resamples = DefaultResamples
	}
	if b.Method == "" {
		b.Method = PercentileMethod
	}
	if b.Resamples < 2 || b.Resamples > MaxResamples {
		return b, fmt.Errorf("draw %d resamples: %w", b.Resamples, Impossible)
	}
	if b.Method != PercentileMethod && b.Method != BCa {
		return b, fmt.Errorf("use bootstrap method %q: %w", b.Method, Impossible)
	}
	return b, checkConfidence(confidence)
}

func (b Bootstrap) run(values []float64, member []int, confidence float64) (Resampled, error) {
	b, err := b.settings(confidence)
	if err != nil {
		return Resampled{}, err
	}
	mean, units, err := deviations(values, member)
	if err != nil {
		return Resampled{}, err
	}
	if len(units) == 1 {
		return Resampled{}, TooFew
	}
	if !slices.ContainsFunc(units, func(u unit) bool { return u.deviation != 0 }) {
		return Resampled{}, NoSpread
	}
	if len(units) > math.MaxInt32 {
		return Resampled{}, fmt.Errorf("resample %d units: %w", len(units), Impossible)
	}
	// Means are kept as distances from the sample's mean: sums stay small and
	// lose nothing to a large offset.
	drawn := b.draw(units, mean)
	offsets := drawn.offsets
	slices.Sort(offsets)
	spread, err := estimate(offsets, singles(offsets))
	if err != nil {
		return Resampled{}, fmt.Errorf("measure the spread of the resamples: %w", err)
	}
	if spread.reason != "" {
		return Resampled{}, spread.reason
	}
	stdErr := spread.stdErr * math.Sqrt(float64(len(offsets)))
	// Means nearer to each other than this differ by rounding only.
	slack := 1e-9 * stdErr
	lower, upper := b.levels(units, bias(offsets, slack), confidence)
	r := Resampled{
		Mean: mean, StdErr: stdErr,
		Interval: Interval{mean + percentile(offsets, lower), mean + percentile(offsets, upper)},
		P:        float64(drawn.far+1) / float64(b.Resamples+1),
		N:        len(values), Units: len(units), Resamples: b.Resamples, Seed: b.Seed,
	}
	return r, nil
}

// levels are the two quantiles of the resamples that bound the interval.
func (b Bootstrap) levels(units []unit, bias, confidence float64) (lower, upper float64) {
	if b.Method != BCa {
		return (1 - confidence) / 2, (1 + confidence) / 2
	}
	a := acceleration(units)
	shift := func(z float64) float64 {
		s := bias + z
		if 1-a*s <= 0 { // past the pole: all of that side
			return normalCDF(math.Copysign(math.Inf(1), s))
		}
		return normalCDF(bias + s/(1-a*s))
	}
	z := criticalValue(confidence)
	return shift(-z), shift(z)
}

// bias is the normal quantile of the share of resamples below the sample's
// mean. Those equal to it count half; the share is kept off 0 and 1.
func bias(offsets []float64, slack float64) float64 {
	below := 0.0
	for _, d := range offsets {
		switch {
		case d < -slack:
			below++
		case d <= slack:
			below += 0.5
		}
	}
	n := float64(len(offsets))
	return Quantile(min(max(below/n, 1/(n+1)), n/(n+1)))
}

// acceleration is Σd³ / (6 (Σd²)^1.5) over the units' deviations d: the
// jackknife's value for a mean. Only ratios of d enter, so scaling by the
// largest changes nothing but keeps the powers in range.
func acceleration(units []unit) float64 {
	largest := 0.0
	for _, u := range units {
		largest = max(largest, math.Abs(u.deviation))
	}
	var squares, cubes total
	for _, u := range units {
		d := u.deviation / largest
		squares.add(d * d)
		cubes.add(d * d * d)
	}
	return cubes.sum() / (6 * math.Pow(squares.sum(), 1.5))
}

func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
