// Package launch is the steps between a benchmark and its quote: one to eight
// models and the reasoning of each, then the coverage and the cap, and, for an
// ended run, how to go on with it. Nothing is quoted here.
package launch

import (
	"context"
	"fmt"
	"iter"
	"maps"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// Reader reads which models can run a benchmark.
type Reader interface {
	Compatible(ctx context.Context, profile string) iter.Seq2[api.CompatibleRoute, error]
}

type models struct {
	bench  api.BenchmarkRecord
	list   listing.Listing[offer]
	chosen map[string]*api.ReasoningChoice // by key; replaced, never changed
	asking *ask                            // about the row under the cursor
	note   plain.Safe
}

// Models is the checklist of the models that can run a benchmark.
func Models(r Reader, b api.BenchmarkRecord) (kit.Screen, []kit.Effect) {
	s := models{bench: b, list: listing.New(listing.Spec[offer]{
		What: "models for " + b.ID,
		Load: func(ctx context.Context, _ bool) ([]offer, error) {
			return listing.Collect(r.Compatible(ctx, b.ID), keeper{}.offer)
		},
		Columns: []kit.Column{
			{Name: ""}, {Name: "MODEL"}, {Name: "IN $/1M", Right: true, Drop: 2}, {Name: "OUT $/1M", Right: true, Drop: 1}, {Name: "REASONING"}, {Name: "KIND"},
		},
		Key:   func(o offer) string { return o.key() },
		Empty: []plain.Safe{"No model here can run this benchmark.", "", "Your own endpoints: evalrouter connections create --help"},
	})}
	s.list = s.list.Drawn(rowOf(nil))
	var e kit.Effect
	s.list, e = s.list.Read(false)
	return s, kit.Do(e)
}

// rowOf draws rows as they are with some of them chosen.
func rowOf(chosen map[string]*api.ReasoningChoice) func(offer) kit.Row {
	return func(o offer) kit.Row {
		mark, think := plain.Safe("[ ]"), show.Controls(o.reasoning)
		choice, has := chosen[o.key()]
		switch {
		case !o.runs:
			mark, think = " - ", "not runnable here: "+o.why
		case has:
			mark = "[x]"
			if choice != nil {
				think = show.Reasoning(choice)
			}
		}
		name := o.id
		if o.own {
			name = o.name + " (your connection)"
		}
		return kit.Row{mark, plain.Line(name), o.in, o.out, plain.Line(think), plain.Line(show.Kind(o.practice))}
	}
}

func (s models) has(o offer) bool {
	_, ok := s.chosen[o.key()]
	return ok
}

// Update toggles with Space and Enter, and goes on with Tab from any row.
func (s models) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	if s.asking != nil {
		if answered, done := s.answer(m); done {
			return answered, nil
		}
	}
	if p, ok := m.(kit.Press); ok {
		s.note = ""
		switch {
		case p.Key == kit.Enter || p.Key == kit.Char && p.Rune == ' ':
			return s.toggle(), nil
		case p.Key == kit.Tab:
			return s.proceed()
		case p.Key == kit.Right && !s.list.Filtering():
			return s.open(), nil
		}
	}
	list, effects, took := s.list.Update(m)
	s.list = list
	if !took && listing.IsBack(m, s.list.Filtering()) {
		return s, kit.Do(kit.Back{})
	}
	return s, effects
}

func (s models) toggle() models {
	r, ok := s.list.Selected()
	switch {
	case !ok:
		return s
	case !r.runs:
		s.note = show.F("%s cannot run %s: %s", r.id, s.bench.ID, r.why)
		return s
	case s.has(r):
		s.chosen = maps.Clone(s.chosen)
		delete(s.chosen, r.key())
		s.note = show.F("%s is not chosen any more; %s", r.name, s.count())
		return s.drawn()
	case len(s.chosen) == route.MostModels:
		s.note = show.F("%d models are the most; %s is not chosen", route.MostModels, r.name)
		return s
	}
	return s.with(r, nil).open()
}

