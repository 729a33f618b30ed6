// Package mt scores translations as sacrebleu does with its defaults: BLEU with
// the 13a tokenizer, exponential smoothing and four orders; chrF2 over six
// orders of characters; TER without normalisation.
//
// Each function prepares a corpus once and returns the score of any selection
// of its pairs, with repetition, which is what a bootstrap asks for.
package mt

import "github.com/evalrouter/evalrouter/bundle/pycompat"

// Pair is a translation and what it is compared with. Every pair of a corpus
// has the same number of references, at least one.
type Pair struct {
	Prediction string
	References []string
}

// check refuses what sacrebleu would misread.
func check(pairs []Pair) error {
	for i, p := range pairs {
		if len(p.References) == 0 || len(p.References) != len(pairs[0].References) {
			return pycompat.Raise("ValueError", "pair %d has %d references", i, len(p.References))
		}
	}
	return nil
}
