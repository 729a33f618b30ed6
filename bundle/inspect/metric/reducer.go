package metric

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Reducer joins the scores that one sample got in several epochs. Unscored
// epochs are left out; a sample without scored ones stays unscored.
type Reducer struct {
	kind      string
	k         int
	threshold float64
	mapping   Map
	stat      func(r Reducer, values []any) (any, error)
}

// kinds are the reducers of the reference, and whether they take a number.
func kinds() map[string]struct {
	stat  func(r Reducer, values []any) (any, error)
	takes bool
} {
	type entry = struct {
		stat  func(r Reducer, values []any) (any, error)
		takes bool
	}
	return map[string]entry{
		"mean": {stat: Reducer.mean}, "median": {stat: Reducer.median}, "mode": {stat: Reducer.mode},
		"max": {stat: Reducer.max}, "collect": {stat: Reducer.collect},
		"at_least": {Reducer.atLeast, true}, "pass_at": {Reducer.passAt, true}, "pass_k": {Reducer.passK, true},
	}
}

// ParseReducer reads a reducer's name, such as mean or pass_at_3. It raises
// LookupError for an unknown one and TypeError for a number that is missing
// or not taken.
func ParseReducer(name string) (Reducer, error) {
	kind, k, numbered := name, 0, false
	if i := strings.LastIndexByte(name, '_'); i >= 0 {
		if n, err := strconv.ParseUint(name[i+1:], 10, 31); err == nil {
			kind, k, numbered = name[:i], int(n), true
		}
	}
	e, ok := kinds()[kind]
	switch {
	case !ok:
		return Reducer{}, pycompat.Raise("LookupError", "no reducer is called %s", kind)
	case numbered != e.takes:
		return Reducer{}, pycompat.Raise("TypeError", "reducer %s: its number is missing or not taken", kind)
	}
	return Reducer{kind: kind, k: k, threshold: 1, stat: e.stat}, nil
}

// MeanReducer is the default of the reference.
func MeanReducer() Reducer { return Reducer{kind: "mean", threshold: 1, stat: Reducer.mean} }

// WithThreshold sets the value from which an epoch counts as a success.
func (r Reducer) WithThreshold(v float64) Reducer { r.threshold = v; return r }

// WithMap sets the mapping of values to numbers.
func (r Reducer) WithMap(m score.ToFloat) Reducer { r.mapping = &m; return r }

// Name is the name in a log, with the number.
func (r Reducer) Name() string {
	if r.k > 0 || r.kind == "at_least" || strings.HasPrefix(r.kind, "pass") {
		return fmt.Sprintf("%s_%d", r.kind, r.k)
	}
	return r.kind
}

// Check refuses a reducer that needs more epochs than there are.
func (r Reducer) Check(epochs int) error {
	if r.k > epochs {
		return fmt.Errorf("reducer %s needs %d epochs and there are %d", r.Name(), r.k, epochs)
	}
	return nil
}

// Reduce joins scores. Lists and dicts are joined entry by entry and must agree
// in their lengths and keys, or ValueError is raised. Answer and explanation
// survive if all scores agree on them; metadata is that of the first.
func (r Reducer) Reduce(scores []score.Score) (score.Score, error) {
	if len(scores) == 0 {
		return score.Score{Value: math.NaN()}, nil
	}
	if len(scores) == 1 && r.kind == "mean" && plain(scores[0].Value) { // the common case, without the machinery
		s := scores[0]
		if !score.IsUnscored(s.Value) {
			s.Value, _ = mapping(r.mapping).Number(s.Value)
		}
		s.Span = nil
		return s, nil
	}
	out := score.Score{Value: math.NaN(), Answer: scores[0].Answer, Explanation: scores[0].Explanation, Metadata: scores[0].Metadata}
	var values []any
	for _, s := range scores {
		if !same(s.Answer, scores[0].Answer) {
			out.Answer = nil
		}
		if !same(s.Explanation, scores[0].Explanation) {
			out.Explanation = nil
		}
		if !score.IsUnscored(s.Value) {
			values = append(values, s.Value)
		}
	}
	if len(values) == 0 {
		return out, nil
	}
	v, err := r.values(values)
	out.Value = v
	return out, err
}

