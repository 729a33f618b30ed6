// Package history is the list of runs, and choosing finished ones to compare.
package history

import (
	"context"
	"slices"
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

// How many runs can be compared.
const (
	compareLeast = 2
	compareMost  = 8
)

type history struct {
	list   listing.Listing[api.RunRecord]
	what   route.History
	marked []string // ids, in the order of choosing; replaced, never changed
	clicks listing.Opens
	read   time.Time
	note   plain.Safe
}

// New is the list of runs, newest first.
func New(r Reader, what route.History) (kit.Screen, []kit.Effect) {
	type rec = api.RunRecord
	s := history{what: what, list: listing.New(listing.Spec[rec]{
		What: "runs",
		Load: func(ctx context.Context, _ bool) ([]rec, error) { return r.Runs(ctx) },
		Columns: []kit.Column{
			{Name: ""}, {Name: "RUN", Whole: true, Drop: 1}, {Name: "STATUS", Whole: true, Drop: 3, Role: show.StatusRole},
			{Name: "BENCHMARK", Least: 8, Drop: 2}, {Name: "MODEL", Least: 10}, {Name: "SCORE", Whole: true}, {Name: "KIND", Whole: true},
			{Name: "SPENT", Right: true, Drop: 4}, {Name: "STARTED", Drop: 5},
		},
		Key:   func(r rec) string { return r.ID },
		Empty: []plain.Safe{"No runs yet.", "", "Home ▸ Run a benchmark starts the first one."},
	})}
	s.list = s.list.Drawn(s.bare().row)
	if what.Finished {
		s.list = s.list.Keep(func(r rec) bool { return r.Status.Terminal() })
	}
	var e kit.Effect
	s.list, e = s.list.Read(false)
	return s, kit.Do(e)
}

// bare is what a row is drawn from, without the list.
func (s history) bare() history {
	s.list = listing.Listing[api.RunRecord]{}
	return s
}

func (s history) row(r api.RunRecord) kit.Row {
	return kit.Row{
		s.mark(r.ID), plain.Line(show.Short(r.ID)), plain.Line(string(r.Status)), plain.Line(show.Profile(r)), plain.Line(r.Model.Name()),
		plain.Line(show.Headline(r)), plain.Line(show.Kind(r.Simulated)), plain.Line(show.Money(r.SpendMicrousd)),
		plain.Line(r.CreatedAt.Local().Format("2 Jan 15:04")),
	}
}

// mark is a run's letter in the comparison that is being chosen.
func (s history) mark(id string) plain.Safe {
	switch i := slices.Index(s.marked, id); {
	case i >= 0:
		return plain.Line("[" + string(rune('A'+i)) + "]")
	case s.what.Mark:
		return "[ ]"
	}
	return ""
}

// Update filters, opens, marks and refreshes.
func (s history) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	var opened bool
	s.clicks, opened = s.clicks.Click(m)
	if p, ok := m.(kit.Press); ok {
		s.note = ""
		switch {
		case p.Key == kit.Tab:
			return s.compare()
		case p.Key == kit.Char && p.Rune == ' ' && !s.list.Filtering(), p.Key == kit.Enter && s.what.Mark:
			return s.toggle(), nil
		}
	}
	if opened && s.what.Mark {
		return s.toggle(), nil
	}
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

// toggle marks the run under the cursor, or takes its mark away.
func (s history) toggle() history {
	r, ok := s.list.Selected()
	i := slices.Index(s.marked, r.ID)
	switch {
	case !ok:
		return s
	case i >= 0:
		s.marked = slices.Delete(slices.Clone(s.marked), i, i+1)
	case !r.Status.Terminal():
		s.note = "It goes on; only runs that have ended are compared"
		return s
	case len(s.marked) == compareMost:
		s.note = show.F("%d runs are the most; this one is not marked", compareMost)
		return s
	default:
		s.marked = append(slices.Clone(s.marked), r.ID)
	}
	s.list = s.list.Drawn(s.bare().row)
	return s
}

func (s history) compare() (kit.Screen, []kit.Effect) {
	if len(s.marked) < compareLeast {
		s.note = show.F("Mark %d to %d runs of the same tasks first: Space on their rows", compareLeast, compareMost)
		return s, nil
	}
	return s, kit.Do(kit.Go{To: route.Compare{Runs: s.marked}})
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
	h := kit.Head{Place: "Run history", Note: s.note, Keys: []kit.Binding{
		{Keys: "Type", Does: "to filter"}, {Keys: "↑↓", Does: "move"}, {Keys: "Enter", Does: "open"}, {Keys: "F5", Does: "refresh"},
		{Keys: "Space", Does: "mark to compare"}, {Keys: "Tab", Does: "compare"},
		{Keys: "PgUp PgDn", Does: "page; Home and End go to the first and the last row", Quiet: true},
	}}
	switch {
	case s.what.Mark:
		h.Place = "Results  Compare runs"
		h.Keys = append([]kit.Binding{{Keys: "Space/Enter", Does: "mark"}, {Keys: "Tab", Does: "compare"}}, h.Keys[0], h.Keys[1], h.Keys[3], h.Keys[6])
	case s.what.Finished:
		h.Place = "Results  Single run"
	}
	if n := len(s.marked); h.Note == "" && n > 0 {
		h.Note = show.F("%d of %d marked; Tab compares them", n, compareMost)
	}
	if h.Note == "" {
		h.Note = s.list.Note()
	}
	return h
}
