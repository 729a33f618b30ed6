package launch

import (
	"strings"

	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// Rows of the form about a continuation. Each consent is its own, and none is
// given beforehand.
const (
	againStopped = iota
	againUnknown
	againTwice
	againCap
	againQuote
	againFrom = 4 // the row of the body where they begin
)

type again struct {
	plan route.Plan
	at   int
	cap  kit.Input
	note plain.Safe
}

// Again is how to go on with what has ended: what is asked again beyond what was
// never asked, and the most that it may cost.
func Again(of route.Continue) (kit.Screen, []kit.Effect) {
	return again{plan: route.Plan{Continue: of}, cap: kit.NewInput(suggestedCap), at: againQuote}, nil
}

// words are what the form says of a run, and of a group.
func (s again) words() (place, head, kept, spend plain.Safe) {
	if g := s.plan.Group; g != nil {
		return show.F("Resume  group %s", show.Short(g.ID)), show.F("%s   %s   %s", show.Benchmark(*g), show.Plural(len(g.Members), "model"), g.Status),
			"Graded answers are reused at $0.00; members stay.", "hard, of all new runs together"
	}
	r := s.plan.Run
	return show.F("Resume  run %s", show.Short(r.ID)), show.F("%s   %s   %s", show.Profile(r), r.Model.Name(), show.Status(r)),
		"Graded answers are reused at $0.00; the run stays.", "hard, of the new run"
}

// Update moves, toggles and types.
func (s again) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	switch m := m.(type) {
	case kit.Paste:
		if s.at == againCap {
			s.cap, _ = s.cap.Update(m)
		}
	case kit.Mouse:
		if i := m.Y - againFrom; m.Kind == kit.Click && i >= 0 && i <= againQuote {
			s.at = i // a click selects only
		}
	case kit.Press:
		return s.press(m)
	}
	return s, nil
}

func (s again) press(p kit.Press) (kit.Screen, []kit.Effect) {
	s.note = ""
	switch {
	case p.Key == kit.Up || p.Key == kit.BackTab:
		s.at = max(s.at-1, 0)
	case p.Key == kit.Down:
		s.at = min(s.at+1, againQuote)
	case p.Key == kit.Tab:
		return s.quote()
	case listing.IsBack(p, s.at == againCap):
		return s, kit.Do(kit.Back{})
	case p.Key == kit.Enter && s.at >= againCap:
		return s.quote()
	case s.at == againCap:
		s.cap, _ = s.cap.Update(p)
	case p.Key == kit.Enter || p.Key == kit.Char && p.Rune == ' ':
		s.plan = s.toggled()
	}
	return s, nil
}

func (s again) toggled() route.Plan {
	p := s.plan
	switch s.at {
	case againStopped:
		p.IncludeCancelled = !p.IncludeCancelled
	case againUnknown:
		p.RetryUnknown = !p.RetryUnknown
		p.Duplicates = p.Duplicates && p.RetryUnknown
	case againTwice:
		p.Duplicates = !p.Duplicates
		p.RetryUnknown = p.RetryUnknown || p.Duplicates
	}
	return p
}

func (s again) quote() (kit.Screen, []kit.Effect) {
	spend, why := capOf(s.cap)
	if why != "" {
		s.note, s.at = why, againCap
		return s, nil
	}
	p := s.plan
	p.Cap = spend
	return s, kit.Do(kit.Go{To: route.Resume{Plan: p}})
}

// capOf reads a typed cap, or says why it is none.
func capOf(in kit.Input) (usd.Micro, plain.Safe) {
	m, err := usd.Parse(strings.TrimSpace(in.Text()))
	switch {
	case err != nil:
		return 0, show.F("The cap: %s", err)
	case m == 0:
		return 0, "A cap of nothing starts nothing"
	}
	return m, ""
}

// View draws the form.
func (s again) View(c kit.Canvas) {
	w, h := c.Size()
	_, head, kept, spend := s.words()
	c.Text(1, 0, kit.Strong, plain.Cut(head, w-2))
	c.Text(1, 1, kit.Plain, plain.Cut(kept, w-2))
	c.Text(1, againFrom-1, kit.Strong, "Ask also again")
	box := func(on bool) string {
		if on {
			return "[x] "
		}
		return "[ ] "
	}
	p := s.plan
	for i, text := range []string{
		box(p.IncludeCancelled) + "what a person or the time limit stopped",
		box(p.RetryUnknown) + "tasks of unknown outcome: a new attempt is paid for",
		box(p.Duplicates) + "… and my own provider may bill such tasks twice",
		"Spending cap       $ [         ]   " + string(spend),
		"Get the quote: nothing is started or charged by it",
	} {
		role, y := kit.Plain, againFrom+i
		if i == s.at {
			role = kit.Focus
			c.Text(1, y, role, "▸")
			c.Cursor(1, y)
		}
		c.Text(3, y, role, plain.Line(text))
	}
	s.cap.View(c.Sub(0, 0, 34, againFrom+againCap+1), 25, againFrom+againCap, s.at == againCap)
	if y := againFrom + againQuote + 2; y+1 < h {
		c.Text(1, y, kit.Plain, "What would stay out for good is asked about before anything starts.")
	}
}

// Head names the keys of the form.
func (s again) Head() kit.Head {
	place, _, _, _ := s.words()
	h := kit.Head{Place: place, Note: s.note, Keys: []kit.Binding{
		{Keys: "↑↓", Does: "move"}, {Keys: "Space", Does: "choose"}, {Keys: "Tab", Does: "get the quote"}, {Keys: "Type", Does: "a number in the cap"},
	}}
	if h.Note == "" {
		h.Note = "No consent is given beforehand"
	}
	return h
}
