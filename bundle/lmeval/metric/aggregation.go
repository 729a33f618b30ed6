package metric

import (
	"github.com/evalrouter/evalrouter/bundle/lmeval/mt"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/random"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// statistic is a figure over some of the items that it was prepared with, with
// repetition. Preparing once makes a bootstrap affordable.
type statistic func(pick []int) (float64, error)

// Aggregation turns the items of a metric into one figure. The zero value is
// of no use; Lookup returns them by name.
type Aggregation struct {
	prepare func(items []any) (statistic, error) // nil for those without a bootstrap
	direct  func(items []any) (float64, error)   // nil for those with one
	stderr  func(items []any) (float64, error)   // a closed form, or nil
}

// Lookup returns the aggregation that a task file calls name.
func Lookup(name string) (Aggregation, bool) {
	switch name {
	case "mean":
		return Aggregation{direct: Mean, stderr: MeanStderr}, true
	case "acc_all":
		return Aggregation{direct: AccAll, stderr: AccAllStderr}, true
	case "weighted_perplexity":
		return Aggregation{direct: WeightedPerplexity}, true
	case "bits_per_byte":
		return Aggregation{direct: BitsPerByte}, true
	case "brier_score":
		return Aggregation{direct: Brier}, true
	case "weighted_f1":
		return Aggregation{direct: WeightedF1}, true
	}
	prepare := bootstrapped(name)
	return Aggregation{prepare: prepare}, prepare != nil
}

// bootstrapped returns the aggregations whose standard error is resampled.
func bootstrapped(name string) func([]any) (statistic, error) {
	switch name {
	case "median":
		return median
	case "nanmean":
		return nanmean
	case "perplexity":
		return perplexity
	case "f1":
		return f1
	case "matthews_corrcoef":
		return mcc
	case "bleu":
		return translation(mt.BLEU)
	case "chrf":
		return translation(mt.ChrF)
	case "ter":
		return translation(mt.TER)
	}
	return nil
}

// Value aggregates the items.
func (a Aggregation) Value(items []any) (float64, error) {
	if a.direct != nil {
		return a.direct(items)
	}
	f, err := a.prepare(items)
	if err != nil {
		return 0, err
	}
	return f(everything(len(items)))
}

// Stderr is the standard error of Value: a closed form where there is one, else
// a bootstrap of iters draws with fixed seeds. ok is false where the reference
// writes "N/A".
func (a Aggregation) Stderr(items []any, iters int) (stderr float64, ok bool, err error) {
	switch {
	case iters <= 0 || len(items) <= 1:
		return 0, false, nil
	case a.stderr != nil:
		stderr, err = a.stderr(items)
		return stderr, err == nil, err
	case a.prepare == nil:
		return 0, false, nil
	}
	f, err := a.prepare(items)
	if err != nil {
		return 0, false, err
	}
	stderr, err = bootstrap(f, len(items), iters)
	return stderr, err == nil, err
}

// bootstrap draws in chunks of at most 1000, each with its own seed; a last
// incomplete chunk is left out.
func bootstrap(f statistic, n, iters int) (float64, error) {
	chunk := min(1000, iters)
	pick := make([]int, n)
	draws := make([]float64, 0, iters)
	for i := range iters / chunk {
		rnd := random.New(int64(i))
		for range chunk {
			rnd.FillChoices(pick, n)
			x, err := f(pick)
			if err != nil {
				return 0, err
			}
			draws = append(draws, x)
		}
	}
	return spread(draws, number.Sum(draws)/float64(len(draws)), 1)
}

func everything(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// translation prepares a corpus score of pairs [reference or references,
// prediction].
func translation(prepare func([]mt.Pair) (func([]int) float64, error)) func([]any) (statistic, error) {
	return func(items []any) (statistic, error) {
		pairs, err := translations(items)
		if err != nil {
			return nil, err
		}
		f, err := prepare(pairs)
		return func(pick []int) (float64, error) { return f(pick), nil }, err
	}
}

func translations(items []any) ([]mt.Pair, error) {
	refs, preds, err := columns(items)
	if err != nil {
		return nil, err
	}
	out := make([]mt.Pair, len(items))
	for i := range refs {
		pred := preds[i]
		if list, ok := pred.([]any); ok && len(list) == 1 {
			pred = list[0]
		}
		text, ok := pred.(string)
		if !ok {
			return nil, pycompat.Raise("TypeError", "prediction %d is of type %s", i, value.TypeName(pred))
		}
		out[i].Prediction = text
		list, ok := refs[i].([]any)
		if !ok {
			list = []any{refs[i]}
		}
		for _, r := range list {
			text, ok := r.(string)
			if !ok {
				return nil, pycompat.Raise("TypeError", "a reference of item %d is of type %s", i, value.TypeName(r))
			}
			out[i].References = append(out[i].References, text)
		}
	}
	return out, nil
}
