package stat_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/lib/stat"
)

// exactMcNemar counts outcomes in whole numbers.
func exactMcNemar(first, second int) float64 {
	k, n := min(first, second), first+second
	if 2*k == n {
		return 1
	}
	sum, term := new(big.Int), big.NewInt(1)
	for i := 0; i <= k; i++ {
		sum.Add(sum, term)
		term.Mul(term, big.NewInt(int64(n-i)))
		term.Quo(term, big.NewInt(int64(i+1)))
	}
	den := new(big.Int).Lsh(big.NewInt(1), uint(n))
	p, _ := new(big.Rat).SetFrac(sum.Lsh(sum, 1), den).Float64()
	return math.Min(1, p)
}

func TestMcNemarIsExact(t *testing.T) {
	t.Parallel()
	check := func(first, second int) {
		want := exactMcNemar(first, second)
		got, err := stat.McNemar(first, second)
		if err != nil || !relative(got, want, 0) {
			t.Errorf("McNemar(%d, %d) = %.17g, %v, want %.17g", first, second, got, err, want)
		}
		if swapped, err := stat.McNemar(second, first); err != nil || swapped != got {
			t.Errorf("McNemar(%d, %d) = %v, %v, not %v", second, first, swapped, err, got)
		}
	}
	for n := range 121 {
		for k := 0; 2*k <= n; k++ {
			check(k, n-k)
		}
	}
	for _, n := range []int{500, 1001, 4000, 20_000} {
		for _, z := range []float64{0, 0.01, 0.3, 1, 2, 5, 12} {
			k := int(float64(n)/2 - z*math.Sqrt(float64(n))/2)
			check(k, n-k)
		}
	}
	check(0, 1000)
	check(3, 900)
}

// A million tasks: the normal approximation with its continuity correction is
// then good to about 1e-6 near the centre.
func TestMcNemarOfMany(t *testing.T) {
	t.Parallel()
	const n = 1_000_000
	for _, z := range []float64{0.5, 1, 2, 3} {
		k := int(n/2.0 - z*math.Sqrt(n)/2)
		want := math.Erfc((float64(n-2*k) - 1) / math.Sqrt(2*n))
		if got, err := stat.McNemar(k, n-k); err != nil || math.Abs(got-want) > 1e-5*want {
			t.Errorf("McNemar(%d, %d) = %v, %v, want about %v", k, n-k, got, err, want)
		}
	}
	if p, err := stat.McNemar(0, n); err != nil || p != 0 {
		t.Errorf("2^-999999 is %v, %v", p, err)
	}
}

func TestMcNemarRefusesAndTies(t *testing.T) {
	t.Parallel()
	for _, in := range [][2]int{{-1, 3}, {3, -1}} {
		if p, err := stat.McNemar(in[0], in[1]); !errors.Is(err, stat.Impossible) {
			t.Errorf("McNemar(%v) = %v, %v", in, p, err)
		}
	}
	for _, in := range [][2]int{{0, 0}, {7, 7}, {7, 8}, {1, 0}} {
		if p, err := stat.McNemar(in[0], in[1]); err != nil || p != 1 {
			t.Errorf("McNemar(%v) = %v, %v, want 1", in, p, err)
		}
	}
	if p, _ := stat.McNemar(5, 0); p != 0.0625 {
		t.Errorf("five against none: %v, want 1/16", p)
	}
}

// The three models of the comparison screen: gaps, intervals, p-values after
// Holm and the tasks that the third pair would need.
func TestComparisonScreen(t *testing.T) {
	t.Parallel()
	pairs := []stat.Pairs{
		{Both: 70, First: 17, Second: 4, Neither: 9},
		{Both: 62, First: 25, Second: 6, Neither: 7},
		{Both: 59, First: 15, Second: 9, Neither: 17},
	}
	type row struct{ Gap, Lower, Upper, P float64 }
	want := []row{{13, 4.1, 22.0, 0.0144}, {19, 8.4, 29.3, 0.0026}, {6, -3.7, 15.6, 0.3075}}
	var got []row
	var raw []float64
	for _, p := range pairs {
		d, err1 := p.Difference()
		iv, err2 := p.Interval(0.95)
		pv, err3 := stat.McNemar(p.First, p.Second)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		raw = append(raw, pv)
		got = append(got, row{round(100*d, 1), round(100*iv.Lower, 1), round(100*iv.Upper, 1), 0})
	}
	adjusted, err := stat.Holm(raw)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range adjusted {
		got[i].P = round(p, 4)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	n, err := stat.Plan{Confidence: 0.95, Power: 0.8, Discordance: 0.24}.Tasks(0.06)
	if err != nil || n < 515 || n > 525 {
		t.Errorf("the third pair needs %d tasks, %v, want about 520", n, err)
	}
}

func round(x float64, digits int) float64 {
	s := math.Pow(10, float64(digits))
	return math.Round(x*s) / s
}

// Published: Fagerland, Lydersen and Laake, "Statistical Analysis of
// Contingency Tables" (2017), chapter 8, airway hyper-responsiveness before
// and after transplantation: 1, 1, 7, 12 give -0.507 to -0.026.
func TestPairedIntervalPublished(t *testing.T) {
	t.Parallel()
	iv, err := stat.Pairs{Both: 1, First: 1, Second: 7, Neither: 12}.Interval(0.95)
	if err != nil || round(iv.Lower, 3) != -0.507 || round(iv.Upper, 3) != -0.026 {
		t.Errorf("got %v, %v, want -0.507 to -0.026", iv, err)
	}
}

func TestPairedIntervalEdges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   stat.Pairs
		want error
	}{
		{"no task", stat.Pairs{}, stat.NoData},
		{"negative", stat.Pairs{Both: 3, First: -1}, stat.Impossible},
		{"one task", stat.Pairs{First: 1}, nil},
		{"all the same and right", stat.Pairs{Both: 30}, nil},
		{"all the same and wrong", stat.Pairs{Neither: 30}, nil},
		{"always the opposite", stat.Pairs{First: 5, Second: 5}, nil},
		{"all for the first", stat.Pairs{First: 30}, nil},
	}
	for _, tt := range tests {
		iv, err := tt.in.Interval(0.95)
		if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		if d, dErr := tt.in.Difference(); err == nil && (dErr != nil || !(-1 <= iv.Lower && iv.Lower <= d && d <= iv.Upper && iv.Upper <= 1 && iv.Lower < iv.Upper)) {
			t.Errorf("%s: %v around %v, %v", tt.name, iv, d, dErr)
		}
	}
	if iv, err := (stat.Pairs{Both: 3, First: 1}).Interval(1); !errors.Is(err, stat.Impossible) {
		t.Errorf("confidence 1 gives %v, %v", iv, err)
	}
}

