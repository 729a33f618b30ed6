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
//   - The answer is what stands after the last closing mark, without the white
//     space that it begins with, whatever opened the block: templates of some
//     models open it in the prompt, so that the text holds the closing mark
//     only. lm-eval cuts at its think_end_token in the same way.
//   - A block that is opened at the start of a line and not closed has no
//     answer behind it: the model was cut off while it was thinking. Such an
//     answer is truncated whatever finish reason came with it.
//   - A mark inside a line opens nothing: prose about tags is an answer.
//   - Text without any mark is passed on unchanged, byte for byte.
package reasoning

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// Version is raised when any text could have another answer.
const Version = "1"

// Answer is the part of a text that is graded.
type Answer struct {
	// Text is what stands behind the reasoning, and From where it starts, in
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
func marks() []mark {
	return []mark{
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

// Visible finds the answer of a text. It reads the text a fixed number of
// times, whatever is in it.
func Visible(text string) Answer {
	if !strings.ContainsAny(text, "<[◁") {
		return Answer{Text: text}
	}
	a := Answer{Text: text}
	all := marks()
	for _, m := range all {
		if i := strings.LastIndex(text, m.shut); i >= 0 && i+len(m.shut) > a.From {
			a.From, a.Found = i+len(m.shut), true
		}
	}
	for _, m := range all {
		if opens(text[a.From:], m.open) {
			return Answer{Found: true, Open: true}
		}
	}
	if a.Found {
		a.Text = str.LStrip(text[a.From:])
		a.From = len(text) - len(a.Text)
	}
	return a
}

// opens says whether a line of text starts with a mark.
func opens(text, mark string) bool {
	for {
		i := strings.Index(text, mark)
		if i < 0 {
			return false
		}
		if strings.TrimSpace(text[strings.LastIndexByte(text[:i], '\n')+1:i]) == "" {
			return true
		}
		n := strings.IndexByte(text[i:], '\n')
		if n < 0 {
			return false
		}
		text = text[i+n+1:]
	}
}
