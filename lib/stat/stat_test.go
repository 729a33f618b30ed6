package stat_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/lib/stat"
)

const tolerance = 1e-12

func near(got, want float64) bool {
	return got == want || math.Abs(got-want) <= tolerance*math.Max(1, math.Abs(want))
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	// Reference values: tables of the inverse normal to 20 digits.
	tests := []struct {
		name    string
		p, want float64
	}{
		{"median", 0.5, 0},
		{"power", 0.8, 0.84162123357291420518},
		{"ninety", 0.9, 1.28155156554460046697},
		{"one-sided 95", 0.95, 1.64485362695147271486},
		{"two-sided 95", 0.975, 1.95996398454005423552},
		{"two-sided 99", 0.995, 2.57582930354890076098},
		{"low", 0.025, -1.95996398454005423552},
		{"tiny", 1e-10, -6.36134090240405620395},
		{"certain", 1, math.Inf(1)},
		{"impossible", 0, math.Inf(-1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := stat.Quantile(tt.p); !near(got, tt.want) {
				t.Errorf("Quantile(%v) = %.17g, want %.17g", tt.p, got, tt.want)
			}
		})
	}
	for _, p := range []float64{-0.1, 1.1, math.NaN()} {
		if got := stat.Quantile(p); !math.IsNaN(got) {
			t.Errorf("Quantile(%v) = %v, want NaN", p, got)
		}
	}
}

func TestQuantileInvertsTheDistribution(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := math.Pow(10, rapid.Float64Range(-300, math.Log10(0.5)).Draw(t, "log p"))
		z := stat.Quantile(p)
		back := math.Erfc(-z/math.Sqrt2) / 2
		// A relative error e of z becomes about z² e of p.
		if limit := tolerance * math.Max(1, z*z); math.Abs(back-p) > limit*p {
			t.Fatalf("p = %g gives z = %.17g, which has p = %g", p, z, back)
		}
	})
}

func TestWilson(t *testing.T) {
	t.Parallel()
	z2 := math.Pow(1.95996398454005423552, 2)
	tests := []struct {
		name string
		k, n int
		want stat.Interval
	}{
		{"nothing known", 0, 0, stat.Interval{Lower: 0, Upper: 1}},
		{"none of 25", 0, 25, stat.Interval{Lower: 0, Upper: z2 / (25 + z2)}},
		{"all of 25", 25, 25, stat.Interval{Lower: 25 / (25 + z2), Upper: 1}},
		{"half of 100", 50, 100, stat.Interval{Lower: 0.5 - 0.5*math.Sqrt(z2/(100+z2)), Upper: 0.5 + 0.5*math.Sqrt(z2/(100+z2))}},
		{"one of one", 1, 1, stat.Interval{Lower: 1 / (1 + z2), Upper: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := stat.Wilson(tt.k, tt.n, 0.95)
			if !near(got.Lower, tt.want.Lower) || !near(got.Upper, tt.want.Upper) {
				t.Errorf("Wilson(%d, %d) = %v, want %v", tt.k, tt.n, got, tt.want)
			}
		})
	}
	for _, bad := range []stat.Interval{stat.Wilson(-1, 5, 0.95), stat.Wilson(6, 5, 0.95), stat.Wilson(1, 5, 1), stat.Wilson(1, 5, 0)} {
		if !math.IsNaN(bad.Lower) || !math.IsNaN(bad.Upper) {
			t.Errorf("impossible input gives %v", bad)
		}
	}
}

// The bounds are the two proportions whose score test rejects at exactly z.
func TestWilsonSolvesItsEquation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 100_000).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		conf := rapid.SampledFrom([]float64{0.8, 0.9, 0.95, 0.99}).Draw(t, "confidence")
		z := -stat.Quantile((1 - conf) / 2)
		iv := stat.Wilson(k, n, conf)
		p := float64(k) / float64(n)
		if !(0 <= iv.Lower && iv.Lower <= p && p <= iv.Upper && iv.Upper <= 1) {
			t.Fatalf("%v does not surround %v", iv, p)
		}
		for _, b := range []float64{iv.Lower, iv.Upper} {
			if b == 0 || b == 1 {
				continue
			}
			left, right := (p-b)*(p-b)*float64(n), z*z*b*(1-b)
			if math.Abs(left-right) > 1e-9*right+1e-12 {
				t.Fatalf("bound %v of %d/%d: (p-b)²n = %v, z²b(1-b) = %v", b, k, n, left, right)
			}
		}
		mirror := stat.Wilson(n-k, n, conf)
		if !near(mirror.Lower, 1-iv.Upper) || !near(mirror.Upper, 1-iv.Lower) {
			t.Fatalf("%v is not the mirror of %v", mirror, iv)
		}
	})
}

// Published example: 56 of 70 against 48 of 80, Newcombe 1998, table II.
func TestNewcombe(t *testing.T) {
	t.Parallel()
	got := stat.Newcombe(56, 70, 48, 80, 0.95)
	if math.Abs(got.Lower-0.0524) > 5e-5 || math.Abs(got.Upper-0.3339) > 5e-5 {
		t.Errorf("got %v, want 0.0524 to 0.3339", got)
	}
	back := stat.Newcombe(48, 80, 56, 70, 0.95)
	if !near(back.Lower, -got.Upper) || !near(back.Upper, -got.Lower) {
		t.Errorf("swapping the two gives %v, not the mirror of %v", back, got)
	}
	if all := stat.Newcombe(0, 0, 5, 10, 0.95); all.Lower > -0.5 || all.Upper < 0.5 {
		t.Errorf("without data the interval is %v", all)
	}
}

func TestDetectable(t *testing.T) {
	t.Parallel()
	for n := -1; n < 4; n++ {
		if d, ok := stat.Detectable(n); ok {
			t.Errorf("Detectable(%d) = %v", n, d)
		}
	}
	a, b := 1.95996398454005423552, 0.84162123357291420518
	last := 1.0
	for n := 4; n <= 20_000; n++ {
		d, ok := stat.Detectable(n)
		if !ok || d <= 0 || d >= last {
			t.Fatalf("Detectable(%d) = %v, %v after %v", n, d, ok, last)
		}
		last = d
		disc := math.Max(stat.PlanDiscordance, d)
		left, right := d*math.Sqrt(float64(n)), a*math.Sqrt(disc)+b*math.Sqrt(disc-d*d)
		if math.Abs(left-right) > tolerance*left {
			t.Fatalf("Detectable(%d) = %v: %v is not %v", n, d, left, right)
		}
	}
}
