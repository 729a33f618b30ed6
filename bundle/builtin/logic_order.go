package builtin

import (
	"fmt"
	"strings"
)

// setting is a scene in which five people stand in an order, first to last.
type setting struct {
	scene     string // %s is the list of names
	rank      string // "finished %s"
	notRank   string
	earlier   string // "%s finished before %s"
	adjacent  string // "%s finished immediately before %s"
	askWho    string // "Who finished %s?"
	askWhere  string // "In which place did %s finish?"
	rankWords []string
}

var settings = []setting{
	{
		"%s ran a race. No two of them finished at the same time.", "finished %s", "did not finish %s", "%s finished before %s", "%s finished immediately before %s",
		"Who finished %s?", "In which place did %s finish?", ordinals,
	},
	{
		"%s stand in one queue at a ticket office.", "is %s in the queue", "is not %s in the queue", "%s stands somewhere ahead of %s", "%s stands directly ahead of %s",
		"Who is %s in the queue?", "Which place in the queue does %s have?", ordinals,
	},
	{
		"%s live in a house with five floors, one person on each floor. The first floor is the lowest.", "lives on the %s floor", "does not live on the %s floor", "%s lives on a lower floor than %s", "%s lives on the floor directly below %s",
		"Who lives on the %s floor?", "On which floor does %s live?", ordinals,
	},
	{
		"%s gave one talk each on one afternoon, one after the other.", "gave the %s talk", "did not give the %s talk", "%s spoke at some time before %s", "%s spoke directly before %s",
		"Who gave the %s talk?", "Which of the talks did %s give?", ordinals,
	},
	{
		"%s were born in five different years and are sorted by age. The first is the oldest.", "is %s in the order of age", "is not %s in the order of age", "%s is older than %s", "%s comes directly before %s in the order of age",
		"Who is %s in the order of age?", "Which place in the order of age does %s have?", ordinals,
	},
}

func easyOrder(r *rng) puzzle {
	return ordering(r, func(s setting, who []string, truth arrangement) [][]clue {
		return [][]clue{s.adjacentClues(who, truth), s.rankClues(who, truth), s.earlierClues(who, truth)}
	})
}

func order(r *rng) puzzle {
	return ordering(r, func(s setting, who []string, truth arrangement) [][]clue {
		return [][]clue{s.earlierClues(who, truth), s.notRankClues(who, truth), s.betweenClues(who, truth), s.adjacentClues(who, truth)}
	})
}

// ordering draws a puzzle whose clues come mostly from the first kinds.
func ordering(r *rng, kinds func(setting, []string, arrangement) [][]clue) puzzle {
	s, who := pick(r, settings), names(r)
	truth, clues := solve(r, func(r *rng, truth arrangement) []clue { return mix(r, kinds(s, who, truth)) })
	var text []string
	stated := map[int]bool{} // people whose rank a clue gives away
	for _, c := range clues {
		text = append(text, title(c.text)+".")
		for p, name := range who {
			if c.text == name+" "+fmt.Sprintf(s.rank, s.rankWords[truth[p]]) {
				stated[p] = true
			}
		}
	}
	p := r.below(5)
	for stated[p] {
		p = (p + 1) % 5
	}
	out := puzzle{text: fmt.Sprintf(s.scene, list(who)) + "\n" + strings.Join(text, "\n")}
	if r.yes() {
		out.ask = fmt.Sprintf(s.askWho, s.rankWords[truth[p]])
		out.options = rightFirst(who, p)
	} else {
		out.ask = fmt.Sprintf(s.askWhere, who[p])
		out.options = rightFirst(s.rankWords, truth[p])
	}
	return out
}

// mix puts clues of several kinds into one order: a few of each kind in turn,
// in the order of the kinds, so that every kind has a chance and all clues
// together always determine the truth.
func mix(r *rng, kinds [][]clue) []clue {
	var out, rest []clue
	for _, k := range kinds {
		shuffle(r, k)
		n := min(len(k), r.between(1, 3))
		out, rest = append(out, k[:n]...), append(rest, k[n:]...)
	}
	shuffle(r, out)
	shuffle(r, rest)
	return append(out, rest...)
}

func (s setting) earlierClues(who []string, truth arrangement) []clue {
	var out []clue
	for a := range 5 {
		for b := range 5 {
			if truth[a] < truth[b] {
				out = append(out, clue{fmt.Sprintf(s.earlier, who[a], who[b]), func(x arrangement) bool { return x[a] < x[b] }})
			}
		}
	}
	return out
}

func (s setting) adjacentClues(who []string, truth arrangement) []clue {
	var out []clue
	for a := range 5 {
		for b := range 5 {
			if truth[a]+1 == truth[b] {
				out = append(out, clue{fmt.Sprintf(s.adjacent, who[a], who[b]), func(x arrangement) bool { return x[a]+1 == x[b] }})
			}
		}
	}
	return out
}

func (s setting) rankClues(who []string, truth arrangement) []clue {
	var out []clue
	for a := range 5 {
		k := truth[a]
		out = append(out, clue{who[a] + " " + fmt.Sprintf(s.rank, s.rankWords[k]), func(x arrangement) bool { return x[a] == k }})
	}
	return out
}

func (s setting) notRankClues(who []string, truth arrangement) []clue {
	var out []clue
	for a := range 5 {
		for k := range 5 {
			if truth[a] != k {
				out = append(out, clue{who[a] + " " + fmt.Sprintf(s.notRank, s.rankWords[k]), func(x arrangement) bool { return x[a] != k }})
			}
		}
	}
	return out
}

func (s setting) betweenClues(who []string, truth arrangement) []clue {
	var out []clue
	for a := range 5 {
		for b := a + 1; b < 5; b++ {
			if gap := truth[a] - truth[b]; gap == 2 || gap == -2 {
				out = append(out, clue{
					fmt.Sprintf("exactly one person is between %s and %s in the order, whichever of them comes first", who[a], who[b]),
					func(x arrangement) bool { return x[a]-x[b] == 2 || x[b]-x[a] == 2 },
				})
			}
		}
	}
	return out
}
