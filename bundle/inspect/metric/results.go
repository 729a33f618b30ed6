package metric

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Plan says how the scores of one scorer become results.
type Plan struct {
	Scorer string
	// Reducers join epochs; nil is the mean, which then has no name in the
	// results. Unreduced takes every epoch as a sample of its own.
	Reducers  []Reducer
	Unreduced bool
	Metrics   []Metric
	// Keyed is metrics for the entries of dict values. A key is a glob pattern
	// over the entries' names.
	Keyed []Keyed
}

// Keyed is the metrics of the entries that a glob pattern names.
type Keyed struct {
	Key     string
	Metrics []Metric
}

// Result is one block of figures: of the scorer, or of one entry of its values.
type Result struct {
	Name, Scorer string
	Reducer      string // "" for the default
	Scored       int
	Unscored     int
	Figures      []Figure
}

// Figure is one number. Key is unique in its result, Name is the metric's.
type Figure struct {
	Key, Name string
	Value     float64
}

// Reduction is the joined scores of the samples under one reducer.
type Reduction struct {
	Reducer string
	Samples []Sample
}

// Results reduces and sums up. Samples with equal text of their ids are epochs
// of one sample, so the ids 1 and "1" are one. A block without scored samples
// has NaN for every metric.
func (p Plan) Results(samples []Sample) ([]Result, []Reduction, error) {
	var results []Result
	var reductions []Reduction
	for _, r := range p.reducers() {
		name := r.Name()
		if p.Reducers == nil {
			name = ""
		}
		reduced := samples
		if !p.Unreduced {
			var err error
			if reduced, err = reduce(r, samples); err != nil {
				return nil, nil, fmt.Errorf("reduce scores of %s: %w", p.Scorer, err)
			}
			reductions = append(reductions, Reduction{Reducer: name, Samples: reduced})
		}
		blocks, err := p.blocks(reduced, samples)
		if err != nil {
			return nil, nil, fmt.Errorf("compute metrics of %s: %w", p.Scorer, err)
		}
		for _, b := range blocks {
			b.Reducer = name
			results = append(results, b)
		}
	}
	return results, reductions, nil
}

func (p Plan) reducers() []Reducer {
	if p.Unreduced || p.Reducers == nil {
		return []Reducer{MeanReducer()}
	}
	return p.Reducers
}

// reduce joins the epochs of each sample, in the order in which samples first
// appear. It allocates per call and not per sample, for runs of millions.
func reduce(r Reducer, samples []Sample) ([]Sample, error) {
	group := make([]int, len(samples)) // of each score
	at := make(map[string]int, len(samples))
	out := make([]Sample, 0, len(samples))
	for i := range samples {
		id := value.Str(samples[i].ID)
		g, ok := at[id]
		if !ok {
			g = len(out)
			at[id] = g
			out = append(out, samples[i])
		}
		group[i] = g
	}
	start := make([]int, len(out)+1) // of each group in byGroup
	for _, g := range group {
		start[g+1]++
	}
	for g := range out {
		start[g+1] += start[g]
	}
	byGroup := make([]int, len(samples))
	next := slices.Clone(start)
	for i, g := range group {
		byGroup[next[g]] = i
		next[g]++
	}
	var scores []score.Score
	for g := range out {
		scores = scores[:0]
		for _, i := range byGroup[start[g]:start[g+1]] {
			scores = append(scores, samples[i].Score)
		}
		s, err := r.Reduce(scores)
		if err != nil {
			return nil, fmt.Errorf("sample %s: %w", value.Str(out[g].ID), err)
		}
		out[g].Score = s
	}
	return out, nil
}

