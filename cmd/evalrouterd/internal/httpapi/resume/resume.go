// Package resume is the routes of continuations and chains. It belongs to
// httpapi, whose gate and answers it uses; what is decided about a run's tasks,
// core decides.
package resume

import (
	"context"
	"net/http"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/lineage"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/continuation"
	"github.com/evalrouter/evalrouter/lib/api"
)

// Admission quotes continuations.
type Admission interface {
	Continue(context.Context, core.Scope, admission.ContinuationRequest) (core.Quote, error)
	Newest(context.Context, core.Scope, core.RunID) (core.Run, core.Quote, error)
}

// Chains reads what is kept of chains.
type Chains interface {
	Chain(context.Context, core.Scope, core.RunID) ([]core.RunID, error)
	Decided(context.Context, core.Scope, core.RunID) (map[core.RunID]int, error)
	Mismatches(context.Context, core.Scope, core.RunID) ([]core.Mismatch, error)
}

// Runs reads runs.
type Runs interface {
	Run(context.Context, core.Scope, core.RunID) (core.Run, error)
	Quote(context.Context, core.Scope, core.QuoteID) (core.QuoteState, error)
	Result(context.Context, core.Scope, core.RunID, int) (store.Result, error)
	Now() core.Micros
}

var (
	_ Chains         = continuation.Keeper{}
	_ Runs           = (*store.Store)(nil)
	_ httpapi.Chains = (*Handlers)(nil)
)

// Handlers answers the routes.
type Handlers struct {
	Admission Admission
	Chains    Chains
	Runs      Runs
}

// Features is what the routes add to the service.
func (h *Handlers) Features() []string { return []string{"resume"} }

// Routes lists the routes.
func (h *Handlers) Routes() []httpapi.Route {
	read := func(path, id, summary string) httpapi.Route {
		return httpapi.Route{Method: http.MethodGet, Path: path, ID: id, Summary: summary, Tag: "runs", Scope: "eval:read"}
	}
	quote := httpapi.Route{
		Method: http.MethodPost, Path: "/v1/runs/{id}/continuation-quotes", ID: "create-continuation-quote", Summary: "What is left of an ended run, and what it may cost; starts nothing",
		Tag: "runs", Scope: "eval:write", Body: true,
	}
	return []httpapi.Route{
		httpapi.On(read("/v1/runs/{id}/continuation", "get-continuation", "Whether a run can be continued"), h.status),
		httpapi.On(quote, h.quote),
		httpapi.On(read("/v1/runs/{id}/chain", "get-chain", "A run with its continuations"), h.chain),
	}
}

type runInput struct {
	ID string `path:"id"`
}

func (h *Handlers) status(_ *httpapi.Server, ctx context.Context, in *runInput) (*httpapi.Answer[api.ContinuationStatus], error) {
	newest, q, err := h.Admission.Newest(ctx, httpapi.ScopeOf(ctx), core.RunID(in.ID))
	if err != nil {
		return nil, err
	}
	out := api.ContinuationStatus{NewestRunID: string(newest.ID), NewestStatus: httpapi.RunStatus(newest)}
	why := newest.ResumeReason(q, h.Runs.Now())
	if out.NewestResumable = why == ""; !out.NewestResumable {
		out.ReasonCode = &why
	}
	no := newest.MayContinue(q, h.Runs.Now())
	if out.Supported = no == nil || no.Code == core.RunNotFinished; out.Supported {
		until := lineage.Time(newest.RawUntil())
		out.EvidenceExpiresAt = &until
	}
	return httpapi.Reply(out), nil
}

type quoteInput struct {
	ID string `path:"id"`
	httpapi.With[api.NewContinuationQuote]
}

func (h *Handlers) quote(s *httpapi.Server, ctx context.Context, in *quoteInput) (*httpapi.Answer[api.QuoteRecord], error) {
	n := in.Value()
	if n.RetryUnknownMax != nil && *n.RetryUnknownMax < 0 {
		return nil, core.Refuse(core.InvalidRequest, "retry_unknown_max is a number of tasks; nothing was quoted").
			With("fields", []api.FieldError{{Path: "retry_unknown_max", Code: "out_of_range"}})
	}
	q, err := h.Admission.Continue(ctx, httpapi.ScopeOf(ctx), admission.ContinuationRequest{
		Run: core.RunID(in.ID), Cap: n.MaxChargeMicrousd, Flags: core.Flags{IncludeCancelled: n.IncludeCancelled, RetryUnknown: n.RetryUnknown}, RetryMax: n.RetryUnknownMax,
	})
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(s.QuoteOf(q)), nil
}
