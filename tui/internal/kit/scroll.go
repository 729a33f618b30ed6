package kit

import "github.com/evalrouter/evalrouter/lib/plain"

// Line is a line with its role.
type Line struct {
	Text plain.Safe
	Role Role
}

// Lines makes plain lines.
func Lines(texts ...plain.Safe) []Line {
	out := make([]Line, 0, len(texts))
	for _, t := range texts {
		out = append(out, Line{Text: t})
	}
	return out
}

// Scroll is how far a page was scrolled.
type Scroll struct{ top int }

// Update scrolls a page of height rows that shows rows of them. It says
// whether the message was about scrolling.
func (s Scroll) Update(m Msg, height, rows int) (Scroll, bool) {
	by := 0
	switch m := m.(type) {
	case Mouse:
		switch m.Kind {
		case WheelUp:
			by = -3
		case WheelDown:
			by = 3
		default:
			return s, false
		}
	case Press:
		switch m.Key {
		case Up:
			by = -1
		case Down:
			by = 1
		case PgUp:
			by = -max(rows-1, 1)
		case PgDn:
			by = max(rows-1, 1)
		case Home:
			by = -height
		case End:
			by = height
		default:
			return s, false
		}
	default:
		return s, false
	}
	s.top = max(min(s.top+by, height-rows), 0)
	return s, true
}

// View draws lines from where the page was scrolled to, and says on its last
// row how much is below.
func (s Scroll) View(c Canvas, lines []Line) {
	s.ViewOf(c, len(lines), func(i int) Line { return lines[i] })
}

// ViewOf is View of n lines that are made when they are shown.
func (s Scroll) ViewOf(c Canvas, n int, line func(i int) Line) {
	w, h := c.Size()
	top := max(min(s.top, n-h), 0)
	for y := 0; y < h && top+y < n; y++ {
		l := line(top + y)
		c.Text(0, y, l.Role, plain.Cut(l.Text, w))
	}
	if below := n - top - h; below > 0 && h > 1 {
		c.Sub(0, h-1, w, 1).Clear()
		c.Text(1, h-1, Strong, plain.Line("PgDn: "+itoa(below+1)+" more lines"))
	}
}

// Clear empties a canvas.
func (c Canvas) Clear() {
	for y := range c.h {
		for x := range c.w {
			c.set(x, y, " ", 1, Plain)
		}
	}
}
