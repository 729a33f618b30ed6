package task

import "math"

// Limit is how many of n documents are evaluated: a fraction below 1 of them,
// rounded up, or a number of documents. A limit of 1.0 is one document, as in
// lm-eval. Negative means no limit.
func Limit(n int, limit float64) int {
	switch {
	case limit < 0:
		return n
	case limit < 1:
		return min(n, int(math.Ceil(float64(n)*limit)))
	}
	return int(math.Min(float64(n), math.Trunc(limit)))
}
