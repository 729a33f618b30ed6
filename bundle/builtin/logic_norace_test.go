//go:build !race

package builtin_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/builtin"
)

// The puzzles are solved from their printed text alone: every line is parsed
// into a condition, all cases are tried, and exactly one option must be right.

var rankWords = []string{"first", "second", "third", "fourth", "fifth"}

func find(t *testing.T, words []string, w string) int {
	t.Helper()
	i := slices.Index(words, w)
	if i < 0 {
		t.Fatalf("%q is none of %v", w, words)
	}
	return i
}

// splitList reads "A, B and C", with or without articles.
func splitList(s string) []string {
	parts := regexp.MustCompile(`, | and `).Split(s, -1)
	for i := range parts {
		parts[i] = strings.TrimPrefix(parts[i], "a ")
	}
	return parts
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var out [][]int
	for _, p := range permutations(n - 1) {
		for at := 0; at <= len(p); at++ {
			out = append(out, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return out
}

// condition is a parsed line: whether a permutation p, value p[i] of person i,
// meets it.
type condition func(p []int) bool

var orderLines = []struct {
	re   *regexp.Regexp
	cond func(a, b, k int) condition
}{
	{regexp.MustCompile(`^(?P<a>\w+) (?:finished immediately before|stands directly ahead of|lives on the floor directly below|spoke directly before) (?P<b>\w+)\.$`), func(a, b, _ int) condition { return func(p []int) bool { return p[b]-p[a] == 1 } }},
	{regexp.MustCompile(`^(?P<a>\w+) comes directly before (?P<b>\w+) in the order of age\.$`), func(a, b, _ int) condition { return func(p []int) bool { return p[b]-p[a] == 1 } }},
	{regexp.MustCompile(`^(?P<a>\w+) (?:finished before|stands somewhere ahead of|lives on a lower floor than|spoke at some time before|is older than) (?P<b>\w+)\.$`), func(a, b, _ int) condition { return func(p []int) bool { return p[a] < p[b] } }},
	{regexp.MustCompile(`^(?P<a>\w+) (?:finished|gave the|lives on the|is) (?P<k>first|second|third|fourth|fifth)(?: in the queue| floor| talk| in the order of age)?\.$`), func(a, _, k int) condition { return func(p []int) bool { return p[a] == k } }},
	{regexp.MustCompile(`^(?P<a>\w+) (?:did not finish|did not give the|does not live on the|is not) (?P<k>first|second|third|fourth|fifth)(?: in the queue| floor| talk| in the order of age)?\.$`), func(a, _, k int) condition { return func(p []int) bool { return p[a] != k } }},
	{regexp.MustCompile(`^Exactly one person is between (?P<a>\w+) and (?P<b>\w+) in the order, whichever of them comes first\.$`), func(a, b, _ int) condition {
		return func(p []int) bool { return p[a]-p[b] == 2 || p[b]-p[a] == 2 }
	}},
}

func parseOrder(t *testing.T, line string, who []string) condition {
	t.Helper()
	for _, l := range orderLines {
		m := l.re.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		a, b, k := 0, 0, 0
		for i, name := range l.re.SubexpNames() {
			switch name {
			case "a":
				a = find(t, who, m[i])
			case "b":
				b = find(t, who, m[i])
			case "k":
				k = find(t, rankWords, m[i])
			}
		}
		return l.cond(a, b, k)
	}
	t.Fatalf("cannot read %q", line)
	return nil
}

// has is "NAME keeps the KIND" in any theme.
const has = `(\w+) (?:keeps|plays|brought|drives) the ([a-z ]+?)`

var (
	ifLine     = regexp.MustCompile(`^If ` + has + `, then ` + has + `\.$`)
	eitherLine = regexp.MustCompile(`^` + has + ` or the ([a-z ]+)\.$`)
	hasLine    = regexp.MustCompile(`^` + has + `\.$`)
	notLine    = regexp.MustCompile(`^(\w+) (?:does not keep|does not play|did not bring|does not drive) the ([a-z ]+)\.$`)
)

func parseMatch(t *testing.T, line string, who, kinds []string) condition {
	t.Helper()
	if m := ifLine.FindStringSubmatch(line); m != nil {
		a, v, b, w := find(t, who, m[1]), find(t, kinds, m[2]), find(t, who, m[3]), find(t, kinds, m[4])
		return func(p []int) bool { return !(p[a] == v) || p[b] == w }
	}
	if m := eitherLine.FindStringSubmatch(line); m != nil {
		a, v, w := find(t, who, m[1]), find(t, kinds, m[2]), find(t, kinds, m[3])
		return func(p []int) bool { return p[a] == v || p[a] == w }
	}
	if m := hasLine.FindStringSubmatch(line); m != nil {
		a, v := find(t, who, m[1]), find(t, kinds, m[2])
		return func(p []int) bool { return p[a] == v }
	}
	if m := notLine.FindStringSubmatch(line); m != nil {
		a, v := find(t, who, m[1]), find(t, kinds, m[2])
		return func(p []int) bool { return p[a] != v }
	}
	t.Fatalf("cannot read %q", line)
	return nil
}

// rightOptions solves a task and lists the options that its text supports.
func rightOptions(t *testing.T, x bundle.Task) (kind string, right []string) {
	t.Helper()
	parts := strings.Split(x.Input[0].Text, "\n\n")
	lines, ask := strings.Split(parts[0], "\n"), parts[1]
	switch {
	case strings.HasPrefix(lines[0], "Exactly one of"):
		return "culprit", solveCulprit(t, lines, x.Choices)
	case strings.HasPrefix(lines[0], "All of the following"):
		return "rules", solveRules(t, lines[1:], x.Choices)
	}
	m := regexp.MustCompile(`^(\w+(?:, \w+)* and \w+) (?:each|ran|stand|live|gave|were)`).FindStringSubmatch(lines[0])
	if m == nil {
		t.Fatalf("no names in %q", lines[0])
	}
	who := splitList(m[1])
	values, kind := rankWords, "order"
	if m := regexp.MustCompile(`(?:animals|instruments|dishes|vehicles) (?:are|were) a ([^.]+?)(?:, and each is kept by one of them)?\.$`).FindStringSubmatch(lines[0]); m != nil {
		values, kind = splitList(m[1]), "match"
	}
	if len(who) != 5 || len(values) != 5 {
		t.Fatalf("%v, %v", who, values)
	}
	var conditions []condition
	for _, line := range lines[1:] {
		if kind == "match" {
			conditions = append(conditions, parseMatch(t, line, who, values))
		} else {
			conditions = append(conditions, parseOrder(t, line, who))
		}
	}
	left := slices.DeleteFunc(permutations(5), func(p []int) bool {
		return slices.ContainsFunc(conditions, func(holds condition) bool { return !holds(p) })
	})
	if len(left) != 1 {
		t.Fatalf("%d arrangements fit: %s", len(left), parts[0])
	}
	for _, o := range x.Choices {
		for i, name := range who {
			v := values[left[0][i]]
			asksValue := o == v && regexp.MustCompile(`\b`+name+`\b`).MatchString(ask)
			asksName := o == name && strings.HasPrefix(ask, "Who ") && regexp.MustCompile(`\b`+v+`\b`).MatchString(ask)
			if asksValue || asksName {
				right = append(right, o)
			}
		}
	}
	return kind, right
}

func solveCulprit(t *testing.T, lines, who []string) []string {
	t.Helper()
	m := regexp.MustCompile(`^Exactly one of ([\w, ]+ and \w+) (?:broke|ate|left|took|hid|spilled|wrote) `).FindStringSubmatch(lines[0])
	if m == nil {
		t.Fatalf("cannot read %q", lines[0])
	}
	if len(who) != 5 || len(lines) != 7 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, w := range splitList(m[1]) {
		find(t, who, w)
	}
	want := slices.Index([]string{"zero", "one", "two", "three", "four", "five"}, strings.Fields(lines[6])[1])
	var right []string
	for _, suspect := range who {
		n := 0
		for _, line := range lines[1:6] {
			speaker, said, ok := strings.Cut(line, ` says: "`)
			if !ok {
				t.Fatalf("cannot read %q", line)
			}
			if trueOf(t, said, speaker, suspect) {
				n++
			}
		}
		if n == want {
			right = append(right, suspect)
		}
	}
	return right
}

var (
	saidNot     = regexp.MustCompile(`^It was not (\w+) who `)
	saidNeither = regexp.MustCompile(`^It was neither (\w+) nor (\w+) who `)
	saidEither  = regexp.MustCompile(`^It was (\w+) or (\w+) who `)
	saidName    = regexp.MustCompile(`^([A-Z]\w+) (?:broke|ate|left|took|hid|spilled|wrote) `)

	ifBothRule = regexp.MustCompile(`^If (.+) and (.+), then (.+)$`)
	ifRule     = regexp.MustCompile(`^If (.+), then (.+)$`)
	orRule     = regexp.MustCompile(`^At least one of these two is the case: (.+), or (.+)$`)
	notBoth    = regexp.MustCompile(`^It is not the case that both (.+) and (.+)$`)
)

func trueOf(t *testing.T, said, speaker, suspect string) bool {
	t.Helper()
	is := func(w string) bool { return w == suspect || w == "me" && speaker == suspect }
	for _, f := range []struct {
		re    *regexp.Regexp
		truth func(m []string) bool
	}{
		{saidNot, func(m []string) bool { return !is(m[1]) }},
		{saidNeither, func(m []string) bool { return !is(m[1]) && !is(m[2]) }},
		{saidEither, func(m []string) bool { return is(m[1]) || is(m[2]) }},
		{saidName, func(m []string) bool { return is(m[1]) }},
	} {
		if m := f.re.FindStringSubmatch(said); m != nil {
			return f.truth(m)
		}
	}
	t.Fatalf("cannot read %q", said)
	return false
}

// solveRules tries all truth values of the sentences that occur.
func solveRules(t *testing.T, lines, options []string) []string {
	t.Helper()
	var atoms []string
	// literal reads a sentence as a fact and whether it affirms it.
	literal := func(s string) (int, bool) {
		s = strings.TrimSuffix(strings.ToLower(s), ".")
		yes := true
		if strings.Contains(s, " not ") {
			s, yes = strings.Replace(s, " not ", " ", 1), false
		}
		for _, pair := range [][2]string{{"is off", "is on"}, {"is closed", "is open"}} {
			if strings.HasSuffix(s, pair[0]) {
				s, yes = strings.TrimSuffix(s, pair[0])+pair[1], !yes
			}
		}
		if !slices.Contains(atoms, s) {
			atoms = append(atoms, s)
		}
		return slices.Index(atoms, s), yes
	}
	type test func(w int) bool
	lit := func(s string) test {
		i, yes := literal(s)
		return func(w int) bool { return (w>>i&1 == 1) == yes }
	}
	var given []test
	for _, line := range lines {
		if m := ifBothRule.FindStringSubmatch(line); m != nil {
			a, b, c := lit(m[1]), lit(m[2]), lit(m[3])
			given = append(given, func(w int) bool { return !(a(w) && b(w)) || c(w) })
		} else if m := ifRule.FindStringSubmatch(line); m != nil {
			a, b := lit(m[1]), lit(m[2])
			given = append(given, func(w int) bool { return !a(w) || b(w) })
		} else if m := orRule.FindStringSubmatch(line); m != nil {
			a, b := lit(m[1]), lit(m[2])
			given = append(given, func(w int) bool { return a(w) || b(w) })
		} else if m := notBoth.FindStringSubmatch(line); m != nil {
			a, b := lit(m[1]), lit(m[2])
			given = append(given, func(w int) bool { return !(a(w) && b(w)) })
		} else {
			given = append(given, lit(line))
		}
	}
	var claims []test
	for _, o := range options {
		claims = append(claims, lit(o))
	}
	if len(atoms) > 5 {
		t.Fatalf("more than five facts: %v", atoms)
	}
	follows, possible := make([]bool, len(options)), false
	for i := range follows {
		follows[i] = true
	}
	for w := range 1 << len(atoms) {
		if slices.ContainsFunc(given, func(g test) bool { return !g(w) }) {
			continue
		}
		possible = true
		for i, c := range claims {
			follows[i] = follows[i] && c(w)
		}
	}
	if !possible {
		t.Fatalf("the statements contradict each other: %v", lines)
	}
	var right []string
	for i, o := range options {
		if follows[i] {
			right = append(right, o)
		}
	}
	return right
}

func TestLogic_ExactlyOneOptionByBruteForce(t *testing.T) {
	t.Parallel()
	b, _ := builtin.Find("logic")
	seen := map[string]int{}
	for _, seed := range []uint64{builtin.DefaultSeed, 21} {
		ts := b.Tasks(seed, builtin.DefaultSize)
		for pos := range ts.Len() {
			x := task(t, ts, pos)
			kind, right := rightOptions(t, x)
			seen[kind]++
			if len(right) != 1 || len(x.Choices) != 5 || len(x.Target) != 1 {
				t.Errorf("seed %d task %d (%s): %d right options: %v in\n%s", seed, pos, kind, len(right), right, x.Input[0].Text)
				continue
			}
			if want := bundle.Letter(slices.Index(x.Choices, right[0])); x.Target[0] != want {
				t.Errorf("seed %d task %d (%s): target %s, solved %s", seed, pos, kind, x.Target[0], want)
			}
			if len(slices.Compact(slices.Sorted(slices.Values(x.Choices)))) != 5 {
				t.Errorf("seed %d task %d: an option stands twice", seed, pos)
			}
		}
	}
	for _, kind := range []string{"order", "match", "culprit", "rules"} {
		if seen[kind] < 100 {
			t.Errorf("only %d puzzles of kind %s", seen[kind], kind)
		}
	}
}
