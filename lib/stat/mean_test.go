package stat_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/lib/stat"
)

func TestMeanEdges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		values []float64
		mean   error // of making the estimate
		spread error // of its standard error, interval and test
	}{
		{"none", nil, stat.NoData, nil},
		{"one", []float64{0.7}, nil, stat.TooFew},
		{"two equal", []float64{0.1, 0.1}, nil, stat.NoSpread},
		{"three equal that do not add up exactly", []float64{0.1, 0.1, 0.1}, nil, stat.NoSpread},
		{"two", []float64{0, 1}, nil, nil},
		{"not a number", []float64{0, math.NaN()}, stat.Impossible, nil},
		{"infinite", []float64{0, math.Inf(1)}, stat.Impossible, nil},
		{"sum too large", []float64{1e308, 1.5e308}, stat.Impossible, nil},
		{"squares too large", []float64{1e200, -1e200}, stat.Impossible, nil},
		{"largest, equal", []float64{math.MaxFloat64, math.MaxFloat64}, nil, stat.NoSpread},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, err := stat.Mean(tt.values)
			if !errors.Is(err, tt.mean) || (err == nil) != (tt.mean == nil) {
				t.Fatalf("Mean: %v, want %v", err, tt.mean)
			}
			if err != nil {
				return
			}
			_, seErr := e.StdErr()
			_, ivErr := e.Interval(0.95)
			_, pErr := e.P(0)
			for _, err := range []error{seErr, ivErr, pErr} {
				if !errors.Is(err, tt.spread) || (err == nil) != (tt.spread == nil) {
					t.Errorf("got %v, want %v", err, tt.spread)
				}
			}
		})
	}
	if _, err := (stat.Estimate{}).StdErr(); !errors.Is(err, stat.NoData) {
		t.Errorf("the zero estimate gives %v", err)
	}
	e, err := stat.Mean([]float64{0, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []float64{0, 1, -1, 95, math.NaN()} {
		if iv, err := e.Interval(c); !errors.Is(err, stat.Impossible) {
			t.Errorf("confidence %v gives %v, %v", c, iv, err)
		}
	}
	if _, err := e.P(math.NaN()); !errors.Is(err, stat.Impossible) {
		t.Errorf("null NaN gives %v", err)
	}
}

// 0, 1: mean ½, stderr ½, and Cauchy's quantile tan(0.475 π).
func TestMeanByHand(t *testing.T) {
	t.Parallel()
	e, err := stat.Mean([]float64{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	iv, err := e.Interval(0.95)
	half := math.Tan(0.475*math.Pi) / 2
	if err != nil || !relative(iv.Lower, 0.5-half, 0) || !relative(iv.Upper, 0.5+half, 0) {
		t.Errorf("got %v, %v, want ½ ± %v", iv, err, half)
	}
	if cut := iv.Within(0, 1); cut != (stat.Interval{Lower: 0, Upper: 1}) {
		t.Errorf("cut to [0,1] it is %v", cut)
	}
	// t = 1 at one degree of freedom leaves a quarter on each side.
	if p, err := e.P(0); err != nil || !relative(p, 0.5, 0) {
		t.Errorf("p = %v, %v, want ½", p, err)
	}
	if p, err := e.P(0.5); err != nil || p != 1 {
		t.Errorf("p of its own mean = %v, %v", p, err)
	}
}

func TestClusteredByHand(t *testing.T) {
	t.Parallel()
	// Mean ½; the clusters' sums of deviations are 1, -½, -½.
	e, err := stat.Clustered([]float64{1, 1, 0, 0.5, 0}, []string{"a", "a", "b", "c", "c"})
	if err != nil {
		t.Fatal(err)
	}
	want := math.Sqrt(3.0/2*(1+0.25+0.25)) / 5
	if se, err := e.StdErr(); err != nil || !relative(se, want, 0) || e.Units != 3 || e.N != 5 || e.Mean != 0.5 {
		t.Errorf("%+v has standard error %v, %v, want %v", e, se, err, want)
	}
	tests := []struct {
		name     string
		values   []float64
		clusters []string
		want     error
	}{
		{"no values", nil, nil, stat.NoData},
		{"one cluster", []float64{0, 1}, []string{"a", "a"}, stat.TooFew},
		{"clusters without a difference", []float64{0.1, 0.7, 0.7, 0.1}, []string{"a", "a", "b", "b"}, stat.NoSpread},
		{"a cluster is missing", []float64{0, 1}, []string{"a"}, stat.Impossible},
		{"empty names are one cluster", []float64{0, 1}, []string{"", ""}, stat.TooFew},
	}
	for _, tt := range tests {
		e, err := stat.Clustered(tt.values, tt.clusters)
		if err == nil {
			_, err = e.StdErr()
		}
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	d, err := stat.Differences([]float64{1, 0.5, 0}, []float64{0, 0.5, 1})
	if err != nil || d[0] != 1 || d[1] != 0 || d[2] != -1 {
		t.Errorf("got %v, %v", d, err)
	}
	if _, err := stat.Differences([]float64{1}, nil); !errors.Is(err, stat.Impossible) {
		t.Errorf("unequal lengths give %v", err)
	}
	if _, err := stat.Differences([]float64{math.Inf(1)}, []float64{math.Inf(1)}); !errors.Is(err, stat.Impossible) {
		t.Errorf("∞-∞ gives %v", err)
	}
}

var drawScores = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
	return float64(rapid.IntRange(0, 8).Draw(t, "eighths")) / 8
}), 2, 60)

func TestMeanProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := drawScores.Draw(t, "values")
		e, err := stat.Mean(values)
		if err != nil {
			t.Fatal(err)
		}
		own := make([]string, len(values))
		moved, twice, pairs := make([]float64, len(values)), []float64{}, []string{}
		for i, v := range values {
			own[i] = fmt.Sprint(i)
			moved[len(values)-1-i] = 3 - 2*v
			twice = append(twice, v, v)
			pairs = append(pairs, own[i], own[i])
		}
		single, err1 := stat.Clustered(values, own)
		mirror, err2 := stat.Mean(moved)
		double, err3 := stat.Clustered(twice, pairs)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		if single != e {
			t.Fatalf("one cluster a value: %+v, want %+v", single, e)
		}
		if !near(mirror.Mean, 3-2*e.Mean) || !near(double.Mean, e.Mean) {
			t.Fatalf("means %v, %v of %v", mirror.Mean, double.Mean, e.Mean)
		}
		se, err := e.StdErr()
		mirrorSE, mirrorErr := mirror.StdErr()
		doubleSE, doubleErr := double.StdErr()
		if !errors.Is(mirrorErr, err) || !errors.Is(doubleErr, err) {
			t.Fatalf("reasons %v, %v, %v", err, mirrorErr, doubleErr)
		}
		// Asking everything twice adds no information.
		if !near(mirrorSE, 2*se) || !near(doubleSE, se) {
			t.Fatalf("standard errors %v, mirrored %v, doubled %v", se, mirrorSE, doubleSE)
		}
		if err != nil {
			return
		}
		narrow, _ := e.Interval(0.8)
		wide, _ := e.Interval(0.99)
		if !(wide.Lower < narrow.Lower && narrow.Lower < e.Mean && e.Mean < narrow.Upper && narrow.Upper < wide.Upper) {
			t.Fatalf("%v around %v around %v", wide, narrow, e.Mean)
		}
		// The test rejects at 5 % just what the 95 % interval leaves out.
		iv, _ := e.Interval(0.95)
		null := rapid.Float64Range(-1, 2).Draw(t, "null")
		p, err := e.P(null)
		if err != nil || (null > iv.Lower && null < iv.Upper) != (p > 0.05) && math.Abs(p-0.05) > 1e-9 {
			t.Fatalf("p = %v of %v, %v; the interval is %v", p, null, err, iv)
		}
	})
}

