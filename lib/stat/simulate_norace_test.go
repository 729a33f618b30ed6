//go:build !race

package stat_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evalrouter/evalrouter/lib/stat"
)

// The resampling tests cost a bootstrap a draw: a few thousand draws by
// default, 20,000 with -stat.draws=20000. All seeds are fixed.
var bootstrapDraws = flag.Int("stat.draws", 2000, "draws of each null simulation of a bootstrap")

const simulations = 20_000

func generator(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x57a7)) }

// McNemar never rejects more than 5 % of true null hypotheses, and rejects as
// often as counting all outcomes says.
func TestMcNemarSize(t *testing.T) {
	t.Parallel()
	for _, n := range []int{10, 25, 100, 400} {
		for _, discordance := range []float64{0.05, 0.25, 0.6, 1} {
			t.Run(fmt.Sprintf("n=%d D=%v", n, discordance), func(t *testing.T) {
				t.Parallel()
				rejects := rejections(t, n)
				size := 0.0
				for m := range n + 1 {
					weight := 1.0
					if discordance < 1 {
						weight = mass(n, m, discordance)
					} else if m < n {
						continue
					}
					for k := range m + 1 {
						if rejects[m][k] {
							size += weight * mass(m, k, 0.5)
						}
					}
				}
				rng := generator(uint64(n)<<8 + uint64(100*discordance))
				hits := 0
				for range simulations {
					m, k := 0, 0
					for range n {
						if rng.Float64() < discordance {
							m++
							k += int(rng.Uint64() >> 63)
						}
					}
					if rejects[m][k] {
						hits++
					}
				}
				rate := float64(hits) / simulations
				if size > 0.05+1e-9 || rate > 0.055 || math.Abs(rate-size) > 0.006 {
					t.Errorf("rejected %.4f, enumerated %.4f", rate, size)
				}
				t.Logf("figure g: McNemar n=%d discordance %v: rejected %.4f of %d, enumerated %.4f", n, discordance, rate, simulations, size)
			})
		}
	}
}

// rejections says for each m and k ≤ m whether k against m-k is significant
// at 5 %.
func rejections(t *testing.T, n int) [][]bool {
	t.Helper()
	table := make([][]bool, n+1)
	for m := range table {
		table[m] = make([]bool, m+1)
		for k := range table[m] {
			p, err := stat.McNemar(k, m-k)
			if err != nil {
				t.Fatal(err)
			}
			table[m][k] = p <= 0.05
		}
	}
	return table
}

func TestWilsonCoverage(t *testing.T) {
	t.Parallel()
	for _, n := range []int{10, 25, 50, 100, 400} {
		t.Run(fmt.Sprintf("n=%d", n), func(t *testing.T) {
			t.Parallel()
			intervals := make([]stat.Interval, n+1)
			for k := range intervals {
				intervals[k] = stat.Wilson(k, n, 0.95)
			}
			const points = 400
			mean := 0.0
			for i := range points {
				mean += coverage(intervals, (float64(i)+0.5)/points) / points
			}
			if mean < 0.94 || mean > 0.96 {
				t.Errorf("mean coverage %.4f", mean)
			}
			t.Logf("figure g: Wilson n=%d: mean coverage %.4f over %d values of p", n, mean, points)
			rng := generator(uint64(n))
			for _, p := range []float64{0.03, 0.1, 0.34, 0.5, 0.85, 0.97} {
				hits := 0
				for range simulations {
					k := 0
					for range n {
						if rng.Float64() < p {
							k++
						}
					}
					if iv := intervals[k]; iv.Lower <= p && p <= iv.Upper {
						hits++
					}
				}
				if rate, exact := float64(hits)/simulations, coverage(intervals, p); math.Abs(rate-exact) > 0.006 {
					t.Errorf("p = %v: covered %.4f, enumerated %.4f", p, rate, exact)
				}
			}
		})
	}
}

