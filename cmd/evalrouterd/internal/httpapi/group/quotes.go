package group

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

type newQuoteInput struct {
	httpapi.With[api.NewGroupQuote]
}

func (h *Handlers) createQuote(s *httpapi.Server, ctx context.Context, in *newQuoteInput) (*httpapi.Answer[api.GroupQuoteRecord], error) {
	n := in.Value()
	r := admission.GroupQuoteRequest{Cap: n.MaxChargeMicrousd, Preview: n.Preview}
	if n.Name != nil {
		r.Name = *n.Name
	}
	if len(n.Members) > core.MaxMembers { // before each of them is looked up
		return nil, httpapi.RefuseFields(core.InvalidRequest, fmt.Sprintf("a group has %d to %d models; nothing was quoted", core.MinMembers, core.MaxMembers), []api.FieldError{{Path: "members", Code: "out_of_range"}})
	}
	for i, m := range n.Members {
		q, err := s.QuoteRequest(ctx, api.NewQuote{
			Selection: n.Selection, Model: m.Model, Coverage: n.Coverage, MaxChargeMicrousd: m.MaxChargeMicrousd, Reasoning: m.Reasoning,
			Concurrency: n.Concurrency, OutputFormat: m.OutputFormat, Name: n.Name, Preview: true,
		})
		if err != nil {
			return nil, about(err, i)
		}
		r.Members = append(r.Members, q)
	}
	g, err := h.Admission.QuoteGroup(ctx, httpapi.ScopeOf(ctx), r)
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(quoteRecord(core.GroupQuoteState{GroupQuote: g}, h.now())), nil
}

// about says which member a refusal is about.
func about(err error, member int) error {
	var r *core.Refusal
	if errors.As(err, &r) {
		return r.With("member", member)
	}
	return err
}

type idInput struct {
	ID string `path:"id"`
}

func (h *Handlers) getQuote(_ *httpapi.Server, ctx context.Context, in *idInput) (*httpapi.Answer[api.GroupQuoteRecord], error) {
	q, err := h.Groups.Quote(ctx, httpapi.ScopeOf(ctx), core.GroupQuoteID(in.ID))
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(quoteRecord(q, h.now())), nil
}

// quoteRecord is a group quote from the records of its members, so that no
// figure can differ from that of a single quote.
func quoteRecord(g core.GroupQuoteState, now core.Micros) api.GroupQuoteRecord {
	out := api.GroupQuoteRecord{
		ID: string(g.ID), Name: g.Name, Status: "open", CreatedAt: httpapi.TimeOf(g.CreatedAt), ExpiresAt: httpapi.TimeOf(g.ExpiresAt), ExpiresIn: max(0, int64(g.ExpiresAt-now)/1_000_000),
		Warnings: []string{}, Members: []api.GroupQuoteMember{}, Preview: g.Preview,
	}
	if g.Cap > 0 {
		out.MaxChargeMicrousd = &g.Cap
	}
	switch {
	case g.Group != "":
		id := string(g.Group)
		out.Status, out.GroupID = "accepted", &id
	case now >= g.ExpiresAt:
		out.Status = "expired"
	}
	var least usd.Micro
	known := true
	for i, m := range g.Members {
		q := httpapi.QuoteRecord(core.QuoteState{Quote: m}, now)
		if i == 0 {
			out.PriceVersion, out.SelectionSource, out.Coverage, out.Profiles = q.PriceVersion, q.Plan.SelectionSource, q.Plan.Coverage, q.Plan.Profiles
			out.TotalTasks, out.Retention = q.Plan.TotalTasks, q.Retention
		}
		if q.PriceVersion != out.PriceVersion {
			out.PriceVersion = "mixed"
		}
		if known = known && q.MinimumCapMicrousd != nil; known {
			least += *q.MinimumCapMicrousd
		}
		for _, w := range q.Plan.Warnings {
			if !slices.Contains(out.Warnings, w) {
				out.Warnings = append(out.Warnings, w)
			}
		}
		out.Members = append(out.Members, api.GroupQuoteMember{
			Index: i, Model: *q.Plan.Model.Selected, Pricing: q.Plan.Pricing, Reasoning: q.Reasoning, OutputFormat: q.OutputFormat, Concurrency: q.Concurrency,
			MaxChargeMicrousd: q.MaxChargeMicrousd, MinimumCapMicrousd: q.MinimumCapMicrousd, ExternalCharges: q.ExternalCharges, Warnings: q.Plan.Warnings, Eligible: true,
		})
	}
	if known {
		out.MinimumCapMicrousd = &least
	}
	return out
}
