package kit

import "strings"

// maxSecret is more than any credential has.
const maxSecret = 4096

// Secret is one line of typed text that nobody may read from the screen. What is
// drawn is made from its length alone, in cells that the mouse does not select,
// and there is no caret to move: it is typed, or done again.
type Secret struct{ text []rune }

// Reveal is what was typed.
func (s Secret) Reveal() string { return string(s.text) }

// Empty says that nothing was typed.
func (s Secret) Empty() bool { return len(s.text) == 0 }

// String shows nothing, wherever a secret is printed with what surrounds it.
func (Secret) String() string { return "(hidden)" }

// GoString shows nothing either.
func (Secret) GoString() string { return "kit.Secret{(hidden)}" }

// Update takes characters and pastes, Backspace, and Ctrl+U for all of it.
func (s Secret) Update(m Msg) (Secret, bool) {
	switch m := m.(type) {
	case Paste:
		return s.insert(strings.TrimSpace(m.Text)), true
	case Press:
		switch m.Key {
		case Char:
			return s.insert(string(m.Rune)), true
		case Backspace:
			return Secret{s.text[:max(len(s.text)-1, 0)]}, true
		case CtrlU:
			return Secret{}, true
		}
	}
	return s, false
}

func (s Secret) insert(text string) Secret {
	add := []rune(text)
	add = add[:min(len(add), maxSecret-len(s.text))]
	return Secret{append(s.text[:len(s.text):len(s.text)], add...)}
}

// View draws a sign for each character, as many as fit.
func (s Secret) View(c Canvas, x, y int) {
	w, _ := c.Size()
	n := max(min(len(s.text), w-x-1), 0)
	for i := range n {
		c.Text(x+i, y, Hidden, "*")
	}
	c.Cursor(x+n, y)
}
