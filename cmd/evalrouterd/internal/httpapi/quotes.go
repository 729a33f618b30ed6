package httpapi

import (
	"context"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/api"
)

// maxProfiles is how many benchmarks a selection may name.
const maxProfiles = 50

type newQuoteInput struct{ With[api.NewQuote] }

func (s *Server) createQuote(ctx context.Context, in *newQuoteInput) (*answer[api.QuoteRecord], error) {
	n := in.Body.value
	r, err := s.quoteRequest(ctx, n)
	if err != nil {
		return nil, err
	}
	q, err := s.o.Admission.Quote(ctx, scopeOf(ctx), r)
	if err != nil {
		return nil, err
	}
	return reply(quoteRecord(core.QuoteState{Quote: q}, s.micros())), nil
}

type quoteInput struct {
	ID string `path:"id"`
}

func (s *Server) getQuote(ctx context.Context, in *quoteInput) (*answer[api.QuoteRecord], error) {
	q, err := s.o.Runs.Quote(ctx, scopeOf(ctx), core.QuoteID(in.ID))
	if err != nil {
		return nil, err
	}
	if q.Group != "" && q.Run == "" { // a member's has no life of its own before its run began
		return nil, core.Missing("quote")
	}
	return reply(quoteRecord(q, s.micros())), nil
}

// quoteRequest reads what a quote is asked for.
func (s *Server) quoteRequest(ctx context.Context, n api.NewQuote) (admission.QuoteRequest, error) {
	p, err := s.selected(ctx, n.Selection)
	if err != nil {
		return admission.QuoteRequest{}, err
	}
	r := admission.QuoteRequest{Profile: p.ID, Cap: n.MaxChargeMicrousd, Preview: n.Preview}
	if err := target(&r, n.Model); err != nil {
		return r, err
	}
	if err := covered(&r, n.Coverage); err != nil {
		return r, err
	}
	if c := n.Concurrency; c != nil {
		r.Concurrency = core.Concurrency{Max: c.Max, N: c.N}
	}
	if n.Reasoning != nil {
		r.Reasoning = core.ReasoningChoice{Mode: n.Reasoning.Mode, Effort: n.Reasoning.Effort, Tokens: n.Reasoning.BudgetTokens}
	}
	if n.OutputFormat != nil {
		r.OutputFormat = *n.OutputFormat
	}
	if n.Name != nil {
		r.Name = *n.Name
	}
	return r, runName(r.Name)
}

// selected resolves a selection, which is one benchmark so far.
func (s *Server) selected(ctx context.Context, sel api.Selection) (core.Profile, error) {
	switch {
	case sel.SuiteVersionID != "":
		return core.Profile{}, feature("suites", "this service has no suites; name a benchmark in selection.profile_ids")
	case (len(sel.ProfileIDs) == 0) == (sel.Eval == ""):
		return core.Profile{}, refuseField("selection", "one_of_profile_ids_and_eval", "a selection names profile_ids or an eval, one of them")
	case sel.Split != nil && *sel.Split != "canonical":
		return core.Profile{}, refuseField("selection.split", "unknown_split", "benchmarks here have no splits; leave it out")
	case sel.Eval != "":
		provider := ""
		if sel.Provider != nil {
			provider = *sel.Provider
		}
		return s.byReference(ctx, sel.Eval, provider)
	case len(sel.ProfileIDs) > maxProfiles:
		return core.Profile{}, refuseField("selection.profile_ids", "too_many", "a selection has at most %d benchmarks", maxProfiles)
	case len(sel.ProfileIDs) > 1:
		return core.Profile{}, feature("several_profiles", "a run of this service has one benchmark; make one quote for each")
	}
	return s.o.Catalog.Profile(ctx, scopeOf(ctx), core.ProfileID(sel.ProfileIDs[0]))
}

func target(r *admission.QuoteRequest, m api.ModelRef) error {
	switch {
	case m.Kind == api.ManagedKind && m.RouteID != "" && m.ConnectionID == "":
		r.Route = core.RouteID(m.RouteID)
	case m.Kind == api.ConnectionKind && m.ConnectionID != "" && m.RouteID == "":
		r.Connection = core.ConnectionID(m.ConnectionID)
	default:
		return refuseField("model", "invalid_model", `a model is {"kind":"managed","route_id":...} or {"kind":"connection","connection_id":...}`)
	}
	return nil
}

func covered(r *admission.QuoteRequest, c *api.Coverage) error {
	switch {
	case c == nil:
	case c.Mode == api.Full && c.SampleCount == nil:
		r.Full, r.Seed = true, c.Seed
	case c.Mode == api.Sample || c.Mode == "":
		r.SampleCount, r.Seed = c.SampleCount, c.Seed
	case c.Mode == api.Full:
		return refuseField("coverage.sample_count", "conflicts_with_mode", "full coverage has no sample count")
	default:
		return refuseField("coverage.mode", "unknown_mode", "coverage is sample or full")
	}
	return nil
}

// Bounds of what a caller may attach to a run.
const (
	maxName       = 200
	maxMetadata   = 50
	maxMetaLength = 500
)

func runName(name string) error {
	if len([]rune(name)) > maxName {
		return refuseField("name", "too_long", "a name has at most %d characters", maxName)
	}
	return nil
}

func runMetadata(m map[string]string) error {
	if len(m) > maxMetadata {
		return refuseField("metadata", "too_many", "metadata has at most %d entries", maxMetadata)
	}
	for k, v := range m {
		if k == "" || len(k) > maxMetaLength || len(v) > maxMetaLength {
			return refuseField("metadata", "too_long", "%s", fmt.Sprintf("names and values of metadata have 1 to %d bytes", maxMetaLength))
		}
	}
	return nil
}