// coverage is the chance that the interval of a binomial count holds p.
func coverage(intervals []stat.Interval, p float64) float64 {
	covered := 0.0
	for k, iv := range intervals {
		if iv.Lower <= p && p <= iv.Upper {
			covered += mass(len(intervals)-1, k, p)
		}
	}
	return covered
}

// The paired interval, over every table of 40 tasks and a grid of truths.
func TestPairedIntervalCoverage(t *testing.T) {
	t.Parallel()
	const n = 40
	type table struct {
		pairs stat.Pairs
		iv    stat.Interval
		log   float64 // ln of the multinomial coefficient
	}
	var tables []table
	logFactorial := func(k int) float64 { v, _ := math.Lgamma(float64(k + 1)); return v }
	for a := range n + 1 {
		for b := range n + 1 - a {
			for c := range n + 1 - a - b {
				p := stat.Pairs{Both: a, First: b, Second: c, Neither: n - a - b - c}
				iv, err := p.Interval(0.95)
				if err != nil {
					t.Fatal(err)
				}
				tables = append(tables, table{p, iv, logFactorial(n) - logFactorial(a) - logFactorial(b) - logFactorial(c) - logFactorial(p.Neither)})
			}
		}
	}
	total, worst, points := 0.0, 1.0, 0
	for _, both := range []float64{0.2, 0.4, 0.6} {
		for _, first := range []float64{0.02, 0.1, 0.2} {
			for _, second := range []float64{0.02, 0.05, 0.15} {
				neither := 1 - both - first - second
				covered := 0.0
				for _, tb := range tables {
					if d := first - second; tb.iv.Lower <= d && d <= tb.iv.Upper {
						covered += math.Exp(tb.log + float64(tb.pairs.Both)*math.Log(both) + float64(tb.pairs.First)*math.Log(first) +
							float64(tb.pairs.Second)*math.Log(second) + float64(tb.pairs.Neither)*math.Log(neither))
					}
				}
				total += covered
				worst = math.Min(worst, covered)
				points++
			}
		}
	}
	if mean := total / float64(points); mean < 0.94 || mean > 0.98 || worst < 0.92 {
		t.Errorf("mean coverage %.4f, worst %.4f", mean, worst)
	}
}

// Normal values make the t interval exact at any n.
func TestTIntervalCoverage(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3, 5, 30} {
		rng := generator(uint64(n) + 1000)
		hits := 0
		values := make([]float64, n)
		for range simulations {
			for i := range values {
				values[i] = 7 + 3*rng.NormFloat64()
			}
			e, err := stat.Mean(values)
			if err != nil {
				t.Fatal(err)
			}
			iv, err := e.Interval(0.95)
			if err != nil {
				t.Fatal(err)
			}
			if iv.Lower <= 7 && 7 <= iv.Upper {
				hits++
			}
		}
		if rate := float64(hits) / simulations; math.Abs(rate-0.95) > 0.006 {
			t.Errorf("n = %d: covered %.4f", n, rate)
		}
	}
}

// sample draws paired differences whose true mean is zero.
type sample func(rng *rand.Rand) (values []float64, clusters []string)

// Two models that are each the only right one on an eighth of 400 tasks.
func binaryNull(rng *rand.Rand) ([]float64, []string) {
	values := make([]float64, 400)
	for i := range values {
		switch u := rng.Float64(); {
		case u < 0.125:
			values[i] = 1
		case u < 0.25:
			values[i] = -1
		}
	}
	return values, nil
}

// Differences of partial credits, skewed: one in four costs three times what
// the others bring.
func skewedNull(rng *rand.Rand) ([]float64, []string) {
	values := make([]float64, 400)
	for i := range values {
		values[i] = 0.2 * rng.Float64()
		if rng.Float64() < 0.25 {
			values[i] -= 0.4
		}
	}
	return values, nil
}

// 50 clusters of 2 to 8 tasks that share most of their luck.
func clusteredNull(rng *rand.Rand) ([]float64, []string) {
	var values []float64
	var clusters []string
	for c := range 50 {
		shared := rng.NormFloat64()
		for range 2 + rng.IntN(7) {
			values = append(values, shared+0.5*rng.NormFloat64())
			clusters = append(clusters, string(rune('A'+c)))
		}
	}
	return values, clusters
}

