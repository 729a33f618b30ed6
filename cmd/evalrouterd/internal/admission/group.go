package admission

import (
	"context"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Groups keeps group quotes and what becomes of them.
type Groups interface {
	PutQuote(context.Context, core.GroupQuote) error
	Quote(context.Context, core.Scope, core.GroupQuoteID) (core.GroupQuoteState, error)
	// Lineage is the chain of groups that a group belongs to, from the first on.
	Lineage(context.Context, core.Scope, core.GroupID) ([]core.Group, error)
	AdmitGroup(context.Context, core.GroupAdmission) (core.Admitted, error)
}

// GroupQuoteRequest is what a caller asks a group quote for. Every member has
// the same benchmark and coverage. A member's Cap is its own; those without one
// share what is left of Cap.
type GroupQuoteRequest struct {
	Name    string
	Members []QuoteRequest
	Cap     *usd.Micro
	Preview bool
}

// QuoteGroup computes what each member would be and gives each its cap. The
// first member that cannot be quoted refuses the whole; its place is in the
// details.
func (s *Service) QuoteGroup(ctx context.Context, sc core.Scope, r GroupQuoteRequest) (core.GroupQuote, error) {
	if err := r.check(); err != nil {
		return core.GroupQuote{}, err
	}
	g := core.GroupQuote{ID: core.GroupQuoteID(s.NewID()), Workspace: sc.Workspace, Name: r.Name, Preview: r.Preview}
	for i, m := range r.Members {
		m.Preview = true // its cap is decided below
		q, err := s.draft(ctx, sc, m)
		if err != nil {
			return core.GroupQuote{}, ofMember(err, i)
		}
		if q.Group = g.ID; i == 0 {
			g.CreatedAt, g.ExpiresAt = q.CreatedAt, q.ExpiresAt
		}
		q.CreatedAt, q.ExpiresAt, q.Preview = g.CreatedAt, g.ExpiresAt, r.Preview
		for j, o := range g.Members {
			if o.ScopeHash == q.ScopeHash {
				return core.GroupQuote{}, invalid(fmt.Sprintf("members[%d]", i), "repeated", "member %d is the same as member %d: the same model with the same settings; nothing was quoted", i+1, j+1)
			}
		}
		g.Members = append(g.Members, q)
	}
	if r.Cap != nil {
		g.Cap = *r.Cap
		if err := split(&g, r.caps()); err != nil {
			return core.GroupQuote{}, err
		}
	}
	if g.Preview {
		return g, nil
	}
	return g, s.Groups.PutQuote(ctx, g)
}

func (r GroupQuoteRequest) check() error {
	switch n := len(r.Members); {
	case n < core.MinMembers || n > core.MaxMembers:
		return invalid("members", "out_of_range", "a group has %d to %d models; nothing was quoted", core.MinMembers, core.MaxMembers)
	case r.Cap == nil && !r.Preview:
		return invalid("max_charge_microusd", "required", "a group quote needs the spending cap of all its members in max_charge_microusd")
	}
	return bounded(r.Cap)
}

// bounded says whether a cap, if there is one, can be a cap.
func bounded(cap *usd.Micro) error {
	switch {
	case cap == nil:
		return nil
	case *cap <= 0:
		return invalid("max_charge_microusd", "out_of_range", "a spending cap is more than nothing")
	case *cap > core.MaxCap:
		return core.Refuse(core.BudgetLimit, "a cap is at most %s", core.MaxCap).With("limit_microusd", core.MaxCap.Wire())
	}
	return nil
}

// caps are those that members were given themselves, nil where none was.
func (r GroupQuoteRequest) caps() []*usd.Micro {
	out := make([]*usd.Micro, len(r.Members))
	for i, m := range r.Members {
		out[i] = m.Cap
	}
	return out
}

// split gives each member its part of the group's cap. fixed are the caps that
// members were given themselves, nil where none was.
func split(g *core.GroupQuote, fixed []*usd.Micro) error {
	least := make([]usd.Micro, len(g.Members))
	asked := true
	for i, m := range g.Members {
		least[i] = m.MinCap
		asked = asked && fixed[i] != nil
		if c := fixed[i]; c != nil && *c < m.MinCap {
			return core.Refuse(core.CapBelowMinimum, "a cap of %s cannot pay for one task of %s; the smallest useful cap there is %s", *c, m.Target.Name(), m.MinCap).
				With("minimum_cap_microusd", m.MinCap.Wire()).With("member", i)
		}
	}
	caps, ok := core.SplitCap(g.Cap, least, fixed)
	switch {
	case ok:
	case asked:
		return invalid("max_charge_microusd", "not_the_sum", "the members' caps do not add up to the group's; nothing was quoted")
	default:
		need := g.MinCap()
		for i, f := range fixed {
			if f != nil {
				need += *f - least[i]
			}
		}
		return core.Refuse(core.CapBelowMinimum, "a cap of %s cannot pay for one task of each of %d models; the smallest useful cap here is %s", g.Cap, len(g.Members), need).
			With("minimum_cap_microusd", need.Wire())
	}
	for i := range g.Members {
		g.Members[i].Cap = caps[i]
	}
	return nil
}

// startable says whether a member's quote can be accepted as it is, and gives
// what was agreed to beside the start.
func (s *Service) startable(ctx context.Context, sc core.Scope, q core.Quote, accepted []string) ([]core.Consent, error) {
	if err := s.stands(q); err != nil {
		return nil, err
	}
	return s.continuable(ctx, sc, core.QuoteState{Quote: q}, accepted)
}

// ofMember says which member a refusal is about.
func ofMember(err error, i int) error {
	var r *core.Refusal
	if !errors.As(err, &r) {
		return err
	}
	out := core.Refuse(r.Code, "model %d of the group: %s", i+1, r.Message)
	for k, v := range r.Details {
		out.With(k, v)
	}
	return out.With("member", i)
}

// GroupRequest asks to start the runs of a group quote.
type GroupRequest struct {
	Quote    core.GroupQuoteID
	Name     string
	Metadata map[string]string
	// Accepted are the kinds of consent that came with the request, for a
	// continuation. They are for every member.
	Accepted []string
	Once     core.Once
	Encode   func(core.Group, []core.GroupMember) ([]byte, error)
}

// StartGroup admits every member, or replays the answer of an earlier identical
// request.
func (s *Service) StartGroup(ctx context.Context, sc core.Scope, r GroupRequest) (core.Admitted, error) {
	w, err := s.Store.Workspace(ctx, sc.Workspace)
	if err != nil {
		return core.Admitted{}, err
	}
	q, err := s.Groups.Quote(ctx, sc, r.Quote)
	if err != nil {
		return core.Admitted{}, err
	}
	if q.Group == "" && q.Continuation != nil {
		// Before its members: whoever is late is told of the group that was faster.
		if _, err := s.unresumed(ctx, sc, q.Continuation.Source, "started"); err != nil {
			return core.Admitted{}, err
		}
	}
	a := core.GroupAdmission{
		Scope: sc, Quote: r.Quote, Name: r.Name, Metadata: r.Metadata, Once: r.Once, GroupID: core.GroupID(s.NewID()), Practice: w.Practice, Encode: r.Encode,
	}
	for i, m := range q.Members {
		ids := core.MemberIDs{Run: core.RunID(s.NewID()), Transfer: s.NewID(), Consent: s.NewID()}
		if q.Group == "" { // a consumed quote is answered by the store: a replay, or whose group it became
			if ids.Consents, err = s.startable(ctx, sc, m, r.Accepted); err != nil {
				return core.Admitted{}, ofMember(err, q.Place(i))
			}
		}
		a.Members = append(a.Members, ids)
	}
	out, err := s.Groups.AdmitGroup(ctx, a)
	if err != nil || out.Replayed {
		return out, err
	}
	for _, m := range a.Members {
		s.Engine.Wake(sc.Workspace, m.Run)
	}
	return out, nil
}
