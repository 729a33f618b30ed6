package practice

import (
	"regexp"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
)

// opening finds the mark that a judge's prompt announces in its first line.
// What comes later in the prompt may be anybody's.
var opening = regexp.MustCompile(`^[^\n]* with the mark ([0-9A-Za-z]{8,64})\.`)

// opinion is the practice judge's reply to a prompt.
func opinion(messages []bundle.Message) string {
	prompt := lastUser(messages)
	criterion, answer, ok := material(prompt)
	if !ok {
		return "This is not a prompt that the practice judge can read."
	}
	for _, accepted := range strings.Split(criterion, "\nor\n") {
		if holds(answer, accepted) {
			return "The answer holds the text of the criterion.\n\nGRADE: C"
		}
	}
	return "The answer does not hold the text of the criterion.\n\nGRADE: I"
}

// material takes criterion and answer out of a prompt. Parts are told by the
// mark alone: the answer is the last of three, whatever it claims to be.
func material(prompt string) (criterion, answer string, ok bool) {
	m := opening.FindStringSubmatch(prompt)
	if m == nil {
		return "", "", false
	}
	var parts []string
	for rest := prompt; ; {
		_, after, found := strings.Cut(rest, "\n<<"+m[1]+"\n")
		if !found {
			break
		}
		part, tail, closed := strings.Cut(after, "\n"+m[1]+">>\n")
		if !closed {
			return "", "", false
		}
		parts, rest = append(parts, part), tail
	}
	if len(parts) != 3 {
		return "", "", false
	}
	return parts[1], parts[2], true
}

// holds says whether an answer contains a text as whole words, in any case.
func holds(answer, text string) bool {
	text = words(text)
	return strings.TrimSpace(text) != "" && strings.Contains(words(answer), text)
}

// words is a text with one space between and around its words.
func words(s string) string {
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return strings.ContainsRune(" \t\r\n.,;:!?\"'()[]{}*_`$", r)
	}), " ") + " "
}
