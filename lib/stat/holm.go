package stat

import (
	"cmp"
	"fmt"
	"slices"
)

// Holm adjusts the p-values of m tests so that each may be held against the
// level that was meant for all together (S. Holm, 1979). In rising order the
// i-th becomes
//
//	max over j ≤ i of min(1, (m-j+1) pⱼ)
//
// The result is in the order of p, equal values stay equal, and it assumes
// nothing about how the tests depend on each other. No tests give none; a
// value outside [0,1] is Impossible.
func Holm(p []float64) ([]float64, error) {
	order := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("adjust p-value %d, which is %v: %w", i, v, Impossible)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	adjusted := make([]float64, len(p))
	highest := 0.0
	for rank, i := range order {
		highest = max(highest, min(1, float64(len(p)-rank)*p[i]))
		adjusted[i] = highest
	}
	return adjusted, nil
}