// blocks computes the results of one reducer. all is every epoch, for the
// metrics that want it.
func (p Plan) blocks(reduced, all []Sample) ([]Result, error) {
	var out []Result
	if len(p.Metrics) > 0 || len(p.Keyed) == 0 {
		b := Result{Name: p.Scorer, Scorer: p.Scorer}
		if err := b.compute(p.Metrics, reduced, all); err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	for _, k := range expand(p.Keyed, reduced) {
		entries, err := pick(reduced, k.Key)
		if err != nil {
			return nil, err
		}
		every, err := pick(all, k.Key)
		if err != nil {
			return nil, err
		}
		b := Result{Name: k.Key, Scorer: p.Scorer}
		if err := b.compute(k.Metrics, entries, every); err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// epochal is a metric that wants every epoch instead of reduced scores.
type epochal interface{ unreduced() }

func (b *Result) compute(metrics []Metric, reduced, all []Sample) error {
	kept := scored(reduced)
	b.Scored, b.Unscored = len(kept), len(reduced)-len(kept)
	for _, m := range metrics {
		use := kept
		if _, ok := m.(epochal); ok {
			use = scored(all)
		}
		key := b.unique(m.Name())
		if len(use) == 0 {
			b.Figures = append(b.Figures, Figure{key, m.Name(), math.NaN()})
			continue
		}
		v, err := m.Compute(use)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name(), err)
		}
		if err := b.add(key, m.Name(), v); err != nil {
			return err
		}
	}
	return nil
}

func (b *Result) add(key, name string, v any) error {
	d, ok := v.(*value.Dict)
	if !ok {
		f, ok := value.Float(v)
		if !ok {
			return pycompat.Raise("TypeError", "metric %s gives a value of type %s", name, value.TypeName(v))
		}
		b.Figures = append(b.Figures, Figure{key, name, f})
		return nil
	}
	for k, item := range d.All() {
		if item == nil {
			continue
		}
		f, ok := value.Float(item)
		if !ok {
			return pycompat.Raise("TypeError", "metric %s gives an entry of type %s", name, value.TypeName(item))
		}
		key := b.unique(value.Str(k))
		b.Figures = append(b.Figures, Figure{key, key, f})
	}
	return nil
}

// unique is key, or key with the next number when it stands already.
func (b *Result) unique(key string) string {
	taken, next := false, 2
	for _, f := range b.Figures {
		taken = taken || f.Key == key
		if tail, ok := strings.CutPrefix(f.Key, key); ok {
			if n, err := strconv.Atoi(tail); err == nil && n >= next {
				next = n + 1
			}
		}
	}
	if !taken {
		return key
	}
	return key + strconv.Itoa(next)
}

// expand replaces globs by the names they match in the first scored value.
// Metrics of one name are computed once per entry. Without a scored value the
// globs themselves stay.
func expand(keyed []Keyed, samples []Sample) []Keyed {
	kept := scored(samples)
	if len(keyed) == 0 || len(kept) == 0 {
		return keyed
	}
	d, ok := kept[0].Score.Value.(*value.Dict)
	if !ok {
		return keyed // pick raises
	}
	var out []Keyed
	at := map[string]int{}
	for _, k := range keyed {
		for name := range d.All() {
			text := value.Str(name)
			if !glob(k.Key, text) {
				continue
			}
			i, known := at[text]
			if !known {
				i = len(out)
				at[text] = i
				out = append(out, Keyed{Key: text})
			}
			for _, m := range k.Metrics {
				if !hasMetric(out[i].Metrics, m.Name()) {
					out[i].Metrics = append(out[i].Metrics, m)
				}
			}
		}
	}
	return out
}

func hasMetric(metrics []Metric, name string) bool {
	for _, m := range metrics {
		if m.Name() == name {
			return true
		}
	}
	return false
}

// pick takes one entry out of every value. Unscored samples stay unscored.
func pick(samples []Sample, key string) ([]Sample, error) {
	out := make([]Sample, len(samples))
	for i, s := range samples {
		if !score.IsUnscored(s.Score.Value) {
			d, ok := s.Score.Value.(*value.Dict)
			if !ok {
				return nil, pycompat.Raise("TypeError", "metrics of entries need values that are dicts")
			}
			v, ok := d.Get(key)
			if !ok {
				return nil, pycompat.Raise("TypeError", "the value of sample %s has no entry %q", value.Str(s.ID), key)
			}
			s.Score.Value = v
		}
		out[i] = s
	}
	return out, nil
}
