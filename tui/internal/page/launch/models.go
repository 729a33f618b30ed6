// Package launch is the steps between a benchmark and its quote: the model and
// its reasoning, then the coverage and the cap. Nothing is quoted here.
//
// One run takes one model: the client has no groups yet.
package launch

import (
	"context"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// Reader reads which models can run a benchmark.
type Reader interface {
	Compatible(ctx context.Context, profile string) ([]api.CompatibleRoute, error)
}

type models struct {
	bench  api.BenchmarkRecord
	list   listing.Listing[api.CompatibleRoute]
	chosen string // key of the chosen row, "" for none
	choice *api.ReasoningChoice
	asking *ask
	note   plain.Safe
}

// Models is the checklist of the models that can run a benchmark.
func Models(r Reader, b api.BenchmarkRecord) (kit.Screen, []kit.Effect) {
	s := models{bench: b, list: listing.New(listing.Spec[api.CompatibleRoute]{
		What: "models for " + b.ID,
		Load: func(ctx context.Context, _ bool) ([]api.CompatibleRoute, error) { return r.Compatible(ctx, b.ID) },
		Columns: []kit.Column{
			{Name: ""}, {Name: "MODEL"}, {Name: "IN $/1M", Right: true, Drop: 2}, {Name: "OUT $/1M", Right: true, Drop: 1}, {Name: "REASONING"}, {Name: "KIND"},
		},
		Key:   key,
		Empty: []plain.Safe{"No model here can run this benchmark.", "", "Your own endpoints: evalrouter connections create --help"},
	})}
	s.list = s.list.Drawn(s.row)
	var e kit.Effect
	s.list, e = s.list.Read(false)
	return s, kit.Do(e)
}

func key(r api.CompatibleRoute) string {
	if r.ConnectionID != nil {
		return "connection:" + *r.ConnectionID
	}
	return r.ID
}

func (s models) row(r api.CompatibleRoute) kit.Row {
	mark, think := plain.Safe("[ ]"), show.Controls(r.Reasoning)
	switch {
	case !r.Compatible:
		mark, think = " - ", "not runnable here: "+reason(r)
	case key(r) == s.chosen:
		mark = "[x]"
		if s.choice != nil {
			think = show.Reasoning(s.choice)
		}
	}
	name := r.ID
	if r.Kind == api.ConnectionKind {
		name = r.DisplayName + " (your connection)"
	}
	return kit.Row{mark, plain.Line(name), price(r.Pricing, true), price(r.Pricing, false), plain.Line(think), plain.Line(show.Kind(r.Simulated))}
}

func reason(r api.CompatibleRoute) string {
	if len(r.Reasons) == 0 {
		return "no reason given"
	}
	return r.Reasons[0].Message
}

func price(p *api.Pricing, in bool) plain.Safe {
	var m *usd.Micro
	switch {
	case p == nil:
		return "yours"
	case in:
		m = p.InputMicrousd
	default:
		m = p.OutputMicrousd
	}
	if m == nil {
		return "-"
	}
	return plain.Line(show.Money(*m))
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
	case !r.Compatible:
		s.note = show.F("%s cannot run %s: %s", r.ID, s.bench.ID, reason(r))
		return s
	case key(r) == s.chosen:
		s.chosen, s.choice, s.note = "", nil, "Not chosen any more"
		return s.drawn()
	}
	if s.chosen != "" {
		s.note = show.F("%s chosen instead: one run takes one model", r.DisplayName)
	}
	s.chosen, s.choice = key(r), nil
	return s.drawn().open()
}

func (s models) drawn() models {
	s.list = s.list.Drawn(s.row)
	return s
}

// open asks for the reasoning of the chosen model, where there is something to
// choose.
func (s models) open() models {
	r, ok := s.list.Selected()
	if !ok || key(r) != s.chosen {
		return s
	}
	if s.asking = newAsk(r); s.asking == nil && s.note == "" {
		s.note = show.F("%s chosen; reasoning: %s, nothing to choose. Tab continues", r.DisplayName, show.Controls(r.Reasoning))
	}
	return s
}

// answer gives keys to the open question. Tab and F5 are not its.
func (s models) answer(m kit.Msg) (models, bool) {
	p, ok := m.(kit.Press)
	if !ok {
		_, pasted := m.(kit.Paste)
		return s, pasted
	}
	if p.Key == kit.Tab {
		return s, false
	}
	a, choice, done := s.asking.press(p)
	s.asking = &a
	if done {
		s.asking, s.choice, s.note = nil, choice, "Tab continues"
		s = s.drawn()
	}
	return s, true
}

func (s models) proceed() (kit.Screen, []kit.Effect) {
	for _, r := range s.list.Items() {
		if key(r) != s.chosen {
			continue
		}
		if s.asking != nil {
			s.note = "Choose the reasoning first: ↑↓ and Enter"
			return s, nil
		}
		d := route.Draft{Benchmark: s.bench, Model: api.ModelRef{Kind: api.ManagedKind, RouteID: r.ID}, ModelName: r.DisplayName, Reasoning: s.choice, Practice: r.Simulated}
		if r.ConnectionID != nil {
			d.Model = api.ModelRef{Kind: api.ConnectionKind, ConnectionID: *r.ConnectionID}
		}
		return s, kit.Do(kit.Go{To: route.Cover{Draft: d}})
	}
	s.note = "Choose a model first: Space or Enter on its row"
	return s, nil
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
	h := kit.Head{Place: show.F("Run  2/4  Model for %s", s.bench.ID), Note: s.note, Keys: []kit.Binding{
		{Keys: "Space/Enter", Does: "toggle"}, {Keys: "Tab", Does: "continue"}, {Keys: "Type", Does: "to filter"}, {Keys: "F5", Does: "refresh"},
		{Keys: "→", Does: "opens the reasoning of the chosen model", Quiet: true},
	}}
	if s.asking != nil {
		h.Keys = []kit.Binding{{Keys: "↑↓", Does: "move"}, {Keys: "Enter/Space", Does: "keep it"}, {Keys: "Esc", Does: "leaves it as the route has it"}}
	}
	if h.Note == "" {
		h.Note = s.list.Note()
	}
	return h
}
