package metric

import (
	"math"
	"slices"

	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/numpy"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// What Grouped reports for all samples together.
const (
	OverSamples = "samples" // the metric of all samples
	OverGroups  = "groups"  // the mean of the groups' figures
)

// Grouped computes a metric for each group of samples that agree in the text of
// a metadata value.
type Grouped struct {
	Inner Metric
	Key   string
	Over  string // OverSamples, OverGroups or "" for no figure of all
	Label string // of the figure of all; "" means all
}

// Name is grouped.
func (Grouped) Name() string { return "grouped" }

// Compute returns a dict with the groups in order of appearance. A sample
// without the metadata raises ValueError.
func (g Grouped) Compute(samples []Sample) (any, error) {
	groups := value.DictOf()
	for _, s := range samples {
		var v any
		ok := false
		if s.Metadata != nil {
			v, ok = s.Metadata.Get(g.Key)
		}
		if !ok {
			return nil, pycompat.Raise("ValueError", "sample %s has no metadata %q to group by", value.Str(s.ID), g.Key)
		}
		name := value.Str(v)
		members, _ := groups.Get(name)
		list, _ := members.([]Sample)
		if err := groups.Set(name, append(list, s)); err != nil {
			return nil, err
		}
	}
	out := value.DictOf()
	var each []float64
	for name, members := range groups.All() {
		list, _ := members.([]Sample)
		v, err := g.Inner.Compute(list)
		if err != nil {
			return nil, err
		}
		each = append(each, float(nil, v))
		if err := out.Set(name, v); err != nil {
			return nil, err
		}
	}
	label := g.Label
	if label == "" {
		label = "all"
	}
	switch g.Over {
	case OverSamples:
		v, err := g.Inner.Compute(samples)
		if err != nil {
			return nil, err
		}
		return out, out.Set(label, v)
	case OverGroups:
		return out, out.Set(label, numpy.Mean(each))
	}
	return out, nil
}

// What Aggregate does with a sample that lacks the key.
const (
	MissingIsError = "error"
	MissingSkipped = "skip"
	MissingIsZero  = "zero"
)

// Aggregate computes a metric over one entry of dict values. An entry that is
// null counts as missing, one that is NaN as unscored.
type Aggregate struct {
	Map     Map
	Inner   Metric
	Key     string
	Missing string // "" means MissingIsError
}

// Name is aggregate.
func (Aggregate) Name() string { return "aggregate" }

// Compute is NaN when no sample has the entry. A value that is no dict, and a
// missing entry by default, raise ValueError.
func (a Aggregate) Compute(samples []Sample) (any, error) {
	var picked []Sample
	for _, s := range samples {
		d, ok := s.Score.Value.(*value.Dict)
		if !ok {
			return nil, pycompat.Raise("ValueError", "sample %s has a value without entries", value.Str(s.ID))
		}
		f := 0.0
		v, _ := d.Get(a.Key)
		switch {
		case v != nil:
			f = float(a.Map, v)
		case a.Missing == MissingSkipped:
			continue
		case a.Missing != MissingIsZero:
			return nil, pycompat.Raise("ValueError", "sample %s has no value %q", value.Str(s.ID), a.Key)
		}
		if math.IsNaN(f) {
			continue
		}
		s.Score.Value = f
		picked = append(picked, s)
	}
	if len(picked) == 0 {
		return math.NaN(), nil
	}
	return a.Inner.Compute(picked)
}

// Frequency is the share of each distinct value, by its text. Counts instead of
// shares with Count. It sees every epoch, before reduction.
type Frequency struct {
	Categories []string // listed first, also when no sample has them
	Count      bool
}

// Name is frequency.
func (Frequency) Name() string { return "frequency" }

// unreduced marks the metrics that take the scores of all epochs.
func (Frequency) unreduced() {}

// Compute raises TypeError for a value that is a list or a dict.
func (f Frequency) Compute(samples []Sample) (any, error) {
	counts := value.DictOf()
	for _, c := range f.Categories {
		if err := counts.Set(c, 0.0); err != nil {
			return nil, err
		}
	}
	for _, s := range samples {
		switch s.Score.Value.(type) {
		case []any, value.Tuple, *value.Dict:
			return nil, pycompat.Raise("TypeError", "frequency needs plain values")
		}
		name := value.Str(s.Score.Value)
		n, _ := counts.Get(name)
		have, _ := n.(float64)
		if err := counts.Set(name, have+1); err != nil {
			return nil, err
		}
	}
	if f.Count || len(samples) == 0 {
		return counts, nil
	}
	for name, n := range counts.All() {
		have, _ := n.(float64)
		if err := counts.Set(name, have/float64(len(samples))); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// scored leaves out unscored samples.
func scored(samples []Sample) []Sample {
	if !slices.ContainsFunc(samples, unscored) {
		return samples
	}
	out := make([]Sample, 0, len(samples))
	for _, s := range samples {
		if !unscored(s) {
			out = append(out, s)
		}
	}
	return out
}

func unscored(s Sample) bool { return score.IsUnscored(s.Score.Value) }
