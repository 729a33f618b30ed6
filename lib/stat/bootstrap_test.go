package stat_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/lib/stat"
)

// Outputs published with the generator for seed 1234567.
func TestSource(t *testing.T) {
	t.Parallel()
	next := stat.Source(1234567)
	for i, want := range []uint64{
		6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
	} {
		if got := next(); got != want {
			t.Errorf("output %d is %d, want %d", i, got, want)
		}
	}
}

// Pearson's statistic of the counts, against its mean and deviation.
func TestChoicesAreUniform(t *testing.T) {
	t.Parallel()
	for _, n := range []uint32{1, 2, 3, 7, 100, 1000} {
		const draws = 200_000
		counts := make([]float64, n)
		for _, c := range stat.Choices(7, n, draws) {
			counts[c]++
		}
		chi, expected := 0.0, draws/float64(n)
		for _, c := range counts {
			chi += (c - expected) * (c - expected) / expected
		}
		if free := float64(n - 1); math.Abs(chi-free) > 4*math.Sqrt(2*free) {
			t.Errorf("n = %d: chi² = %v at %v degrees of freedom", n, chi, free)
		}
	}
	// 3·2³⁰ does not divide 2³². Without the second draw every third number
	// would come up twice as often.
	const draws = 100_000
	doubled := 0
	for _, c := range stat.Choices(11, 3<<30, draws) {
		if c%3 == 0 {
			doubled++
		}
	}
	if math.Abs(float64(doubled)-draws/3.0) > 4*math.Sqrt(draws*2/9.0) {
		t.Errorf("%d of %d draws are multiples of 3", doubled, draws)
	}
}

func TestBootstrapEdges(t *testing.T) {
	t.Parallel()
	ok := stat.Bootstrap{Resamples: 100}
	tests := []struct {
		name       string
		b          stat.Bootstrap
		values     []float64
		confidence float64
		want       error
	}{
		{"none", ok, nil, 0.95, stat.NoData},
		{"one", ok, []float64{1}, 0.95, stat.TooFew},
		{"two equal", ok, []float64{1, 1}, 0.95, stat.NoSpread},
		{"three equal that do not add up exactly", ok, []float64{0.1, 0.1, 0.1}, 0.95, stat.NoSpread},
		{"not a number", ok, []float64{1, math.NaN()}, 0.95, stat.Impossible},
		{"confidence", ok, []float64{1, 0}, 1, stat.Impossible},
		{"negative resamples", stat.Bootstrap{Resamples: -1}, []float64{1, 0}, 0.95, stat.Impossible},
		{"one resample", stat.Bootstrap{Resamples: 1}, []float64{1, 0}, 0.95, stat.Impossible},
		{"too many resamples", stat.Bootstrap{Resamples: stat.MaxResamples + 1}, []float64{1, 0}, 0.95, stat.Impossible},
		{"unknown method", stat.Bootstrap{Method: "basic"}, []float64{1, 0}, 0.95, stat.Impossible},
		{"two", ok, []float64{1, 0}, 0.95, nil},
		{"two, bca", stat.Bootstrap{Resamples: 100, Method: stat.BCa}, []float64{1, 0}, 0.95, nil},
		{"defaults", stat.Bootstrap{}, []float64{1, 0, 0.5}, 0.95, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := tt.b.Mean(tt.values, tt.confidence)
			if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
				t.Fatalf("got %+v, %v, want %v", r, err, tt.want)
			}
			if err == nil && (r.N != len(tt.values) || r.Units != r.N || r.Resamples < 100) {
				t.Errorf("got %+v", r)
			}
		})
	}
	if _, err := ok.ClusteredMean([]float64{1, 0}, []string{"a"}, 0.95); !errors.Is(err, stat.Impossible) {
		t.Errorf("missing cluster: %v", err)
	}
	if _, err := ok.ClusteredMean([]float64{1, 0}, []string{"a", "a"}, 0.95); !errors.Is(err, stat.TooFew) {
		t.Errorf("one cluster: %v", err)
	}
}

