package httpapi

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/offer"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/optional"
	"github.com/evalrouter/evalrouter/lib/api"
)

type modelsInput struct {
	Paging
	Q          string `query:"q"`
	Provider   string `query:"provider"`
	Capability string `query:"capability"`
	Conditional
}

func (s *Server) listModels(ctx context.Context, in *modelsInput) (*cacheable[api.Page[api.ManagedRoute]], error) {
	routes := s.routesLike(in.Q, in.Provider, in.Capability)
	page, err := slicePage("models", routes, in.Paging, core.Target.Name, offer.ManagedRoute)
	if err != nil {
		return nil, err
	}
	return conditionally(ctx, in.Conditional, page.Body)
}

func (s *Server) routesLike(q, provider, capability string) []core.Target {
	var out []core.Target
	for _, t := range s.o.Catalog.Routes() {
		if mentions(q, string(t.RouteID), t.ModelID, t.DisplayName) && equals(provider, t.Provider) && offered(capability, offer.Capabilities(t.Offers)) {
			out = append(out, t)
		}
	}
	return out
}

// offered says that a filter by capability lets something through.
func offered(capability string, has []string) bool {
	return capability == "" || slices.Contains(has, capability)
}

type routeInput struct {
	ID string `path:"id"`
	Conditional
}

func (s *Server) getModel(ctx context.Context, in *routeInput) (*cacheable[api.ManagedRoute], error) {
	t, ok := s.o.Catalog.Route(core.RouteID(in.ID))
	if !ok {
		return nil, core.Missing("model route")
	}
	return conditionally(ctx, in.Conditional, offer.ManagedRoute(t))
}

type compatibilityInput struct {
	Paging
	ProfileID string `query:"profile_id"`
	Q         string `query:"q"`
	Provider  string `query:"provider"`
}

// compatibility lists managed routes, and for a known caller the own
// connections, with the answer to "can it run this benchmark".
func (s *Server) compatibility(ctx context.Context, in *compatibilityInput) (*answer[api.Page[api.CompatibleRoute]], error) {
	var profile *core.Profile
	if in.ProfileID != "" {
		p, err := s.o.Catalog.Profile(ctx, scopeOf(ctx), core.ProfileID(in.ProfileID))
		if err != nil {
			return nil, err
		}
		profile = &p
	}
	all := []candidate{}
	for _, t := range s.routesLike(in.Q, in.Provider, "") {
		all = append(all, candidate{target: t})
	}
	if Require(ctx, scopeConnectionsRead) == nil {
		own, err := s.ownCandidates(ctx, in.Q, in.Provider)
		if err != nil {
			return nil, err
		}
		all = append(all, own...)
	}
	var failed error
	page, err := slicePage("compatibility", all, in.Paging, func(c candidate) string { return c.target.Name() }, func(c candidate) api.CompatibleRoute {
		r, err := s.compatible(ctx, c, profile)
		failed = errors.Join(failed, err)
		return r
	})
	return page, errors.Join(err, failed)
}

// candidate is a target with the refusal that already stands against it.
type candidate struct {
	target  core.Target
	refused *core.Refusal
}

func (s *Server) ownCandidates(ctx context.Context, q, provider string) ([]candidate, error) {
	list, err := s.o.Connections.List(ctx, scopeOf(ctx))
	if err != nil {
		return nil, err
	}
	var out []candidate
	for _, c := range list {
		if c.DisabledAt != 0 || !mentions(q, c.Name, c.ModelID) || !equals(provider, "connection") {
			continue
		}
		t, err := admission.TargetOf(c)
		var refused *core.Refusal
		if err != nil && !errors.As(err, &refused) {
			return nil, err
		}
		if refused != nil {
			t = core.Target{Kind: core.Connection, ConnectionID: c.ID, ModelID: c.ModelID, DisplayName: c.Name, Provider: "connection", Protocol: c.Protocol,
				Revision: c.Revision, ContextWindow: c.ContextWindow, MaxOutputTokens: c.MaxOutputTokens, Status: "active"}
		}
		out = append(out, candidate{t, refused})
	}
	return out, nil
}

// compatible asks for a preview quote where it can: what the quote says is
// what counts.
func (s *Server) compatible(ctx context.Context, c candidate, p *core.Profile) (api.CompatibleRoute, error) {
	r := api.CompatibleRoute{ManagedRoute: offer.ManagedRoute(c.target), Compatible: true, Reasons: []api.Reason{}, OutputFormats: []string{"default"}, Kind: c.target.Kind}
	if c.target.Kind == core.Connection {
		r.ManagedRoute, r.ConnectionID = offer.ConnectionRoute(c.target), optional.Text(c.target.ConnectionID)
	}
	refuse := func(no *core.Refusal) {
		code := string(no.Code)
		if reason, ok := no.Details["reason"].(string); ok && strings.HasSuffix(reason, admission.Required) {
			code = "missing_capability"
		}
		r.Compatible, r.Reasons = false, append(r.Reasons, api.Reason{Code: code, Message: no.Message})
	}
	switch {
	case c.refused != nil:
		refuse(c.refused)
	case c.target.JudgeOnly:
		refuse(core.Refuse(core.JudgeOnlyRoute, "this route only grades answers"))
	case c.target.Status != "active":
		refuse(core.Refuse(core.ModelUnavailable, "this route is not offered now"))
	case p != nil && callerOf(ctx).known():
		q, err := s.o.Admission.Quote(ctx, scopeOf(ctx), admission.QuoteRequest{Profile: p.ID, Route: c.target.RouteID, Connection: c.target.ConnectionID, Preview: true})
		var no *core.Refusal
		switch {
		case errors.As(err, &no):
			refuse(no)
		case err != nil:
			return r, err
		case q.Target.Priced:
			r.MinimumCapMicrousd = new(q.MinCap)
		}
	}
	return r, nil
}
