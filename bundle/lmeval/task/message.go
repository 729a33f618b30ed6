package task

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// Message is one turn. Delimiter follows Content in plain text and is no part
// of a chat.
type Message struct {
	Role      string // system, user or assistant
	Content   string
	Delimiter string
}

// Text writes messages as plain text.
func Text(messages []Message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(m.Content)
		b.WriteString(m.Delimiter)
	}
	return b.String()
}

// SingleTurn puts everything between a system message at the start and an
// assistant message at the end into one user message. There must be one.
func SingleTurn(messages []Message) []Message {
	var out, tail []Message
	if messages[0].Role == "system" {
		out, messages = []Message{{Role: "system", Content: messages[0].Content}}, messages[1:]
	}
	if n := len(messages) - 1; n >= 0 && messages[n].Role == "assistant" {
		tail, messages = []Message{{Role: "assistant", Content: messages[n].Content}}, messages[:n]
	}
	text := ""
	if n := len(messages); n > 0 {
		text = Text(messages[:n-1]) + messages[n-1].Content
	}
	return append(append(out, Message{Role: "user", Content: text}), tail...)
}

// Join puts delimiter between two texts unless one is empty or there is white
// space at the joint.
func Join(prefix, suffix, delimiter string) string {
	if prefix == "" || suffix == "" || !bare(prefix, suffix) {
		return prefix + suffix
	}
	return prefix + delimiter + suffix
}

// NeedsDelimiter reports whether two texts would touch without white space. An
// empty suffix behind a text that ends in none raises IndexError.
func NeedsDelimiter(prefix, suffix string) (bool, error) {
	if prefix == "" {
		return false, nil
	}
	if last, _ := str.DecodeLastRune(prefix); str.Of(last).Space() {
		return false, nil
	}
	if suffix == "" {
		return false, pycompat.Raise("IndexError", "an empty text has no first character")
	}
	return bare(prefix, suffix), nil
}

func bare(prefix, suffix string) bool {
	last, _ := str.DecodeLastRune(prefix)
	first, _ := str.DecodeRune(suffix)
	return !str.Of(last).Space() && !str.Of(first).Space()
}
