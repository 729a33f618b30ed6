package stat

import (
	"fmt"
	"math"
)

// Pairs counts tasks by what two models made of each: both right, only the
// first, only the second, neither.
type Pairs struct{ Both, First, Second, Neither int }

// N counts the tasks.
func (p Pairs) N() int { return p.Both + p.First + p.Second + p.Neither }

func (p Pairs) check() error {
	if p.Both < 0 || p.First < 0 || p.Second < 0 || p.Neither < 0 {
		return fmt.Errorf("use the counts %+v: %w", p, Impossible)
	}
	if p.N() == 0 {
		return NoData
	}
	return nil
}

// Difference is the first model's share of right answers less the second's,
// (First-Second)/N. It fails with NoData without tasks and with Impossible
// for a negative count.
func (p Pairs) Difference() (float64, error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	return float64(p.First-p.Second) / float64(p.N()), nil
}

// Interval is the interval for that difference after R. G. Newcombe,
// "Improved confidence intervals for the difference between binomial
// proportions based on paired data", Statistics in Medicine 17 (1998),
// method 10. With [l₁,u₁] and [l₂,u₂] the Wilson intervals of the two shares
// p₁ and p₂ and d their difference, it is d-δ to d+ε where
//
//	δ² = (p₁-l₁)² - 2φ (p₁-l₁)(u₂-p₂) + (u₂-p₂)²
//	ε² = (p₂-l₂)² - 2φ (p₂-l₂)(u₁-p₁) + (u₁-p₁)²
//
// φ is the correlation of the two models' answers, drawn towards zero by a
// continuity correction when positive, and zero when a margin is empty. Chosen over
// Tango's score interval because it is a closed form of nearly the same
// coverage. It has width where the two agree on every task, and one task is
// enough for it. Swapping the models mirrors it. Fails as Difference does.
func (p Pairs) Interval(confidence float64) (Interval, error) {
	if err := p.check(); err != nil {
		return Interval{}, err
	}
	if err := checkConfidence(confidence); err != nil {
		return Interval{}, err
	}
	n := p.N()
	k1, k2 := p.Both+p.First, p.Both+p.Second
	w1, w2 := Wilson(k1, n, confidence), Wilson(k2, n, confidence)
	p1, p2 := float64(k1)/float64(n), float64(k2)/float64(n)
	phi := p.correlation()
	d := float64(p.First-p.Second) / float64(n)
	iv := Interval{
		Lower: d - correlated(p1-w1.Lower, w2.Upper-p2, phi),
		Upper: d + correlated(p2-w2.Lower, w1.Upper-p1, phi),
	}
	return iv.Within(-1, 1), nil
}

// correlated is √(x² - 2φxy + y²) for x, y ≥ 0, without cancellation.
func correlated(x, y, phi float64) float64 {
	return math.Sqrt((x-y)*(x-y) + 2*(1-phi)*max(x, 0)*max(y, 0))
}

func (p Pairs) correlation() float64 {
	a, b, c, d := float64(p.Both), float64(p.First), float64(p.Second), float64(p.Neither)
	margins := (a + b) * (c + d) * (a + c) * (b + d)
	if margins == 0 {
		return 0
	}
	num := a*d - b*c
	if num > 0 {
		num = max(num-float64(p.N())/2, 0)
	}
	return num / math.Sqrt(margins)
}

// McNemar is the exact two-sided p-value that two models are equally often
// the only one to be right (Q. McNemar, 1947). first and second count the
// tasks which only that model has right; tasks on which both agree say
// nothing and do not enter. With m = first+second and X binomial (m, ½),
//
//	p = min(1, 2 P(X ≤ min(first, second)))
//
// It is 1 at m = 0, and cannot be below 0.05 for m below 6. A value below
// 5e-324 is 0. The mid-p variant is not offered: its error may exceed the
// level that a reader is promised. Negative counts are Impossible.
func McNemar(first, second int) (float64, error) {
	if first < 0 || second < 0 {
		return 0, fmt.Errorf("test %d against %d tasks: %w", first, second, Impossible)
	}
	k, n := min(first, second), first+second
	if n-2*k <= 1 {
		return 1, nil
	}
	return min(1, 2*fairTail(k, n)), nil
}

// fairTail is P(X ≤ k) for X binomial (n, ½) and k < n/2: the largest term,
// times the sum of the falling ratios to it.
func fairTail(k, n int) float64 {
	sum, term := 1.0, 1.0
	for j := k; j > 0 && term > epsilon/16*sum; j-- {
		term *= float64(j) / float64(n-j+1)
		sum += term
	}
	return fairMass(k, n) * sum
}

// fairMass is P(X = k) for X binomial (n, ½) and k ≤ n/2, by the saddle-point
// form of C. Loader, "Fast and Accurate Computation of Binomial
// Probabilities" (2000): Stirling's formula with its remainders, times the
// exponential of the deviance, which is n/2·(ln(1-e²) + 2e artanh e) at
// k = n/2·(1-e).
func fairMass(k, n int) float64 {
	if k == 0 {
		return math.Ldexp(1, -n)
	}
	kf, nf := float64(k), float64(n)
	e := float64(n-2*k) / nf
	deviance := nf / 2 * (math.Log1p(-e*e) + 2*e*math.Atanh(e))
	if e > 0.5 { // 1-e² would cancel; the two terms of the deviance do not
		deviance = kf*math.Log(2*kf/nf) + (nf-kf)*math.Log(2*(nf-kf)/nf)
	}
	remainder := stirling(nf) - stirling(kf) - stirling(nf-kf)
	return math.Sqrt(nf/(2*math.Pi*kf*(nf-kf))) * math.Exp(remainder-deviance)
}
