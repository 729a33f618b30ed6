package stat

import (
	"fmt"
	"math"
)

// Attempts counts the graded samples of one task and the right ones among
// them.
type Attempts struct{ Samples, Right int }

func (a Attempts) check(k int) error {
	if a.Samples < 0 || a.Right < 0 || a.Right > a.Samples || k < 1 {
		return fmt.Errorf("use %d of %d samples at k = %d: %w", a.Right, a.Samples, k, Impossible)
	}
	if k > a.Samples {
		return fmt.Errorf("draw %d of %d samples: %w", k, a.Samples, Undefined)
	}
	return nil
}

// PassAt is the chance that k of the samples, drawn without repetition,
// hold a right one:
//
//	1 - C(n-c, k) / C(n, k)
//
// This is the unbiased estimate of pass@k (M. Chen and others, "Evaluating
// Large Language Models Trained on Code", 2021). It is Undefined for k above
// the number of samples: one sample a task knows pass@1 only.
func (a Attempts) PassAt(k int) (float64, error) {
	if err := a.check(k); err != nil {
		return 0, err
	}
	if a.Samples-a.Right < k {
		return 1, nil
	}
	// C(n-c,k)/C(n,k) is symmetric in k and c: ∏_{i<c} (1 - k/(n-i)).
	factors, taken := min(k, a.Right), float64(max(k, a.Right))
	var log total
	for i := range factors {
		log.add(math.Log1p(-taken / float64(a.Samples-i)))
	}
	return -math.Expm1(log.sum()), nil
}

// PassAll is the chance that k of the samples, drawn without repetition, are
// all right: C(c, k) / C(n, k), the unbiased estimate of pass^k (S. Yao and
// others, "τ-bench", 2024). Undefined as PassAt is.
func (a Attempts) PassAll(k int) (float64, error) {
	if err := a.check(k); err != nil {
		return 0, err
	}
	p := 1.0
	for i := range min(k, a.Right+1) {
		p *= float64(a.Right-i) / float64(a.Samples-i)
	}
	return p, nil
}

// PassAt is the mean of Attempts.PassAt over the tasks, which are the
// independent units: its interval covers both the choice of tasks and the
// draw of samples. One task with too few samples makes it Undefined, because
// leaving it out would bias the mean. At k = 1 and one sample a task, Wilson
// is the better interval.
func PassAt(tasks []Attempts, k int) (Estimate, error) {
	return passMean(tasks, k, Attempts.PassAt)
}

// PassAll is the mean of Attempts.PassAll over the tasks, as PassAt.
func PassAll(tasks []Attempts, k int) (Estimate, error) {
	return passMean(tasks, k, Attempts.PassAll)
}

func passMean(tasks []Attempts, k int, of func(Attempts, int) (float64, error)) (Estimate, error) {
	values := make([]float64, len(tasks))
	for i, a := range tasks {
		v, err := of(a, k)
		if err != nil {
			return Estimate{}, fmt.Errorf("score task %d: %w", i, err)
		}
		values[i] = v
	}
	return Mean(values)
}
