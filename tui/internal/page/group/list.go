// Package group is the pages of several runs that were started together: the
// list of groups, and one group as it stands or as it goes on. Looking stops
// nothing.
package group

import (
	"context"
	"fmt"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// Reader reads groups and follows them.
type Reader interface {
	Groups(ctx context.Context) ([]api.GroupRecord, error)
	Group(ctx context.Context, id string) (api.GroupRecord, error)
	WatchGroup(ctx context.Context, id string, seen func(flow.Update, api.GroupRecord)) (api.GroupRecord, error)
}

// The list is read again this often: a group may be started elsewhere.
const again = 10 * time.Second

type groups struct {
	list     listing.Listing[api.GroupRecord]
	finished bool
	clicks   listing.Opens
	read     time.Time
}

// List is the list of groups, newest first; with finished only those that have
// ended, to look at their results.
func List(r Reader, finished bool) (kit.Screen, []kit.Effect) {
	type rec = api.GroupRecord
	s := groups{finished: finished, list: listing.New(listing.Spec[rec]{
		What: "groups",
		Load: func(ctx context.Context, _ bool) ([]rec, error) { return r.Groups(ctx) },
		Columns: []kit.Column{
			{Name: "GROUP", Whole: true}, {Name: "STATUS", Whole: true, Role: show.StatusRole}, {Name: "BENCHMARK"}, {Name: "MODELS", Right: true, Drop: 2},
			{Name: "DONE", Right: true, Whole: true}, {Name: "SPENT", Right: true, Whole: true, Drop: 1}, {Name: "OF CAP", Right: true, Whole: true, Drop: 3}, {Name: "STARTED", Drop: 4},
		},
		Row: func(g rec) kit.Row {
			done, planned := counts(g)
			return kit.Row{
				plain.Line(show.Short(g.ID)), plain.Line(string(g.Status)), plain.Line(show.Benchmark(g)), plain.Line(show.Thousands(len(g.Members))),
				plain.Line(show.Thousands(done) + "/" + show.Thousands(planned)), plain.Line(show.Money(g.SpendMicrousd)), plain.Line(show.Money(g.CapMicrousd)),
				plain.Line(g.CreatedAt.Local().Format("2 Jan 15:04")),
			}
		},
		Key:   func(g rec) string { return g.ID },
		Empty: []plain.Safe{"No groups yet. A group compares two to eight models on the same tasks.", "", "Home ▸ Run a benchmark, with several models, starts the first one."},
	})}
	if finished {
		s.list = s.list.Keep(func(g rec) bool { return g.Status.Terminal() })
	}
	var e kit.Effect
	s.list, e = s.list.Read(false)
	return s, kit.Do(e)
}

// Update filters, opens and refreshes.
func (s groups) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
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
		if m.At.Sub(s.read) < again {
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

func (s groups) reread() (kit.Screen, []kit.Effect) {
	var e kit.Effect
	s.list, e = s.list.Again()
	return s, kit.Do(e)
}

func (s groups) open() (kit.Screen, []kit.Effect) {
	g, ok := s.list.Selected()
	switch {
	case !ok:
		return s, nil
	case s.finished:
		return s, kit.Do(kit.Go{To: route.Compare{Runs: runs(g), Group: g.ID}})
	}
	return s, kit.Do(kit.Go{To: route.Group{ID: g.ID}})
}

// View draws the list.
func (s groups) View(c kit.Canvas) { s.list.View(c) }

// Head names the keys of the list.
func (s groups) Head() kit.Head {
	h := kit.Head{Place: "Run groups", Note: s.list.Note(), Keys: []kit.Binding{
		{Keys: "Type", Does: "to filter"}, {Keys: "↑↓", Does: "move"}, {Keys: "Enter", Does: "status"}, {Keys: "F5", Does: "refresh"},
		{Keys: "PgUp PgDn", Does: "page; Home and End go to the first and the last row", Quiet: true},
	}}
	if s.finished {
		h.Place, h.Keys[2].Does = "Results  Group run", "results"
	}
	return h
}

func counts(g api.GroupRecord) (done, planned int) {
	for _, m := range g.Members {
		done, planned = done+m.ProcessedCount, planned+m.PlannedCount
	}
	return done, planned
}

func runs(g api.GroupRecord) (ids []string) {
	for _, m := range g.Members {
		ids = append(ids, m.RunID)
	}
	return ids
}

func name(m api.GroupMember) string { return api.Model{Selected: &m.Model}.Name() }

// soFar is a member's score with its interval and n.
func soFar(m api.GroupMember) string {
	h := m.Headline
	switch {
	case h == nil || h.Denominator == 0:
		return "no score yet"
	case h.Interval == nil:
		return fmt.Sprintf("%.1f %% n %s", 100*h.Value, show.Thousands(h.Denominator))
	}
	return fmt.Sprintf("%.1f %% [%.1f, %.1f] n %s", 100*h.Value, 100*h.Interval.Lower, 100*h.Interval.Upper, show.Thousands(h.Denominator))
}
