package signin

import (
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

func (s page) lines(w int) []kit.Line {
	switch {
	case s.done != nil:
		return s.doneLines(w)
	case s.err != nil:
		return show.Problem(" Nobody was signed in.", s.err, false)
	}
	out := []kit.Line{{Text: show.F(" Signing in at %s", s.gate.Where())}, {}}
	switch {
	case s.key != nil:
		for _, part := range kit.Wrap("Nobody can read it from the screen. Enter sends it to this service alone, which says whose it is; then it is kept where sign-ins are kept.", w-2) {
			out = append(out, kit.Line{Text: " " + part})
		}
		return out
	case s.byKey:
		return append(out, kit.Line{Text: " Asking the service whose key that is…"})
	}
	if s.silent != "" {
		out = append(out, kit.Line{Text: show.F(" No browser is opened here (%s). A code does it too.", s.silent)}, kit.Line{})
	}
	switch {
	case s.code != nil:
		out = append(out, s.codeLines()...)
	case s.address != "":
		out = append(out, addressLines(" In the browser of this machine:", s.address, w)...)
	default:
		out = append(out, kit.Line{Text: " Asking the service how…"})
	}
	if s.waits != "" {
		out = append(out, kit.Line{}, kit.Line{Text: " " + s.waits})
	} else if s.code == nil && s.address != "" {
		out = append(out, kit.Line{}, kit.Line{Text: " Waiting for the browser to come back, for five minutes."})
	}
	return out
}

func (s page) codeLines() (out []kit.Line) {
	if s.code.Again {
		out = append(out, kit.Line{Text: " The code expired. Here is another one."}, kit.Line{})
	}
	return append(out,
		kit.Line{Text: show.F(" 1. On any device open    %s", s.code.Address)},
		kit.Line{Text: show.F(" 2. Check that it shows   %s", s.code.User), Role: kit.Strong},
		kit.Line{Text: " 3. Approve it there. This page moves on by itself."},
		kit.Line{},
		kit.Line{Text: show.F(" The code is good for %d minutes.", int(s.code.Life.Minutes()))},
	)
}

// addressLines are a heading and an address, which is cut into rows where it is
// wider than the screen: all of it can be copied.
func addressLines(head plain.Safe, address string, w int) []kit.Line {
	out := []kit.Line{{Text: head}}
	text := []rune(string(plain.Line(address)))
	for width := max(w-4, 20); len(text) > 0; {
		n := min(width, len(text))
		out = append(out, kit.Line{Text: show.F("   %s", string(text[:n]))})
		text = text[n:]
	}
	return out
}

func (s page) doneLines(w int) []kit.Line {
	a := s.done.Account
	out := []kit.Line{{Text: show.F(" Signed in as %s.", a.Who), Role: kit.Strong}, {}}
	out = append(out, show.Pairs(w, [2]string{"Service", a.BaseURL}, [2]string{"Workspace", a.Workspace}, [2]string{"Kept in", a.Store})...)
	if v := s.gate.Overruled(); v != "" {
		out = append(out, kit.Line{}, kit.Line{Text: show.F(" %s is set, and is used before this sign-in.", v), Role: kit.Warn})
	}
	return out
}

// View draws what is to be done.
func (s page) View(c kit.Canvas) {
	w, h := c.Size()
	if s.choice != nil {
		c.Text(1, 0, kit.Plain, show.F("You have %d workspaces. Which one?", len(s.choice.all)))
		s.table.View(c.Sub(0, above, w, h-above))
		return
	}
	s.scroll.View(c.Sub(0, 0, w, h-2), s.lines(w))
	c.Cursor(1, 0)
	if s.key != nil {
		y := len(s.lines(w)) + 1
		s.key.View(c, c.Text(1, y, kit.Strong, "API key  "), y)
		return
	}
	s.actions.View(c, h-1)
}

// Head names the keys of the page.
func (s page) Head() kit.Head {
	h := kit.Head{Place: "Account and workspace  Sign in", Note: s.note}
	switch {
	case s.note != "":
	case s.key != nil:
		h.Note = "What is typed here cannot be selected or copied"
	case s.code != nil && s.done == nil && s.err == nil:
		h.Note = "Only approve a code you asked for"
	}
	switch {
	case s.choice != nil:
		h.Keys = []kit.Binding{{Keys: "Enter", Does: "use it"}, {Keys: "type", Does: "filter"}}
	case s.key != nil:
		h.Keys = []kit.Binding{{Keys: "Enter", Does: "use it"}, {Keys: "Ctrl+U", Does: "clear"}, {Keys: "Backspace", Does: "takes one character back", Quiet: true}}
		return h
	case s.address != "" && s.done == nil && s.err == nil:
		h.Keys = []kit.Binding{{Keys: "B", Does: "open the page"}, {Keys: "Tab Enter", Does: "choose"}}
	default:
		h.Keys = []kit.Binding{{Keys: "Tab Enter", Does: "choose"}}
	}
	h.Keys = append(h.Keys, kit.Binding{Keys: "↑↓ PgUp PgDn", Does: "scroll", Quiet: true})
	return h
}
