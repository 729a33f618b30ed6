package mt

import (
	"math"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

const wordOrder = 4

// bleuStats are the counts of one pair, which add up over a corpus.
type bleuStats struct {
	length, reference int
	correct, total    [wordOrder]int
}

// BLEU prepares corpus BLEU, from 0 to 100.
func BLEU(pairs []Pair) (func(pick []int) float64, error) {
	if err := check(pairs); err != nil {
		return nil, err
	}
	t := newTokenizer()
	stats := make([]bleuStats, len(pairs))
	for i, p := range pairs {
		var err error
		if stats[i], err = t.stats(p); err != nil {
			return nil, err
		}
	}
	return func(pick []int) float64 {
		var sum bleuStats
		for _, p := range pick {
			s := &stats[p]
			sum.length += s.length
			sum.reference += s.reference
			for n := range wordOrder {
				sum.correct[n] += s.correct[n]
				sum.total[n] += s.total[n]
			}
		}
		return sum.score()
	}, nil
}

func (s bleuStats) score() float64 {
	if s.correct == [wordOrder]int{} {
		return 0
	}
	brevity := 1.0
	if s.length < s.reference {
		if brevity = 0; s.length > 0 {
			brevity = math.Exp(1 - float64(s.reference)/float64(s.length))
		}
	}
	var precisions [wordOrder]float64
	smooth := 1.0
	for n := range wordOrder {
		if s.total[n] == 0 {
			break
		}
		if s.correct[n] == 0 {
			smooth *= 2
			precisions[n] = 100 / (smooth * float64(s.total[n]))
		} else {
			precisions[n] = 100 * float64(s.correct[n]) / float64(s.total[n])
		}
	}
	var logs [wordOrder]float64
	for n, p := range precisions {
		logs[n] = -9999999999
		if p != 0 {
			logs[n] = math.Log(p)
		}
	}
	return brevity * math.Exp(number.Sum(logs[:])/wordOrder)
}

// tokenizer splits text as mteval-v13a does.
type tokenizer struct{ steps []step }

type step struct {
	find *re.Regexp
	put  string
}

func newTokenizer() tokenizer {
	return tokenizer{steps: []step{
		{re.MustCompile(`([\{-\~\[-\`+"`"+` -\&\(-\+\:-\@\/])`, 0), ` \1 `},
		{re.MustCompile(`([^0-9])([\.,])`, 0), `\1 \2 `}, // unless a digit stands before it
		{re.MustCompile(`([\.,])([^0-9])`, 0), ` \1 \2`}, // unless a digit follows
		{re.MustCompile(`([0-9])(-)`, 0), `\1 \2 `},
	}}
}

func (t tokenizer) words(s string) ([]string, error) {
	s = strings.ReplaceAll(str.RStrip(s), "<skipped>", "")
	s = strings.ReplaceAll(strings.ReplaceAll(s, "-\n", ""), "\n", " ")
	if strings.Contains(s, "&") {
		for _, e := range [][2]string{{"&quot;", `"`}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}} {
			s = strings.ReplaceAll(s, e[0], e[1])
		}
	}
	s = " " + s + " "
	for _, step := range t.steps {
		var err error
		if s, err = step.find.Sub(step.put, s); err != nil {
			return nil, err
		}
	}
	return str.Split(s), nil
}

func (t tokenizer) stats(p Pair) (bleuStats, error) {
	words, err := t.words(p.Prediction)
	if err != nil {
		return bleuStats{}, err
	}
	s := bleuStats{length: len(words), reference: -1}
	var best [wordOrder]map[string]int
	for _, ref := range p.References {
		other, err := t.words(ref)
		if err != nil {
			return s, err
		}
		s.reference = closest(len(words), s.reference, len(other))
		for n := range wordOrder {
			if best[n] == nil {
				best[n] = map[string]int{}
			}
			for gram, count := range grams(other, n+1) {
				best[n][gram] = max(best[n][gram], count)
			}
		}
	}
	for n := range wordOrder {
		for gram, count := range grams(words, n+1) {
			s.correct[n] += min(count, best[n][gram])
			s.total[n] += count
		}
	}
	return s, nil
}

// closest picks the reference length nearer to n, the shorter of two equally
// near ones; a length of -1 means none yet.
func closest(n, have, next int) int {
	if have < 0 {
		return next
	}
	a, b := max(n-have, have-n), max(n-next, next-n)
	if b < a || a == b && next < have {
		return next
	}
	return have
}

// grams counts the sequences of n words, joined by a space, which no word
// holds.
func grams(words []string, n int) map[string]int {
	out := map[string]int{}
	for i := 0; i+n <= len(words); i++ {
		out[strings.Join(words[i:i+n], " ")]++
	}
	return out
}
