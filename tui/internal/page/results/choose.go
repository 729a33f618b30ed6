package results

import (
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
)

// choices are whose results can be looked at, in the order in which they are
// offered.
func choices() []struct {
	name, what plain.Safe
	to         any
} {
	return []struct {
		name, what plain.Safe
		to         any
	}{
		{"Single run", "a run that finished or stopped", route.History{Finished: true}},
		{"Group run", "runs started together, side by side", route.Groups{Finished: true}},
		{"Compare runs", "2 to 8 finished runs of the same tasks", route.History{Finished: true, Mark: true}},
	}
}

type choose struct {
	menu   kit.Table
	clicks listing.Opens
}

// Choose is the choice of whose results to look at.
func Choose() (kit.Screen, []kit.Effect) {
	var rows []kit.Row
	var keys []string
	for _, c := range choices() {
		rows, keys = append(rows, kit.Row{c.name, c.what}), append(keys, string(c.name))
	}
	return choose{menu: kit.NewTable(kit.Column{Name: ""}, kit.Column{Name: ""}).With(rows, keys)}, nil
}

// Update opens a row.
func (s choose) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	var opened bool
	s.clicks, opened = s.clicks.Click(m)
	if p, ok := m.(kit.Press); ok && p.Key == kit.Right && !s.menu.Filtering() {
		opened = true
	}
	if i := s.menu.Selected(); (opened || listing.IsEnter(m)) && i >= 0 {
		return s, kit.Do(kit.Go{To: choices()[i].to})
	}
	menu, took := s.menu.Update(m)
	s.menu = menu
	if !took && listing.IsBack(m, s.menu.Filtering()) {
		return s, kit.Do(kit.Back{})
	}
	return s, nil
}

// View draws the rows.
func (s choose) View(c kit.Canvas) { s.menu.View(c) }

// Head names the keys of the page.
func (s choose) Head() kit.Head {
	return kit.Head{Place: "Results", Keys: []kit.Binding{{Keys: "Type", Does: "to filter"}, {Keys: "↑↓", Does: "move"}, {Keys: "Enter", Does: "open"}}}
}
