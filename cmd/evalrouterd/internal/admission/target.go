package admission

import (
	"context"
	"errors"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// connectionAuto is the concurrency that "auto" means for a connection.
const connectionAuto = 16

// connectionCeiling bounds a connection whose owner set no limit.
const connectionCeiling = 256

func (s *Service) target(ctx context.Context, sc core.Scope, r QuoteRequest) (core.Target, error) {
	if r.Connection != "" {
		c, err := s.Store.Connection(ctx, sc, r.Connection)
		if errors.Is(err, &core.Refusal{Code: core.NotFound}) {
			return core.Target{}, core.Refuse(core.ModelUnavailable, "there is no such connection here")
		}
		if err != nil {
			return core.Target{}, err
		}
		return TargetOf(c)
	}
	t, ok := s.Catalog.Route(r.Route)
	if !ok || t.Status != "active" {
		return core.Target{}, core.Refuse(core.ModelUnavailable, "there is no such model route here; see the catalog's models")
	}
	if t.JudgeOnly {
		return core.Target{}, core.Refuse(core.JudgeOnlyRoute, "%s only grades answers; it cannot be evaluated", t.RouteID)
	}
	return t, nil
}

// TargetOf freezes a connection as a target. A disabled connection and one
// whose newest revision failed its check are refused; one that was never
// checked may run.
func TargetOf(c core.ConnectionInfo) (core.Target, error) {
	switch {
	case c.DisabledAt != 0:
		return core.Target{}, core.Refuse(core.ModelUnavailable, "this connection is disabled")
	case c.Check.Status == "failed":
		return core.Target{}, core.Refuse(core.ConnectionUnverified, "the last check of this connection failed; check it again first").With("connection_id", string(c.ID))
	}
	ceiling := connectionCeiling
	if c.MaxConcurrency > 0 {
		ceiling = c.MaxConcurrency
	}
	t := core.Target{
		Kind: core.Connection, ConnectionID: c.ID, ModelID: c.ModelID, DisplayName: c.Name, Provider: "connection", Protocol: c.Protocol,
		Revision: c.Revision, BaseURL: c.BaseURL, ContextWindow: c.ContextWindow, MaxOutputTokens: c.MaxOutputTokens,
		Ceiling: ceiling, Auto: min(connectionAuto, ceiling), Status: "active", Offers: c.Check.Offers,
	}
	if c.PriceIn != nil {
		in, out := usd.PerMillion(*c.PriceIn), usd.PerMillion(*c.PriceOut)
		t.Priced = true
		t.Prices = core.Prices{Version: "declared", Input: in, CacheRead: in, CacheWrite: in, CacheWriteHour: in, Output: out, Reasoning: out, Effective: c.CreatedAt}
	}
	return t, nil
}
