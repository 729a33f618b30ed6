package metric

import (
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// glob is fnmatch: * any text, ? one character, [..] a set, [!..] its opposite.
// A bracket that is not closed stands for itself. It runs in the product of the
// two lengths at worst.
func glob(pattern, name string) bool {
	p, n := str.Runes(pattern), str.Runes(name)
	pi, ni, star, mark := 0, 0, -1, 0
	for ni < len(n) {
		if pi < len(p) && p[pi] == '*' {
			star, mark = pi, ni
			pi++
			continue
		}
		if pi < len(p) {
			if width, ok := one(p[pi:], n[ni]); ok {
				pi, ni = pi+width, ni+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		pi, ni = star+1, mark
	}
	for pi < len(p) && p[pi] == '*' {
		pi++
	}
	return pi == len(p)
}

// one matches a single character and returns how much of the pattern that took.
func one(p []rune, r rune) (width int, ok bool) {
	if p[0] == '?' {
		return 1, true
	}
	if p[0] == '[' {
		if end := closing(p); end > 0 {
			return end + 1, inSet(p[1:end], r)
		}
	}
	return 1, p[0] == r
}

// closing is where the set ends; a bracket right after its start belongs to it.
func closing(p []rune) int {
	i := 1
	if i < len(p) && p[i] == '!' {
		i++
	}
	for i++; i < len(p); i++ {
		if p[i] == ']' {
			return i
		}
	}
	return 0
}

func inSet(set []rune, r rune) bool {
	negated := set[0] == '!'
	if negated {
		set = set[1:]
	}
	found := false
	for i := 0; i < len(set); i++ {
		if i+2 < len(set) && set[i+1] == '-' {
			found = found || set[i] <= r && r <= set[i+2]
			i += 2
			continue
		}
		found = found || set[i] == r
	}
	return found != negated
}
