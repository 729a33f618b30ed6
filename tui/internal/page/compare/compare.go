// Package compare is the page of finished runs of the same tasks, side by side.
// It shows what was measured; what differs by more than chance is behind a key,
// for it needs the scores of every task.
package compare

import (
	"context"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// What can be chosen.
const (
	statistics = "Statistics"
	withoutAny = "Without statistics"
	openReport = "Open group in browser"
)

// Reader compares.
type Reader interface {
	Compare(ctx context.Context, runs []string, group string, statistics bool) (api.Comparison, error)
	Group(ctx context.Context, id string) (api.GroupRecord, error)
}

type (
	compared struct {
		doc api.Comparison
		err error
	}
	linked struct{ url string }
)

type page struct {
	reader  Reader
	what    route.Compare
	doc     *api.Comparison
	stats   bool // asked for
	reading bool
	err     error
	url     string
	at      int // the run under the cursor
	actions kit.Actions
	scroll  kit.Scroll
	clicks  listing.Opens
	note    plain.Safe
	w, h    int
}

// New compares finished runs.
func New(r Reader, what route.Compare) (kit.Screen, []kit.Effect) {
	s := page{reader: r, what: what}
	s, effects := s.read()
	if what.Group != "" {
		effects = append(effects, kit.Load{Name: "link", Do: func(ctx context.Context) kit.Msg {
			g, err := r.Group(ctx, what.Group)
			if err != nil || g.Links.Report == nil {
				return linked{} // the page is complete without it
			}
			return linked{*g.Links.Report}
		}})
	}
	return s, effects
}

func (s page) read() (page, []kit.Effect) {
	r, what, stats := s.reader, s.what, s.stats
	s.reading = true
	return s.offered(), kit.Do(kit.Load{Name: "comparison", Do: func(ctx context.Context) kit.Msg {
		doc, err := r.Compare(ctx, what.Runs, what.Group, stats)
		return compared{doc, err}
	}})
}

// Update takes in the comparison, and keys.
func (s page) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	switch m := m.(type) {
	case compared:
		s.reading, s.err = false, m.err
		if m.err == nil {
			s.doc = &m.doc
		}
		return s.offered(), nil
	case linked:
		s.url = m.url
		return s.offered(), nil
	case kit.Resize:
		s.w, s.h = m.W, m.H
		return s, nil
	case kit.Browsed:
		s.note = "Opened in the browser; this page stays"
		if m.Why != "" {
			s.note = show.F("Not opened (%s): %s", m.Why, m.URL)
		}
		return s, nil
	}
	return s.input(m)
}

func (s page) offered() page {
	var items []kit.Action
	// A key that comes before the comparison is heard: what is read then has both.
	if s.doc != nil || s.reading {
		label := plain.Safe(statistics)
		if s.stats {
			label = withoutAny
		}
		items = append(items, kit.Action{Label: label, Key: 's'})
	}
	if s.url != "" {
		items = append(items, kit.Action{Label: openReport, Key: 'b'})
	}
	s.actions = s.actions.With(items...)
	return s
}

func (s page) input(m kit.Msg) (kit.Screen, []kit.Effect) {
	var twice bool
	s.clicks, twice = s.clicks.Click(m)
	if p, ok := m.(kit.Press); ok {
		s.note = ""
		switch {
		case p.Key == kit.Refresh:
			return s.read()
		case s.doc != nil && p.Key == kit.Up && s.at > 0:
			s.at--
			return s, nil
		case s.doc != nil && p.Key == kit.Down && s.at < len(s.doc.Series)-1:
			s.at++
			return s, nil
		case s.doc != nil && p.Key == kit.Enter:
			return s, s.open()
		}
	}
	if k, ok := m.(kit.Mouse); ok && s.doc != nil && k.Kind == kit.Click {
		if i := k.Y - rowsFrom; i >= 0 && i < len(s.doc.Series) {
			if s.at = i; twice {
				return s, s.open()
			}
			return s, nil
		}
	}
	if listing.IsBack(m, false) {
		return s, kit.Do(kit.Back{})
	}
	actions, chosen := s.actions.Update(m, s.h-1)
	s.actions = actions
	switch chosen {
	case statistics:
		s.stats = true
		return s.read()
	case withoutAny:
		s.stats = false
		return s.read()
	case openReport:
		return s, kit.Do(kit.Browse{URL: s.url})
	}
	if s.doc != nil {
		s.scroll, _ = s.scroll.Update(m, len(s.below(s.w)), s.room())
	}
	return s, nil
}

// open is the result of the run under the cursor.
func (s page) open() []kit.Effect {
	ids := s.doc.Series[s.at].RunIDs
	return kit.Do(kit.Go{To: route.Result{ID: ids[len(ids)-1]}})
}

// line is what does the same on the command line, and keeps it.
func (s page) line() string {
	if s.what.Group != "" {
		return "evalrouter group compare " + show.Short(s.what.Group) + " --stats --format html"
	}
	var ids []string
	for _, id := range s.what.Runs {
		ids = append(ids, show.Short(id))
	}
	return "evalrouter compare " + strings.Join(ids, " ") + " --stats --format html"
}

// Head names the keys of the page.
func (s page) Head() kit.Head {
	h := kit.Head{Place: "Results  Compare", Note: s.note, Keys: []kit.Binding{
		{Keys: "Enter", Does: "open run"}, {Keys: "↑↓", Does: "move"}, {Keys: "S", Does: "statistics"}, {Keys: "PgUp PgDn", Does: "scroll"}, {Keys: "F5", Does: "reads again", Quiet: true},
	}}
	if s.what.Group != "" {
		h.Place = show.F("Results  Compare  group %s", show.Short(s.what.Group))
	}
	if s.url != "" {
		h.Keys = append(h.Keys, kit.Binding{Keys: "B", Does: "browser"})
	}
	switch {
	case h.Note != "":
	case s.reading && s.doc != nil && s.stats:
		h.Note = "Reading the scores of every task…"
	case s.err != nil && s.doc != nil:
		h.Note = show.F("Not compared: %s", show.Reason(s.err))
	case s.doc != nil && s.doc.Statistics != nil:
		h.Note = "Verdicts hold for all pairs, intervals each for one"
	case s.doc != nil:
		h.Note = "S tests what differs by more than chance"
	}
	return h
}
