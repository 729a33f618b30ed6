package admission

import (
	"context"
	"slices"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Chains reads runs and what became of their tasks.
type Chains interface {
	Survey(context.Context, core.Scope, core.RunID, core.Quote, core.Flags) (*core.Survey, error)
	Chain(context.Context, core.Scope, core.RunID) ([]core.RunID, error)
}

// ContinuationRequest asks to go on with an ended run. Without a cap the quote
// is a preview.
type ContinuationRequest struct {
	Run      core.RunID
	Cap      *usd.Micro
	Flags    core.Flags
	RetryMax *int
}

// Continue quotes a new run over the tasks of an ended one: what it graded is
// reused, what it recorded is graded, and what was provably never processed is
// asked. It starts nothing.
func (s *Service) Continue(ctx context.Context, sc core.Scope, r ContinuationRequest) (core.Quote, error) {
	q, err := s.continuation(ctx, sc, r)
	if err != nil {
		return core.Quote{}, err
	}
	return s.offer(ctx, q)
}

// continuation computes what a new run would do, and keeps nothing.
func (s *Service) continuation(ctx context.Context, sc core.Scope, r ContinuationRequest) (core.Quote, error) {
	run, was, err := s.source(ctx, sc, r.Run)
	if err != nil {
		return core.Quote{}, err
	}
	ask := again(was, r.Cap)
	if err := ask.check(); err != nil {
		return core.Quote{}, err
	}
	profile, err := s.profile(ctx, sc, ask.Profile)
	if err != nil {
		return core.Quote{}, err
	}
	target, err := s.target(ctx, sc, ask)
	if err != nil {
		return core.Quote{}, err
	}
	q, err := s.compute(ctx, sc, ask, profile, target)
	if err != nil {
		return core.Quote{}, err
	}
	if q.ScopeHash != was.ScopeHash {
		return core.Quote{}, core.Refuse(core.EvidenceUnfit, "what run %s asked has changed since (%s), so new answers would not belong to its old ones; nothing was quoted or charged", run.ID, differs(was, q)).
			With("reasons", []string{differs(was, q)})
	}
	return q, s.survey(ctx, sc, r, run, &q)
}

// source reads the run to go on with, and refuses one that cannot be.
func (s *Service) source(ctx context.Context, sc core.Scope, id core.RunID) (core.Run, core.Quote, error) {
	run, err := s.Store.Run(ctx, sc, id)
	if err != nil {
		return run, core.Quote{}, err
	}
	was, err := s.Store.Quote(ctx, sc, run.QuoteID)
	if err != nil {
		return run, was.Quote, err
	}
	if run.ContinuedBy != "" {
		return run, was.Quote, s.exists(ctx, sc, run)
	}
	if no := run.MayContinue(was.Quote, s.Store.Now()); no != nil {
		return run, was.Quote, no
	}
	return run, was.Quote, nil
}

// Newest is the last run of a run's chain.
func (s *Service) Newest(ctx context.Context, sc core.Scope, id core.RunID) (core.Run, core.Quote, error) {
	chain, err := s.Chains.Chain(ctx, sc, id)
	if err != nil {
		return core.Run{}, core.Quote{}, err
	}
	run, err := s.Store.Run(ctx, sc, chain[len(chain)-1])
	if err != nil {
		return run, core.Quote{}, err
	}
	q, err := s.Store.Quote(ctx, sc, run.QuoteID)
	return run, q.Quote, err
}

func (s *Service) exists(ctx context.Context, sc core.Scope, run core.Run) error {
	newest, q, err := s.Newest(ctx, sc, run.ID)
	if err != nil {
		return err
	}
	return core.Refuse(core.ContinuationExists, "run %s was resumed already; the newest run of its chain is %s (%s). Nothing was quoted or charged", run.ID, newest.ID, newest.State).
		With("run_id", string(newest.ID)).With("status", string(newest.State)).With("resumable", newest.ResumeReason(q, s.Store.Now()) == "")
}

// again asks for what a quote asked for, with the prices and the revision of
// today.
func again(q core.Quote, limit *usd.Micro) QuoteRequest {
	r := QuoteRequest{
		Name: q.Name, Profile: q.Profile.ID, Route: q.Target.RouteID, Connection: q.Target.ConnectionID, Full: q.Coverage.Full, Seed: &q.Coverage.Seed,
		Cap: limit, Preview: limit == nil, Concurrency: q.Concurrency, Reasoning: q.Reasoning,
	}
	if !r.Full {
		r.SampleCount = &q.Coverage.N
	}
	return r
}

// differs is a word for the first thing in which two quotes do not ask the
// same.
func differs(a, b core.Quote) string {
	switch {
	case a.Profile.ManifestSHA256 != b.Profile.ManifestSHA256, a.Profile.DatasetSHA256 != b.Profile.DatasetSHA256:
		return "benchmark"
	case a.TaskIDsHash != b.TaskIDsHash, a.Algorithm != b.Algorithm:
		return "tasks"
	case a.Profile.Grader.ID != b.Profile.Grader.ID, a.Profile.Grader.Compat != b.Profile.Grader.Compat:
		return "grader"
	case a.Target.Revision != b.Target.Revision, a.Target.Protocol != b.Target.Protocol:
		return "model"
	}
	return "settings"
}

// survey decides every task and makes the quote one about those that are left.
func (s *Service) survey(ctx context.Context, sc core.Scope, r ContinuationRequest, run core.Run, q *core.Quote) error {
	found, err := s.Chains.Survey(ctx, sc, run.ID, *q, r.Flags)
	if err != nil {
		return err
	}
	if no := found.Refusal(run.ID, r.RetryMax); no != nil {
		return no
	}
	chain, err := s.Chains.Chain(ctx, sc, run.ID)
	if err != nil {
		return err
	}
	until := run.RawUntil()
	if found.Until != 0 {
		until = min(until, found.Until)
	}
	q.Continuation = &core.Continuation{
		Source: run.ID, Chain: chain, IncludeCancelled: r.Flags.IncludeCancelled, RetryUnknown: r.Flags.RetryUnknown, RetryMax: r.RetryMax,
		Cells: found.Cells, Digest: found.Digest(), EvidenceUntil: until,
	}
	q.ExpiresAt = min(q.ExpiresAt, until)
	q.Limit, q.LimitReasons = core.Limit(q.Concurrency, q.Target, nil, found.Asked())
	q.MinCap = 0
	if found.First < 0 {
		return nil
	}
	grader, err := s.Catalog.Grader(q.Profile)
	if err != nil {
		return err
	}
	q.MinCap, err = s.firstTask(ctx, *q, grader, found.First)
	return err
}

// continuable makes sure that a continuation was consented to and that the
// answers it rests on are what they were, byte by byte. The store decides its
// cells again in the transaction that starts it.
func (s *Service) continuable(ctx context.Context, sc core.Scope, q core.QuoteState, accepted []string) ([]core.Consent, error) {
	c := q.Continuation
	if c == nil || q.Run != "" {
		return nil, nil
	}
	var out []core.Consent
	for _, kind := range q.Consents() {
		if no := missing(q.Quote, kind, accepted); no != nil {
			return nil, no
		}
		out = append(out, core.Consent{ID: s.NewID(), Kind: kind})
	}
	run, _, err := s.source(ctx, sc, c.Source)
	if err != nil {
		return nil, err
	}
	found, err := s.Chains.Survey(ctx, sc, run.ID, q.Quote, c.Flags())
	if err != nil {
		return nil, err
	}
	if found.Forbidden != nil || found.Digest() != c.Digest {
		return nil, core.Refuse(core.QuoteStale, "what is recorded of run %s has changed since this quote; nothing was started. Quote it again", run.ID)
	}
	return out, nil
}

// missing is the refusal of a start without a consent that it needs.
func missing(q core.Quote, kind string, accepted []string) *core.Refusal {
	cells := q.Continuation.Cells
	switch {
	case slices.Contains(accepted, kind), kind == core.ConsentIncludeCancelled: // given with the quote
		return nil
	case kind == core.ConsentLeftOut:
		return core.Refuse(core.LeftOutUnaccepted, "%d tasks would be left out for good, and that was not acknowledged; nothing was started", cells.Left()).With("cells", cells.Left())
	case kind == core.ConsentDuplicates:
		return core.Refuse(core.DuplicatesUnaccepted, "your provider may bill %d tasks twice, and that was not accepted; nothing was started", cells.Retried).With("cells", cells.Retried)
	}
	return invalid("acknowledgements."+kind, "required", "%d tasks of unknown outcome would be asked and paid for again, and that was not acknowledged; nothing was started", cells.Retried)
}
