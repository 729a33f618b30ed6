package stat_test

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/lib/stat"
)

func sortedCopy(values []float64) []float64 {
	s := slices.Clone(values)
	slices.Sort(s)
	return s
}

func quantile(t interface{ Fatal(...any) }, p, df float64) float64 {
	q, err := stat.TQuantile(p, df)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func share(t interface{ Fatal(...any) }, x, df float64) float64 {
	p, err := stat.TCDF(x, df)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// For whole degrees of freedom the share between -t and t is a finite sum
// (Abramowitz and Stegun 26.7.3 and 26.7.4).
func centralShare(x float64, df int) float64 {
	theta := math.Atan(x / math.Sqrt(float64(df)))
	c := math.Cos(theta) * math.Cos(theta)
	if df%2 == 1 {
		sum, term := 0.0, math.Cos(theta)
		for j := 1; j <= df-2; j += 2 {
			sum += term
			term *= c * float64(j+1) / float64(j+2)
		}
		return 2 / math.Pi * (theta + math.Sin(theta)*sum)
	}
	sum, term := 0.0, 1.0
	for j := 0; j <= df-2; j += 2 {
		sum += term
		term *= c * float64(j+1) / float64(j+2)
	}
	return math.Sin(theta) * sum
}

func TestTCDFAgreesWithItsFiniteSums(t *testing.T) {
	t.Parallel()
	for df := 1; df <= 300; df++ {
		for _, x := range []float64{1e-9, 0.01, 0.3, 1, 1.7, 1.75, 2.2, 4, 9} {
			want := 0.5 + centralShare(x, df)/2
			if got := share(t, x, float64(df)); !relative(got, want, 0) {
				t.Fatalf("TCDF(%v, %d) = %.17g, want %.17g", x, df, got, want)
			}
		}
	}
}

// exactTail is (1 - t/√(df+t²) · Σ ∏ (2j-1)/(2j) · c)/2 with c = df/(df+t²),
// the same sum for an even df, in 2,000 bits: the digits that cancel are there
// to spare.
func exactTail(x float64, df int) float64 {
	big2000 := func(v float64) *big.Float { return new(big.Float).SetPrec(2000).SetFloat64(v) }
	bx, v := big2000(x), big2000(float64(df))
	all := big2000(0).Mul(bx, bx)
	all.Add(all, v)
	c := big2000(0).Quo(v, all)
	sum, term := big2000(0), big2000(1)
	for j := 1; j <= df/2; j++ {
		sum.Add(sum, term)
		term.Mul(term, c)
		term.Mul(term, big2000(float64(2*j-1)))
		term.Quo(term, big2000(float64(2*j)))
	}
	sum.Mul(sum, bx)
	sum.Quo(sum, big2000(0).Sqrt(all))
	tail, _ := sum.Sub(big2000(1), sum).Float64()
	return tail / 2
}

func TestTCDFTailsAreExact(t *testing.T) {
	t.Parallel()
	for _, df := range []int{2, 4, 10, 18, 20, 22, 48, 100, 998, 10_000} {
		for _, x := range []float64{1e-6, 0.2, 0.9, 1.5, 1.7, 1.75, 1.8, 2, 2.5, 3.5, 6, 12, 25, 40} {
			want := exactTail(x, df)
			if got := share(t, -x, float64(df)); !relative(got, want, 0) {
				t.Errorf("TCDF(%v, %d) = %.17g, want %.17g", -x, df, got, want)
			}
			if want < 1e-280 {
				continue
			}
			if got := quantile(t, want, float64(df)); !relative(got, -x, 1e-4) {
				t.Errorf("TQuantile(%v, %d) = %.17g, want %v", want, df, got, -x)
			}
		}
	}
}

func TestTCDFTails(t *testing.T) {
	t.Parallel()
	// df = 1 and df = 2 have closed forms without cancellation.
	for _, x := range []float64{0.1, 1, 3, 50, 1e4, 1e9, 1e100} {
		if got, want := share(t, -x, 1), math.Atan(1/x)/math.Pi; !relative(got, want, 0) {
			t.Errorf("df 1 below %v: %.17g, want %.17g", -x, got, want)
		}
		r := math.Sqrt(2 + x*x)
		if x > 1e100/2 {
			r = x
		}
		if got, want := share(t, -x, 2), 1/(r*(r+x)); !relative(got, want, 0) {
			t.Errorf("df 2 below %v: %.17g, want %.17g", -x, got, want)
		}
	}
	for _, df := range []float64{1, 7.5, 1e6} {
		if lo, hi := share(t, math.Inf(-1), df), share(t, math.Inf(1), df); lo != 0 || hi != 1 {
			t.Errorf("df %v runs from %v to %v", df, lo, hi)
		}
	}
}

// For many degrees of freedom t is the normal quantile with Fisher and
// Cornish's corrections (Abramowitz and Stegun 26.7.5).
func TestTQuantileForManyDegrees(t *testing.T) {
	t.Parallel()
	for _, df := range []float64{1e5, 1e6, 1e7, 1e12, 1e15} {
		for _, p := range []float64{0.500001, 0.6, 0.74, 0.76, 0.9, 0.975, 0.995, 0.9999} {
			z := stat.Quantile(p)
			want := z + (math.Pow(z, 3)+z)/(4*df) +
				(5*math.Pow(z, 5)+16*math.Pow(z, 3)+3*z)/(96*df*df) +
				(3*math.Pow(z, 7)+19*math.Pow(z, 5)+17*math.Pow(z, 3)-15*z)/(384*df*df*df)
			if got := quantile(t, p, df); !relative(got, want, 0) {
				t.Errorf("TQuantile(%v, %v) = %.17g, want %.17g", p, df, got, want)
			}
		}
	}
}

func TestTQuantileInvertsTheDistribution(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		df := math.Pow(10, rapid.Float64Range(0, 6).Draw(t, "log df"))
		p := math.Pow(10, rapid.Float64Range(-280, math.Log10(0.5)).Draw(t, "log p"))
		x := quantile(t, p, df)
		back := share(t, x, df)
		// An ulp of t moves p by up to t·density/p ulps, which is at most about t²
		// and at most df.
		limit := tolerance * math.Max(1, math.Min(x*x, df))
		if math.Abs(back-p) > limit*p {
			t.Fatalf("p = %g, df = %g gives %.17g, which has p = %g", p, df, x, back)
		}
		if mirror := 1 - p; p > 1e-3 {
			// 1-p rounds; 1-(1-p) is the tail that it really leaves.
			if low, high := quantile(t, 1-mirror, df), quantile(t, mirror, df); low != -high {
				t.Fatalf("the quantiles of %v and %v are %v and %v", 1-mirror, mirror, low, high)
			}
		}
		if p < 0.49 {
			if wider := quantile(t, p, df*1.5); wider < x {
				t.Fatalf("more degrees widen the tail: %v at %v, %v at %v", x, df, wider, df*1.5)
			}
			if normal := stat.Quantile(p); x > normal*(1-1e-9) {
				t.Fatalf("t = %v is inside the normal %v", x, normal)
			}
		}
	})
}

func TestTRefusals(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, in := range [][2]float64{{0, 5}, {1, 5}, {-0.1, 5}, {1.1, 5}, {nan, 5}, {0.5, 0.9}, {0.5, nan}, {0.5, math.Inf(1)}} {
		if got, err := stat.TQuantile(in[0], in[1]); !errors.Is(err, stat.Impossible) {
			t.Errorf("TQuantile(%v) = %v, %v", in, got, err)
		}
	}
	for _, in := range [][2]float64{{nan, 5}, {1, 0}, {1, -1}, {1, nan}} {
		if got, err := stat.TCDF(in[0], in[1]); !errors.Is(err, stat.Impossible) {
			t.Errorf("TCDF(%v) = %v, %v", in, got, err)
		}
	}
}