// No arguments, however absurd, bring a NaN or an infinity to a reader.
func TestNothingIsNotANumber(t *testing.T) {
	t.Parallel()
	absurd := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{
		0, math.Copysign(0, -1), 1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 5e-324, 1e-200,
	}))
	count := rapid.OneOf(rapid.IntRange(-2, 40), rapid.SampledFrom([]int{1 << 20, 1 << 30}))
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(absurd, 0, 6).Draw(t, "values")
		clusters := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b"}), 0, 6).Draw(t, "clusters")
		x, y := absurd.Draw(t, "x"), absurd.Draw(t, "y")
		a, b, c, d := count.Draw(t, "a"), count.Draw(t, "b"), count.Draw(t, "c"), count.Draw(t, "d")
		k := rapid.IntRange(-1, 50).Draw(t, "k")
		seen := func(what string, err error, figures ...float64) {
			for _, f := range figures {
				if err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
					t.Fatalf("%s gives %v", what, figures)
				}
			}
		}
		estimate := func(what string, e stat.Estimate, err error) {
			seen(what, err, e.Mean)
			if err != nil {
				return
			}
			se, err := e.StdErr()
			seen(what+" error", err, se)
			iv, err := e.Interval(x)
			seen(what+" interval", err, iv.Lower, iv.Upper)
			p, err := e.P(y)
			seen(what+" test", err, p)
		}
		resampled := func(what string, r stat.Resampled, err error) {
			seen(what, err, r.Mean, r.StdErr, r.P, r.Interval.Lower, r.Interval.Upper)
		}
		e, err := stat.Mean(values)
		estimate("mean", e, err)
		e, err = stat.Clustered(values, clusters)
		estimate("clustered", e, err)
		e, err = stat.Tally{Wins: a, Ties: b, Losses: c}.WinRate()
		estimate("win rate", e, err)
		e, err = stat.PassAt([]stat.Attempts{{Samples: a, Right: b}, {Samples: c, Right: d}}, k)
		estimate("pass@k", e, err)
		e, err = stat.PassAll([]stat.Attempts{{Samples: a, Right: b}, {Samples: c, Right: d}}, k)
		estimate("pass^k", e, err)
		for _, m := range []stat.Method{stat.PercentileMethod, stat.BCa} {
			boot := stat.Bootstrap{Seed: 1, Resamples: 20, Method: m}
			r, err := boot.Mean(values, x)
			resampled("bootstrap", r, err)
			r, err = boot.ClusteredMean(values, clusters, x)
			resampled("clustered bootstrap", r, err)
		}
		pairs := stat.Pairs{Both: a, First: b, Second: c, Neither: d}
		iv, err := pairs.Interval(x)
		seen("paired interval", err, iv.Lower, iv.Upper)
		p, err := stat.McNemar(a, b)
		seen("McNemar", err, p)
		p, err = stat.TCDF(x, y)
		seen("TCDF", err, p)
		p, err = stat.TQuantile(x, y)
		seen("TQuantile", err, p)
		p, err = stat.Percentile(values, x)
		seen("percentile", err, p)
		plan := stat.Plan{Confidence: x, Power: y, Discordance: 0.3}
		p, err = plan.Detectable(a)
		seen("detectable", err, p)
		_, err = plan.Tasks(x)
		seen("tasks", err)
	})
}

