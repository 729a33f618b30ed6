package kit

import "strings"

// selection is the cells that the mouse selected, row by row.
type selection struct {
	on             bool
	moved          bool
	x0, y0, x1, y1 int
}

func (p selection) to(x, y int) selection {
	if p.on {
		p.x1, p.y1, p.moved = x, y, true
	}
	return p
}

// each gives every selected stretch of a frame.
func (p selection) each(c Canvas, do func(x, y, w int)) {
	if !p.on || !p.moved || c.g == nil {
		return
	}
	w, h := c.Size()
	x0, y0, x1, y1 := p.x0, p.y0, p.x1, p.y1
	if y1 < y0 || y1 == y0 && x1 < x0 {
		x0, y0, x1, y1 = x1, y1, x0, y0
	}
	for y := max(y0, 0); y <= min(y1, h-1); y++ {
		from, to := 0, w
		if y == y0 {
			from = max(x0, 0)
		}
		if y == y1 {
			to = min(x1+1, w)
		}
		if from < to {
			do(from, y, to-from)
		}
	}
}

func (p selection) text(c Canvas) string {
	var rows []string
	p.each(c, func(x, y, w int) { rows = append(rows, strings.TrimRight(c.open(x, y, w), " ")) })
	return strings.Trim(strings.Join(rows, "\n"), "\n")
}

func (p selection) draw(c Canvas) {
	p.each(c, func(x, y, w int) {
		for i := x; i < x+w; i++ {
			if !c.hidden(i, y) {
				c.Mark(i, y, 1, Focus)
			}
		}
	})
}

func (c Canvas) hidden(x, y int) bool { return c.g.cells[(c.y+y)*c.g.w+c.x+x].Role == Hidden }

// open is Part without what stands for something typed in secret.
func (c Canvas) open(x, y, w int) string {
	var b strings.Builder
	for i := x; i < x+w; i++ {
		if !c.hidden(i, y) {
			b.WriteString(c.Part(i, y, 1))
		}
	}
	return b.String()
}
