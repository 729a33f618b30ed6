package apitest

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// fakeGroup is a group quote with what became of it. Its members are runs.
type fakeGroup struct {
	quote  api.GroupQuoteRecord
	quotes []*fakeQuote
	id     string // "" until it was started
	at     time.Time
	runs   []*fakeRun
	// source is the group that this one goes on with, and after the one that goes
	// on with it. places are where the members stand in the first of them all.
	source, after *fakeGroup
	places        []int
}

func (f *Fake) groupRoutes() []route {
	return []route{
		{"POST /v1/group-quotes", "eval:write", false, f.createGroupQuote},
		{"GET /v1/group-quotes/{id}", "eval:read", false, f.getGroupQuote},
		{"POST /v1/groups/{id}/continuation-quotes", "eval:write", false, f.continueGroup},
		{"POST /v1/groups", "eval:write", true, f.createGroup},
		{"GET /v1/groups", "eval:read", false, f.listGroups},
		{"GET /v1/groups/{id}", "eval:read", false, f.getGroup},
		{"POST /v1/groups/{id}/cancel", "eval:write", false, f.cancelGroup},
	}
}

func (f *Fake) createGroupQuote(in *request) (*reply, *failure) {
	var n api.NewGroupQuote
	if x := in.decode(&n); x != nil {
		return nil, x
	}
	count := len(n.Members)
	if count < 2 || count > 8 {
		return nil, invalid(api.FieldError{Path: "members", Code: "out_of_range"})
	}
	g := &fakeGroup{}
	var least, total usd.Micro
	if n.MaxChargeMicrousd != nil {
		total = *n.MaxChargeMicrousd
	}
	for i, m := range n.Members {
		one := api.NewQuote{Selection: n.Selection, Model: m.Model, Coverage: n.Coverage, Reasoning: m.Reasoning, Concurrency: n.Concurrency, OutputFormat: m.OutputFormat, Preview: true}
		if n.MaxChargeMicrousd != nil {
			share := total / usd.Micro(count)
			if usd.Micro(i) < total%usd.Micro(count) {
				share++
			}
			one.MaxChargeMicrousd = &share
		}
		q, x := f.quote(one)
		if x != nil {
			return nil, x
		}
		q.rec.Preview = n.Preview
		least += q.worst
		g.quotes = append(g.quotes, q)
	}
	first := g.quotes[0].rec
	g.quote = api.GroupQuoteRecord{
		ID: uuid.NewString(), Status: "open", CreatedAt: first.CreatedAt, ExpiresAt: first.ExpiresAt, ExpiresIn: first.ExpiresIn, MaxChargeMicrousd: n.MaxChargeMicrousd, MinimumCapMicrousd: &least,
		PriceVersion: first.PriceVersion, SelectionSource: first.Plan.SelectionSource, Coverage: first.Plan.Coverage, Profiles: first.Plan.Profiles, TotalTasks: first.Plan.TotalTasks,
		Warnings: []string{}, Retention: first.Retention, Members: []api.GroupQuoteMember{}, Preview: n.Preview,
	}
	if n.Name != nil {
		g.quote.Name = *n.Name
	}
	for i, q := range g.quotes {
		g.quote.Members = append(g.quote.Members, memberOf(q, i))
	}
	if !n.Preview {
		f.groups = append(f.groups, g)
	}
	return ok(g.quote)
}

func memberOf(q *fakeQuote, place int) api.GroupQuoteMember {
	return api.GroupQuoteMember{
		Index: place, Model: q.model, Pricing: q.rec.Plan.Pricing, Reasoning: q.rec.Reasoning, OutputFormat: q.rec.OutputFormat, Concurrency: q.rec.Concurrency,
		MaxChargeMicrousd: q.rec.MaxChargeMicrousd, MinimumCapMicrousd: q.rec.MinimumCapMicrousd, Warnings: q.rec.Plan.Warnings, Continuation: q.rec.Continuation, Eligible: true,
	}
}

func (f *Fake) getGroupQuote(in *request) (*reply, *failure) {
	for _, g := range f.groups {
		if g.quote.ID == in.PathValue("id") {
			return ok(g.quote)
		}
	}
	return nil, notFound("group quote")
}

