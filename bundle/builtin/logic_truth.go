package builtin

import (
	"fmt"
	"slices"
	"strings"
)

// culprit is a puzzle in which one of five people did something, each says
// something about it, and it is known how many of them speak the truth.
func culprit(r *rng) puzzle {
	who := names(r)
	for {
		var said []statement
		for p := range who {
			said = append(said, says(r, who, p))
		}
		// trueIf[c] counts the true statements if c did it.
		var trueIf [5]int
		for c := range 5 {
			for _, s := range said {
				if s.holds(c) {
					trueIf[c]++
				}
			}
		}
		did := r.below(5)
		n := trueIf[did]
		if n == 0 || n == 5 || slices.ContainsFunc([]int{0, 1, 2, 3, 4}, func(c int) bool { return c != did && trueIf[c] == n }) {
			continue // another draw; about one in three is good
		}
		deed := r.oneOf("broke the window", "ate the last piece of cake", "left the gate open", "took the spare key", "hid the present", "spilled the paint", "wrote the anonymous letter")
		var text []string
		for p, s := range said {
			text = append(text, fmt.Sprintf("%s says: \"%s\"", who[p], strings.ReplaceAll(s.text, "did it", deed)))
		}
		count := [...]string{"", "Exactly one of these five statements is true.", "Exactly two of these five statements are true.",
			"Exactly three of these five statements are true.", "Exactly four of these five statements are true."}[n]
		return puzzle{
			text:    fmt.Sprintf("Exactly one of %s %s. Everyone makes one statement.\n%s\n%s", list(who), deed, strings.Join(text, "\n"), count),
			ask:     "Who " + deed + "?",
			options: rightFirst(who, did),
		}
	}
}

type statement struct {
	text  string
	holds func(culprit int) bool
}

// says draws what person p says.
func says(r *rng, who []string, p int) statement {
	others := some(r, slices.DeleteFunc([]int{0, 1, 2, 3, 4}, func(i int) bool { return i == p }), 2)
	a, b := others[0], others[1]
	switch r.below(6) {
	case 0:
		return statement{who[a] + " did it.", func(c int) bool { return c == a }}
	case 1:
		return statement{"It was not me who did it.", func(c int) bool { return c != p }}
	case 2:
		return statement{fmt.Sprintf("It was %s or %s who did it.", who[a], who[b]), func(c int) bool { return c == a || c == b }}
	case 3:
		return statement{fmt.Sprintf("It was neither %s nor %s who did it.", who[a], who[b]), func(c int) bool { return c != a && c != b }}
	case 4:
		return statement{fmt.Sprintf("It was not %s who did it.", who[a]), func(c int) bool { return c != a }}
	}
	return statement{fmt.Sprintf("It was %s or me who did it.", who[a]), func(c int) bool { return c == a || c == p }}
}

// world gives each of five facts a truth value, fact i in bit i.
type world int

// fact is a sentence and its denial.
type fact struct{ yes, no string }

var factSets = [][]fact{
	{
		{"the alarm is on", "the alarm is off"}, {"the gate is locked", "the gate is not locked"}, {"the guard is awake", "the guard is not awake"},
		{"the lamp in the yard is lit", "the lamp in the yard is not lit"}, {"the dog is outside", "the dog is not outside"}, {"the camera is recording", "the camera is not recording"},
	},
	{
		{"the pump is running", "the pump is not running"}, {"the valve is open", "the valve is not open"}, {"the tank is full", "the tank is not full"},
		{"the warning light is on", "the warning light is off"}, {"the heater is warm", "the heater is not warm"}, {"the fan is turning", "the fan is not turning"},
	},
	{
		{"the bakery is open", "the bakery is closed"}, {"the market is busy", "the market is not busy"}, {"the ferry is running", "the ferry is not running"},
		{"the school is open", "the school is closed"}, {"the square is decorated", "the square is not decorated"}, {"the museum is free of charge", "the museum is not free of charge"},
	},
	{
		{"Mira is at the meeting", "Mira is not at the meeting"}, {"Otto is at the meeting", "Otto is not at the meeting"}, {"Petra is at the meeting", "Petra is not at the meeting"},
		{"Quinn is at the meeting", "Quinn is not at the meeting"}, {"Rosa is at the meeting", "Rosa is not at the meeting"}, {"Silas is at the meeting", "Silas is not at the meeting"},
	},
}

