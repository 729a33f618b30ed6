// Package live is the page of a run that goes on. It watches; leaving it stops
// nothing.
package live

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

// logMost is how many events the page keeps, and asks for at first.
const logMost = 200

// What can be chosen.
const (
	openLive    = "Open live run in browser"
	showResult  = "Result"
	tryAgain    = "Watch again"
	viewSamples = "Tasks"
	stopRun     = "Stop the run"
)

// Follower follows a run.
type Follower interface {
	Watch(ctx context.Context, id string, seen func(flow.Update)) (api.RunRecord, error)
	Log(ctx context.Context, id string, last int, seen func(api.RunEvent)) error
}

type (
	// updated is one look at the run.
	updated struct{ flow.Update }
	// stopped is the end of watching: an error when the run has not ended.
	stopped struct {
		run api.RunRecord
		err error
	}
	logged struct{ api.RunEvent }
	// logEnded is the end of the log; an error is no reason to stop watching.
	logEnded struct{ err error }
)

type live struct {
	follower Follower
	id       string
	update   flow.Update
	known    bool
	err      error
	logErr   error
	log      []api.RunEvent // oldest first, logMost at most
	seen     time.Time      // of the last answer
	now      time.Time
	actions  kit.Actions
	scroll   kit.Scroll
	note     plain.Safe
	w, h     int
}

// New watches a run from now on.
func New(f Follower, id string) (kit.Screen, []kit.Effect) {
	s := live{follower: f, id: id}
	return s, s.watch()
}

func (s live) watch() []kit.Effect {
	f, id := s.follower, s.id
	return kit.Do(
		kit.Follow{Name: "watch", Do: func(ctx context.Context, emit func(kit.Msg)) {
			run, err := f.Watch(ctx, id, func(u flow.Update) { emit(updated{u}) })
			emit(stopped{run, err})
		}},
		kit.Follow{Name: "log", Do: func(ctx context.Context, emit func(kit.Msg)) {
			emit(logEnded{f.Log(ctx, id, logMost, func(e api.RunEvent) { emit(logged{e}) })})
		}},
	)
}

// Update takes in what was seen, and keys.
func (s live) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	switch m := m.(type) {
	case updated:
		return s.look(m.Update)
	case stopped:
		s.err = m.err
		if m.err == nil {
			s.update.Run, s.update.Down, s.known = m.run, 0, true
			s.actions = kit.Actions{} // Enter leads to the result
		}
		return s.offered(), kit.Do(s.behind())
	case logged:
		if t := m.Type; t != "run.progress" && t != "billing.charged" { // the figures above the log say the same
			s.log = logWith(s.log, m.RunEvent)
		}
		return s, nil
	case logEnded:
		s.logErr = m.err
		return s, nil
	case kit.Tick:
		s.now = m.At
		return s, nil
	case kit.Resize:
		s.w, s.h = m.W, m.H
		return s, nil
	case kit.Browsed:
		s.note = "Opened in the browser; this page goes on"
		if m.Why != "" {
			s.note = show.F("Not opened (%s): %s", m.Why, m.URL)
		}
		return s, nil
	}
	return s.input(m)
}

func (s live) look(u flow.Update) (kit.Screen, []kit.Effect) {
	if u.Run.ID == "" {
		u.Run = s.update.Run
	} else {
		s.known = true
	}
	s.update, s.err = u, nil
	return s.offered(), kit.Do(s.behind())
}

// behind is the line that tells, after the workspace, how to come back.
func (s live) behind() kit.Effect {
	r := s.update.Run
	if !s.known || r.Status.Terminal() {
		return kit.Behind{Key: s.id}
	}
	return kit.Behind{Key: s.id, Line: string(show.F("%s  %s  %s   evalrouter wait %s", show.Short(s.id), show.Profile(r), r.Model.Name(), show.Short(s.id)))}
}

func (s live) offered() live {
	var items []kit.Action
	r := s.update.Run
	if s.known && r.Status.Terminal() {
		items = append(items, kit.Action{Label: showResult})
	}
	if s.err != nil {
		items = append(items, kit.Action{Label: tryAgain})
	}
	if r.Links.Live != nil {
		items = append(items, kit.Action{Label: openLive, Key: 'b'})
	}
	if s.known {
		items = append(items, kit.Action{Label: viewSamples, Key: 's'})
	}
	if s.known && r.Status.Stoppable() {
		items = append(items, kit.Action{Label: stopRun}) // no key: it is chosen, never hit
	}
	s.actions = s.actions.With(items...)
	return s
}

func (s live) input(m kit.Msg) (kit.Screen, []kit.Effect) {
	if _, ok := m.(kit.Press); ok {
		s.note = ""
	}
	if listing.IsBack(m, false) {
		return s, kit.Do(kit.Back{})
	}
	if p, ok := m.(kit.Press); ok && p.Key == kit.Refresh {
		return s, s.watch()
	}
	actions, chosen := s.actions.Update(m, s.h-1)
	s.actions = actions
	switch chosen {
	case showResult:
		return s, kit.Do(kit.Go{To: route.Result{ID: s.id}, Instead: true})
	case tryAgain:
		s.err = nil
		return s, s.watch()
	case viewSamples:
		return s, kit.Do(kit.Go{To: route.Samples{Run: s.id}})
	case stopRun:
		return s, kit.Do(kit.Go{To: route.Stop{Run: s.id}})
	case openLive:
		return s, kit.Do(kit.Browse{URL: *s.update.Run.Links.Live})
	}
	s.scroll, _ = s.scroll.Update(m, len(s.log), s.h)
	return s, nil
}

// logWith is the newest of a log after one more event. What is kept moves seldom:
// a thousand a second may come.
func logWith(log []api.RunEvent, e api.RunEvent) []api.RunEvent {
	if len(log) == cap(log) {
		log = append(make([]api.RunEvent, 0, 2*logMost), log...)
	}
	log = append(log, e)
	return log[max(len(log)-logMost, 0):]
}
