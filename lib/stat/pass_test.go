package stat_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/lib/stat"
)

// share of the k-subsets of n that are drawn from c alone, in whole numbers
func subsets(c, n, k int) *big.Rat {
	return new(big.Rat).SetFrac(
		new(big.Int).Binomial(int64(c), int64(k)),
		new(big.Int).Binomial(int64(n), int64(k)))
}

func TestPassIsExact(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 7, 40, 1000} {
		for _, c := range []int{0, 1, 2, 3, n / 2, n - 1, n} {
			for _, k := range []int{1, 2, 3, n / 3, n - 1, n} {
				if c > n || k < 1 || k > n {
					continue
				}
				a := stat.Attempts{Samples: n, Right: c}
				miss, _ := new(big.Rat).Sub(big.NewRat(1, 1), subsets(n-c, n, k)).Float64()
				if got, err := a.PassAt(k); err != nil || !relative(got, miss, 0) {
					t.Errorf("pass@%d of %+v = %.17g, %v, want %.17g", k, a, got, err, miss)
				}
				all, _ := subsets(c, n, k).Float64()
				if got, err := a.PassAll(k); err != nil || !relative(got, all, 0) {
					t.Errorf("pass^%d of %+v = %.17g, %v, want %.17g", k, a, got, err, all)
				}
			}
		}
	}
	// One right of a million: the plain product 1-∏ would lose ten digits.
	if got, err := (stat.Attempts{Samples: 1_000_000, Right: 1}).PassAt(1); err != nil || !relative(got, 1e-6, 0) {
		t.Errorf("got %.17g, %v, want 1e-6", got, err)
	}
}

func TestPassRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		a    stat.Attempts
		k    int
		want error
	}{
		{"k above the samples", stat.Attempts{Samples: 1, Right: 1}, 2, stat.Undefined},
		{"no samples", stat.Attempts{}, 1, stat.Undefined},
		{"k of zero", stat.Attempts{Samples: 5, Right: 1}, 0, stat.Impossible},
		{"more right than samples", stat.Attempts{Samples: 5, Right: 6}, 1, stat.Impossible},
		{"negative", stat.Attempts{Samples: 5, Right: -1}, 1, stat.Impossible},
	}
	for _, tt := range tests {
		for _, of := range []func(stat.Attempts, int) (float64, error){stat.Attempts.PassAt, stat.Attempts.PassAll} {
			if got, err := of(tt.a, tt.k); !errors.Is(err, tt.want) {
				t.Errorf("%s: %v, %v, want %v", tt.name, got, err, tt.want)
			}
		}
		if _, err := stat.PassAt([]stat.Attempts{{Samples: 9, Right: 3}, tt.a}, tt.k); !errors.Is(err, tt.want) {
			t.Errorf("%s among tasks: %v, want %v", tt.name, err, tt.want)
		}
	}
	if _, err := stat.PassAll(nil, 1); !errors.Is(err, stat.NoData) {
		t.Errorf("no tasks: %v", err)
	}
}

func TestPassOverTasks(t *testing.T) {
	t.Parallel()
	// pass@2: 1 - 3/6 = ½, 1 - 0 = 1, 1 - 1 = 0.
	tasks := []stat.Attempts{{Samples: 4, Right: 1}, {Samples: 3, Right: 2}, {Samples: 2, Right: 0}}
	e, err := stat.PassAt(tasks, 2)
	if err != nil || !relative(e.Mean, 0.5, 0) || e.N != 3 {
		t.Fatalf("pass@2 is %+v, %v", e, err)
	}
	want, err := stat.Mean([]float64{0.5, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	got, err1 := e.Interval(0.95)
	iv, err2 := want.Interval(0.95)
	if err1 != nil || err2 != nil || !near(got.Lower, iv.Lower) || !near(got.Upper, iv.Upper) {
		t.Errorf("interval %v, %v, want %v, %v", got, err1, iv, err2)
	}
	// pass^2: 0, 1/3, 0.
	if e, err := stat.PassAll(tasks, 2); err != nil || !relative(e.Mean, 1.0/9, 0) {
		t.Errorf("pass^2 is %+v, %v, want 1/9", e, err)
	}
}

func TestPassProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 200).Draw(t, "n")
		c := rapid.IntRange(0, n-1).Draw(t, "c")
		k := rapid.IntRange(1, n-1).Draw(t, "k")
		at := func(c, k int) float64 {
			p, err := stat.Attempts{Samples: n, Right: c}.PassAt(k)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		all := func(c, k int) float64 {
			p, err := stat.Attempts{Samples: n, Right: c}.PassAll(k)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		slack := 1 + 1e-14
		if at(c, k) > at(c+1, k)*slack || at(c, k) > at(c, k+1)*slack || all(c, k)*1 > all(c+1, k)*slack || all(c, k+1) > all(c, k)*slack {
			t.Fatalf("not monotonic at n = %d, c = %d, k = %d", n, c, k)
		}
		// Failing k times is what passing is to the failures.
		if !near(at(c, k), 1-all(n-c, k)) {
			t.Fatalf("pass@k %v, and all k fail in %v", at(c, k), all(n-c, k))
		}
		if !near(at(c, 1), float64(c)/float64(n)) || !near(all(c, 1), float64(c)/float64(n)) {
			t.Fatalf("at k = 1: %v and %v of %d/%d", at(c, 1), all(c, 1), c, n)
		}
	})
}

// Averaged over the number of right samples that chance p gives, the
// estimates are 1-(1-p)^k and p^k exactly: they are unbiased.
func TestPassIsUnbiased(t *testing.T) {
	t.Parallel()
	const n = 8
	for _, p := range []float64{0.01, 0.2, 0.5, 0.77, 0.99} {
		for k := 1; k <= n; k++ {
			var at, all float64
			for c := 0; c <= n; c++ {
				weight := mass(n, c, p)
				a := stat.Attempts{Samples: n, Right: c}
				x, err1 := a.PassAt(k)
				y, err2 := a.PassAll(k)
				if err := errors.Join(err1, err2); err != nil {
					t.Fatal(err)
				}
				at += weight * x
				all += weight * y
			}
			if !near(at, 1-pow(1-p, k)) || !near(all, pow(p, k)) {
				t.Errorf("p = %v, k = %d: %v and %v, want %v and %v", p, k, at, all, 1-pow(1-p, k), pow(p, k))
			}
		}
	}
}

func pow(x float64, k int) float64 {
	p := 1.0
	for range k {
		p *= x
	}
	return p
}

// mass is P(X = k) for X binomial (n, p).
func mass(n, k int, p float64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}
