package kit

import "github.com/evalrouter/evalrouter/lib/plain"

// View draws the filter, the names of the columns and the rows around the
// cursor.
func (t Table) View(c Canvas) {
	w, h := c.Size()
	x := c.Text(1, 0, Plain, "Filter: ")
	t.filter.View(c, x, 0, true)
	shown, all := t.Count()
	count := plain.Safe(itoa(shown) + " of " + itoa(all))
	if x+plain.Width(plain.Line(t.filter.Text()))+plain.Width(count)+2 < w {
		c.Text(w-plain.Width(count)-1, 0, Plain, count)
	}
	cols, widths := t.fit(w - 3)
	t.line(c, 1, cols, widths, nil, Strong)
	for y := 0; y < min(t.height, h-headRows) && t.top+y < len(t.shown); y++ {
		at := t.top + y
		role := Plain
		if at == t.cursor {
			role = Focus
			c.Text(1, y+headRows, Focus, "▸")
			if t.filter.Empty() {
				c.Cursor(1, y+headRows)
			}
		}
		t.line(c, y+headRows, cols, widths, t.rows.Row(int(t.shown[at])), role)
	}
}

// Lines are the names of the columns and all rows, as text for a page that
// scrolls.
func (t Table) Lines(w int) []Line {
	c := NewCanvas(w, t.rows.N+1)
	cols, widths := t.fit(w - 3)
	t.line(c, 0, cols, widths, nil, Strong)
	out := []Line{{Text: plain.Safe(c.Row(0)), Role: Strong}} // drawn of safe text
	for i := range t.rows.N {
		t.line(c, i+1, cols, widths, t.rows.Row(i), Plain)
		out = append(out, Line{Text: plain.Safe(c.Row(i + 1))})
	}
	return out
}

func (t Table) line(c Canvas, y int, cols, widths []int, row Row, role Role) {
	x := 3
	for k, i := range cols {
		cell, r := t.Columns[i].Name, role
		if row != nil {
			cell = row[i]
			if t.Columns[i].Role != nil && role == Plain {
				r = t.Columns[i].Role(cell)
			}
		}
		text := plain.Pad(cell, widths[k])
		if n := plain.Width(cell); t.Columns[i].Right && n < widths[k] {
			text = plain.Pad("", widths[k]-n) + cell
		}
		c.Text(x, y, r, text)
		x += widths[k] + 2
	}
}

// fit chooses the columns that have room, with their widths. What is still too
// wide is cut in the widest column that may be cut.
func (t Table) fit(room int) (cols, widths []int) {
	for i := range t.Columns {
		if t.width(i) > 0 { // a column without a name or a cell takes no room
			cols = append(cols, i)
		}
	}
	total := func(width func(int) int) (sum int) {
		for _, i := range cols {
			sum += width(i) + 2
		}
		return sum - 2
	}
	least := func(i int) int {
		if n := t.Columns[i].Least; n > 0 {
			return min(n, t.width(i))
		}
		return t.width(i)
	}
	for total(least) > room {
		worst := -1
		for k, i := range cols {
			if d := t.Columns[i].Drop; d > 0 && (worst < 0 || d > t.Columns[cols[worst]].Drop) {
				worst = k
			}
		}
		if worst < 0 {
			break
		}
		cols = append(cols[:worst], cols[worst+1:]...)
	}
	for _, i := range cols {
		widths = append(widths, t.width(i))
	}
	for over := total(t.width) - room; over > 0; over-- {
		widest := -1
		for k, i := range cols {
			if !t.Columns[i].Whole && widths[k] > 1 && (widest < 0 || widths[k] > widths[widest]) {
				widest = k
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return cols, widths
}

func (t Table) width(i int) int {
	if i < len(t.widths) {
		return t.widths[i]
	}
	return plain.Width(t.Columns[i].Name)
}
