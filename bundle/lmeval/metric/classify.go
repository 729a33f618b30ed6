package metric

import (
	"math"
	"slices"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/numpy"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// labels reads pairs [gold, prediction] of integers.
func labels(items []any) (gold, pred []int64, err error) {
	a, b, err := columns(items)
	if err != nil {
		return nil, nil, err
	}
	for i := range a {
		g, ok1 := whole(a[i])
		p, ok2 := whole(b[i])
		if !ok1 || !ok2 {
			return nil, nil, pycompat.Raise("ValueError", "item %d is no pair of integer labels", i)
		}
		gold, pred = append(gold, g), append(pred, p)
	}
	return gold, pred, nil
}

// f1 is the F1 of class 1 among at most two classes; more raise ValueError, and
// so do two classes of which neither is 1.
func f1(items []any) (statistic, error) {
	gold, pred, err := labels(items)
	return func(pick []int) (float64, error) {
		seen := map[int64]bool{}
		for _, p := range pick {
			seen[gold[p]], seen[pred[p]] = true, true
		}
		if len(seen) > 2 || len(seen) == 2 && !seen[1] {
			return 0, pycompat.Raise("ValueError", "binary F1 of classes other than 0 and 1")
		}
		return classF1(gold, pred, pick, 1), nil
	}, err
}

// classF1 is the F1 of one class, 0 where it is undefined.
func classF1(gold, pred []int64, pick []int, class int64) float64 {
	var hits, golds, preds float64
	for _, p := range pick {
		g, q := gold[p] == class, pred[p] == class
		if g {
			golds++
		}
		if q {
			preds++
		}
		if g && q {
			hits++
		}
	}
	if hits == 0 {
		return 0
	}
	precision, recall := hits/preds, hits/golds
	return 2 * precision * recall / (precision + recall)
}

// WeightedF1 averages the F1 of every class by how often it is gold.
func WeightedF1(items []any) (float64, error) {
	gold, pred, err := labels(items)
	if err != nil {
		return 0, err
	}
	pick := everything(len(gold))
	classes := slices.Concat(gold, pred)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	scores := make([]float64, len(classes))
	for i, c := range classes {
		support := 0
		for _, g := range gold {
			if g == c {
				support++
			}
		}
		scores[i] = classF1(gold, pred, pick, c) * float64(support)
	}
	return numpy.Sum(scores) / float64(len(gold)), nil
}

// mcc is the Matthews correlation for any number of classes, 0 where gold or
// prediction is constant.
func mcc(items []any) (statistic, error) {
	gold, pred, err := labels(items)
	return func(pick []int) (float64, error) {
		golds, preds := map[int64]float64{}, map[int64]float64{}
		var right float64
		for _, p := range pick {
			golds[gold[p]]++
			preds[pred[p]]++
			if gold[p] == pred[p] {
				right++
			}
		}
		n := float64(len(pick))
		var both, gg, pp float64
		for c, g := range golds {
			both += g * preds[c]
			gg += g * g
		}
		for _, p := range preds {
			pp += p * p
		}
		cov, varPred, varGold := right*n-both, n*n-pp, n*n-gg
		if varPred*varGold == 0 {
			return 0, nil
		}
		return cov / math.Sqrt(varGold*varPred), nil
	}, err
}

// Brier is the mean squared distance between predicted probabilities and the
// gold class. A gold index counts from the end if negative, as numpy reads it.
func Brier(items []any) (float64, error) {
	gold, preds, err := columns(items)
	if err != nil {
		return 0, err
	}
	width := -1
	sums := make([]float64, len(items))
	for i, pred := range preds {
		list, ok := pred.([]any)
		if !ok {
			return 0, pycompat.Raise("ValueError", "item %d has no list of probabilities", i)
		}
		probs, err := floats(list)
		if err != nil {
			return 0, err
		}
		if width < 0 {
			width = len(probs)
		}
		at, ok := whole(gold[i])
		if at < 0 {
			at += int64(width)
		}
		switch {
		case len(probs) != width:
			return 0, pycompat.Raise("ValueError", "item %d has %d probabilities, not %d", i, len(probs), width)
		case !ok || at < 0 || at >= int64(width):
			return 0, pycompat.Raise("IndexError", "class %s of %d", value.Str(gold[i]), width)
		}
		probs[at]--
		for j := range probs {
			probs[j] *= probs[j]
		}
		sums[i] = numpy.Sum(probs)
	}
	return numpy.Mean(sums), nil
}
