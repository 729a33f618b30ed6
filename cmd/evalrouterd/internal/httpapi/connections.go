package httpapi

import (
	"context"
	"strconv"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/connection"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/discover"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/offer"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/optional"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

func (s *Server) listConnections(ctx context.Context, in *pageInput) (*answer[api.Page[api.ConnectionRecord]], error) {
	all, err := s.o.Connections.List(ctx, scopeOf(ctx))
	if err != nil {
		return nil, err
	}
	return slicePage("connections", all, in.Paging, func(c core.ConnectionInfo) string { return string(c.ID) }, offer.ConnectionRecord)
}

type newConnectionInput struct{ With[api.NewConnection] }

func (s *Server) createConnection(ctx context.Context, in *newConnectionInput) (*answer[api.ConnectionRecord], error) {
	n := in.Body.value
	c, err := s.o.Connections.Create(ctx, scopeOf(ctx), connection.New{
		Name: n.Name, BaseURL: n.BaseURL, ModelID: n.ModelID, Protocol: n.Protocol, Key: provider.NewSecret(n.APIKey), MaxOutputTokens: n.MaxOutputTokens,
		ContextWindow: n.ContextWindow, MaxConcurrency: n.MaxConcurrency, PriceIn: rate(n.PriceInMicrousd), PriceOut: rate(n.PriceOutMicrousd),
	})
	if err != nil {
		return nil, err
	}
	return reply(offer.ConnectionRecord(c)), nil
}

func rate(m *usd.Micro) *int64 {
	if m == nil {
		return nil
	}
	return new(int64(*m))
}

type connectionInput struct {
	ID string `path:"id"`
}

func (s *Server) checkConnection(ctx context.Context, in *connectionInput) (*answer[api.ConnectionRecord], error) {
	c, err := s.o.Connections.Check(ctx, scopeOf(ctx), core.ConnectionID(in.ID))
	if err != nil {
		return nil, err
	}
	return reply(offer.ConnectionRecord(c)), nil
}

type updateConnectionInput struct {
	ID string `path:"id"`
	With[api.UpdateConnection]
}

func (s *Server) updateConnection(ctx context.Context, in *updateConnectionInput) (*answer[api.ConnectionRecord], error) {
	u := in.Body.value
	ch := connection.Change{Name: u.Name, MaxOutputTokens: u.MaxOutputTokens, ContextWindow: u.ContextWindow}
	if u.APIKey != nil {
		ch.Key = new(provider.NewSecret(*u.APIKey))
	}
	c, err := s.o.Connections.Update(ctx, scopeOf(ctx), core.ConnectionID(in.ID), ch)
	if err != nil {
		return nil, err
	}
	return reply(offer.ConnectionRecord(c)), nil
}

func (s *Server) disableConnection(ctx context.Context, in *connectionInput) (*answer[api.OKResponse], error) {
	if err := s.o.Connections.Disable(ctx, scopeOf(ctx), core.ConnectionID(in.ID)); err != nil {
		return nil, err
	}
	return reply(api.OKResponse{OK: true}), nil
}

// discoverServers looks for model servers on the machine of a local service.
// Elsewhere the machine is not the caller's, and what runs on it is none of
// their business.
func (s *Server) discoverServers(ctx context.Context, _ *none) (*answer[api.DiscoveryRecord], error) {
	if s.o.Discover == nil {
		return nil, feature("discovery", "only a local service looks for model servers; give the address of yours with a connection")
	}
	servers, ports := s.o.Discover(ctx)
	out := api.DiscoveryRecord{Servers: []api.DiscoveredServer{}, Probed: []string{}}
	for _, p := range ports {
		out.Probed = append(out.Probed, "127.0.0.1:"+strconv.Itoa(p))
	}
	for _, found := range servers {
		d := api.DiscoveredServer{
			Server: found.Kind, BaseURL: found.BaseURL, Protocol: core.OpenAIChat, Version: optional.Text(found.Version), NeedsKey: found.NeedsKey, Models: []api.DiscoveredModel{},
		}
		for _, m := range found.Models {
			model := api.DiscoveredModel{ID: m.ID, Remote: m.Remote}
			if m.Context > 0 {
				model.ContextWindow = new(m.Context)
			}
			d.Models = append(d.Models, model)
		}
		switch {
		case found.NeedsKey:
			d.Note = new("it tells its models only with a key")
		case len(found.Models) == 0:
			d.Note = new("it has no models yet")
		case found.Kind == discover.Ollama:
			d.Note = new("it cuts long conversations silently at its context window")
		}
		out.Servers = append(out.Servers, d)
	}
	return reply(out), nil
}
