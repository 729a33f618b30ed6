package httpapi

import (
	"context"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/connection"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

func (s *Server) listConnections(ctx context.Context, in *pageInput) (*answer[api.Page[api.ConnectionRecord]], error) {
	all, err := s.o.Connections.List(ctx, scopeOf(ctx))
	if err != nil {
		return nil, err
	}
	return slicePage("connections", all, in.Paging, func(c core.ConnectionInfo) string { return string(c.ID) }, connectionRecord)
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
	return reply(connectionRecord(c)), nil
}

func rate(m *usd.Micro) *int64 {
	if m == nil {
		return nil
	}
	return ptr(int64(*m))
}

type connectionInput struct {
	ID string `path:"id"`
}

func (s *Server) checkConnection(ctx context.Context, in *connectionInput) (*answer[api.ConnectionRecord], error) {
	c, err := s.o.Connections.Check(ctx, scopeOf(ctx), core.ConnectionID(in.ID))
	if err != nil {
		return nil, err
	}
	return reply(connectionRecord(c)), nil
}

type updateConnectionInput struct {
	ID string `path:"id"`
	With[api.UpdateConnection]
}

func (s *Server) updateConnection(ctx context.Context, in *updateConnectionInput) (*answer[api.ConnectionRecord], error) {
	u := in.Body.value
	ch := connection.Change{Name: u.Name, MaxOutputTokens: u.MaxOutputTokens, ContextWindow: u.ContextWindow}
	if u.APIKey != nil {
		ch.Key = ptr(provider.NewSecret(*u.APIKey))
	}
	c, err := s.o.Connections.Update(ctx, scopeOf(ctx), core.ConnectionID(in.ID), ch)
	if err != nil {
		return nil, err
	}
	return reply(connectionRecord(c)), nil
}

func (s *Server) disableConnection(ctx context.Context, in *connectionInput) (*answer[api.OKResponse], error) {
	if err := s.o.Connections.Disable(ctx, scopeOf(ctx), core.ConnectionID(in.ID)); err != nil {
		return nil, err
	}
	return reply(api.OKResponse{OK: true}), nil
}