// The bootstrap of a mean is known when all resamples are: their standard
// deviation is √(Σd²)/n, and the share at or below each mean is a count. A
// hundred thousand draws come within 4 standard errors of it.
func TestBootstrapAgreesWithEnumeration(t *testing.T) {
	t.Parallel()
	values := []float64{0, 0.2, 1, 0.5, 0.9}
	var means []float64
	for code := range 3125 {
		sum, c := 0.0, code
		for range 5 {
			sum += values[c%5]
			c /= 5
		}
		means = append(means, sum/5)
	}
	slices.Sort(means)
	exactSD, sd := 0.0, 0.0
	for _, m := range means {
		exactSD += (m - 0.52) * (m - 0.52) / 3125
	}
	for _, v := range values {
		sd += (v - 0.52) * (v - 0.52) / 25
	}
	if !near(exactSD, sd) {
		t.Fatalf("enumeration gives variance %v, the formula %v", exactSD, sd)
	}
	r, err := stat.Bootstrap{Seed: 3, Resamples: 100_000}.Mean(values, 0.9)
	if err != nil || !near(r.Mean, 0.52) || math.Abs(r.StdErr/math.Sqrt(sd)-1) > 4/math.Sqrt(2*100_000) {
		t.Errorf("got %+v, %v, want a standard error of %v", r, err, math.Sqrt(sd))
	}
	lower, upper := means[3125*5/100], means[3125*95/100]
	if math.Abs(r.Interval.Lower-lower) > 0.011 || math.Abs(r.Interval.Upper-upper) > 0.011 {
		t.Errorf("interval %v, want about %v to %v", r.Interval, lower, upper)
	}
}

// Equal differences p = 1; a difference that no resample reaches has the
// smallest p that so many resamples can show.
func TestBootstrapP(t *testing.T) {
	t.Parallel()
	b := stat.Bootstrap{Seed: 5, Resamples: 999}
	r, err := b.Mean([]float64{1, -1, 1, -1}, 0.95)
	if err != nil || r.P != 1 {
		t.Errorf("mean zero: p = %v, %v", r.P, err)
	}
	far := make([]float64, 50)
	for i := range far {
		far[i] = 10 + float64(i%2)
	}
	// Two values cannot tell: resamples without spread count as far.
	if r, err = b.Mean([]float64{0, 1}, 0.95); err != nil || math.Abs(r.P-0.5) > 0.05 {
		t.Errorf("0 and 1: p = %v, %v, want about ½", r.P, err)
	}
	if r, err = b.Mean(far, 0.95); err != nil || r.P != 0.001 {
		t.Errorf("far from zero: p = %v, %v, want 1/1000", r.P, err)
	}
}

// BCa moves the percentile interval towards the long tail, and leaves a
// symmetric sample about alone.
func TestBCa(t *testing.T) {
	t.Parallel()
	skewed := make([]float64, 60)
	for i := range skewed {
		skewed[i] = math.Exp(stat.Quantile((float64(i) + 0.5) / 60))
	}
	plain, err1 := stat.Bootstrap{Seed: 9, Resamples: 20_000}.Mean(skewed, 0.95)
	bca, err2 := stat.Bootstrap{Seed: 9, Resamples: 20_000, Method: stat.BCa}.Mean(skewed, 0.95)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if bca.Interval.Lower <= plain.Interval.Lower || bca.Interval.Upper <= plain.Interval.Upper || bca.StdErr != plain.StdErr {
		t.Errorf("skewed to the right: %v became %v", plain.Interval, bca.Interval)
	}
	even := make([]float64, 60)
	for i := range even {
		even[i] = float64(i)
	}
	plain, err1 = stat.Bootstrap{Seed: 9, Resamples: 20_000}.Mean(even, 0.95)
	bca, err2 = stat.Bootstrap{Seed: 9, Resamples: 20_000, Method: stat.BCa}.Mean(even, 0.95)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if w := plain.Interval.Upper - plain.Interval.Lower; math.Abs(bca.Interval.Lower-plain.Interval.Lower) > 0.02*w || math.Abs(bca.Interval.Upper-plain.Interval.Upper) > 0.02*w {
		t.Errorf("symmetric: %v became %v", plain.Interval, bca.Interval)
	}
}

func TestBootstrapProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := drawScores.Draw(t, "values")
		b := stat.Bootstrap{
			Seed: rapid.Uint64().Draw(t, "seed"), Resamples: 200,
			Method: rapid.SampledFrom([]stat.Method{stat.PercentileMethod, stat.BCa}).Draw(t, "method"),
		}
		r, err := b.Mean(values, 0.9)
		again, againErr := b.Mean(values, 0.9)
		if again != r || !errors.Is(againErr, err) {
			t.Fatalf("the same seed gives %+v, %v and %+v, %v", r, err, again, againErr)
		}
		if err != nil {
			return
		}
		moved := make([]float64, len(values))
		own := make([]string, len(values))
		for i, v := range values {
			moved[i] = 4*v + 100
			own[i] = fmt.Sprint(i)
		}
		scaled, err1 := b.Mean(moved, 0.9)
		single, err2 := b.ClusteredMean(values, own, 0.9)
		if err := errors.Join(err1, err2); err != nil || single != r {
			t.Fatalf("one cluster a value: %+v, %v, want %+v", single, err, r)
		}
		if math.Abs(scaled.StdErr-4*r.StdErr) > 1e-9 || math.Abs(scaled.Interval.Lower-4*r.Interval.Lower-100) > 1e-9 || math.Abs(scaled.Interval.Upper-4*r.Interval.Upper-100) > 1e-9 {
			t.Fatalf("4x+100: %+v, not that of %+v", scaled, r)
		}
		wide, err := b.Mean(values, 0.99)
		if err != nil || wide.Interval.Lower > r.Interval.Lower || wide.Interval.Upper < r.Interval.Upper {
			t.Fatalf("99 %% is %v, %v, 90 %% is %v", wide.Interval, err, r.Interval)
		}
		if ordered := sortedCopy(values); wide.Interval.Lower < ordered[0]-1e-12 || wide.Interval.Upper > ordered[len(ordered)-1]+1e-12 {
			t.Fatalf("%v leaves the range of the values", wide.Interval)
		}
	})
}

func TestPercentileRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		sorted []float64
		p      float64
		want   error
	}{
		{"none", nil, 0.5, stat.NoData},
		{"below", []float64{1}, -0.1, stat.Impossible},
		{"above", []float64{1}, 1.1, stat.Impossible},
		{"not a number", []float64{1}, math.NaN(), stat.Impossible},
		{"not sorted", []float64{2, 1}, 0.5, stat.Impossible},
		{"infinite", []float64{1, math.Inf(1)}, 0.5, stat.Impossible},
	}
	for _, tt := range tests {
		if got, err := stat.Percentile(tt.sorted, tt.p); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
	for p := 0.0; p <= 1; p += 1.0 / 997 { // between equal neighbours there is one value
		if got, err := stat.Percentile([]float64{0.25, 0.25, 0.25}, p); err != nil || got != 0.25 {
			t.Fatalf("percentile %v of a constant = %v, %v", p, got, err)
		}
	}
	for p, want := range map[float64]float64{0: 1, 0.25: 2, 0.5: 3, 1: 9} {
		if got, err := stat.Percentile([]float64{1, 2, 3, 4, 9}, p); err != nil || got != want {
			t.Errorf("percentile %v = %v, %v, want %v", p, got, err, want)
		}
	}
}

func BenchmarkBootstrapMean(b *testing.B) {
	values := make([]float64, 1000)
	for i := range values {
		values[i] = float64(i%7) / 6
	}
	boot := stat.Bootstrap{Seed: 1, Resamples: 1000}
	for b.Loop() {
		if _, err := boot.Mean(values, 0.95); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*1e6/b.Elapsed().Seconds()/1e6, "Mdraws/s")
}