// literal is a fact or its denial.
type literal struct {
	fact int
	yes  bool
}

func (l literal) in(w world) bool { return (w>>l.fact&1 == 1) == l.yes }

func (l literal) text(facts []fact) string {
	if l.yes {
		return facts[l.fact].yes
	}
	return facts[l.fact].no
}

type premise struct {
	text  string
	holds func(world) bool
}

// rules is a puzzle of a known fact and rules, and asks which of five
// sentences must then be true. Exactly one follows.
func rules(r *rng) puzzle {
	facts := some(r, pick(r, factSets), 5)
	for {
		known := literal{r.below(5), r.yes()}
		given := []premise{{title(known.text(facts)) + ".", known.in}}
		for range r.between(4, 5) {
			given = append(given, rule(r, facts))
		}
		right, wrong := conclusions(given, known)
		if len(right) == 0 || len(wrong) < 4 || contradictory(given) || idle(given) {
			continue
		}
		shuffle(r, given)
		options := []string{title(pick(r, right).text(facts)) + "."}
		for _, l := range some(r, wrong, 4) {
			options = append(options, title(l.text(facts))+".")
		}
		var text []string
		for _, p := range given {
			text = append(text, p.text)
		}
		return puzzle{
			text:    "All of the following statements are true.\n" + strings.Join(text, "\n"),
			ask:     "Which of these must also be true?",
			options: options,
		}
	}
}

func rule(r *rng, facts []fact) premise {
	pair := some(r, []int{0, 1, 2, 3, 4}, 3)
	a, b, c := literal{pair[0], r.yes()}, literal{pair[1], r.yes()}, literal{pair[2], r.yes()}
	switch r.below(5) {
	case 0, 1:
		return premise{fmt.Sprintf("If %s, then %s.", a.text(facts), b.text(facts)), func(w world) bool { return !a.in(w) || b.in(w) }}
	case 2:
		return premise{fmt.Sprintf("If %s and %s, then %s.", a.text(facts), b.text(facts), c.text(facts)), func(w world) bool { return !a.in(w) || !b.in(w) || c.in(w) }}
	case 3:
		return premise{fmt.Sprintf("At least one of these two is the case: %s, or %s.", a.text(facts), b.text(facts)), func(w world) bool { return a.in(w) || b.in(w) }}
	}
	return premise{fmt.Sprintf("It is not the case that both %s and %s.", a.text(facts), b.text(facts)), func(w world) bool { return !a.in(w) || !b.in(w) }}
}

func worlds(given []premise) []world {
	var out []world
	for w := range world(32) {
		if !slices.ContainsFunc(given, func(p premise) bool { return !p.holds(w) }) {
			out = append(out, w)
		}
	}
	return out
}

func contradictory(given []premise) bool { return len(worlds(given)) == 0 }

// idle says whether some rule can be left out without changing anything.
func idle(given []premise) bool {
	n := len(worlds(given))
	for i := range given {
		if len(worlds(slices.Delete(slices.Clone(given), i, i+1))) == n {
			return true
		}
	}
	return false
}

// conclusions sorts the literals other than the known fact into those that
// hold in every world left and those that do not. A fact that was given is no
// conclusion, and its denial would be too easy.
func conclusions(given []premise, known literal) (right, wrong []literal) {
	left := worlds(given)
	for f := range 5 {
		for _, yes := range []bool{true, false} {
			l := literal{f, yes}
			if f == known.fact {
				continue
			}
			if slices.ContainsFunc(left, func(w world) bool { return !l.in(w) }) {
				wrong = append(wrong, l)
			} else {
				right = append(right, l)
			}
		}
	}
	return right, wrong
}
