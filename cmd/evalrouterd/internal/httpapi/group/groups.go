package group

import (
	"context"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/lineage"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/group"
	"github.com/evalrouter/evalrouter/lib/api"
)

type newInput struct {
	httpapi.Keyed
	httpapi.With[api.NewGroup]
}

func (h *Handlers) create(s *httpapi.Server, ctx context.Context, in *newInput) (*httpapi.Replayable[api.GroupRecord], error) {
	return httpapi.Once[api.GroupRecord](s, ctx, in.Keyed, "POST /v1/groups", in.RawBody, func(o core.Once) (core.Admitted, error) {
		n := in.Value()
		if n.GroupQuoteID == "" {
			return core.Admitted{}, httpapi.RefuseFields(core.InvalidRequest, "a group needs the id of an open group quote; nothing was started", []api.FieldError{{Path: "group_quote_id", Code: "required"}})
		}
		if err := httpapi.RunText(n.Name, n.Metadata); err != nil {
			return core.Admitted{}, err
		}
		if err := h.usable(ctx, core.GroupQuoteID(n.GroupQuoteID)); err != nil {
			return core.Admitted{}, err
		}
		if n.Metadata == nil {
			n.Metadata = map[string]string{}
		}
		// A caller who has no more patience asks again with the same key.
		return h.Admission.StartGroup(context.WithoutCancel(ctx), httpapi.ScopeOf(ctx), admission.GroupRequest{
			Quote: core.GroupQuoteID(n.GroupQuoteID), Name: n.Name, Metadata: n.Metadata, Accepted: lineage.Accepted(n.Acknowledgements), Once: o,
			Encode: func(g core.Group, members []core.GroupMember) ([]byte, error) {
				return httpapi.Record(h.linked(record(g, members, g.CreatedAt)))
			},
		})
	})
}

// usable looks at the connections of a quote that is still open. Whatever else
// is wrong with it, admission says.
func (h *Handlers) usable(ctx context.Context, id core.GroupQuoteID) error {
	q, err := h.Groups.Quote(ctx, httpapi.ScopeOf(ctx), id)
	if err != nil || q.Group != "" {
		return err
	}
	for i, m := range q.Members {
		if err := h.Connections.Usable(ctx, httpapi.ScopeOf(ctx), m.Target); err != nil {
			return about(err, q.Place(i))
		}
	}
	return nil
}

func (h *Handlers) get(_ *httpapi.Server, ctx context.Context, in *idInput) (*httpapi.Answer[api.GroupRecord], error) {
	g, err := h.Groups.Group(ctx, httpapi.ScopeOf(ctx), core.GroupID(in.ID))
	if err != nil {
		return nil, err
	}
	r, err := h.record(ctx, g)
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(r), nil
}

func (h *Handlers) cancel(s *httpapi.Server, ctx context.Context, in *idInput) (*httpapi.Answer[api.GroupRecord], error) {
	sc := httpapi.ScopeOf(ctx)
	g, err := h.Groups.Group(ctx, sc, core.GroupID(in.ID))
	if err != nil {
		return nil, err
	}
	for _, run := range g.Members {
		if err := h.Runs.RequestCancel(ctx, sc, run); err != nil {
			return nil, err
		}
		h.Waker.Wake(sc.Workspace, run)
	}
	return h.get(s, ctx, in)
}

type listInput struct {
	httpapi.Paging
	IDPrefix string `query:"id_prefix" minLength:"4" maxLength:"36"`
	Status   string `query:"status" enum:"queued,running,cancelling,finalizing,completed,partial,failed,cancelled"`
}

// prefixAnswers bounds the groups that a prefix may find: enough to tell unique
// from ambiguous.
const prefixAnswers = 5