// Two sums are enough for what Mean makes of the values.
func TestFromSums_IsMean(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0.25, 0.5, 0.9, 1}), 2, 300).Draw(t, "values")
		sum, squares := 0.0, 0.0
		for _, v := range values {
			sum, squares = sum+v, squares+v*v
		}
		want, err := stat.Mean(values)
		if err != nil {
			t.Fatal(err)
		}
		got, err := stat.FromSums(len(values), sum, squares)
		if err != nil {
			t.Fatal(err)
		}
		a, errA := want.Interval(0.95)
		b, errB := got.Interval(0.95)
		if !errors.Is(errB, errA) || math.Abs(got.Mean-want.Mean) > 1e-12 || math.Abs(a.Lower-b.Lower) > 1e-9 || math.Abs(a.Upper-b.Upper) > 1e-9 {
			t.Errorf("%v, %v %v; want %v, %v %v", got.Mean, b, errB, want.Mean, a, errA)
		}
	})
}

func TestFromSums_Refuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		n            int
		sum, squares float64
		want         error
	}{
		{"nothing", 0, 0, 0, stat.NoData},
		{"fewer than nothing", -1, 0, 0, stat.Impossible},
		{"a sum above the count", 2, 3, 2, stat.Impossible},
		{"squares above the sum", 2, 1, 1.5, stat.Impossible},
		{"no number", 2, math.NaN(), 1, stat.Impossible},
		{"one value", 1, 0.5, 0.25, stat.TooFew},
		{"equal values", 3, 0.3, 0.03, stat.NoSpread},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, err := stat.FromSums(tt.n, tt.sum, tt.squares)
			if err == nil {
				_, err = e.Interval(0.95)
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
		})
	}
}
