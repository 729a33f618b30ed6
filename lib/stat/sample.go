package stat

import (
	"fmt"
	"math"
)

// unit is an independent part of a sample: a value, or a cluster of them.
type unit struct {
	// deviation is the sum of the unit's values less the mean of the whole
	// sample; it is exactly zero where only rounding makes it differ.
	deviation float64
	size      int
}

// singles gives every value a cluster of its own.
func singles(values []float64) []int {
	member := make([]int, len(values))
	for i := range member {
		member[i] = i
	}
	return member
}

// membership numbers the clusters by first appearance, so that sums never
// depend on the order of a map.
func membership(values []float64, clusters []string) ([]int, error) {
	if len(values) != len(clusters) {
		return nil, fmt.Errorf("match %d values with %d clusters: %w", len(values), len(clusters), Impossible)
	}
	member := make([]int, len(values))
	number := make(map[string]int)
	for i, name := range clusters {
		k, ok := number[name]
		if !ok {
			k = len(number)
			number[name] = k
		}
		member[i] = k
	}
	return member, nil
}

// deviations is the mean of the values and the units around it.
func deviations(values []float64, member []int) (float64, []unit, error) {
	if len(values) == 0 {
		return 0, nil, NoData
	}
	if err := checkFinite(values); err != nil {
		return 0, nil, err
	}
	var whole total
	largest, count := 0.0, 0
	equal := true
	for i, v := range values {
		whole.add(v)
		largest = math.Max(largest, math.Abs(v))
		count = max(count, member[i]+1)
		equal = equal && v == values[0]
	}
	mean := whole.sum() / float64(len(values))
	if equal {
		mean = values[0]
	}
	if !finite(mean) {
		return 0, nil, fmt.Errorf("hold the sum of the values in a float64: %w", Impossible)
	}
	sums := make([]total, count)
	units := make([]unit, count)
	for i, v := range values {
		sums[member[i]].add(v - mean)
		units[member[i]].size++
	}
	for i := range units {
		d := sums[i].sum()
		// The mean is off by up to an ulp, and so is each deviation.
		if math.Abs(d) > 4*epsilon*largest*float64(units[i].size) {
			units[i].deviation = d
		}
	}
	return mean, units, nil
}

const epsilon = 0x1p-52

// total is a sum that keeps what rounding drops (A. Neumaier, 1974).
type total struct{ high, low float64 }

func (t *total) add(x float64) {
	s := t.high + x
	if math.Abs(t.high) >= math.Abs(x) {
		t.low += (t.high - s) + x
	} else {
		t.low += (x - s) + t.high
	}
	t.high = s
}

func (t *total) sum() float64 { return t.high + t.low }
