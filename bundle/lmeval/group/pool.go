package group

import (
	"fmt"
	"math"

	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
)

// Weighted is the mean of figures weighted by size, or the plain mean.
func Weighted(figures []float64, sizes []int, bySize bool) (float64, error) {
	if len(figures) != len(sizes) || len(figures) == 0 {
		return 0, fmt.Errorf("average %d figures with %d sizes", len(figures), len(sizes))
	}
	var sum number.Adder
	total := 0
	for i, f := range figures {
		size := 1
		if bySize {
			size = sizes[i]
		}
		sum.Add(f * float64(size))
		total += size
	}
	if total == 0 {
		return 0, fmt.Errorf("average figures of no documents")
	}
	return sum.Sum() / float64(total), nil
}

// PooledStderr is the standard error of a group from those of its tasks,
// always with their true sizes.
func PooledStderr(stderrs []float64, sizes []int) (float64, error) {
	total := 0
	for _, n := range sizes {
		total += n
	}
	if len(stderrs) != len(sizes) || total <= len(sizes) {
		return 0, fmt.Errorf("pool %d standard errors over %d documents", len(stderrs), total)
	}
	var sum number.Adder
	for i, se := range stderrs {
		n := float64(sizes[i])
		sum.Add((n - 1) * (se * se) * n)
	}
	variance := sum.Sum() / float64(total-len(sizes))
	return math.Sqrt(variance / float64(total)), nil
}

// CombinedStderr is the reference's other formula, which depends on the
// figures too. No group uses it; it is here to compare with published results
// that did. It never lets the first size grow, as the reference does not.
func CombinedStderr(stderrs []float64, sizes []int, figures []float64) (float64, error) {
	if len(stderrs) == 0 || len(stderrs) != len(sizes) || len(sizes) != len(figures) {
		return 0, fmt.Errorf("combine %d standard errors, %d sizes and %d figures", len(stderrs), len(sizes), len(figures))
	}
	variance, n, mean := stderrs[0]*stderrs[0], float64(sizes[0]), figures[0]
	for i := 1; i < len(stderrs); i++ {
		m := float64(sizes[i])
		mean = (mean*n + figures[i]*m) / (n + m)
		variance = ((n-1)*variance+(m-1)*(stderrs[i]*stderrs[i]))/(n+m-1) +
			n*m/((n+m)*(n+m-1))*((mean-figures[i])*(mean-figures[i]))
	}
	return math.Sqrt(variance), nil
}
