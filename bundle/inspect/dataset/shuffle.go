package dataset

import (
	"fmt"
	"slices"

	"github.com/evalrouter/evalrouter/bundle/inspect/choice"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	"github.com/evalrouter/evalrouter/bundle/pycompat/random"
)

// Shuffle returns the samples in the order of a seed.
func Shuffle(samples []Sample, seed int64) []Sample {
	out := slices.Clone(samples)
	random.New(seed).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// ShuffleChoices shuffles the choices of each sample and moves the letters of
// its target with them. One generator serves all samples in turn, so the order
// of samples matters.
func ShuffleChoices(samples []Sample, seed int64) ([]Sample, error) {
	r := random.New(seed)
	out := slices.Clone(samples)
	for i, s := range out {
		if len(s.Choices) == 0 {
			continue
		}
		o := choice.NewOptions(s.Choices).Shuffle(r)
		now := make([]int, len(o.Original))
		for to, from := range o.Original {
			now[from] = to
		}
		target := make(score.Target, len(s.Target))
		for j, t := range s.Target {
			at, err := choice.Index(t)
			if err == nil && (at < 0 || at >= len(now)) {
				err = fmt.Errorf("the sample has no choice %q", t)
			}
			if err != nil {
				return nil, fmt.Errorf("shuffle choices of sample %d: %w", i+1, err)
			}
			target[j] = choice.Letter(now[at])
		}
		out[i].Choices, out[i].Target = o.Texts, target
	}
	return out, nil
}
