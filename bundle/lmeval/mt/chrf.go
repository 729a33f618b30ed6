package mt

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

const charOrder = 6

// chrfStats holds, per order, the counts of the prediction, of the reference
// and of both.
type chrfStats [charOrder][3]int

// ChrF prepares corpus chrF2, from 0 to 100. White space does not count. Of
// several references the one that scores best is taken, pair by pair.
func ChrF(pairs []Pair) (func(pick []int) float64, error) {
	if err := check(pairs); err != nil {
		return nil, err
	}
	stats := make([]chrfStats, len(pairs))
	for i, p := range pairs {
		stats[i] = bestReference(p)
	}
	return func(pick []int) float64 {
		var sum chrfStats
		for _, p := range pick {
			for n := range sum {
				for k := range sum[n] {
					sum[n][k] += stats[p][n][k]
				}
			}
		}
		return sum.score()
	}, nil
}

func bestReference(p Pair) chrfStats {
	pred := characters(p.Prediction)
	var best chrfStats
	top := -1.0
	for _, ref := range p.References {
		other := characters(ref)
		var s chrfStats
		for n := range s {
			s[n] = overlap(pred, other, n+1)
		}
		if f := s.score(); f > top {
			best, top = s, f
		}
	}
	return best
}

// characters drops white space.
func characters(s string) []rune { return str.Runes(strings.Join(str.Split(s), "")) }

func overlap(pred, ref []rune, n int) [3]int {
	left := map[string]int{}
	var out [3]int
	for i := 0; i+n <= len(ref); i++ {
		left[str.FromRunes(ref[i:i+n])]++
		out[1]++
	}
	for i := 0; i+n <= len(pred); i++ {
		out[0]++
		gram := str.FromRunes(pred[i : i+n])
		if left[gram] > 0 {
			left[gram]--
			out[2]++
		}
	}
	if out[1] == 0 {
		out[0] = 0 // an order that the reference is too short for does not count
	}
	return out
}

func (s chrfStats) score() float64 {
	const beta2 = 4.0
	precision, recall, orders := 0.0, 0.0, 0
	for _, n := range s {
		if n[0] == 0 || n[1] == 0 {
			continue
		}
		precision += float64(n[2]) / float64(n[0])
		recall += float64(n[2]) / float64(n[1])
		orders++
	}
	if orders == 0 {
		return 0
	}
	precision /= float64(orders)
	recall /= float64(orders)
	if precision+recall == 0 {
		return 0
	}
	return 100 * (1 + beta2) * precision * recall / (beta2*precision + recall)
}
