package kit

import "strings"

// Match says how well a lower-case text fits what was typed: 2 when it holds
// every word, 1 when for every word it has one that begins with its first
// letter and holds the others in order, 0 otherwise.
func Match(typed, text string) int { return match(words(typed), text) }

func words(typed string) []string { return strings.Fields(strings.ToLower(typed)) }

func match(words []string, text string) int {
	best := 2
	for _, word := range words {
		switch {
		case strings.Contains(text, word):
		case len(word) > 1 && near(word, text): // a letter that is nowhere begins nothing
			best = 1
		default:
			return 0
		}
	}
	return best
}

// near looks at bytes: letters beyond ASCII are found in order as their bytes. A
// long list asks it for every row at every key.
func near(word, text string) bool {
	first := word[0]
	for i := 0; i < len(text); i++ {
		if text[i] != first { // no word that begins with it
			skip := strings.IndexByte(text[i:], ' ')
			if skip < 0 {
				return false
			}
			i += skip
			continue
		}
		found := 1
		for i++; i < len(text) && text[i] != ' '; i++ {
			if text[i] == word[found] {
				if found++; found == len(word) {
					return true
				}
			}
		}
	}
	return false
}
