package catalog

import (
	"context"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// models is the list of managed routes.
type models struct {
	list   listing.Listing[entry]
	clicks listing.Opens
}

// entry is what the list keeps of a model: there can be a hundred thousand, and
// one that is opened is read again.
type entry struct {
	id  string
	row kit.Packed
}

func entryOf(m api.ManagedRoute) entry {
	row := kit.Row{
		plain.Line(m.ID), plain.Line(m.DisplayName),
		price(m.Pricing, func(p *api.Pricing) *usd.Micro { return p.InputMicrousd }),
		price(m.Pricing, func(p *api.Pricing) *usd.Micro { return p.OutputMicrousd }),
		plain.Line(show.Controls(m.Reasoning)), plain.Line(show.Kind(m.Simulated)), plain.Line(m.Provider),
	}.Pack()
	if strings.HasPrefix(string(row), m.ID) {
		return entry{string(row[:len(m.ID)]), row} // the same memory
	}
	return entry{m.ID, row}
}

func price(p *api.Pricing, get func(*api.Pricing) *usd.Micro) plain.Safe {
	if p == nil || get(p) == nil {
		return "-"
	}
	return plain.Line(show.Money(*get(p)))
}

// Models is the list of models.
func Models(r Reader) (kit.Screen, []kit.Effect) {
	s := models{list: listing.New(listing.Spec[entry]{
		What: "models",
		Load: func(ctx context.Context, fresh bool) ([]entry, error) {
			return listing.Collect(r.Models(ctx, fresh), entryOf)
		},
		Columns: []kit.Column{
			{Name: "MODEL"}, {Name: "NAME", Drop: 4}, {Name: "IN $/1M", Right: true}, {Name: "OUT $/1M", Right: true},
			{Name: "REASONING", Drop: 1}, {Name: "KIND"}, {Name: "PROVIDER", Drop: 3},
		},
		Row:   func(e entry) kit.Row { return e.row.Row() },
		Key:   func(e entry) string { return e.id },
		Empty: []plain.Safe{"This service offers no models.", "", "Your own endpoints: evalrouter connections create --help"},
	})}
	var e kit.Effect
	s.list, e = s.list.Read(false)
	return s, kit.Do(e)
}

// Update filters, opens and refreshes.
func (s models) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	var opened bool
	s.clicks, opened = s.clicks.Click(m)
	if opened || listing.IsEnter(m) {
		if e, ok := s.list.Selected(); ok {
			return s, kit.Do(kit.Go{To: route.Model{ID: e.id}})
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
func (s models) View(c kit.Canvas) { s.list.View(c) }

// Head names the keys of the list.
func (s models) Head() kit.Head {
	return kit.Head{Place: "Models", Note: s.list.Note(), Keys: listKeys("open")}
}
