package launch

import (
	"encoding/json"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// offer is what the checklist keeps of a model or connection: there can be very
// many of them.
type offer struct {
	id, name   string
	connection string // its id, "" for a managed route
	*terms
}

// terms are what many offers have in common, and share.
type terms struct {
	in, out   plain.Safe
	why       string // it does not run here
	reasoning *api.ReasoningControls
	runs, own bool
	practice  bool
}

func (o offer) key() string {
	if o.connection != "" {
		return "connection:" + o.connection
	}
	return o.id
}

// keeper makes offers, with the terms of those before where they are the same.
type keeper map[keptTerms]*terms

// keptTerms are terms as they can be compared: their reasoning is its JSON.
type keptTerms struct {
	terms
	controls string
}

func (k keeper) offer(r api.CompatibleRoute) offer {
	o := offer{id: r.ID, name: r.DisplayName}
	if r.ConnectionID != nil {
		o.connection = *r.ConnectionID
	}
	t := terms{in: price(r.Pricing, true), out: price(r.Pricing, false), runs: r.Compatible, own: r.Kind == api.ConnectionKind, practice: r.Simulated}
	if !r.Compatible {
		t.why = reason(r)
	}
	controls, _ := json.Marshal(r.Reasoning) // texts and numbers alone
	same := keptTerms{t, string(controls)}
	if o.terms = k[same]; o.terms == nil {
		t.reasoning = r.Reasoning
		o.terms = &t
		k[same] = o.terms
	}
	return o
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
