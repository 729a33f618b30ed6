package mt

import (
	"slices"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// The limits of Tercom, and sacrebleu's own on the candidates it tries.
const (
	maxShiftSize       = 10
	maxShiftDistance   = 50
	beamWidth          = 25
	maxShiftCandidates = 1000
)

// terStats counts the edits of one pair against its best reference, and the
// mean length of its references.
type terStats struct {
	edits  int
	length float64
}

// TER prepares the corpus translation edit rate in percent, which may exceed
// 100. Case does not count.
func TER(pairs []Pair) (func(pick []int) float64, error) {
	if err := check(pairs); err != nil {
		return nil, err
	}
	stats := make([]terStats, len(pairs))
	for i, p := range pairs {
		pred := str.Split(str.Lower(p.Prediction))
		best, length := -1, 0
		for _, r := range p.References {
			ref := str.Split(str.Lower(r))
			edits := editRate(pred, ref)
			if best < 0 || edits < best {
				best = edits
			}
			length += len(ref)
		}
		stats[i] = terStats{best, float64(length) / float64(len(p.References))}
	}
	return func(pick []int) float64 {
		edits, length := 0, 0.0
		for _, p := range pick {
			edits += stats[p].edits
			length += stats[p].length
		}
		switch {
		case length > 0:
			return 100 * (float64(edits) / length)
		case edits > 0:
			return 100
		}
		return 0
	}, nil
}

// editRate counts the shifts and the edits after them that turn pred into ref.
func editRate(pred, ref []string) int {
	if len(ref) == 0 {
		return len(pred)
	}
	shifts, tried := 0, 0
	for {
		gain, shifted, n := bestShift(pred, ref, tried)
		tried = n
		if tried >= maxShiftCandidates || gain <= 0 {
			break
		}
		shifts++
		pred = shifted
	}
	edits, _ := distance(pred, ref)
	return shifts + edits
}

// shift is a candidate: gain first, then the longest, then the earliest source,
// then the earliest target, then the words themselves.
type shift struct {
	gain, length, from, to int
	words                  []string
}

func (a shift) better(b shift) bool {
	switch {
	case a.gain != b.gain:
		return a.gain > b.gain
	case a.length != b.length:
		return a.length > b.length
	case a.from != b.from:
		return a.from < b.from
	case a.to != b.to:
		return a.to < b.to
	}
	return slices.Compare(a.words, b.words) > 0
}

// bestShift moves the run of words that saves the most edits. tried counts the
// candidates evaluated for this pair so far.
func bestShift(pred, ref []string, tried int) (gain int, shifted []string, total int) {
	before, trace := distance(pred, ref)
	a := align(trace)
	var best *shift
	for from := range pred {
		for at := max(0, from-maxShiftDistance); at <= min(len(ref)-1, from+maxShiftDistance); at++ {
			for n := 1; n <= maxShiftSize && from+n <= len(pred) && at+n <= len(ref) && pred[from+n-1] == ref[at+n-1]; n++ {
				best, tried = a.candidates(best, before, pred, ref, from, at, n, tried)
				if tried >= maxShiftCandidates {
					return finish(best, pred, tried)
				}
			}
		}
	}
	return finish(best, pred, tried)
}

func finish(best *shift, pred []string, tried int) (int, []string, int) {
	if best == nil {
		return 0, pred, tried
	}
	return best.gain, best.words, tried
}

// candidates tries to move pred[from:from+n] to the places that match
// ref[at:at+n] or its surroundings.
func (a alignment) candidates(best *shift, before int, pred, ref []string, from, at, n, tried int) (*shift, int) {
	if !slices.Contains(a.predWrong[from:from+n], true) || !slices.Contains(a.refWrong[at:at+n], true) {
		return best, tried
	}
	if home := a.of[at]; from <= home && home < from+n {
		return best, tried
	}
	previous := -1
	for offset := -1; offset < n; offset++ {
		to := 0
		if p := at + offset; p >= 0 {
			if p >= len(a.of) {
				break
			}
			to = a.of[p] + 1
		}
		if to == previous {
			continue
		}
		previous = to
		words := move(pred, from, n, to)
		edits, _ := distance(words, ref)
		tried++
		if c := (shift{before - edits, n, from, to, words}); best == nil || c.better(*best) {
			best = &c
		}
	}
	return best, tried
}

// move puts words[from:from+n] before position to.
func move(words []string, from, n, to int) []string {
	run := words[from : from+n]
	switch {
	case to < from:
		return slices.Concat(words[:to], run, words[to:from], words[from+n:])
	case to > from+n:
		return slices.Concat(words[:from], words[from+n:to], run, words[to:])
	}
	// A target within the run itself counts from behind it.
	end := min(n+to, len(words))
	return slices.Concat(words[:from], words[from+n:end], run, words[end:])
}
