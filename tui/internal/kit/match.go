package kit

import "strings"

// Match says how well a lower-case text fits what was typed: 2 when it holds
// every word, 1 when for every word it has one that begins with its first
// letter and holds the others in order, 0 otherwise.
func Match(typed, text string) int {
	best := 2
	for word := range strings.FieldsSeq(strings.ToLower(typed)) {
		switch {
		case strings.Contains(text, word):
		case near(word, text):
			best = 1
		default:
			return 0
		}
	}
	return best
}

func near(word, text string) bool {
	for candidate := range strings.FieldsSeq(text) {
		if candidate[0] == word[0] && inOrder(word, candidate) {
			return true
		}
	}
	return false
}

func inOrder(word, text string) bool {
	for _, r := range word {
		i := strings.IndexRune(text, r)
		if i < 0 {
			return false
		}
		text = text[i+len(string(r)):]
	}
	return true
}