func same(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func (r Reducer) values(values []any) (any, error) {
	if r.kind == "collect" {
		return r.collect(values)
	}
	switch first := values[0].(type) {
	case *value.Dict:
		return r.dicts(first, values)
	case []any:
		return r.lists(len(first), values)
	}
	return r.entry(values)
}

// entry joins plain values, without the NaN ones; NaN if none is left.
func (r Reducer) entry(values []any) (any, error) {
	kept := make([]any, 0, len(values))
	for _, v := range values {
		if !score.IsUnscored(v) {
			kept = append(kept, v)
		}
	}
	if len(kept) == 0 {
		return math.NaN(), nil
	}
	return r.stat(r, kept)
}

func (r Reducer) dicts(first *value.Dict, values []any) (any, error) {
	for _, v := range values {
		d, ok := v.(*value.Dict)
		if !ok {
			return nil, pycompat.Raise("ValueError", "cannot reduce a dict with %s", value.TypeName(v))
		}
		for key := range first.All() {
			if _, ok := d.Get(key); !ok || d.Len() != first.Len() {
				return nil, pycompat.Raise("ValueError", "cannot reduce dicts with different keys")
			}
		}
	}
	out := value.DictOf()
	for key := range first.All() {
		column := make([]any, len(values))
		for i, v := range values {
			if d, ok := v.(*value.Dict); ok {
				column[i], _ = d.Get(key)
			}
		}
		v, err := r.entry(column)
		if err != nil {
			return nil, err
		}
		if err := out.Set(key, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r Reducer) lists(n int, values []any) (any, error) {
	out := make([]any, n)
	for i := range out {
		column := make([]any, len(values))
		for j, v := range values {
			l, ok := v.([]any)
			if !ok || len(l) != n {
				return nil, pycompat.Raise("ValueError", "cannot reduce lists of different lengths")
			}
			column[j] = l[i]
		}
		v, err := r.entry(column)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (r Reducer) floats(values []any) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float(r.mapping, v)
	}
	return out
}

// numbers maps values with their Python types.
func (r Reducer) numbers(values []any) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i], _ = mapping(r.mapping).Number(v)
	}
	return out
}

// mean of integers that are all 0 is the integer 0, as in Python.
func (r Reducer) mean(values []any) (any, error) {
	for _, n := range r.numbers(values) {
		if _, ok := n.(int64); !ok {
			return number.Mean(r.floats(values))
		}
	}
	return int64(0), nil
}

// median of an odd number of values is one of them, with its type.
func (r Reducer) median(values []any) (any, error) {
	if len(values)%2 == 0 {
		return number.Median(r.floats(values))
	}
	ns := r.numbers(values)
	slices.SortStableFunc(ns, func(a, b any) int {
		x, _ := value.Float(a)
		y, _ := value.Float(b)
		return cmp.Compare(x, y)
	})
	return ns[len(ns)/2], nil
}

// mode is the most frequent value, the first seen of several; 1, 1.0 and True
// are one value.
func (r Reducer) mode(values []any) (any, error) {
	counts := value.DictOf()
	for _, v := range values {
		if !plain(v) {
			return nil, notPlain(v)
		}
		n, _ := counts.Get(v)
		have, _ := n.(int)
		if err := counts.Set(v, have+1); err != nil {
			return nil, err
		}
	}
	var best any
	most := 0
	for v, n := range counts.All() {
		if have, _ := n.(int); have > most {
			best, most = v, have
		}
	}
	return best, nil
}

// max keeps the value itself, not the number it maps to.
func (r Reducer) max(values []any) (any, error) {
	best := values[0]
	for _, v := range values[1:] {
		if float(r.mapping, v) > float(r.mapping, best) {
			best = v
		}
	}
	return best, nil
}

func (r Reducer) collect(values []any) (any, error) {
	for _, v := range values {
		if !plain(v) {
			return nil, notPlain(v)
		}
	}
	return values, nil
}

func plain(v any) bool {
	switch v.(type) {
	case string, bool, int64, float64, *big.Int:
		return true
	}
	return false
}

func notPlain(v any) error {
	return pycompat.Raise("ValueError", "cannot reduce a value of type %s", value.TypeName(v))
}

func (r Reducer) successes(values []any) int {
	n := 0
	for _, f := range r.floats(values) {
		if f >= r.threshold {
			n++
		}
	}
	return n
}

func (r Reducer) atLeast(values []any) (any, error) {
	for _, v := range values {
		if !plain(v) {
			return nil, notPlain(v)
		}
	}
	if r.successes(values) >= r.k {
		return int64(1), nil
	}
	return int64(0), nil
}

// passAt estimates the chance that k draws without replacement hold a success.
func (r Reducer) passAt(values []any) (any, error) {
	n, c := len(values), r.successes(values)
	if n < r.k {
		return math.NaN(), nil
	}
	if n-c < r.k {
		return 1.0, nil
	}
	miss := 1.0
	for i := n - c + 1; i <= n; i++ {
		miss *= 1 - float64(r.k)/float64(i)
	}
	return 1 - miss, nil
}

// passK estimates the chance that k draws without replacement all succeed.
func (r Reducer) passK(values []any) (any, error) {
	n, c := len(values), r.successes(values)
	if n < r.k {
		return math.NaN(), nil
	}
	if c < r.k {
		return 0.0, nil
	}
	ratio := new(big.Rat).SetFrac(new(big.Int).Binomial(int64(c), int64(r.k)), new(big.Int).Binomial(int64(n), int64(r.k)))
	f, _ := ratio.Float64()
	return f, nil
}
