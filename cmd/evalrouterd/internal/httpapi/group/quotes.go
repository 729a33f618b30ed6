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
	return h.quoted(ctx, core.GroupQuoteState{GroupQuote: g})
}

type continueInput struct {
	ID string `path:"id"`
	httpapi.With[api.NewContinuationQuote]
}

func (h *Handlers) continueGroup(_ *httpapi.Server, ctx context.Context, in *continueInput) (*httpapi.Answer[api.GroupQuoteRecord], error) {
	n := in.Value()
	if n.RetryUnknownMax != nil && *n.RetryUnknownMax < 0 {
		return nil, httpapi.RefuseFields(core.InvalidRequest, "retry_unknown_max is a number of tasks; nothing was quoted", []api.FieldError{{Path: "retry_unknown_max", Code: "out_of_range"}})
	}
	g, err := h.Admission.ContinueGroup(ctx, httpapi.ScopeOf(ctx), admission.GroupContinuationRequest{
		Group: core.GroupID(in.ID), Cap: n.MaxChargeMicrousd, Flags: core.Flags{IncludeCancelled: n.IncludeCancelled, RetryUnknown: n.RetryUnknown}, RetryMax: n.RetryUnknownMax,
	})
	if err != nil {
		return nil, err
	}
	return h.quoted(ctx, core.GroupQuoteState{GroupQuote: g})
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
	return h.quoted(ctx, q)
}

// quoted answers with a group quote, in the order of the group: what it goes on
// with, and beside it what stands aside.
func (h *Handlers) quoted(ctx context.Context, q core.GroupQuoteState) (*httpapi.Answer[api.GroupQuoteRecord], error) {
	out := quoteRecord(q, h.now())
	if c := q.Continuation; c != nil {
		out.SourceGroupID = new(string(c.Source))
		for _, a := range c.Aside {
			m, err := h.aside(ctx, a)
			if err != nil {
				return nil, err
			}
			out.Members = append(out.Members, m)
		}
		slices.SortStableFunc(out.Members, func(a, b api.GroupQuoteMember) int { return a.Index - b.Index })
	}
	return httpapi.Reply(out), nil
}

// aside is a member that is not gone on with, as its newest run was quoted.
func (h *Handlers) aside(ctx context.Context, a core.Aside) (api.GroupQuoteMember, error) {
	run, err := h.Runs.Run(ctx, httpapi.ScopeOf(ctx), a.Run)
	if err != nil {
		return api.GroupQuoteMember{}, err
	}
	q, err := h.Runs.Quote(ctx, httpapi.ScopeOf(ctx), run.QuoteID)
	if err != nil {
		return api.GroupQuoteMember{}, err
	}
	m := memberOf(httpapi.QuoteRecord(core.QuoteState{Quote: q.Quote}, h.now()), a.Place)
	m.MaxChargeMicrousd, m.MinimumCapMicrousd, m.Continuation = nil, nil, nil
	m.SourceRunID, m.Eligible, m.IneligibleReason = new(string(a.Run)), false, &a.Reason
	return m, nil
}

// memberOf is a member's quote in a group's.
func memberOf(q api.QuoteRecord, place int) api.GroupQuoteMember {
	m := api.GroupQuoteMember{
		Index: place, Model: *q.Plan.Model.Selected, Pricing: q.Plan.Pricing, Reasoning: q.Reasoning, OutputFormat: q.OutputFormat, Concurrency: q.Concurrency,
		MaxChargeMicrousd: q.MaxChargeMicrousd, MinimumCapMicrousd: q.MinimumCapMicrousd, ExternalCharges: q.ExternalCharges, Warnings: q.Plan.Warnings,
		Continuation: q.Continuation, Eligible: true,
	}
	if q.Continuation != nil {
		m.SourceRunID = &q.Continuation.SourceRunID
	}
	return m
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
		out.Members = append(out.Members, memberOf(q, g.Place(i)))
	}
	if known {
		out.MinimumCapMicrousd = &least
	}
	return out
}
