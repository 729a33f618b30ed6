package home

import (
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

const (
	wide = 120 // from here on the panel stands at the right
	left = 72
	// panelLeast is how many rows the panel keeps while the menu has menuLeast.
	panelLeast, menuLeast = 4, 7
)

// View draws the menu, and what is going on below it or at its right.
func (s home) View(c kit.Canvas) {
	w, h := c.Size()
	below := s.rows() + 1
	if w >= wide {
		s.menu.View(c.Sub(0, 0, left, h))
		for y := range h {
			c.Text(left, y, kit.Plain, "│")
		}
		kit.Scroll{}.View(c.Sub(left+2, 0, w-left-2, h), s.panel(w-left-2))
		return
	}
	s.menu.View(c.Sub(0, 0, w, below-1))
	panel := c.Sub(0, below, w, h-below)
	_, rows := panel.Size()
	lines := s.panel(w)
	kit.Scroll{}.View(panel, lines[:min(len(lines), rows)])
}

// panel is what is going on, what ended last, and the money.
func (s home) panel(w int) []kit.Line {
	out := s.problem()
	if len(out) > 0 {
		out = append(out, kit.Line{})
	}
	if s.runs.done && s.runs.err == nil {
		out = append(out, runLines(w, "Going on", going(s.runs.v), 4)...)
		out = append(out, runLines(w, "Ended last", ended(s.runs.v), 4)...)
		if len(s.runs.v) == 0 {
			out = append(out, kit.Line{Text: " No runs yet. Run a benchmark starts the first one."}, kit.Line{})
		}
	}
	if s.credits.done && s.credits.err == nil {
		for _, part := range kit.Wrap(plain.Line(money(s.credits.v)), w-2) {
			out = append(out, kit.Line{Text: " " + part})
		}
	}
	return out
}

// problem names the first thing that could not be read. What was not read is
// never shown as nothing.
func (s home) problem() []kit.Line {
	err := errors.Join(s.runs.err, s.groups.err, s.benchmarks.err, s.models.err, s.credits.err)
	if err == nil {
		return nil
	}
	for _, e := range []error{s.runs.err, s.groups.err, s.benchmarks.err, s.models.err, s.credits.err} {
		if e != nil {
			return show.Problem(" Not everything could be read. F5 tries again.", e, false)
		}
	}
	return nil
}

func ended(runs []api.RunRecord) (out []api.RunRecord) {
	for _, r := range runs {
		if r.Status.Terminal() {
			out = append(out, r)
		}
	}
	return out
}

func runLines(w int, title plain.Safe, runs []api.RunRecord, most int) []kit.Line {
	if len(runs) == 0 {
		return nil
	}
	out := []kit.Line{{Text: " " + title, Role: kit.Strong}}
	for _, r := range runs[:min(most, len(runs))] {
		kind := ""
		if r.Simulated {
			kind = "  simulated"
		}
		// The name of the model comes last: it may lose its end, a figure may not.
		text := fmt.Sprintf("%s  %s%s", show.Short(r.ID), show.Headline(r), kind)
		if r.Status != api.StatusCompleted { // which a score says
			text += "  " + string(r.Status)
		}
		if money := fmt.Sprintf("  %s of %s", show.Money(r.SpendMicrousd), show.Money(r.CapMicrousd)); len(text)+len(money) < w-14 {
			text += money
		}
		out = append(out, kit.Line{Text: plain.Cut(show.F("   %s  %s   %s", text, r.Model.Name(), show.Profile(r)), w-1)})
	}
	if n := len(runs) - most; n > 0 {
		out = append(out, kit.Line{Text: show.F("   and %s more: Run history", show.Thousands(n))})
	}
	return append(out, kit.Line{})
}

func money(c api.CreditsRecord) string {
	s := fmt.Sprintf("Credit  %s free · %s held", show.Money(c.AvailableMicrousd), show.Money(c.HeldMicrousd))
	if c.Practice != nil {
		s += fmt.Sprintf(" · practice credit %s free", show.Money(c.Practice.AvailableMicrousd))
	}
	return s
}

// Head names the keys of Home.
func (s home) Head() kit.Head {
	h := kit.Head{Place: "Home", Root: true, Keys: []kit.Binding{
		{Keys: "Type", Does: "to filter"}, {Keys: "↑↓", Does: "move"}, {Keys: "Enter", Does: "open"}, {Keys: "F5", Does: "refresh"},
		{Keys: "Ctrl+C twice", Does: "exit", Quiet: true},
	}}
	if s.newer != "" {
		h.Note = show.F("Release %s is out: evalrouter upgrade", plain.Line(string(s.newer)))
	}
	if s.credits.err != nil && flow.Outage(s.credits.err) {
		h.Note = "The service does not answer; your runs go on"
	}
	return h
}
