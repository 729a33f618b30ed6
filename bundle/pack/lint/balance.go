package lint

import (
	"math"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/pack"
)

// balance counts what can be guessed without reading the questions.
type balance struct {
	tasks int
	// letters counts right letters; chance sums what each letter would have if
	// all were equally likely, and its variance.
	letters  map[string]int
	chance   map[string]float64
	variance map[string]float64
	// longest counts tasks whose right option is the longest one.
	longest         int
	longestChance   float64
	longestVariance float64
	answers         map[uint64]int
}

const (
	// surprise is how many standard deviations chance does not explain.
	surprise = 3.5
	// fewAnswers is up to how many different answers a benchmark counts as one
	// of labels, in which the most frequent may have no more than mostly.
	fewAnswers = 10
	mostly     = 0.75
)

func newBalance() *balance {
	return &balance{letters: map[string]int{}, chance: map[string]float64{}, variance: map[string]float64{}, answers: map[uint64]int{}}
}

func (b *balance) add(t bundle.Task) {
	b.tasks++
	if len(t.Choices) == 0 {
		if len(b.answers) <= fewAnswers { // one more settles that these are no labels
			b.answers[answerKey(t)]++
		}
		return
	}
	p := 1 / float64(len(t.Choices))
	for i := range t.Choices {
		b.chance[bundle.Letter(i)] += p
		b.variance[bundle.Letter(i)] += p * (1 - p)
	}
	if len(t.Target) != 1 {
		return
	}
	b.letters[t.Target[0]]++
	b.longestChance += p
	b.longestVariance += p * (1 - p)
	right := int(t.Target[0][0] - 'A')
	for i, c := range t.Choices {
		if i != right && len(c) >= len(t.Choices[right]) {
			return
		}
	}
	b.longest++
}

func (b *balance) report(l *linter) {
	at := pack.Finding{Path: l.m.Component(pack.RoleDataset).Path, Field: "target"}
	for i := range 26 {
		letter := bundle.Letter(i)
		if n := b.letters[letter]; surprising(n, b.chance[letter], b.variance[letter]) {
			l.add("answers_unbalanced", at, "%s is right in %d of %d tasks", letter, n, b.tasks)
		}
	}
	if surprising(b.longest, b.longestChance, b.longestVariance) {
		l.add("choice_longest", at, "the longest option is right in %d of %d tasks", b.longest, b.tasks)
	}
	if len(b.answers) > fewAnswers || b.tasks < fewTasks {
		return
	}
	most := 0
	for _, n := range b.answers {
		most = max(most, n)
	}
	if float64(most) > mostly*float64(b.tasks) {
		l.add("answers_unbalanced", at, "one answer is right in %d of %d tasks", most, b.tasks)
	}
}

func surprising(n int, chance, variance float64) bool {
	return float64(n) > chance+surprise*math.Sqrt(variance)+1
}
