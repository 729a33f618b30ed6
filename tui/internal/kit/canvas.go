package kit

import (
	"strings"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// Role is what a piece of text means. A Theme turns it into looks; no meaning
// is in a look alone, the words say it too.
type Role uint8

// Roles.
const (
	Plain  Role = iota
	Strong      // a heading or the thing to read first
	Focus       // where the keyboard is
	Good        // right, done, better
	Bad         // wrong, failed
	Warn        // cut off, refused, partial
	Active      // running
	Armed       // one key from spending
	Hidden      // stands for what was typed in secret; it cannot be selected
)

// Cell is one column of one row. The second column of a wide character has no
// text.
type Cell struct {
	Text string
	Role Role
}

// empty is a cell that nobody drew into.
var empty = Cell{Text: " "}

type grid struct {
	w, h   int
	cells  []Cell
	cx, cy int
}

// Canvas is a rectangle to draw into. What does not fit is left out.
type Canvas struct {
	g          *grid
	x, y, w, h int
}

// NewCanvas is an empty frame.
func NewCanvas(w, h int) Canvas { return Canvas{}.again(w, h) }

// again is an empty frame in the memory of one that nobody looks at any more.
func (c Canvas) again(w, h int) Canvas {
	g := c.g
	if g == nil || len(g.cells) != w*h {
		g = &grid{cells: make([]Cell, w*h)}
	}
	g.w, g.h, g.cx, g.cy = w, h, -1, -1
	for i := range g.cells {
		g.cells[i] = empty
	}
	return Canvas{g: g, w: w, h: h}
}

// Size is the number of columns and rows.
func (c Canvas) Size() (w, h int) { return c.w, c.h }

// Sub is a part of c, cut to what c has.
func (c Canvas) Sub(x, y, w, h int) Canvas {
	x, y = max(x, 0), max(y, 0)
	return Canvas{g: c.g, x: c.x + x, y: c.y + y, w: max(min(w, c.w-x), 0), h: max(min(h, c.h-y), 0)}
}

// Text writes one line and returns the column after it. Line breaks and tabs
// of a block are shown as spaces.
func (c Canvas) Text(x, y int, r Role, s plain.Safe) int {
	if y < 0 || y >= c.h {
		return x
	}
	last := -1
	for i := 0; i < len(s); {
		ch, size := utf8.DecodeRuneInString(string(s[i:]))
		text := string(s[i : i+size]) // of the memory that s has
		i += size
		n := 1
		switch {
		case ch == '\n' || ch == '\t':
			text = " "
		case ch == utf8.RuneError:
			text = string(ch)
		case ch >= 0x300:
			n = plain.Width(plain.Safe(text))
		}
		if n == 0 {
			if last >= 0 {
				c.g.cells[last].Text += text
			}
			continue
		}
		if x+n > c.w {
			break
		}
		if x >= 0 {
			last = c.set(x, y, text, n, r)
		}
		x += n
	}
	return x
}

func (c Canvas) set(x, y int, text string, n int, r Role) int {
	at := (c.y+y)*c.g.w + c.x + x
	row := c.g.cells[(c.y+y)*c.g.w : (c.y+y+1)*c.g.w]
	i := c.x + x
	if row[i].Text == "" && i > 0 { // half of a wide character is no character
		row[i-1].Text = " "
	}
	if i+n < len(row) && row[i+n].Text == "" {
		row[i+n].Text = " "
	}
	row[i] = Cell{Text: text, Role: r}
	if n == 2 {
		row[i+1] = Cell{Role: r}
	}
	return at
}

// Mark gives a stretch of a row another role.
func (c Canvas) Mark(x, y, w int, r Role) {
	if y < 0 || y >= c.h {
		return
	}
	for i := max(x, 0); i < min(x+w, c.w); i++ {
		c.g.cells[(c.y+y)*c.g.w+c.x+i].Role = r
	}
}

// Cursor puts the terminal's own cursor on a cell, where screen readers and
// magnifiers look.
func (c Canvas) Cursor(x, y int) {
	if x >= 0 && y >= 0 && x < c.w && y < c.h {
		c.g.cx, c.g.cy = c.x+x, c.y+y
	}
}

// Row is the text of a row without trailing spaces.
func (c Canvas) Row(y int) string { return strings.TrimRight(c.Part(0, y, c.w), " ") }

// Part is the text of a stretch of a row.
func (c Canvas) Part(x, y, w int) string {
	var b strings.Builder
	for i := max(x, 0); i < min(x+w, c.w); i++ {
		b.WriteString(c.g.cells[(c.y+y)*c.g.w+c.x+i].Text)
	}
	return b.String()
}
