package metric

import (
	"math"
	"slices"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/numpy"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Stderr is the standard error of the mean, with Cluster set the clustered one:
// the samples' metadata under that key says which belong together.
type Stderr struct {
	Map     Map
	Cluster string
}

// Name is stderr.
func (Stderr) Name() string { return "stderr" }

// Compute is 0 for fewer than two samples or clusters. A sample without its
// cluster, or whose cluster is null, raises ValueError.
func (s Stderr) Compute(samples []Sample) (any, error) {
	se, _, err := s.stderr(samples)
	return se, err
}

// stderr also returns the degrees of freedom.
func (s Stderr) stderr(samples []Sample) (se float64, freedom int, err error) {
	xs := floats(s.Map, samples)
	if s.Cluster != "" {
		return clustered(xs, samples, s.Cluster)
	}
	if len(xs) < 2 {
		return 0, 0, nil
	}
	return numpy.Std(xs, 1) / math.Sqrt(float64(len(xs))), len(xs) - 1, nil
}

func clustered(xs []float64, samples []Sample, key string) (float64, int, error) {
	m := mean(xs)
	at := map[any]int{}
	var sums []float64 // of the deviations, per cluster in order of appearance
	for i, s := range samples {
		var id any
		if s.Metadata != nil {
			id, _ = s.Metadata.Get(key)
		}
		if id == nil {
			return 0, 0, pycompat.Raise("ValueError", "sample %s has no metadata %q to cluster by", value.Str(s.ID), key)
		}
		k, err := value.Key(id)
		if err != nil {
			return 0, 0, err
		}
		if _, known := at[k]; !known {
			at[k] = len(sums)
			sums = append(sums, 0)
		}
		sums[at[k]] += xs[i] - m
	}
	c := float64(len(sums))
	if c < 2 {
		return 0, 0, nil
	}
	variance := 0.0
	for _, d := range sums {
		variance += d * d
	}
	return math.Sqrt(variance*c/(c-1)) / float64(len(xs)), len(sums) - 1, nil
}

// BootstrapStderr is the standard deviation of the means of resamples.
type BootstrapStderr struct {
	Map     Map
	Samples int // resamples, 0 means 1000
	Seed    uint32
}

// Name is bootstrap_stderr.
func (BootstrapStderr) Name() string { return "bootstrap_stderr" }

// Compute is 0 for no samples.
func (b BootstrapStderr) Compute(samples []Sample) (any, error) {
	means := resample(floats(b.Map, samples), b.Samples, b.Seed)
	if len(means) == 0 {
		return 0.0, nil
	}
	return numpy.Std(means, 0), nil
}

// resample is the means of n resamples, none for no values.
func resample(xs []float64, n int, seed uint32) []float64 {
	if len(xs) == 0 {
		return nil
	}
	if n <= 0 {
		n = 1000
	}
	r := numpy.NewRandomState(seed)
	at := make([]int, len(xs))
	drawn := make([]float64, len(xs))
	means := make([]float64, n)
	for i := range means {
		r.Choice(at, len(xs))
		for j, k := range at {
			drawn[j] = xs[k]
		}
		means[i] = numpy.Mean(drawn)
	}
	return means
}

// CI is a confidence interval of the mean, as a dict of lower and upper: by
// Student's t from the standard error, or by the quantiles of a bootstrap.
type CI struct {
	Map       Map
	Level     float64 // 0 means 0.95
	Cluster   string  // for the t interval
	Bootstrap bool
	Samples   int
	Seed      uint32
}

// Name is ci.
func (CI) Name() string { return "ci" }

// Compute gives the mean twice where there is no error to estimate, and 0 twice
// for no samples.
func (c CI) Compute(samples []Sample) (any, error) {
	level := c.Level
	if level == 0 {
		level = 0.95
	}
	xs := floats(c.Map, samples)
	m := mean(xs)
	if c.Bootstrap {
		means := resample(xs, c.Samples, c.Seed)
		if len(means) == 0 {
			return interval(0, 0), nil
		}
		slices.Sort(means)
		return interval(numpy.SortedQuantile(means, (1-level)/2), numpy.SortedQuantile(means, 1-(1-level)/2)), nil
	}
	se, freedom, err := Stderr{Map: c.Map, Cluster: c.Cluster}.stderr(samples)
	if err != nil {
		return nil, err
	}
	if freedom < 1 {
		return interval(m, m), nil
	}
	half := Quantile((1+level)/2, float64(freedom)) * se
	return interval(m-half, m+half), nil
}

func interval(lower, upper float64) *value.Dict {
	return value.DictOf("lower", lower, "upper", upper)
}