// list reads on until the page is full: what a group is doing is not kept, so a
// filter by status looks at each.
func (h *Handlers) list(_ *httpapi.Server, ctx context.Context, in *listInput) (*httpapi.Answer[api.Page[api.GroupRecord]], error) {
	after, err := in.Place("groups")
	if err != nil {
		return nil, err
	}
	if in.IDPrefix != "" {
		in.Limit = prefixAnswers
	}
	var found []api.GroupRecord
	for q := (group.Query{Prefix: in.IDPrefix, After: after, Limit: in.Limit + 1}); len(found) <= in.Limit; {
		some, err := h.Groups.Groups(ctx, httpapi.ScopeOf(ctx), q)
		if err != nil {
			return nil, err
		}
		for _, g := range some {
			r, err := h.record(ctx, g)
			if err != nil {
				return nil, err
			}
			if in.Status == "" || string(r.Status) == in.Status {
				found = append(found, r)
			}
		}
		if len(some) < q.Limit {
			break
		}
		last := some[len(some)-1]
		q.After = &core.Place{At: last.CreatedAt, ID: string(last.ID)}
	}
	place := func(r api.GroupRecord) core.Place {
		return core.Place{At: core.Micros(r.CreatedAt.UnixMicro()), ID: r.ID}
	}
	out := httpapi.PageOf("groups", in.Paging, found, place, func(r api.GroupRecord) api.GroupRecord { return r })
	if in.IDPrefix != "" {
		out.Body.NextCursor = nil
	}
	return out, nil
}

// record reads the members of a group and what follows from them.
func (h *Handlers) record(ctx context.Context, g core.Group) (api.GroupRecord, error) {
	var members []core.GroupMember
	for _, id := range g.Members {
		run, err := h.Runs.Run(ctx, httpapi.ScopeOf(ctx), id)
		if err != nil {
			return api.GroupRecord{}, err
		}
		q, err := h.Runs.Quote(ctx, httpapi.ScopeOf(ctx), run.QuoteID)
		if err != nil {
			return api.GroupRecord{}, err
		}
		members = append(members, core.GroupMember{Run: run, Quote: q.Quote})
	}
	return h.linked(record(g, members, h.now())), nil
}

func (h *Handlers) linked(r api.GroupRecord) api.GroupRecord {
	r.Links = httpapi.LinksOf(h.Origin, "/groups/"+r.ID, "/groups/"+r.ID+"/comparison")
	return r
}

func record(g core.Group, members []core.GroupMember, now core.Micros) api.GroupRecord {
	out := api.GroupRecord{
		ID: string(g.ID), Name: g.Name, GroupQuoteID: string(g.Quote), BillingState: "settled", CreatedAt: httpapi.TimeOf(g.CreatedAt), CapMicrousd: g.Cap,
		Metadata: g.Metadata, Members: []api.GroupMember{},
	}
	if out.Metadata == nil {
		out.Metadata = map[string]string{}
	}
	if g.Source != "" {
		out.SourceGroupID = new(string(g.Source))
	}
	if g.ContinuedBy != "" {
		out.ContinuedByGroupID = new(string(g.ContinuedBy))
	}
	var states []core.State
	for i, m := range members {
		r := httpapi.RunRecord(m.Run, m.Quote, now)
		states = append(states, m.Run.State)
		out.Coverage, out.Profiles = r.Coverage, r.Profiles
		out.ReservedMicrousd += r.ReservedMicrousd
		out.SpendMicrousd += r.SpendMicrousd
		if r.BillingState != "settled" {
			out.BillingState = r.BillingState
		}
		out.StartedAt = earlier(out.StartedAt, r.StartedAt)
		if r.FinishedAt != nil && (out.FinishedAt == nil || r.FinishedAt.After(*out.FinishedAt)) {
			out.FinishedAt = r.FinishedAt
		}
		out.Members = append(out.Members, member(i, r))
	}
	if out.Status = api.RunStatus(core.GroupState(states)); !out.Status.Terminal() {
		out.FinishedAt = nil
	}
	return out
}

func member(i int, r api.RunRecord) api.GroupMember {
	return api.GroupMember{
		Index: i, RunID: r.ID, Model: *r.Model.Selected, Reasoning: r.Reasoning, Status: r.Status, TerminalReason: r.TerminalReason, PlannedCount: r.PlannedCount,
		ProcessedCount: r.ProcessedCount, GradedCount: r.GradedCount, ErrorCount: r.ErrorCount, CapMicrousd: r.CapMicrousd, ReservedMicrousd: r.ReservedMicrousd,
		SpendMicrousd: r.SpendMicrousd, Headline: r.Headline, Resume: r.Resume,
	}
}

func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}
