// Package signin is the page on which a person signs in: by the browser of this
// machine or by a code for another one, as `evalrouter login` does. The page
// shows and asks; tokens never come near it.
//
// Leaving the page before the end keeps nothing. When somebody is signed in the
// workspace begins afresh, because everything on its screens was read as
// somebody else.
package signin

import (
	"context"
	"slices"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/signin"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// Gate signs in.
type Gate interface {
	// Where is the origin of the service at which one signs in.
	Where() string
	// Overruled names what is used before any sign-in, "" for nothing.
	Overruled() string
	Enter(ctx context.Context, byCode bool, g signin.Guest) (signin.Entered, error)
	// EnterKey keeps an API key once the service has accepted it.
	EnterKey(ctx context.Context, key string) (signin.Entered, error)
}

const (
	openPage = "Open the page in the browser"
	byCode   = "Use a code instead"
	leave    = "Stop waiting"
	again    = "Try again"
	goOn     = "Go on"
)

// work is the name of what goes on.
const work = "sign-in"

type page struct {
	gate    Gate
	byCode  bool
	byKey   bool
	key     *kit.Secret // while it is typed
	silent  plain.Safe  // why no browser was opened
	address string      // of the page in the browser
	code    *signin.Code
	waits   plain.Safe
	choice  *choice
	table   kit.Table
	err     error
	done    *signin.Entered
	note    plain.Safe
	actions kit.Actions
	scroll  kit.Scroll
	w, h    int
}

// New begins to sign in at once.
func New(g Gate, code bool) (kit.Screen, []kit.Effect) { return begin(page{gate: g, byCode: code}) }

// Key asks for an API key to be typed.
func Key(g Gate) (kit.Screen, []kit.Effect) { return typing(page{gate: g, byKey: true}), nil }

// typing begins with an empty field.
func typing(s page) page {
	return page{gate: s.gate, byKey: true, key: &kit.Secret{}, w: s.w, h: s.h}
}

// typed takes what was typed about the key. What it was is forgotten here once
// it is sent.
func (s page) typed(m kit.Msg) (kit.Screen, []kit.Effect) {
	if listing.IsBack(m, !s.key.Empty()) {
		return s.left()
	}
	if p, ok := m.(kit.Press); ok {
		switch {
		case p.Key == kit.Enter && s.key.Empty():
			s.note = "Type or paste the key first"
			return s, nil
		case p.Key == kit.Enter:
			gate, key := s.gate, *s.key
			s.key = nil
			return s.offering(), kit.Do(kit.Follow{Name: work, Do: func(ctx context.Context, emit func(kit.Msg)) {
				got, err := gate.EnterKey(ctx, key.Reveal())
				emit(ended{got, err})
			}})
		}
	}
	key, _ := s.key.Update(m)
	s.key = &key
	return s, nil
}

func begin(s page) (kit.Screen, []kit.Effect) {
	s = page{gate: s.gate, byCode: s.byCode, silent: s.silent, w: s.w, h: s.h}
	s = s.offering()
	gate, code := s.gate, s.byCode
	return s, kit.Do(kit.Follow{Name: work, Do: func(ctx context.Context, emit func(kit.Msg)) {
		got, err := gate.Enter(ctx, code, guest{emit})
		emit(ended{got, err})
	}})
}

// offering offers what can be done now.
func (s page) offering() page {
	items := []kit.Action{{Label: leave}}
	switch {
	case s.done != nil:
		items = []kit.Action{{Label: goOn}}
	case s.err != nil:
		items = []kit.Action{{Label: again}}
		if !s.byCode && !s.byKey {
			items = append(items, kit.Action{Label: byCode})
		}
	case s.choice != nil:
		items = nil
	case s.byKey:
	case s.byCode && s.address != "":
		items = append([]kit.Action{{Label: openPage, Key: 'b'}}, items...)
	case !s.byCode:
		items = append([]kit.Action{{Label: byCode}}, items...)
		if s.address != "" {
			items = append([]kit.Action{{Label: openPage, Key: 'b'}}, items...)
		}
	}
	s.actions = s.actions.With(items...)
	return s
}

// Update takes in what the sign-in says and what the person does.
func (s page) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	switch m := m.(type) {
	case kit.Resize:
		s.w, s.h = m.W, m.H
		s.table = s.table.Sized(s.tableRows())
		return s, nil
	case kit.Browsed:
		return s.browsed(m)
	case opened:
		s.address, s.actions = m.address, kit.Actions{}
		return s.offering(), kit.Do(kit.Browse{URL: m.address})
	case coded:
		s.code, s.address, s.waits = &m.code, m.code.Address, ""
		s.actions = kit.Actions{} // the page to open is the first
	case waiting:
		s.waits = stageWords(m.Waiting)
	case setup:
		s.waits, s.address = "Your account has no workspace yet. Finish its setup in the browser; this page moves on by itself.", m.address
		s.code = nil
	case choice:
		return s.choosing(m), nil
	case ended:
		s.choice, s.err = nil, m.err
		if m.err == nil {
			s.done = &m.got
		}
	default:
		return s.input(m)
	}
	return s.offering(), nil
}

