// Package choice is Inspect's multiple choice: the letters of options, the
// prompt, shuffling, the reading of a reply and the score.
//
// The prompt templates are those of the reference, word for word, because a
// model's answers depend on every word (MIT, see the module's NOTICE).
package choice

import (
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/inspect/internal/brace"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/random"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// The templates of the reference. Fields are question, choices and letters.
const (
	SingleAnswer = single + body
	SingleCOT    = "Answer the following multiple choice question. " + lastLine + "'ANSWER: $LETTER' (without quotes) where LETTER is one of {letters}. " + steps + body

	MultipleAnswer = many + "The entire content of your response should be of the following format: " + letters + body
	MultipleCOT    = many + lastLine + letters + " " + steps + body
)

const (
	single   = "Answer the following multiple choice question. The entire content of your response should be of the following format: 'ANSWER: $LETTER' (without quotes) where LETTER is one of {letters}."
	many     = "Answer the following multiple choice question where multiple answers may be correct. "
	lastLine = "The last line of your response should be of the following format: "
	letters  = "'ANSWER: $LETTERS' (without quotes) where LETTERS is one or more of {letters}."
	steps    = "Think step by step before answering."
	body     = "\n\n{question}\n\n{choices}"
)

// Letter is the label of option i, counted from 0: A to Z, then 1, 2 and on.
func Letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return strconv.Itoa(i - 25)
}

// Index is the inverse of Letter for one character. Any letter and any digit
// has an index; what is neither raises ValueError.
func Index(char string) (int, error) {
	switch {
	case str.IsAlpha(char):
		upper := str.Runes(str.Upper(char))
		if len(upper) != 1 {
			return 0, pycompat.Raise("TypeError", "want one character, got %s", str.Repr(char))
		}
		return int(upper[0]) - 'A', nil
	case str.IsNumeric(char):
		n, err := number.ParseInt(char)
		if err == nil && n.IsInt64() && n.Int64() < 1<<31 {
			return int(n.Int64()) + 25, nil
		}
	}
	return 0, pycompat.Raise("ValueError", "no option is labelled %s", str.Repr(char))
}

// Options is the options of a question in the order shown.
type Options struct {
	Texts []string
	// Original is the position of each option before shuffling.
	Original []int
}

// NewOptions takes options in their own order.
func NewOptions(texts []string) Options {
	o := Options{Texts: texts, Original: make([]int, len(texts))}
	for i := range texts {
		o.Original[i] = i
	}
	return o
}

// Shuffle returns the options in an order drawn from r.
func (o Options) Shuffle(r *random.Random) Options {
	order := make([]int, len(o.Texts))
	for i := range order {
		order[i] = i
	}
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	s := Options{Texts: make([]string, len(order)), Original: make([]int, len(order))}
	for to, from := range order {
		s.Texts[to], s.Original[to] = o.Texts[from], o.Original[from]
	}
	return s
}

func (o Options) shuffled() bool {
	for i, from := range o.Original {
		if i != from {
			return true
		}
	}
	return false
}

// List is the options with their letters, one a line.
func (o Options) List() string {
	var b strings.Builder
	for i, text := range o.Texts {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(Letter(i))
		b.WriteString(") ")
		b.WriteString(text)
	}
	return b.String()
}

// Prompt fills a template. Braces in the question and the options are safe;
// braces in a template of one's own mean a field.
func (o Options) Prompt(question, template string) (string, error) {
	labels := make([]string, len(o.Texts))
	for i := range labels {
		labels[i] = Letter(i)
	}
	return brace.Format(template, func(name string) (string, bool) {
		switch name {
		case "question":
			return question, true
		case "choices":
			return o.List(), true
		case "letters":
			return strings.Join(labels, ","), true
		}
		return "", false
	})
}
