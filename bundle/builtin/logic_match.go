package builtin

import (
	"fmt"
	"strings"
)

// theme is a thing of which each person has a different kind.
type theme struct {
	scene  string // names, then kinds
	verb   string // "keeps the"
	not    string
	ask    string // "Which animal does %s keep?"
	askWho string
	kinds  []string
}

var themes = []theme{
	{
		"%s each keep one animal. The animals are a %s, and each is kept by one of them.", "keeps the", "does not keep the",
		"Which animal does %s keep?", "Who keeps the %s?",
		[]string{"parrot", "tortoise", "rabbit", "hamster", "goldfish", "spaniel", "lizard", "pony"},
	},
	{
		"%s each play one instrument, and no two play the same one. The instruments are a %s.", "plays the", "does not play the",
		"Which instrument does %s play?", "Who plays the %s?",
		[]string{"cello", "flute", "trumpet", "harp", "violin", "clarinet", "guitar", "bassoon"},
	},
	{
		"%s each brought one dish to a party, all of them different. The dishes were a %s.", "brought the", "did not bring the",
		"Which dish did %s bring?", "Who brought the %s?",
		[]string{"lasagne", "potato salad", "cheesecake", "lentil soup", "fruit tart", "pumpkin curry", "bean stew", "quiche"},
	},
	{
		"%s each drive one vehicle, and no two drive the same one. The vehicles are a %s.", "drives the", "does not drive the",
		"Which vehicle does %s drive?", "Who drives the %s?",
		[]string{"tractor", "van", "minibus", "motorcycle", "pickup", "tram", "fire engine", "forklift"},
	},
}

func easyMatch(r *rng) puzzle {
	return matching(r, func(t theme, who, kinds []string, truth arrangement) [][]clue {
		return [][]clue{t.hasClues(who, kinds, truth, 2), t.notClues(who, kinds, truth)}
	})
}

func match(r *rng) puzzle {
	return matching(r, func(t theme, who, kinds []string, truth arrangement) [][]clue {
		return [][]clue{t.eitherClues(r, who, kinds, truth), t.ifClues(r, who, kinds, truth), t.notClues(who, kinds, truth)}
	})
}

func matching(r *rng, offer func(theme, []string, []string, arrangement) [][]clue) puzzle {
	t, who := pick(r, themes), names(r)
	kinds := some(r, t.kinds, 5)
	truth, clues := solve(r, func(r *rng, truth arrangement) []clue { return mix(r, offer(t, who, kinds, truth)) })
	var text []string
	stated := map[int]bool{}
	for _, c := range clues {
		text = append(text, title(c.text)+".")
		for p := range who {
			stated[p] = stated[p] || c.text == who[p]+" "+t.verb+" "+kinds[truth[p]]
		}
	}
	p := r.below(5)
	for stated[p] {
		p = (p + 1) % 5
	}
	out := puzzle{text: fmt.Sprintf(t.scene, list(who), strings.ReplaceAll(list(kinds), ", ", ", a ")) + "\n" + strings.Join(text, "\n")}
	out.text = strings.Replace(out.text, " and "+kinds[4]+".", " and a "+kinds[4]+".", 1)
	out.text = strings.Replace(out.text, " and "+kinds[4]+",", " and a "+kinds[4]+",", 1)
	if r.yes() {
		out.ask, out.options = fmt.Sprintf(t.ask, who[p]), rightFirst(kinds, truth[p])
	} else {
		out.ask, out.options = fmt.Sprintf(t.askWho, kinds[truth[p]]), rightFirst(who, p)
	}
	return out
}

// hasClues states outright what some of the people have, at most n of them.
func (t theme) hasClues(who, kinds []string, truth arrangement, n int) []clue {
	var out []clue
	for a := range n {
		v := truth[a]
		out = append(out, clue{who[a] + " " + t.verb + " " + kinds[v], func(x arrangement) bool { return x[a] == v }})
	}
	return out
}

func (t theme) notClues(who, kinds []string, truth arrangement) []clue {
	var out []clue
	for a := range 5 {
		for v := range 5 {
			if truth[a] != v {
				out = append(out, clue{who[a] + " " + t.not + " " + kinds[v], func(x arrangement) bool { return x[a] != v }})
			}
		}
	}
	return out
}

func (t theme) eitherClues(r *rng, who, kinds []string, truth arrangement) []clue {
	var out []clue
	for a := range 5 {
		for other := range 5 {
			v := truth[a]
			if other == v {
				continue
			}
			first, second := v, other
			if r.yes() {
				first, second = second, first
			}
			out = append(out, clue{
				fmt.Sprintf("%s %s %s or the %s", who[a], t.verb, kinds[first], kinds[second]),
				func(x arrangement) bool { return x[a] == v || x[a] == other },
			})
		}
	}
	return out
}

// ifClues are conditions that hold in the truth, half of them because what
// they suppose is false.
func (t theme) ifClues(r *rng, who, kinds []string, truth arrangement) []clue {
	var out []clue
	for range 12 {
		pair := some(r, []int{0, 1, 2, 3, 4}, 2)
		a, b := pair[0], pair[1]
		v, w := truth[a], truth[b]
		if r.yes() {
			v, w = (v+r.between(1, 4))%5, r.below(5)
			if w == v {
				w = (w + 1) % 5
			}
		}
		out = append(out, clue{
			fmt.Sprintf("if %s %s %s, then %s %s %s", who[a], t.verb, kinds[v], who[b], t.verb, kinds[w]),
			func(x arrangement) bool { return x[a] != v || x[b] == w },
		})
	}
	return out
}
