package group

import (
	"fmt"

	"github.com/evalrouter/evalrouter/bundle/lmeval/metric"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// maxTranslationDraws bounds the bootstrap of the translation metrics.
const maxTranslationDraws = 100

// Series is the values of one metric under one filter, one for each document.
type Series struct {
	Metric, Filter string
	// Aggregation is a name that metric.Lookup knows; empty means mean.
	Aggregation string
	Items       []any
	// Value aggregates instead of Aggregation, without a standard error; nil
	// for none.
	Value func(items []any) (float64, error)
}

// Aggregate computes the results of a task from its series, with iters draws
// where a standard error is resampled (0 for no standard errors at all).
func Aggregate(series []Series, iters int) (*value.Dict, error) {
	out := value.DictOf()
	for _, s := range series {
		if s.Value != nil {
			v, err := s.Value(s.Items)
			if err != nil {
				return nil, fmt.Errorf("aggregate %s: %w", s.Metric, err)
			}
			set(out, key(s.Metric, "", s.Filter), v)
			set(out, key(s.Metric, "_stderr", s.Filter), NotKnown)
			continue
		}
		name := s.Aggregation
		if name == "" {
			name = "mean"
		}
		a, ok := metric.Lookup(name)
		if !ok {
			return nil, fmt.Errorf("aggregate %s: unsupported aggregation %s", s.Metric, name)
		}
		v, err := a.Value(s.Items)
		if err != nil {
			return nil, fmt.Errorf("aggregate %s: %w", s.Metric, err)
		}
		draws := iters
		if s.Metric == "bleu" || s.Metric == "chrf" || s.Metric == "ter" {
			draws = min(draws, maxTranslationDraws)
		}
		stderr, known, err := a.Stderr(s.Items, draws)
		if err != nil {
			return nil, fmt.Errorf("estimate the error of %s: %w", s.Metric, err)
		}
		set(out, key(s.Metric, "", s.Filter), v)
		set(out, key(s.Metric, "_stderr", s.Filter), orNotKnown(stderr, known))
	}
	return out, nil
}

func orNotKnown(f float64, known bool) any {
	if known {
		return f
	}
	return NotKnown
}

func key(metric, suffix, filter string) string { return metric + suffix + "," + filter }

// set cannot fail, because the key is text.
func set(d *value.Dict, key string, v any) {
	if err := d.Set(key, v); err != nil {
		panic("group: a text cannot be a key: " + err.Error())
	}
}
