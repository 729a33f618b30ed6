// Package account has the pages about who one is and what one has: billing,
// account and workspace, and where benchmarks are uploaded. They read and change
// nothing; what changes anything happens in the browser, and signing in on a page
// of its own.
package account

import (
	"context"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// Reader reads what the pages tell.
type Reader interface {
	Credits(ctx context.Context) (api.CreditsRecord, error)
	// Ledger is the newest n movements of money.
	Ledger(ctx context.Context, n int) ([]api.LedgerEntry, error)
	Whoami(ctx context.Context) (api.WhoamiRecord, error)
	Meta(ctx context.Context) (api.MetaRecord, error)
}

// content is what a page tells once it was read.
type content struct {
	lines func(width int) []kit.Line
	// url is what the browser opens; "" is nothing.
	url string
	// ways lead to other pages, by the names of their actions.
	ways []way
}

// way is an action that leads to another page.
type way struct {
	name plain.Safe
	to   any
}

// read is what reading brought.
type read struct {
	content
	err error
}

const openPage = "Open in browser"

// page is one of the pages with its state.
type page struct {
	place, note plain.Safe
	what        plain.Safe // that is read
	load        func(context.Context) (content, error)
	content     content
	known       bool
	err         error
	browsed     plain.Safe
	actions     kit.Actions
	scroll      kit.Scroll
	w, h        int
}

func (s page) read() (kit.Screen, []kit.Effect) {
	load := s.load
	return s, kit.Do(kit.Load{Name: "page", Do: func(ctx context.Context) kit.Msg {
		c, err := load(ctx)
		return read{c, err}
	}})
}

// Update scrolls, reads again and opens the browser. The page stays until it is
// left.
func (s page) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	switch m := m.(type) {
	case read:
		s.err = m.err
		if m.err == nil {
			s.content, s.known = m.content, true
			s.actions = s.actions.With(s.offered()...)
		}
		return s, nil
	case kit.Resize:
		s.w, s.h = m.W, m.H
		return s, nil
	case kit.Resumed:
		return s.read()
	case kit.Browsed:
		s.browsed = "Opened in the browser; this page stays"
		if m.Why != "" {
			s.browsed = show.F("Not opened (%s): %s", m.Why, m.URL)
		}
		return s, nil
	}
	return s.input(m)
}

func (s page) offered() (out []kit.Action) {
	if s.content.url != "" {
		out = append(out, kit.Action{Label: openPage, Key: 'b'})
	}
	for _, w := range s.content.ways {
		out = append(out, kit.Action{Label: w.name})
	}
	return out
}

func (s page) acting() bool { return s.content.url != "" || len(s.content.ways) > 0 }

func (s page) input(m kit.Msg) (kit.Screen, []kit.Effect) {
	if p, ok := m.(kit.Press); ok {
		s.browsed = ""
		if p.Key == kit.Refresh {
			return s.read()
		}
	}
	if listing.IsBack(m, false) {
		return s, kit.Do(kit.Back{})
	}
	actions, chosen := s.actions.Update(m, s.h-1)
	s.actions = actions
	if chosen == openPage {
		return s, kit.Do(kit.Browse{URL: s.content.url})
	}
	for _, w := range s.content.ways {
		if chosen != "" && chosen == w.name {
			return s, kit.Do(kit.Go{To: w.to})
		}
	}
	if listing.IsEnter(m) {
		return s, kit.Do(kit.Back{})
	}
	s.scroll, _ = s.scroll.Update(m, len(s.lines(s.w)), s.body(s.h))
	return s, nil
}

// body is how many rows of h the text has: the action stands in the last one.
func (s page) body(h int) int {
	if s.acting() {
		return h - 2
	}
	return h
}

func (s page) lines(w int) []kit.Line {
	switch {
	case s.known:
		return s.content.lines(w)
	case s.err != nil:
		return show.Problem(show.F(" The %s could not be read.", s.what), s.err, true)
	}
	return []kit.Line{{Text: show.F(" Reading the %s…", s.what)}}
}

// View draws what is known.
func (s page) View(c kit.Canvas) {
	w, h := c.Size()
	s.scroll.View(c.Sub(0, 0, w, s.body(h)), s.lines(w))
	c.Cursor(1, 0)
	if s.acting() {
		s.actions.View(c, h-1)
	}
}

// Head names the keys of the page.
func (s page) Head() kit.Head {
	h := kit.Head{Place: s.place, Note: s.note}
	switch {
	case s.browsed != "":
		h.Note = s.browsed
	case s.known && s.err != nil:
		h.Note = "Could not read it again; this is what was read before. F5 tries again"
	}
	enter := kit.Binding{Keys: "Enter", Does: "back"}
	switch {
	case len(s.content.ways) > 0 && s.content.url != "":
		enter = kit.Binding{Keys: "Enter", Does: "choose"}
		h.Keys = append(h.Keys, kit.Binding{Keys: "B", Does: "open browser"}, kit.Binding{Keys: "Tab", Does: "next action"})
	case len(s.content.ways) > 0:
		enter = kit.Binding{Keys: "Enter", Does: "choose"}
		h.Keys = append(h.Keys, kit.Binding{Keys: "Tab", Does: "next action"})
	case s.content.url != "":
		enter = kit.Binding{Keys: "Enter B click", Does: "open browser"}
	}
	h.Keys = append([]kit.Binding{enter}, append(h.Keys, kit.Binding{Keys: "F5", Does: "refresh"}, kit.Binding{Keys: "↑↓ PgUp PgDn", Does: "scroll", Quiet: true})...)
	return h
}
