package kit

import (
	"strings"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// View draws the whole frame: row 1 the place, row 2 a rule, the body, a rule
// with the one message, the keys of this screen, the keys that work
// everywhere. There are no vertical borders, so that selecting text with the
// terminal's own means gives clean lines.
func (s *Stack) View() Canvas {
	c := s.spare.again(s.w, s.h)
	s.spare = Canvas{}
	if s.small() {
		s.enlarge(c)
		s.frame = c
		return c
	}
	if len(s.entries) == 0 {
		return c
	}
	top := s.entries[len(s.entries)-1].screen
	head := top.Head()
	x := c.Text(1, 0, Strong, "EvalRouter")
	c.Text(x+2, 0, Plain, plain.Cut(head.Place, s.w-x-3))
	if n := plain.Width(s.Banner); n > 0 && x+plain.Width(head.Place)+n+5 < s.w {
		c.Text(s.w-n-1, 0, Plain, s.Banner)
	}
	rule(c, 1, "")
	size := s.bodySize()
	body := c.Sub(0, aboveBody, size.W, size.H)
	keys := head.Keys
	if s.help {
		s.scroll.View(body, s.helpLines(size.W))
		c.Cursor(0, aboveBody)
		keys = []Binding{{Keys: "↑↓ PgUp PgDn", Does: "scroll"}, {Keys: "Esc", Does: "close help"}}
	} else {
		top.View(body)
	}
	note := head.Note
	if s.note != "" {
		note = s.note
	}
	rule(c, s.h-3, note)
	hints(c, s.h-2, keys)
	hints(c, s.h-1, everywhere(head.Root))
	s.pick.draw(c)
	s.frame = c
	return c
}

func rule(c Canvas, y int, note plain.Safe) {
	w, _ := c.Size()
	c.Text(0, y, Plain, plain.Safe(strings.Repeat("─", w))) // drawn here, of our own sign
	if note != "" {
		x := c.Text(2, y, Plain, " ")
		x = c.Text(x, y, Strong, plain.Cut(note, w-x-3))
		c.Text(x, y, Plain, " ")
	}
}

func hints(c Canvas, y int, keys []Binding) {
	w, _ := c.Size()
	x := 1
	for _, k := range keys {
		if k.Quiet {
			continue
		}
		if x+plain.Width(k.Keys)+1+plain.Width(k.Does) > w-1 {
			return // F1 has all of them
		}
		x = c.Text(x, y, Strong, k.Keys)
		x = c.Text(x+1, y, Plain, k.Does) + 3
	}
}

func everywhere(root bool) []Binding {
	all := []Binding{{Keys: "Esc/←", Does: "back"}}
	if root {
		all = nil
	}
	return append(all, []Binding{
		{Keys: "F1", Does: "help"}, {Keys: "Ctrl+Q", Does: "exit"},
		{Keys: "Ctrl+C", Does: "copies what the mouse selected; goes back when nothing is", Quiet: true},
		{Keys: "Ctrl+Z", Does: "suspends the workspace; fg brings it back", Quiet: true},
		{Keys: "Ctrl+L", Does: "draws the screen again", Quiet: true},
	}...)
}

// enlarge is the page of a terminal that is too small.
func (s *Stack) enlarge(c Canvas) {
	texts := []plain.Safe{
		"This terminal has " + plain.Safe(itoa(s.w)) + "×" + plain.Safe(itoa(s.h)) + ".",
		"EvalRouter needs 60×16.",
		"Please enlarge it.",
		"Nothing is lost; runs go on.",
		"Ctrl+Q exit",
	}
	for y, t := range texts {
		c.Text(1, y, Plain, t)
	}
	c.Cursor(0, 0)
}

// helpLines are the keys of the screen on top and those that work everywhere,
// from the same bindings as the hint rows.
func (s *Stack) helpLines(w int) []Line {
	if len(s.entries) == 0 {
		return nil
	}
	head := s.entries[len(s.entries)-1].screen.Head()
	lines := []Line{{Text: "Keys here: " + head.Place, Role: Strong}}
	lines = append(lines, keyLines(head.Keys, w)...)
	lines = append(lines, Line{}, Line{Text: "Keys everywhere", Role: Strong})
	lines = append(lines, keyLines(everywhere(head.Root), w)...)
	return append(lines, Line{}, Line{Text: " Leaving a screen or the workspace stops no run."})
}

func keyLines(keys []Binding, w int) (out []Line) {
	const column = 18
	for _, k := range keys {
		for i, part := range Wrap(k.Does, w-column-3) {
			left := plain.Safe("")
			if i == 0 {
				left = k.Keys
			}
			out = append(out, Line{Text: "  " + plain.Pad(left, column) + " " + part})
		}
	}
	return out
}
