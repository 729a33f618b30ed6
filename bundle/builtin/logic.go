package builtin

import (
	"slices"

	"github.com/evalrouter/evalrouter/bundle"
)

// puzzle is a text with a question and five options, the first of which is
// right until they are shuffled.
type puzzle struct {
	text    string
	ask     string
	options []string
}

func logic(r *rng, level int) draft {
	p := pick(r, puzzles[level])(r)
	right := p.options[0]
	shuffle(r, p.options)
	return draft{
		prompt: p.text + "\n\n" + p.ask + "\n\n" + bundle.LetterChoices(p.options) + "\n\n" + r.oneOf(
			"Exactly one option is right. Think it through, then end with a line of the form \"ANSWER: X\", where X is its letter.",
			"Only one of the options is right. Reason step by step. The last line must read \"ANSWER: X\", with X the letter of that option.",
		),
		target:  bundle.Letter(slices.Index(p.options, right)),
		choices: p.options,
	}
}

var puzzles = [3][]func(*rng) puzzle{
	{easyOrder, easyMatch, culprit},
	{order, match, culprit},
	{order, match, rules},
}

// arrangement says which of five values each of five people has: value v of
// person p is a[p]. Orders are arrangements with ranks as values.
type arrangement [5]int

// arrangements is all 120 of them, in a fixed order.
func arrangements() []arrangement {
	var all []arrangement
	var place func(a arrangement, p int, used int)
	place = func(a arrangement, p, used int) {
		if p == 5 {
			all = append(all, a)
			return
		}
		for v := range 5 {
			if used>>v&1 == 0 {
				a[p] = v
				place(a, p+1, used|1<<v)
			}
		}
	}
	place(arrangement{}, 0, 0)
	return all
}

// clue is a sentence and what it says.
type clue struct {
	text  string
	holds func(arrangement) bool
}

// choose takes clues in order, each only if it rules something out, until
// only truth is left, and then drops every clue that turned out superfluous.
// The clues on offer must determine truth.
func choose(truth arrangement, offered []clue) []clue {
	all := arrangements()
	left := all
	var taken []clue
	for _, c := range offered {
		if rest := keep(left, c); len(rest) < len(left) {
			left, taken = rest, append(taken, c)
		}
		if len(left) == 1 {
			break
		}
	}
	if len(left) != 1 || left[0] != truth {
		panic("builtin: the clues do not determine the arrangement")
	}
	for i := 0; i < len(taken); {
		without := slices.Delete(slices.Clone(taken), i, i+1)
		if len(keep(all, without...)) == 1 {
			taken = without
			continue
		}
		i++
	}
	return taken
}

func keep(from []arrangement, clues ...clue) []arrangement {
	var out []arrangement
	for _, a := range from {
		if !slices.ContainsFunc(clues, func(c clue) bool { return !c.holds(a) }) {
			out = append(out, a)
		}
	}
	return out
}

// solve draws the truth and clues for it.
func solve(r *rng, offer func(*rng, arrangement) []clue) (arrangement, []clue) {
	truth := pick(r, arrangements())
	taken := choose(truth, offer(r, truth))
	shuffle(r, taken)
	return truth, taken
}

// rightFirst lists all five with the right one first.
func rightFirst(all []string, right int) []string {
	out := []string{all[right]}
	for i, s := range all {
		if i != right {
			out = append(out, s)
		}
	}
	return out
}

func names(r *rng) []string {
	var out []string
	for _, p := range some(r, people, 5) {
		out = append(out, p.name)
	}
	return out
}

// holder finds who has value v.
func (a arrangement) holder(v int) int { return slices.Index(a[:], v) }
