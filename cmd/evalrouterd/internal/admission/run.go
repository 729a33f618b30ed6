package admission

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// RunRequest asks to start the run of a quote.
type RunRequest struct {
	Quote    core.QuoteID
	Name     string
	Metadata map[string]string
	// Accepted are the kinds of consent that came with the request, for a
	// continuation.
	Accepted []string
	// Op, Key and RequestHash identify the request for replay.
	Op, Key, RequestHash string
	Encode               func(core.Run, core.Quote) ([]byte, error)
}

// Start admits a run, or replays the answer of an earlier identical request.
func (s *Service) Start(ctx context.Context, sc core.Scope, r RunRequest) (core.Admitted, error) {
	w, err := s.Store.Workspace(ctx, sc.Workspace)
	if err != nil {
		return core.Admitted{}, err
	}
	q, err := s.offered(ctx, sc, r.Quote)
	if err != nil {
		return core.Admitted{}, err
	}
	consents, err := s.continuable(ctx, sc, q, r.Accepted)
	if err != nil {
		return core.Admitted{}, err
	}
	out, err := s.Store.Admit(ctx, core.Admission{
		Scope: sc, Quote: r.Quote, Name: r.Name, Metadata: r.Metadata, Op: r.Op, Key: r.Key, RequestHash: r.RequestHash,
		RunID: core.RunID(s.NewID()), TransferID: s.NewID(), ConsentID: s.NewID(), Consents: consents, Practice: w.Practice, Encode: r.Encode,
	})
	if err != nil {
		return out, err
	}
	s.Engine.Wake(sc.Workspace, out.Run)
	return out, nil
}

// offered says whether the managed routes still stand as the quote froze them. The
// store checks what it keeps itself; routes are the catalog's.
func (s *Service) offered(ctx context.Context, sc core.Scope, id core.QuoteID) (core.QuoteState, error) {
	q, err := s.Store.Quote(ctx, sc, id)
	if err != nil || q.Run != "" {
		return q, err // a consumed quote is answered by the store: a replay, or whose run it became
	}
	return q, s.stands(q.Quote)
}

// stands says whether the routes of a quote are offered as it froze them.
func (s *Service) stands(q core.Quote) error {
	if q.Target.Kind == core.Managed && !s.unchanged(q.Target) {
		return core.Refuse(core.QuoteStale, "the model or its prices have changed since this quote; nothing was started")
	}
	for _, j := range q.Judges {
		if !s.unchanged(j.Target) {
			return core.Refuse(core.QuoteStale, "a judge or its prices have changed since this quote; nothing was started")
		}
	}
	return nil
}

// unchanged says whether a managed route is offered as it was frozen: its
// address, model, prices, limits and all else that a run takes from its quote.
func (s *Service) unchanged(was core.Target) bool {
	now, ok := s.Catalog.Route(was.RouteID)
	if !ok || now.Status != "active" {
		return false
	}
	a, err := json.Marshal(now)
	if err != nil {
		return false
	}
	b, err := json.Marshal(was)
	return err == nil && bytes.Equal(a, b)
}
