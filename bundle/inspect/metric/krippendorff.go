package metric

import (
	"math"
	"slices"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// The levels of measurement of Krippendorff.
const (
	Nominal  = "nominal"
	Ordinal  = "ordinal"
	Interval = "interval"
)

// Krippendorff is the alpha of agreement between raters. A sample's value is
// the list of its ratings; samples with fewer than two are left out.
type Krippendorff struct {
	Level string // "" means Nominal
	// Map turns ratings that are no numbers into numbers, above Nominal.
	Map Map
}

// Name is krippendorff_alpha.
func (Krippendorff) Name() string { return "krippendorff_alpha" }

// Compute is NaN without usable samples and 1 when all ratings are the same.
// Above Nominal a rating that is no number raises ValueError unless Map is set.
func (k Krippendorff) Compute(samples []Sample) (any, error) {
	var units [][]any
	for _, s := range samples {
		ratings, ok := s.Score.Value.([]any)
		if !ok || len(ratings) < 2 {
			continue
		}
		units = append(units, ratings)
	}
	switch k.Level {
	case "", Nominal:
		return nominal(units)
	case Ordinal, Interval:
	default:
		return nil, pycompat.Raise("ValueError", "no level of measurement is called %s", k.Level)
	}
	numbers := make([][]float64, len(units))
	for i, u := range units {
		for _, r := range u {
			f, ok := value.Float(r)
			if !ok && k.Map == nil {
				return nil, pycompat.Raise("ValueError", "rating %s is no number", value.Repr(r))
			}
			if !ok {
				f = float(k.Map, r)
			}
			numbers[i] = append(numbers[i], f)
		}
	}
	if k.Level == Ordinal {
		ranks(numbers)
	}
	return alpha(numbers, squares), nil
}

// alpha compares the disagreement within units with that of all ratings.
func alpha[T any](units [][]T, disagreement func([]T) float64) float64 {
	var all []T
	for _, u := range units {
		all = append(all, u...)
	}
	n := float64(len(all))
	if n < 2 {
		return math.NaN()
	}
	within := make([]float64, len(units))
	for i, u := range units {
		within[i] = disagreement(u) / float64(len(u)-1)
	}
	expected := disagreement(all) / (n * (n - 1))
	if expected == 0 {
		return 1
	}
	return 1 - number.Sum(within)/n/expected
}

func nominal(units [][]any) (any, error) {
	keys := make([][]any, len(units))
	for i, u := range units {
		for _, r := range u {
			k, err := value.Key(r)
			if err != nil {
				return nil, err
			}
			keys[i] = append(keys[i], k)
		}
	}
	return alpha(keys, func(ratings []any) float64 {
		counts := map[any]int{}
		for _, r := range ratings {
			counts[r]++
		}
		d := len(ratings) * len(ratings)
		for _, n := range counts {
			d -= n * n
		}
		return float64(d)
	}), nil
}

// squares is the sum of (a-b)² over ordered pairs.
func squares(xs []float64) float64 {
	n := float64(len(xs))
	m := number.Sum(xs) / n
	ds := make([]float64, len(xs))
	for i, x := range xs {
		ds[i] = (x - m) * (x - m)
	}
	return 2 * n * number.Sum(ds)
}

// ranks replaces ratings by the middle of their category in the order of all
// ratings, so that squared differences weigh what lies between two ratings.
func ranks(units [][]float64) {
	counts := map[float64]float64{}
	var distinct []float64
	for _, u := range units {
		for _, x := range u {
			if counts[x] == 0 {
				distinct = append(distinct, x)
			}
			counts[x]++
		}
	}
	slices.Sort(distinct)
	middle := map[float64]float64{}
	below := 0.0
	for _, x := range distinct {
		middle[x] = below + counts[x]/2
		below += counts[x]
	}
	for _, u := range units {
		for i, x := range u {
			u[i] = middle[x]
		}
	}
}