// browsed goes on with a code where no browser can be opened for a page that
// only this machine's browser comes back from.
func (s page) browsed(m kit.Browsed) (kit.Screen, []kit.Effect) {
	switch {
	case m.Why == "":
		s.note = "Opened in the browser; this page moves on by itself"
	case !s.byCode && s.done == nil && s.err == nil:
		s.byCode, s.silent = true, plain.Line(m.Why)
		return begin(s)
	default:
		s.note = show.F("Not opened (%s)", m.Why)
	}
	return s, nil
}

func (s page) choosing(c choice) page {
	s.choice = &c
	rows, keys := make([]kit.Row, 0, len(c.all)), make([]string, 0, len(c.all))
	for _, w := range c.all {
		rows, keys = append(rows, kit.Row{plain.Line(w.Name), plain.Line(w.Role), plain.Line(w.Slug)}), append(keys, w.ID)
	}
	s.table = kit.NewTable(kit.Column{Name: "workspace"}, kit.Column{Name: "role"}, kit.Column{Name: "slug"}).With(rows, keys).Sized(s.tableRows())
	return s.offering()
}

// above is how many rows stand above the list of workspaces.
const above = 2

func (s page) tableRows() int { return max(s.h-above, 1) }

func (s page) input(m kit.Msg) (kit.Screen, []kit.Effect) {
	if _, ok := m.(kit.Press); ok {
		s.note = ""
	}
	if s.choice != nil {
		return s.pick(m)
	}
	if s.key != nil {
		return s.typed(m)
	}
	if listing.IsBack(m, false) {
		return s.left()
	}
	actions, chosen := s.actions.Update(m, s.h-1)
	s.actions = actions
	switch chosen {
	case openPage:
		return s, kit.Do(kit.Browse{URL: s.address})
	case byCode:
		s.byCode, s.silent = true, ""
		return begin(s)
	case again:
		if s.byKey {
			return typing(s), nil
		}
		return begin(s)
	case leave, goOn:
		return s.left()
	}
	s.scroll, _ = s.scroll.Update(m, len(s.lines(s.w)), s.h-2)
	return s, nil
}

// left goes back, or on where somebody is signed in.
func (s page) left() (kit.Screen, []kit.Effect) {
	if s.done != nil {
		return s, kit.Do(kit.Go{To: route.Account{}, Afresh: true})
	}
	return s, kit.Do(kit.Back{})
}

// pick chooses a workspace. Going back keeps nothing.
func (s page) pick(m kit.Msg) (kit.Screen, []kit.Effect) {
	if listing.IsBack(m, s.table.Filtering()) {
		return s, kit.Do(kit.Back{})
	}
	if at := s.table.Selected(); listing.IsEnter(m) && at >= 0 {
		s.choice.answer(s.choice.all[at])
		s.choice, s.waits = nil, "Keeping the sign-in…"
		return s.offering(), nil
	}
	if c, ok := m.(kit.Mouse); ok {
		c.Y -= above
		m = c
	}
	s.table, _ = s.table.Update(m)
	return s, nil
}

func stageWords(w signin.Waiting) plain.Safe {
	switch w.Stage {
	case "sign_in":
		return "Waiting for somebody to sign in there."
	case "verify_email":
		return show.F("Waiting for the e-mail address %s to be confirmed.", w.Account)
	case "setup":
		return "Waiting for the setup of the account to be finished there."
	}
	return "Waiting for the approval."
}

// guest brings what a sign-in says to the screen.
type guest struct{ emit func(kit.Msg) }

type (
	opened  struct{ address string }
	coded   struct{ code signin.Code }
	waiting struct{ signin.Waiting }
	setup   struct{ address string }
	choice  struct {
		all    []api.WorkspaceRecord
		answer func(api.WorkspaceRecord)
	}
	ended struct {
		got signin.Entered
		err error
	}
)

var _ signin.Guest = guest{}

// Browse has the page opened.
func (g guest) Browse(address string) { g.emit(opened{address}) }

// Code shows a code.
func (g guest) Code(c signin.Code) { g.emit(coded{c}) }

// Waits says what is missing there.
func (g guest) Waits(w signin.Waiting) { g.emit(waiting{w}) }

// Setup says that the account is not set up.
func (g guest) Setup(address string) { g.emit(setup{address}) }

// Choose waits for the person's choice.
func (g guest) Choose(ctx context.Context, all []api.WorkspaceRecord) (api.WorkspaceRecord, error) {
	chosen := make(chan api.WorkspaceRecord, 1)
	g.emit(choice{slices.Clone(all), func(w api.WorkspaceRecord) {
		select {
		case chosen <- w:
		default: // chosen already
		}
	}})
	select {
	case w := <-chosen:
		return w, nil
	case <-ctx.Done():
		return api.WorkspaceRecord{}, ctx.Err()
	}
}
