package kit

import "github.com/evalrouter/evalrouter/lib/plain"

// Action is something that can be chosen on a page.
type Action struct {
	Label plain.Safe
	// Key chooses it at once; 0 is none.
	Key rune
}

// Actions is a row of actions with one highlighted.
type Actions struct {
	items []Action
	at    int
}

// With offers other actions. The highlight stays on an action that stays.
func (a Actions) With(items ...Action) Actions {
	var on plain.Safe
	if a.at < len(a.items) {
		on = a.items[a.at].Label
	}
	a.items, a.at = items, 0
	for i, it := range items {
		if it.Label == on {
			a.at = i
		}
	}
	return a
}

// Update moves the highlight, or says which action was chosen: its label, ""
// for none. row is where the actions are drawn, for the mouse.
func (a Actions) Update(m Msg, row int) (Actions, plain.Safe) {
	switch m := m.(type) {
	case Mouse:
		if m.Kind != Click || m.Y != row {
			return a, ""
		}
		x := 1
		for i, it := range a.items {
			end := x + 2 + it.width()
			if m.X >= x && m.X < end {
				a.at = i
				return a, it.Label
			}
			x = end + 2
		}
	case Press:
		for i, it := range a.items {
			if it.Key != 0 && m.Is(it.Key) {
				a.at = i
				return a, it.Label
			}
		}
		n := len(a.items)
		switch {
		case n == 0:
		case m.Key == Enter:
			return a, a.items[a.at].Label
		case m.Key == Tab || m.Key == Right:
			a.at = (a.at + 1) % n
		case m.Key == BackTab:
			a.at = (a.at + n - 1) % n
		}
	}
	return a, ""
}

func (it Action) width() int {
	if it.Key == 0 {
		return plain.Width(it.Label)
	}
	return plain.Width(it.Label) + 3
}

// View draws the row with its highlight.
func (a Actions) View(c Canvas, row int) { a.draw(c, row, a.at) }

// Resting draws the row while the keyboard is elsewhere on the page.
func (a Actions) Resting(c Canvas, row int) { a.draw(c, row, -1) }

func (a Actions) draw(c Canvas, row, at int) {
	x := 1
	for i, it := range a.items {
		role, mark := Plain, plain.Safe("  ")
		if i == at {
			role, mark = Focus, "▸ "
			c.Cursor(x, row)
		}
		end := c.Text(x, row, role, mark+it.Label)
		if it.Key != 0 {
			end = c.Text(end, row, role, "  "+plain.Line(string(it.Key+'A'-'a')))
		}
		x = end + 2
	}
}
