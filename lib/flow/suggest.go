package flow

import (
	"cmp"
	"slices"
	"strings"
)

// Suggest names at most three of the known words that are near the typed one,
// best first and always in the same order: near means a distance of at most two
// edits, the beginning of the word, or a shared part of it.
func Suggest(typed string, known []string) []string {
	type near struct {
		word string
		rank int
	}
	var found []near
	seen := map[string]bool{}
	for _, k := range known {
		if r, ok := nearness(fold(typed), fold(k)); ok && !seen[k] {
			found, seen[k] = append(found, near{k, r}), true
		}
	}
	slices.SortFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(len(a.word), len(b.word)), cmp.Compare(a.word, b.word))
	})
	var out []string
	for _, f := range found[:min(3, len(found))] {
		out = append(out, f.word)
	}
	return out
}

// nearness ranks from 0 (equal) up.
func nearness(typed, known string) (int, bool) {
	t, k := strings.TrimLeft(typed, "-"), strings.TrimLeft(known, "-")
	if t == "" {
		return 0, false
	}
	// Two edits of a three-letter word are another word.
	limit := min(2, len(t)/2)
	if d := distance(t, k); d <= limit {
		return d, true
	}
	if len(t) >= 2 && strings.HasPrefix(k, t) {
		return 3, true
	}
	words := tokens(k)
	for _, w := range tokens(t) {
		if len(w) < 3 {
			continue
		}
		for _, x := range words {
			if x == w {
				return 4, true
			}
			if strings.HasPrefix(x, w) || distance(w, x) <= min(1, len(w)/4) {
				return 5, true
			}
		}
	}
	return 0, false
}

func fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// tokens splits a name into its words and numbers.
func tokens(s string) []string {
	return strings.FieldsFunc(fold(s), func(r rune) bool {
		return r != '.' && (r < '0' || r > '9' && r < 'a' || r > 'z')
	})
}

// distance is the number of insertions, deletions, replacements and swaps of
// neighbours between two words (Damerau's, restricted to one edit a place).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d > 3 || d < -3 {
		return 99
	}
	before, row := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(x); i++ {
		next := make([]int, len(y)+1)
		next[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(y)]
}
