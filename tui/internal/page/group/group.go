package group

import (
	"context"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// What can be chosen below the members.
const (
	watchLive = "Watch live"
	openLive  = "Open live group in browser"
	openPage  = "Open group in browser"
	compare   = "Compare the members"
	tryAgain  = "Watch again"
	stopAll   = "Stop the group"
	resume    = "Resume"
)

type (
	// looked is the group as it was read once.
	looked struct {
		group api.GroupRecord
		err   error
	}
	// updated is one look while watching.
	updated struct {
		flow.Update
		group api.GroupRecord
	}
	// stopped is the end of watching: an error when the group has not ended.
	stopped struct {
		group api.GroupRecord
		err   error
	}
)

type page struct {
	reader   Reader
	id       string
	group    api.GroupRecord
	known    bool
	watching bool
	update   flow.Update
	err      error
	read     time.Time
	now      time.Time
	at       int // the member under the cursor, len(members) for the actions
	items    []kit.Action
	actions  kit.Actions
	clicks   listing.Opens
	note     plain.Safe
	w, h     int
}

// Status is a group with the state of each of its members. It can be watched
// from here; with watch it is from the beginning.
func Status(r Reader, id string, watch bool) (kit.Screen, []kit.Effect) {
	s := page{reader: r, id: id}
	if watch {
		return s.watch()
	}
	return s, s.look()
}

func (s page) look() []kit.Effect {
	r, id := s.reader, s.id
	return kit.Do(kit.Load{Name: "group", Do: func(ctx context.Context) kit.Msg {
		g, err := r.Group(ctx, id)
		return looked{g, err}
	}})
}

func (s page) watch() (kit.Screen, []kit.Effect) {
	s.watching, s.err, s.update = true, nil, flow.Update{}
	r, id := s.reader, s.id
	return s.offered(), kit.Do(kit.Follow{Name: "watch", Do: func(ctx context.Context, emit func(kit.Msg)) {
		g, err := r.WatchGroup(ctx, id, func(u flow.Update, g api.GroupRecord) { emit(updated{u, g}) })
		emit(stopped{g, err})
	}})
}

// Update takes in what was seen, and keys.
func (s page) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	switch m := m.(type) {
	case looked:
		if s.watching {
			return s, nil
		}
		s.err = m.err
		if m.err == nil {
			s = s.with(m.group)
		}
		return s.offered(), kit.Do(s.behind())
	case updated:
		s.update, s.err = m.Update, nil
		if m.group.ID != "" {
			s = s.with(m.group)
		}
		return s.offered(), kit.Do(s.behind())
	case stopped:
		s.err, s.watching = m.err, false
		if m.err == nil {
			s = s.with(m.group)
			s.update.Down = 0
		}
		return s.offered(), kit.Do(s.behind())
	case kit.Tick:
		s.now = m.At
		return s, nil
	case kit.Resize:
		s.w, s.h = m.W, m.H
		return s, nil
	case kit.Resumed: // from a member, or from the shell
		if s.watching || s.known && s.group.Status.Terminal() {
			return s, nil
		}
		return s, s.look()
	case kit.Browsed:
		s.note = "Opened in the browser; this page goes on"
		if m.Why != "" {
			s.note = show.F("Not opened (%s): %s", m.Why, m.URL)
		}
		return s, nil
	}
	return s.input(m)
}

func (s page) with(g api.GroupRecord) page {
	if !s.known {
		s.at = 0
	}
	s.group, s.known = g, true
	s.at = min(s.at, len(g.Members))
	return s
}

// behind is the line that tells, after the workspace, how to come back.
func (s page) behind() kit.Effect {
	g := s.group
	if !s.known || g.Status.Terminal() {
		return kit.Behind{Key: s.id}
	}
	return kit.Behind{Key: s.id, Line: string(show.F("%s  %s  %s   evalrouter group status %s --watch", show.Short(s.id), show.Benchmark(g), show.Plural(len(g.Members), "model"), show.Short(s.id)))}
}

func (s page) offered() page {
	g := s.group
	ended := s.known && g.Status.Terminal()
	s.items = nil
	add := func(on bool, a kit.Action) {
		if on {
			s.items = append(s.items, a)
		}
	}
	add(ended, kit.Action{Label: compare, Key: 'c'})
	add(ended && g.Resumable(), kit.Action{Label: resume, Key: 'r'})
	add(s.known && !ended && !s.watching && s.err == nil, kit.Action{Label: watchLive, Key: 'w'})
	add(s.err != nil, kit.Action{Label: tryAgain, Key: 'w'})
	add(s.watching && g.Links.Live != nil, kit.Action{Label: openLive, Key: 'b'})
	add(!s.watching && g.Links.Report != nil, kit.Action{Label: openPage, Key: 'b'})
	add(s.known && g.Status.Stoppable(), kit.Action{Label: stopAll}) // no key: it is chosen, never hit
	s.actions = s.actions.With(s.items...)
	return s
}

func (s page) input(m kit.Msg) (kit.Screen, []kit.Effect) {
	var twice bool
	s.clicks, twice = s.clicks.Click(m)
	switch m := m.(type) {
	case kit.Press:
		s.note = ""
		if listing.IsBack(m, false) {
			return s, kit.Do(kit.Back{})
		}
		return s.press(m)
	case kit.Mouse:
		if i := m.Y - memberFrom; m.Kind == kit.Click && i >= 0 && i < len(s.group.Members) {
			s.at = i
			if twice {
				return s.open()
			}
			return s, nil
		}
		return s.act(m)
	}
	return s, nil
}

func (s page) press(p kit.Press) (kit.Screen, []kit.Effect) {
	n := len(s.group.Members)
	last := n - 1
	if len(s.items) > 0 {
		last = n
	}
	switch p.Key {
	case kit.Up:
		s.at = max(s.at-1, 0)
	case kit.Down:
		s.at = max(min(s.at+1, last), 0)
	case kit.Home:
		s.at = 0
	case kit.End:
		s.at = max(last, 0)
	case kit.Refresh:
		if s.watching {
			return s.watch()
		}
		return s, s.look()
	case kit.Enter:
		if s.at < n {
			return s.open()
		}
		return s.act(p)
	case kit.Tab, kit.BackTab, kit.Right:
		if s.at < n {
			s.at = max(last, 0)
			return s, nil
		}
		return s.act(p)
	case kit.Char:
		return s.act(p)
	}
	return s, nil
}

// open shows the member under the cursor. Back from there leads here.
func (s page) open() (kit.Screen, []kit.Effect) {
	m := s.group.Members[s.at]
	if m.Status.Terminal() {
		return s, kit.Do(kit.Go{To: route.Result{ID: m.RunID}})
	}
	return s, kit.Do(kit.Go{To: route.Live{ID: m.RunID}})
}

func (s page) act(m kit.Msg) (kit.Screen, []kit.Effect) {
	actions, chosen := s.actions.Update(m, s.h-1)
	s.actions = actions
	switch chosen {
	case watchLive, tryAgain:
		return s.watch()
	case compare:
		return s, kit.Do(kit.Go{To: route.Compare{Runs: runs(s.group), Group: s.id}})
	case resume:
		g := s.group
		return s, kit.Do(kit.Go{To: route.Continue{Group: &g}})
	case stopAll:
		return s, kit.Do(kit.Go{To: route.Stop{Group: s.id}})
	case openLive:
		return s, kit.Do(kit.Browse{URL: *s.group.Links.Live})
	case openPage:
		return s, kit.Do(kit.Browse{URL: *s.group.Links.Report})
	}
	return s, nil
}
