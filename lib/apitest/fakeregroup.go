package apitest

import (
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// name is the id of a group as records have it, nil for none.
func (g *fakeGroup) name() *string {
	if g == nil {
		return nil
	}
	return &g.id
}

// GroupID is the id of a group by its place, from the first that was started.
func (f *Fake) GroupID(place int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, g := range f.groups {
		if g.id == "" {
			continue
		}
		if place == 0 {
			return g.id
		}
		place--
	}
	return ""
}

// continueGroup quotes what is left of each member of a group, from the newest run
// of its chain, under one cap.
func (f *Fake) continueGroup(in *request) (*reply, *failure) {
	f.advance()
	g, x := f.joined(in.PathValue("id"))
	if x != nil {
		return nil, x
	}
	var n api.NewContinuationQuote
	if x := in.decode(&n); x != nil {
		return nil, x
	}
	if g.after != nil {
		newest := g.after
		for newest.after != nil {
			newest = newest.after
		}
		return nil, refuse(http.StatusConflict, api.ContinuationExists, "the group was resumed already").with("group_id", newest.id)
	}
	next, x := f.regroup(g, n)
	if x != nil {
		return nil, x
	}
	if !next.quote.Preview {
		f.groups = append(f.groups, next)
	}
	return ok(next.quote)
}

// regroup is the quote of a group's continuation. Members that have nothing to go
// on with stand aside with the reason.
func (f *Fake) regroup(g *fakeGroup, n api.NewContinuationQuote) (*fakeGroup, *failure) {
	first := g
	for first.source != nil {
		first = first.source
	}
	next := &fakeGroup{source: g}
	all := n
	all.MaxChargeMicrousd = nil // of one member it is known only once all are
	members, aside := []api.GroupQuoteMember{}, []map[string]any{}
	for place, r := range first.runs {
		_, newest := f.chainOf(r)
		q, x := f.continuation(newest, all)
		if x != nil && x.code == api.RetryUnknownLimit {
			return nil, x
		}
		if x != nil {
			m := memberOf(newest.quote, place)
			m.MaxChargeMicrousd, m.MinimumCapMicrousd, m.Continuation = nil, nil, nil
			m.Eligible, m.SourceRunID, m.IneligibleReason = false, &newest.rec.ID, new(string(x.code))
			members = append(members, m)
			aside = append(aside, map[string]any{"member": place, "run_id": newest.rec.ID, "reason": x.code})
			continue
		}
		next.quotes, next.places = append(next.quotes, q), append(next.places, place)
		m := memberOf(q, place)
		m.SourceRunID = &newest.rec.ID
		members = append(members, m)
	}
	if len(next.quotes) == 0 {
		code := api.NothingToResume
		if slices.ContainsFunc(aside, func(a map[string]any) bool { return a["reason"] == api.RunNotFinished }) {
			code = api.RunNotFinished
		}
		return nil, refuse(http.StatusConflict, code, "nothing of this group can be resumed; nothing was quoted").with("members", aside)
	}
	return next, next.share(g, members, n.MaxChargeMicrousd)
}

// share fills the quote in and gives each member its part of the cap.
func (g *fakeGroup) share(source *fakeGroup, members []api.GroupQuoteMember, limit *usd.Micro) *failure {
	var least usd.Micro
	for i, q := range g.quotes {
		least += q.worst
		if limit == nil {
			continue
		}
		q.cap = *limit / usd.Micro(len(g.quotes))
		if usd.Micro(i) < *limit%usd.Micro(len(g.quotes)) {
			q.cap++
		}
		at := slices.IndexFunc(members, func(m api.GroupQuoteMember) bool { return m.Index == g.places[i] })
		members[at].MaxChargeMicrousd, q.rec.MaxChargeMicrousd, q.rec.Preview = &q.cap, &q.cap, false
	}
	if limit != nil && *limit < least {
		return refuse(http.StatusUnprocessableEntity, api.CapBelowMinimum, "not one task of each can start under this cap").with("minimum_cap_microusd", least)
	}
	q := g.quotes[0].rec
	g.quote = source.quote
	g.quote.ID, g.quote.Status, g.quote.GroupID, g.quote.SourceGroupID = uuid.NewString(), "open", nil, &source.id
	g.quote.CreatedAt, g.quote.ExpiresAt, g.quote.ExpiresIn = q.CreatedAt, q.ExpiresAt, q.ExpiresIn
	g.quote.MaxChargeMicrousd, g.quote.MinimumCapMicrousd, g.quote.Members, g.quote.Preview = limit, &least, members, limit == nil
	return nil
}

// claim says whether the runs of a quote may start, before any of them does: no
// other group goes on with its source, no other run with theirs, and its consents
// are there.
func (g *fakeGroup) claim(a *api.Acknowledgements) *failure {
	if g.source != nil && g.source.after != nil {
		return refuse(http.StatusConflict, api.ContinuationExists, "the group was resumed already; nothing was started").with("group_id", g.source.after.id)
	}
	for i, q := range g.quotes {
		if x := agreed(q, a); x != nil {
			return x.with("member", i)
		}
	}
	return nil
}
