package metric

import "fmt"

// PassAtK estimates without bias the chance that at least one of k answers is
// right, from n answers of which c are. It refuses k beyond n: from fewer than
// k answers nothing can be said about k.
func PassAtK(n, c, k int) (float64, error) {
	if k < 1 || n < k || c < 0 || c > n {
		return 0, fmt.Errorf("estimate pass@%d: %d right of %d answers do not allow it", k, c, n)
	}
	if n-c < k {
		return 1, nil
	}
	miss := 1.0
	for i := n - c + 1; i <= n; i++ {
		miss *= 1 - float64(k)/float64(i)
	}
	return 1 - miss, nil
}
