package kit

import (
	"slices"
	"strings"
	"unicode"

	"github.com/evalrouter/evalrouter/lib/plain"
)

const maxInput = 200

// Input is one line of typed text with its caret.
type Input struct {
	text  []rune
	caret int
}

// NewInput holds a text, with the caret behind it.
func NewInput(s string) Input {
	r := []rune(s)
	return Input{text: r, caret: len(r)}
}

// Text is what was typed.
func (in Input) Text() string { return string(in.text) }

// Empty says that there is no text.
func (in Input) Empty() bool { return len(in.text) == 0 }

// Update edits. It says whether the message was about the text.
func (in Input) Update(m Msg) (Input, bool) {
	switch m := m.(type) {
	case Paste:
		return in.insert(strings.Join(strings.Fields(m.Text), " ")), true
	case Press:
		return in.press(m)
	}
	return in, false
}

func (in Input) press(p Press) (Input, bool) {
	switch p.Key {
	case Char:
		return in.insert(string(p.Rune)), true
	case Backspace:
		if in.caret == 0 {
			return in, true
		}
		in.text = slices.Delete(slices.Clone(in.text), in.caret-1, in.caret)
		in.caret--
	case Delete:
		if in.caret < len(in.text) {
			in.text = slices.Delete(slices.Clone(in.text), in.caret, in.caret+1)
		}
	case CtrlU:
		return Input{}, true
	case Left:
		in.caret = max(in.caret-1, 0)
	case Right:
		in.caret = min(in.caret+1, len(in.text))
	case Home:
		in.caret = 0
	case End:
		in.caret = len(in.text)
	default:
		return in, false
	}
	return in, true
}

func (in Input) insert(s string) Input {
	var add []rune
	for _, r := range s {
		if unicode.IsPrint(r) && !plain.Hidden(r) {
			add = append(add, r)
		}
	}
	add = add[:min(len(add), maxInput-len(in.text))]
	in.text = slices.Insert(slices.Clone(in.text), in.caret, add...)
	in.caret += len(add)
	return in
}

// View draws the text, and the caret where it has the focus.
func (in Input) View(c Canvas, x, y int, focus bool) {
	role := Plain
	if focus {
		role = Strong
	}
	c.Text(x, y, role, plain.Line(string(in.text)))
	if focus {
		c.Cursor(x+plain.Width(plain.Line(string(in.text[:in.caret]))), y)
	}
}
