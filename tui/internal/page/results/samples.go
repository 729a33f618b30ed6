package results

import (
	"context"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// samplesMost is how many tasks the list holds; the export has all of them.
const samplesMost = 2000

type taskList struct {
	list   listing.Listing[api.TaskRecord]
	run    string
	clicks listing.Opens
}

// Samples is the list of a run's tasks.
func Samples(r Reader, run string) (kit.Screen, []kit.Effect) {
	type rec = api.TaskRecord
	s := taskList{run: run, list: listing.New(listing.Spec[rec]{
		What: "tasks",
		Load: func(ctx context.Context, _ bool) ([]rec, error) { return firstTasks(ctx, r, run) },
		Columns: []kit.Column{
			{Name: "TASK"}, {Name: "OUTCOME", Role: show.OutcomeRole}, {Name: "SAID"}, {Name: "SPENT", Right: true, Drop: 1}, {Name: "REUSED", Drop: 2},
		},
		Row: func(t rec) kit.Row {
			reused := ""
			if t.Reused {
				reused = "from " + show.Short(t.OriginRunID)
			}
			return kit.Row{plain.Line(t.TaskID), plain.Line(outcome(t)), plain.Line(show.Text(t.Extracted)), plain.Line(show.Money(t.ChargeMicrousd)), plain.Line(reused)}
		},
		Key:   func(t rec) string { return t.TaskID },
		Empty: []plain.Safe{"This run has no tasks yet."},
	})}
	var e kit.Effect
	s.list, e = s.list.Read(false)
	return s, kit.Do(e)
}

func firstTasks(ctx context.Context, r Reader, run string) (out []api.TaskRecord, err error) {
	for cursor := ""; len(out) < samplesMost; {
		page, err := r.Tasks(ctx, run, cursor)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Data...)
		if page.NextCursor == nil || *page.NextCursor == "" || *page.NextCursor == cursor {
			break
		}
		cursor = *page.NextCursor
	}
	return out, nil
}

func outcome(t api.TaskRecord) string {
	if t.Outcome == nil {
		return t.Status
	}
	return show.Outcome(*t.Outcome)
}

// Update filters and opens.
func (s taskList) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	var opened bool
	s.clicks, opened = s.clicks.Click(m)
	if opened || listing.IsEnter(m) {
		if among, at := s.list.Shown(); at < len(among) {
			return s, kit.Do(kit.Go{To: route.Sample{Run: s.run, Among: among, At: at}})
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

// View draws the list.
func (s taskList) View(c kit.Canvas) { s.list.View(c) }

// Head names the keys of the list.
func (s taskList) Head() kit.Head {
	h := kit.Head{Place: show.F("Results  %s  Tasks", show.Short(s.run)), Note: s.list.Note(), Keys: []kit.Binding{
		{Keys: "Type", Does: "to filter, an outcome too"}, {Keys: "↑↓", Does: "move"}, {Keys: "Enter", Does: "open"}, {Keys: "F5", Does: "refresh"},
	}}
	if h.Note == "" && len(s.list.Items()) >= samplesMost {
		h.Note = show.F("The first %s tasks; evalrouter export has all of them", show.Thousands(samplesMost))
	}
	return h
}
