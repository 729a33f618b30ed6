// Package history is the list of runs.
package history

import (
	"context"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// The list is read again this often while a run is going on, and while none is: a
// run may be started elsewhere.
const (
	again = 5 * time.Second
	idle  = 15 * time.Second
)

// Reader reads runs.
type Reader interface {
	Runs(ctx context.Context) ([]api.RunRecord, error)
}

type history struct {
	list     listing.Listing[api.RunRecord]
	finished bool
	clicks   listing.Opens
	read     time.Time
}

// New is the list of runs, newest first; with finished only those that ended.
func New(r Reader, finished bool) (kit.Screen, []kit.Effect) {
	type rec = api.RunRecord
	s := history{finished: finished, list: listing.New(listing.Spec[rec]{
		What: "runs",
		Load: func(ctx context.Context, _ bool) ([]rec, error) { return r.Runs(ctx) },
		Columns: []kit.Column{
			{Name: "RUN", Whole: true}, {Name: "STATUS", Whole: true, Drop: 1, Role: show.StatusRole}, {Name: "BENCHMARK"}, {Name: "MODEL", Drop: 2},
			{Name: "SCORE", Whole: true}, {Name: "KIND", Whole: true}, {Name: "SPENT", Right: true, Drop: 3}, {Name: "STARTED", Drop: 4},
		},
		Row: func(r rec) kit.Row {
			return kit.Row{
				plain.Line(show.Short(r.ID)), plain.Line(string(r.Status)), plain.Line(show.Profile(r)), plain.Line(r.Model.Name()),
				plain.Line(show.Headline(r)), plain.Line(show.Kind(r.Simulated)), plain.Line(show.Money(r.SpendMicrousd)),
				plain.Line(r.CreatedAt.Local().Format("2 Jan 15:04")),
			}
		},
		Key:   func(r rec) string { return r.ID },
		Empty: []plain.Safe{"No runs yet.", "", "Home ▸ Run a benchmark starts the first one."},
	})}
	if finished {
		s.list = s.list.Keep(func(r rec) bool { return r.Status.Terminal() })
	}
	var e kit.Effect
	s.list, e = s.list.Read(false)
	return s, kit.Do(e)
}

// Update filters, opens and refreshes.
func (s history) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	var opened bool
	s.clicks, opened = s.clicks.Click(m)
	if opened || listing.IsEnter(m) {
		return s.open()
	}
	switch m := m.(type) {
	case kit.Tick:
		if s.read.IsZero() {
			s.read = m.At
		}
		pause := idle
		if s.going() {
			pause = again
		}
		if m.At.Sub(s.read) < pause {
			return s, nil
		}
		s.read = m.At
		return s.reread()
	case kit.Resumed:
		return s.reread()
	}
	list, effects, took := s.list.Update(m)
	s.list = list
	if !took && listing.IsBack(m, s.list.Filtering()) {
		return s, kit.Do(kit.Back{})
	}
	return s, effects
}

func (s history) reread() (kit.Screen, []kit.Effect) {
	var e kit.Effect
	s.list, e = s.list.Again()
	return s, kit.Do(e)
}

func (s history) going() bool {
	for _, r := range s.list.Items() {
		if !r.Status.Terminal() {
			return true
		}
	}
	return false
}

func (s history) open() (kit.Screen, []kit.Effect) {
	r, ok := s.list.Selected()
	switch {
	case !ok:
		return s, nil
	case r.Status.Terminal():
		return s, kit.Do(kit.Go{To: route.Result{ID: r.ID}})
	}
	return s, kit.Do(kit.Go{To: route.Live{ID: r.ID}})
}

// View draws the list.
func (s history) View(c kit.Canvas) { s.list.View(c) }

// Head names the keys of the list.
func (s history) Head() kit.Head {
	place := plain.Safe("Run history")
	if s.finished {
		place = "Results"
	}
	return kit.Head{Place: place, Note: s.list.Note(), Keys: []kit.Binding{
		{Keys: "Type", Does: "to filter"}, {Keys: "↑↓", Does: "move"}, {Keys: "Enter", Does: "open"}, {Keys: "F5", Does: "refresh"},
		{Keys: "PgUp PgDn", Does: "page; Home and End go to the first and the last row", Quiet: true},
	}}
}