func sizeOf(t *testing.T, seed uint64, draws int, from sample, p func([]float64, []string) (float64, error)) float64 {
	t.Helper()
	rng := generator(seed)
	hits := 0
	for range draws {
		values, clusters := from(rng)
		got, err := p(values, clusters)
		if err != nil {
			t.Fatal(err)
		}
		if got <= 0.05 {
			hits++
		}
	}
	return float64(hits) / float64(draws)
}

func pOf(e stat.Estimate, err error) (float64, error) {
	if err != nil {
		return 0, err
	}
	return e.P(0)
}

func TestBootstrapSize(t *testing.T) {
	t.Parallel()
	seed := uint64(0)
	boot := func(values []float64, clusters []string) (float64, error) {
		seed++
		b := stat.Bootstrap{Seed: seed, Resamples: 399}
		if clusters == nil {
			r, err := b.Mean(values, 0.95)
			return r.P, err
		}
		r, err := b.ClusteredMean(values, clusters, 0.95)
		return r.P, err
	}
	for i, from := range []sample{binaryNull, skewedNull, clusteredNull} {
		if rate := sizeOf(t, uint64(i)+1, *bootstrapDraws, from, boot); rate < 0.04 || rate > 0.06 {
			t.Errorf("sample %d: rejected %.4f of %d null hypotheses", i, rate, *bootstrapDraws)
		} else {
			t.Logf("figure g: paired bootstrap, sample %d: rejected %.4f of %d", i, rate, *bootstrapDraws)
		}
	}
}

func TestClusteredSize(t *testing.T) {
	t.Parallel()
	robust := func(values []float64, clusters []string) (float64, error) {
		return pOf(stat.Clustered(values, clusters))
	}
	naive := func(values []float64, _ []string) (float64, error) { return pOf(stat.Mean(values)) }
	if rate := sizeOf(t, 31, simulations, clusteredNull, robust); rate < 0.04 || rate > 0.06 {
		t.Errorf("rejected %.4f of the null hypotheses", rate)
	} else {
		t.Logf("figure g: clustered errors: rejected %.4f of %d", rate, simulations)
	}
	// The same data shows that the test can fail: without clusters the error
	// is far too small.
	if rate := sizeOf(t, 31, 2000, clusteredNull, naive); rate < 0.15 {
		t.Errorf("ignoring the clusters rejects only %.4f", rate)
	}
	for i, from := range []sample{binaryNull, skewedNull} {
		if rate := sizeOf(t, uint64(i)+41, simulations/4, from, naive); rate < 0.04 || rate > 0.06 {
			t.Errorf("sample %d: the t test rejected %.4f", i, rate)
		}
	}
}

// The planned power is what the exact test has, less the little that its
// steps cost.
func TestPlannedPowerIsReached(t *testing.T) {
	t.Parallel()
	for _, gap := range []float64{0.05, 0.1, 0.2} {
		n, err := stat.Plan{Confidence: 0.95, Power: 0.8, Discordance: 0.25}.Tasks(gap)
		if err != nil {
			t.Fatal(err)
		}
		rng := generator(uint64(n) + 77)
		const draws = 4000
		hits := 0
		for range draws {
			first, second := 0, 0
			for range n {
				switch u := rng.Float64(); {
				case u < (0.25+gap)/2:
					first++
				case u < 0.25:
					second++
				}
			}
			p, err := stat.McNemar(first, second)
			if err != nil {
				t.Fatal(err)
			}
			if p <= 0.05 && first > second {
				hits++
			}
		}
		if rate := float64(hits) / draws; rate < 0.72 || rate > 0.83 {
			t.Errorf("gap %v, n = %d: power %.3f", gap, n, rate)
		}
	}
	if _, err := (stat.Plan{}).Tasks(0.1); !errors.Is(err, stat.Impossible) {
		t.Errorf("the empty plan gives %v", err)
	}
}
