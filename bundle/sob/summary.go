package sob

import (
	"math"
	"slices"

	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/random"
)

// Figure is a mean with the bounds of its 95 % bootstrap interval.
type Figure struct{ Mean, Low, High float64 }

// Summary is the means of a set of records. Metrics are in the order of
// Summarized, categories in that of Categories.
type Summary struct {
	N          int
	Weighted   bool
	Metrics    []Figure
	Categories []Figure
}

// Metric returns the figure of a metric; ok is false if summaries lack it.
func (s *Summary) Metric(m Metric) (f Figure, ok bool) {
	i := slices.Index(Summarized(), m)
	if i < 0 {
		return Figure{}, false
	}
	return s.Metrics[i], true
}

// Bootstrap says how intervals are made.
type Bootstrap struct {
	Samples int
	Seed    int64 // of the plain summary; the weighted one takes the next
}

// DefaultBootstrap is what SOB's published summaries were made with.
func DefaultBootstrap() Bootstrap { return Bootstrap{Samples: 1000, Seed: 42} }

// Summarize derives a summary from scored records. It depends on the order of
// rows, because the intervals do. Records without a score are not to be among
// them; N says how many there were. A weighted summary weighs each record by
// its difficulty, and is 0 throughout when no difficulty is known.
func Summarize(rows []Row, weighted bool, b Bootstrap) Summary {
	s := Summary{N: len(rows), Weighted: weighted}
	r := newResampler(rows, weighted, b)
	column := make([]float64, len(rows))
	for _, m := range Summarized() {
		for i := range rows {
			column[i] = rows[i].Scores[m]
		}
		s.Metrics = append(s.Metrics, r.figure(column))
	}
	for _, c := range Categories() {
		for i := range rows {
			var sum number.Adder
			for _, m := range c.Metrics {
				sum.Add(rows[i].Scores[m])
			}
			column[i] = sum.Sum() / float64(len(c.Metrics))
		}
		s.Categories = append(s.Categories, r.figure(column))
	}
	return s
}

// resampler draws for one summary, column after column, from one generator.
type resampler struct {
	source  *random.Random
	samples int
	weights []float64 // nil for a plain summary
	drawn   []int32
	sample  []float64 // the values of a draw
	weight  []float64 // their weights
}

func newResampler(rows []Row, weighted bool, b Bootstrap) *resampler {
	n := len(rows)
	seed := b.Seed
	if weighted {
		seed++
	}
	r := &resampler{source: random.New(seed), samples: b.Samples, drawn: make([]int32, n), sample: make([]float64, n)}
	if weighted {
		r.weights, r.weight = make([]float64, n), make([]float64, n)
		for i := range rows {
			r.weights[i] = rows[i].Weight
		}
	}
	return r
}

// figure is the mean of a column and its interval.
func (r *resampler) figure(column []float64) Figure {
	if len(column) == 0 {
		return Figure{}
	}
	values := column
	if r.weights != nil {
		values = make([]float64, len(column))
		for i := range column {
			values[i] = column[i] * r.weights[i]
		}
	}
	f := Figure{Mean: r.mean(values, r.weights)}
	means := make([]float64, r.samples)
	for i := range means {
		r.source.FillBelow(r.drawn, int32(len(values)))
		for j, at := range r.drawn {
			r.sample[j] = values[at]
		}
		for j := range r.weight {
			r.weight[j] = r.weights[r.drawn[j]]
		}
		means[i] = r.mean(r.sample, r.weight)
	}
	slices.Sort(means)
	f.Low, f.High = bounds(means)
	return f
}

// mean is the sum over the number of values, or over the sum of their weights.
func (r *resampler) mean(values, weights []float64) float64 {
	if r.weights == nil {
		return number.Sum(values) / float64(len(values))
	}
	total := number.Sum(weights)
	if total == 0 {
		return 0
	}
	return number.Sum(values) / total
}

// bounds are the sorted values at the ends of the middle 95 %.
func bounds(sorted []float64) (low, high float64) {
	if len(sorted) == 0 {
		return 0, 0
	}
	last := float64(len(sorted) - 1)
	return sorted[max(0, int(math.Floor(0.025*last)))], sorted[min(len(sorted)-1, int(math.Ceil(0.975*last)))]
}
