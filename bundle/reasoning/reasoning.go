// Package reasoning tells what a model thought aloud from what it answered.
//
// Some servers send a model's reasoning as part of the text, between marks
// that differ from model to model. A grader must see the answer alone:
// reasoning is full of numbers and letters that were tried and dropped, and
// recites the examples of the prompt. Every grader gets its answers through
// Visible, so no family can differ in this.
//
// Decisions:
//
//   - The answer is what stands after the last block, without the white space
//     that it begins with. Where nothing stands there, it is the last text
//     before: a model may explain itself behind its answer.
//   - A closing mark that nothing opened ends a block as well: templates of some
//     models open it in the prompt. lm-eval cuts at its think_end_token in the
//     same way. All text before such a mark is reasoning, also where nothing
//     stands behind it: what was tried and dropped must never be graded.
//   - A block that is opened at the start of a line and not closed has no
//     answer behind it: the model was cut off while it was thinking. Such an
//     answer is truncated whatever finish reason came with it.
//   - A mark inside a line opens a block only if one closes it: prose about tags
//     is an answer.
//   - A mark that an answer shows is none: in a fence of code, in a JSON value,
//     or alone between quotation marks or backticks.
//   - Text without any mark is passed on unchanged, byte for byte.
package reasoning

import "strings"

// Version is raised when any text could have another answer.
const Version = "2"

// Answer is the part of a text that is graded.
type Answer struct {
	// Text is the answer beside the reasoning, and From where it starts, in
	// bytes. Both are zero when the reasoning was never closed.
	Text string
	From int
	// Found says that the text holds reasoning.
	Found bool
	// Open says that reasoning was opened and not closed.
	Open bool
}

// mark is how one family of models writes its reasoning.
type mark struct{ open, shut string }

// marks lists the shapes: the tags of DeepSeek, Qwen and those after them with
// their variants, and those of Mistral, Kimi, Seed, Cohere, Gemma and gpt-oss.
// The last two name channels; there the answer begins with its own.
func marks() [11]mark {
	return [...]mark{
		{"<think>", "</think>"},
		{"<thinking>", "</thinking>"},
		{"<thought>", "</thought>"},
		{"<reasoning>", "</reasoning>"},
		{"<seed:think>", "</seed:think>"},
		{"[THINK]", "[/THINK]"},
		{"◁think▷", "◁/think▷"},
		{"<|begin_of_thought|>", "<|end_of_thought|>"},
		{"<|START_THINKING|>", "<|END_THINKING|>"},
		{"<|channel>thought", "<channel|>"},
		{"<|channel|>analysis<|message|>", "<|channel|>final<|message|>"},
	}
}

// Visible finds the answer of a text. It reads the text a bounded number of
// times, whatever is in it, and copies nothing.
func Visible(text string) Answer {
	for i := range len(text) {
		if !firsts[text[i]] {
			continue
		}
		if kind, _ := markAt(text[i:]); kind != noMark {
			return split(text)
		}
	}
	return Answer{Text: text}
}

// firsts are the bytes that a mark begins with, seconds those that follow a <
// there. They settle nearly everything that is not a mark.
var (
	firsts  = [256]bool{'<': true, '[': true, 0xe2: true}
	seconds = [256]bool{'t': true, '/': true, 's': true, 'r': true, 'T': true, '|': true, 'c': true}
)

type markKind int

const (
	noMark markKind = iota
	opens
	shuts
)

// markAt is the mark that text begins with, and its length.
func markAt(text string) (markKind, int) {
	if len(text) < 2 || text[0] == '<' && !seconds[text[1]] {
		return noMark, 0
	}
	return search(text)
}

func search(text string) (markKind, int) {
	for _, m := range marks() {
		switch {
		case strings.HasPrefix(text, m.open):
			return opens, len(m.open)
		case strings.HasPrefix(text, m.shut):
			return shuts, len(m.shut)
		}
	}
	return noMark, 0
}
