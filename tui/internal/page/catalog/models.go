package catalog

import (
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
	list   listing.Listing[api.ManagedRoute]
	clicks listing.Opens
}

// Models is the list of models.
func Models(r Reader) (kit.Screen, []kit.Effect) {
	type rec = api.ManagedRoute
	price := func(p *api.Pricing, get func(*api.Pricing) *usd.Micro) plain.Safe {
		if p == nil || get(p) == nil {
			return "-"
		}
		return plain.Line(show.Money(*get(p)))
	}
	s := models{list: listing.New(listing.Spec[rec]{
		What: "models", Load: r.Models,
		Columns: []kit.Column{
			{Name: "MODEL"}, {Name: "NAME", Drop: 4}, {Name: "IN $/1M", Right: true}, {Name: "OUT $/1M", Right: true},
			{Name: "REASONING", Drop: 1}, {Name: "KIND"}, {Name: "PROVIDER", Drop: 3},
		},
		Row: func(m rec) kit.Row {
			return kit.Row{
				plain.Line(m.ID), plain.Line(m.DisplayName),
				price(m.Pricing, func(p *api.Pricing) *usd.Micro { return p.InputMicrousd }),
				price(m.Pricing, func(p *api.Pricing) *usd.Micro { return p.OutputMicrousd }),
				plain.Line(show.Controls(m.Reasoning)), plain.Line(show.Kind(m.Simulated)), plain.Line(m.Provider),
			}
		},
		Key:   func(m rec) string { return m.ID },
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
		if r, ok := s.list.Selected(); ok {
			return s, kit.Do(kit.Go{To: route.Model{Record: r}})
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
