package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// windowRows is how many items of a checklist stand on the screen at once.
const windowRows = 12

// Checklist lets a person select from least to most of the items and answers
// their places in the order of the list. Space and Enter select the item under
// the cursor, or take it back; Tab continues, from any row, once enough are
// selected. It needs a terminal that is not simple.
func (t *Term) Checklist(ctx context.Context, title string, items []string, least, most int) ([]int, error) {
	if t.Simple() || len(items) == 0 {
		return nil, errors.ErrUnsupported
	}
	restore, err := t.Raw()
	if err != nil {
		return nil, err
	}
	l := &checklist{t: t, title: title, items: items, least: least, most: most, on: make([]bool, len(items))}
	chosen, err := answer(ctx, t, l.run)
	return chosen, errors.Join(err, restore())
}

type checklist struct {
	t           *Term
	title       string
	items       []string
	on          []bool
	at, top     int
	least, most int
	rows        int // lines that were drawn
	note        string
}

func (l *checklist) run() ([]int, error) {
	for {
		if err := l.draw(); err != nil {
			return nil, err
		}
		k, err := readKey(l.t.In)
		if err != nil {
			return nil, err
		}
		l.note = ""
		switch k {
		case keyUp:
			l.at = max(0, l.at-1)
		case keyDown:
			l.at = min(len(l.items)-1, l.at+1)
		case keySpace, keyEnter:
			l.toggle()
		case keyToggle: // Tab
			if got := l.chosen(); len(got) >= l.least {
				return got, nil
			}
			l.note = fmt.Sprintf("select at least %d first", l.least)
		case keyLeave:
			return nil, ErrDeclined
		case keyOther, keyLeft:
		}
	}
}

// toggle changes the item under the cursor. Where one is the most, it takes the
// place of the one before.
func (l *checklist) toggle() {
	switch {
	case l.on[l.at]:
		l.on[l.at] = false
	case len(l.chosen()) < l.most:
		l.on[l.at] = true
	case l.most == 1:
		clear(l.on)
		l.on[l.at] = true
	default:
		l.note = fmt.Sprintf("at most %d", l.most)
	}
}

func (l *checklist) chosen() (out []int) {
	for i, on := range l.on {
		if on {
			out = append(out, i)
		}
	}
	return out
}

// draw writes the list over what it wrote before.
func (l *checklist) draw() error {
	l.top = min(max(l.top, l.at-windowRows+1), l.at)
	lines := []string{l.title}
	for i := l.top; i < min(l.top+windowRows, len(l.items)); i++ {
		cursor, box := "    ", "[ ] "
		if i == l.at {
			cursor = "  > "
		}
		if l.on[i] {
			box = "[x] "
		}
		lines = append(lines, cursor+box+l.items[i])
	}
	if more := len(l.items) - windowRows; more > 0 {
		lines = append(lines, fmt.Sprintf("    %d to %d of %d", l.top+1, l.top+windowRows, len(l.items)))
	}
	foot := "  Space or Enter selects, Tab continues, Escape leaves"
	if l.note != "" {
		foot = "  " + l.note + " (Space or Enter selects)"
	}
	lines = append(lines, foot)
	var b strings.Builder
	if l.rows > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", l.rows)
	}
	width := 79
	if l.t.Columns != nil {
		width = max(1, l.t.Columns()-1)
	}
	for _, line := range lines {
		b.WriteString("\r" + string(plain.Cut(plain.Line(line), width)) + "\x1b[K\r\n")
	}
	l.rows = len(lines)
	_, err := io.WriteString(l.t.Err, b.String())
	return err
}
