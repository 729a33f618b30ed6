// Package catalog is the pages that say what can be evaluated and with which
// models. Looking around creates no quote and starts nothing.
package catalog

import (
	"context"
	"iter"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// Reader reads the catalog.
type Reader interface {
	Benchmarks(ctx context.Context, fresh bool) iter.Seq2[api.BenchmarkRecord, error]
	Models(ctx context.Context, fresh bool) iter.Seq2[api.ManagedRoute, error]
	Model(ctx context.Context, id string, fresh bool) (api.ManagedRoute, error)
}

// benchmarks is the list of benchmarks.
type benchmarks struct {
	list   listing.Listing[api.BenchmarkRecord]
	every  bool // also those that cannot be run
	run    bool // Enter chooses one to run
	clicks listing.Opens
	note   plain.Safe
}

// Benchmarks is the list of what can be evaluated.
func Benchmarks(r Reader, forRun bool) (kit.Screen, []kit.Effect) {
	type rec = api.BenchmarkRecord
	s := benchmarks{run: forRun, list: listing.New(listing.Spec[rec]{
		What: "benchmarks",
		Load: func(ctx context.Context, fresh bool) ([]rec, error) {
			return listing.Collect(r.Benchmarks(ctx, fresh), func(b rec) rec { return b })
		},
		Columns: []kit.Column{
			{Name: "BENCHMARK"}, {Name: "TASKS", Right: true}, {Name: "NAME", Drop: 1}, {Name: "READY", Drop: 2},
			{Name: "LICENCE", Drop: 3}, {Name: "FAMILY", Drop: 4},
		},
		Row: func(b rec) kit.Row {
			return kit.Row{
				plain.Line(b.Slug + "@" + b.Version), plain.Line(show.Count(b.TaskCount)), plain.Line(show.Text(b.Name)), plain.Line(show.Ready(b)),
				plain.Line(show.Text(b.DataLicense)), plain.Line(b.Family),
			}
		},
		Key:   func(b rec) string { return b.ID },
		Empty: []plain.Safe{"No benchmark is ready to run here.", "", "Ctrl+A shows also those in review or unavailable. F5 reads again."},
	})}
	var e kit.Effect
	s.list, e = s.list.Keep(quotable).Read(false)
	return s, kit.Do(e)
}

// Update filters, opens and refreshes.
func (s benchmarks) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	if _, ok := m.(kit.Press); ok {
		s.note = ""
	}
	var opened bool
	s.clicks, opened = s.clicks.Click(m)
	if opened || listing.IsEnter(m) {
		return s.open()
	}
	if p, ok := m.(kit.Press); ok && p.Key == kit.CtrlA {
		if s.every = !s.every; s.every {
			s.list = s.list.Keep(nil)
		} else {
			s.list = s.list.Keep(quotable)
		}
		return s, nil
	}
	list, effects, took := s.list.Update(m)
	s.list = list
	if !took && listing.IsBack(m, s.list.Filtering()) {
		return s, kit.Do(kit.Back{})
	}
	return s, effects
}

func (s benchmarks) open() (kit.Screen, []kit.Effect) {
	b, ok := s.list.Selected()
	switch {
	case !ok:
		return s, nil
	case s.run && !flow.Quotable(&b):
		s.note = show.F("%s cannot be run now (%s)", b.Slug, show.Ready(b))
		return s, nil
	case s.run:
		return s, kit.Do(kit.Go{To: route.Launch{Benchmark: b}})
	}
	return s, kit.Do(kit.Go{To: route.Benchmark{Record: b}})
}

func quotable(b api.BenchmarkRecord) bool { return flow.Quotable(&b) }

// View draws the list.
func (s benchmarks) View(c kit.Canvas) { s.list.View(c) }

// Head names the keys of the list.
func (s benchmarks) Head() kit.Head {
	h := kit.Head{Place: "Benchmarks", Note: s.list.Note()}
	enter := plain.Safe("open")
	if s.run {
		h.Place, enter = "Run  1/4  Benchmark", "choose"
	}
	if n := s.list.Hidden(); h.Note == "" && n > 0 {
		h.Note = show.F("%d not to be run now are hidden; Ctrl+A shows them", n)
	}
	if s.note != "" {
		h.Note = s.note
	}
	h.Keys = append(listKeys(enter), kit.Binding{Keys: "Ctrl+A", Does: "show all"})
	return h
}

func listKeys(enter plain.Safe) []kit.Binding {
	return []kit.Binding{
		{Keys: "Type", Does: "to filter"}, {Keys: "↑↓", Does: "move"}, {Keys: "Enter", Does: enter}, {Keys: "F5", Does: "refresh"},
		{Keys: "PgUp PgDn", Does: "page; Home and End go to the first and the last row", Quiet: true},
		{Keys: "Ctrl+U", Does: "empties the filter", Quiet: true},
	}
}