func TestPairedIntervalProperties(t *testing.T) {
	t.Parallel()
	count := rapid.IntRange(0, 500)
	rapid.Check(t, func(t *rapid.T) {
		p := stat.Pairs{Both: count.Draw(t, "both"), First: count.Draw(t, "first"), Second: count.Draw(t, "second"), Neither: count.Draw(t, "neither")}
		p.Both++
		iv, err := p.Interval(0.95)
		d, dErr := p.Difference()
		if err != nil || dErr != nil || !(-1 <= iv.Lower && iv.Lower <= d && d <= iv.Upper && iv.Upper <= 1) {
			t.Fatalf("%v around %v, %v, %v", iv, d, err, dErr)
		}
		swapped, err := stat.Pairs{Both: p.Both, First: p.Second, Second: p.First, Neither: p.Neither}.Interval(0.95)
		if err != nil || !near(swapped.Lower, -iv.Upper) || !near(swapped.Upper, -iv.Lower) {
			t.Fatalf("swapped %v, %v, not the mirror of %v", swapped, err, iv)
		}
		flipped, err := stat.Pairs{Both: p.Neither, First: p.Second, Second: p.First, Neither: p.Both}.Interval(0.95)
		if err != nil || !near(flipped.Lower, -iv.Upper) || !near(flipped.Upper, -iv.Lower) {
			t.Fatalf("counting wrong answers gives %v, %v, not the mirror of %v", flipped, err, iv)
		}
		wide, err := p.Interval(0.99)
		if err != nil || wide.Lower > iv.Lower || wide.Upper < iv.Upper {
			t.Fatalf("99 %% is %v, %v, 95 %% is %v", wide, err, iv)
		}
	})
}

func TestHolm(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		in, want []float64
	}{
		{"none", nil, []float64{}},
		{"one", []float64{0.03}, []float64{0.03}},
		{"by hand", []float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{"ties stay ties", []float64{0.02, 0.02, 0.5}, []float64{0.06, 0.06, 0.5}},
		{"never above one", []float64{0.9, 0.8}, []float64{1, 1}},
		{"zero and one", []float64{1, 0}, []float64{1, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := stat.Holm(tt.in)
			same := cmp.Comparer(func(a, b float64) bool { return relative(a, b, 0) })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, same); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
		if got, err := stat.Holm([]float64{0.5, bad}); !errors.Is(err, stat.Impossible) {
			t.Errorf("%v gives %v, %v", bad, got, err)
		}
	}
}

// Against the step-down rule in its own words: a test is rejected at a level
// when it and every smaller p-value clear level/(m-j+1).
func TestHolmRejectsByTheRule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
			return float64(rapid.IntRange(0, 50).Draw(t, "p·500")) / 500
		}), 1, 12).Draw(t, "p")
		level := (float64(rapid.IntRange(1, 99).Draw(t, "level")) + 0.37) / 500
		adjusted, err := stat.Holm(p)
		if err != nil {
			t.Fatal(err)
		}
		ordered := sortedCopy(p)
		bar := math.Inf(-1) // the largest rejected p-value
		for j, v := range ordered {
			if v > level/float64(len(p)-j) {
				break
			}
			bar = v
		}
		for i, v := range p {
			if (adjusted[i] <= level) != (v <= bar) {
				t.Fatalf("level %v: p %v became %v", level, p, adjusted)
			}
		}
	})
}