func (f *Fake) createGroup(in *request) (*reply, *failure) {
	var n api.NewGroup
	if x := in.decode(&n); x != nil {
		return nil, x
	}
	i := slices.IndexFunc(f.groups, func(g *fakeGroup) bool { return g.quote.ID == n.GroupQuoteID })
	if i < 0 {
		return nil, notFound("group quote")
	}
	g := f.groups[i]
	var total usd.Micro
	for _, q := range g.quotes {
		total += q.cap
	}
	switch {
	case g.id != "":
		return nil, refuse(http.StatusConflict, api.QuoteAlreadyAccepted, "the quote has started a group already").with("group_id", g.id)
	case !f.now().Before(g.quote.ExpiresAt):
		return nil, refuse(http.StatusGone, api.QuoteExpired, "the quote has expired; nothing was started")
	case total > f.balance-f.held:
		return nil, refuse(http.StatusPaymentRequired, api.InsufficientCredit, "the credit does not cover the caps; nothing was started").
			with("required_microusd", total).with("available_microusd", f.balance-f.held)
	}
	if x := g.claim(n.Acknowledgements); x != nil {
		return nil, x
	}
	g.id, g.at = uuid.NewString(), f.now()
	g.quote.Status, g.quote.GroupID = "accepted", &g.id
	for _, q := range g.quotes {
		r, x := f.start(q, g.quote.Name, n.Metadata)
		if x != nil {
			return nil, x
		}
		r.rec.GroupID = &g.id
		g.runs = append(g.runs, r)
	}
	if g.source != nil {
		g.source.after = g
	}
	return ok(f.groupRecord(g))
}

func (f *Fake) joined(id string) (*fakeGroup, *failure) {
	for _, g := range f.groups {
		if g.id != "" && g.id == id {
			return g, nil
		}
	}
	return nil, notFound("group")
}

func (f *Fake) getGroup(in *request) (*reply, *failure) {
	f.advance()
	g, x := f.joined(in.PathValue("id"))
	if x != nil {
		return nil, x
	}
	return ok(f.groupRecord(g))
}

func (f *Fake) listGroups(in *request) (*reply, *failure) {
	f.advance()
	all := []api.GroupRecord{}
	for _, g := range slices.Backward(f.groups) {
		if g.id != "" && strings.HasPrefix(g.id, in.URL.Query().Get("id_prefix")) {
			all = append(all, f.groupRecord(g))
		}
	}
	return page(in, all)
}

func (f *Fake) cancelGroup(in *request) (*reply, *failure) {
	f.advance()
	g, x := f.joined(in.PathValue("id"))
	if x != nil {
		return nil, x
	}
	for _, r := range g.runs {
		if !r.rec.Status.Terminal() && r.rec.CancelRequestedAt == nil {
			r.rec.Status, r.rec.CancelRequestedAt = api.StatusCancelling, new(f.now())
		}
	}
	return ok(f.groupRecord(g))
}

func (f *Fake) groupRecord(g *fakeGroup) api.GroupRecord {
	out := api.GroupRecord{
		ID: g.id, Name: g.quote.Name, GroupQuoteID: g.quote.ID, Status: g.runs[0].rec.Status, BillingState: "settled", CreatedAt: g.at, Coverage: &g.quote.Coverage, Profiles: g.quote.Profiles,
		Metadata: map[string]string{}, Members: []api.GroupMember{}, SourceGroupID: g.source.name(), ContinuedByGroupID: g.after.name(), Links: api.RunLinks{Report: new(f.URL + "/g/" + g.id), Live: new(f.URL + "/g/" + g.id + "/live")},
	}
	ended := true
	for i, r := range g.runs {
		rec := r.rec
		out.CapMicrousd += rec.CapMicrousd
		out.ReservedMicrousd += rec.ReservedMicrousd
		out.SpendMicrousd += rec.SpendMicrousd
		out.StartedAt = cmpTime(out.StartedAt, rec.StartedAt, false)
		out.FinishedAt = cmpTime(out.FinishedAt, rec.FinishedAt, true)
		if ended = ended && rec.Status.Terminal(); rec.Status != out.Status {
			out.Status = api.StatusPartial
		}
		if rec.BillingState != "settled" {
			out.BillingState = rec.BillingState
		}
		out.Members = append(out.Members, api.GroupMember{
			Index: i, RunID: rec.ID, Model: *rec.Model.Selected, Reasoning: rec.Reasoning, Status: rec.Status, TerminalReason: rec.TerminalReason, PlannedCount: rec.PlannedCount,
			ProcessedCount: rec.ProcessedCount, GradedCount: rec.GradedCount, ErrorCount: rec.ErrorCount, CapMicrousd: rec.CapMicrousd, ReservedMicrousd: rec.ReservedMicrousd,
			SpendMicrousd: rec.SpendMicrousd, Headline: rec.Headline, Resume: rec.Resume,
		})
	}
	if !ended {
		out.Status, out.FinishedAt = api.StatusRunning, nil
	}
	return out
}

func cmpTime(a, b *time.Time, later bool) *time.Time {
	if a == nil || b != nil && b.After(*a) == later {
		return b
	}
	return a
}
