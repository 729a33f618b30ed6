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

// near looks at bytes: letters beyond ASCII are found in order as their bytes.
func near(word, text string) bool {
	for start := 0; start < len(text); {
		end := strings.IndexByte(text[start:], ' ')
		if end < 0 {
			end = len(text) - start
		}
		if end > 0 && text[start] == word[0] && inOrder(word, text[start:start+end]) {
			return true
		}
		start += end + 1
	}
	return false
}

func inOrder(word, text string) bool {
	for i := 0; i < len(word); i++ {
		at := strings.IndexByte(text, word[i])
		if at < 0 {
			return false
		}
		text = text[at+1:]
	}
	return true
}