// with is the checklist with a model chosen.
func (s models) with(r offer, choice *api.ReasoningChoice) models {
	s.chosen = maps.Clone(s.chosen)
	if s.chosen == nil {
		s.chosen = map[string]*api.ReasoningChoice{}
	}
	s.chosen[r.key()] = choice
	return s.drawn()
}

func (s models) count() string {
	return fmt.Sprintf("%d of %d chosen", len(s.chosen), route.MostModels)
}

// drawn is after a change of the row under the cursor.
func (s models) drawn() models {
	s.list = s.list.DrawnHere(rowOf(s.chosen))
	return s
}

// open asks for the reasoning of the model under the cursor, where there is
// something to choose.
func (s models) open() models {
	r, ok := s.list.Selected()
	if !ok || !s.has(r) {
		return s
	}
	if s.asking = newAsk(r); s.asking == nil && s.note == "" {
		s.note = show.F("%s; Tab continues. Its reasoning is no choice", s.count())
	}
	return s
}

// answer gives keys to the open question. Tab and F5 are not its.
func (s models) answer(m kit.Msg) (models, bool) {
	p, ok := m.(kit.Press)
	if !ok {
		_, pasted := m.(kit.Paste)
		_, clicked := m.(kit.Mouse)
		return s, pasted || clicked // the question is about the row that it was asked for
	}
	if p.Key == kit.Tab {
		return s, false
	}
	a, choice, done := s.asking.press(p)
	s.asking = &a
	if r, ok := s.list.Selected(); done && ok {
		s.asking = nil
		s.note = show.F("%s; Tab continues", s.count())
		s = s.with(r, choice)
	}
	return s, true
}

func (s models) proceed() (kit.Screen, []kit.Effect) {
	if s.asking != nil {
		s.note = "Choose the reasoning first: ↑↓ and Enter"
		return s, nil
	}
	d := route.Draft{Benchmark: s.bench}
	for _, r := range s.list.Items() {
		if !s.has(r) || !r.runs {
			continue
		}
		p := route.Pick{Model: api.ModelRef{Kind: api.ManagedKind, RouteID: r.id}, Name: r.name, Reasoning: s.chosen[r.key()], Practice: r.practice}
		if r.connection != "" {
			p.Model = api.ModelRef{Kind: api.ConnectionKind, ConnectionID: r.connection}
		}
		d.Picks = append(d.Picks, p)
	}
	if len(d.Picks) == 0 {
		s.note = "Choose a model first: Space or Enter on its row"
		return s, nil
	}
	return s, kit.Do(kit.Go{To: route.Cover{Draft: d}})
}

// View draws the list, and the question below it.
func (s models) View(c kit.Canvas) {
	w, h := c.Size()
	if s.asking == nil {
		s.list.View(c)
		return
	}
	lines := s.asking.lines(w)
	top := max(h-len(lines)-1, 4)
	s.list.View(c.Sub(0, 0, w, top-1))
	s.asking.view(c.Sub(0, top, w, h-top))
}

// Head names the keys of the checklist.
func (s models) Head() kit.Head {
	h := kit.Head{Place: show.F("Run  2/4  Models for %s", s.bench.ID), Note: s.note, Keys: []kit.Binding{
		{Keys: "Space/Enter", Does: "toggle"}, {Keys: "Tab", Does: s.onward()}, {Keys: "Type", Does: "to filter"}, {Keys: "F5", Does: "refresh"},
		{Keys: "→", Does: "opens the reasoning of the chosen model", Quiet: true},
	}}
	if s.asking != nil {
		h.Keys = []kit.Binding{{Keys: "↑↓", Does: "move"}, {Keys: "Enter/Space", Does: "keep it"}, {Keys: "Esc", Does: "leaves it as the route has it"}}
	}
	if h.Note == "" {
		h.Note = s.list.Note()
	}
	if h.Note == "" && len(s.chosen) > 0 {
		h.Note = show.F("%s", s.count())
	}
	return h
}

func (s models) onward() plain.Safe {
	if len(s.chosen) < 2 {
		return "continue"
	}
	return show.F("continue with %d models", len(s.chosen))
}
