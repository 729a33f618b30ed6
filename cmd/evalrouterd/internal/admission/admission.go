// Package admission turns requests into quotes and quotes into runs.
//
// A quote is computed once and frozen: rates, limits, selection and order
// come from it and from nowhere else. Starting a run is one transaction of
// the store; this package only decides what is asked of it.
package admission

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Store is what admission keeps and reads.
type Store interface {
	Workspace(context.Context, core.WorkspaceID) (core.WorkspaceInfo, error)
	Connection(context.Context, core.Scope, core.ConnectionID) (core.ConnectionInfo, error)
	InsertQuote(context.Context, core.Quote) error
	Quote(context.Context, core.Scope, core.QuoteID) (core.QuoteState, error)
	Run(context.Context, core.Scope, core.RunID) (core.Run, error)
	Admit(context.Context, core.Admission) (core.Admitted, error)
	Now() core.Micros
}

// Catalog is what can be evaluated, and by which managed routes.
type Catalog interface {
	Profile(context.Context, core.Scope, core.ProfileID) (core.Profile, error)
	Task(context.Context, core.Profile, int) (bundle.Task, error)
	// TaskIDs yields the ids of the tasks at ascending positions.
	TaskIDs(context.Context, core.Profile, []int) iter.Seq2[string, error]
	Route(core.RouteID) (core.Target, bool)
	Grader(core.Profile) (bundle.Grader, error)
}

// Starter is told of new runs.
type Starter interface {
	Wake(core.WorkspaceID, core.RunID)
}

// Service quotes and admits.
type Service struct {
	Store    Store
	Chains   Chains
	Catalog  Catalog
	Adapters provider.Set
	Engine   Starter
	// NewID gives a random UUID.
	NewID func() string
	// Groups keeps runs that are started together.
	Groups Groups
}

// QuoteRequest is what a caller asks a quote for.
type QuoteRequest struct {
	Name         string
	Profile      core.ProfileID
	Route        core.RouteID
	Connection   core.ConnectionID
	Full         bool
	SampleCount  *int
	Seed         *uint32
	Cap          *usd.Micro
	Preview      bool
	Concurrency  core.Concurrency
	OutputFormat string
	// Reasoning is what is asked of the model, zero for the provider's default.
	Reasoning core.ReasoningChoice
}

// Required ends the reason of a refusal for want of an ability, which stands
// before it.
const Required = "_required"

// Quote computes what a run would be. Unless it is a preview, it is kept and
// can be accepted until it expires.
func (s *Service) Quote(ctx context.Context, sc core.Scope, r QuoteRequest) (core.Quote, error) {
	q, err := s.draft(ctx, sc, r)
	if err != nil {
		return core.Quote{}, err
	}
	return s.offer(ctx, q)
}

// offer keeps a quote that can be accepted.
func (s *Service) offer(ctx context.Context, q core.Quote) (core.Quote, error) {
	if q.Preview {
		return q, nil
	}
	if q.Cap < q.MinCap {
		return core.Quote{}, core.Refuse(core.CapBelowMinimum, "a cap of %s cannot pay for one task; the smallest useful cap here is %s", q.Cap, q.MinCap).
			With("minimum_cap_microusd", q.MinCap.Wire())
	}
	return q, s.Store.InsertQuote(ctx, q)
}

// draft computes what a run would be, and keeps nothing.
func (s *Service) draft(ctx context.Context, sc core.Scope, r QuoteRequest) (core.Quote, error) {
	if err := r.check(); err != nil {
		return core.Quote{}, err
	}
	profile, err := s.profile(ctx, sc, r.Profile)
	if err != nil {
		return core.Quote{}, err
	}
	target, err := s.target(ctx, sc, r)
	if err != nil {
		return core.Quote{}, err
	}
	for _, need := range profile.Needs {
		if !slices.Contains(target.Offers, need) {
			return core.Quote{}, core.Refuse(core.FeatureUnavailable, "%s needs %s, which %s does not give; nothing was quoted. Choose another route or a benchmark whose answers are text",
				profile.ID, need, target.Name()).With("reason", need+Required)
		}
	}
	return s.compute(ctx, sc, r, profile, target)
}

func (r QuoteRequest) check() error {
	switch {
	case r.OutputFormat != "" && r.OutputFormat != "default":
		return core.Refuse(core.OutputFormat, "this benchmark has one output format, default")
	case !r.Full && r.SampleCount != nil && (*r.SampleCount < 1 || *r.SampleCount > core.MaxSample):
		return invalid("coverage.sample_count", "out_of_range", "a sample has 1 to %d tasks; ask for full coverage to run more", core.MaxSample)
	case r.Cap == nil && !r.Preview:
		return invalid("max_charge_microusd", "required", "a quote needs a spending cap in max_charge_microusd")
	}
	return bounded(r.Cap)
}

// invalid refuses one field of a request.
func invalid(path, code, format string, args ...any) *core.Refusal {
	return core.Refuse(core.InvalidRequest, format, args...).With("fields", []map[string]string{{"path": path, "code": code}})
}

func (s *Service) profile(ctx context.Context, sc core.Scope, id core.ProfileID) (core.Profile, error) {
	p, err := s.Catalog.Profile(ctx, sc, id)
	if err != nil {
		if errors.Is(err, &core.Refusal{Code: core.NotFound}) {
			return p, invalid("selection.profile_ids[0]", "unknown", "there is no such benchmark version here; see the catalog")
		}
		return p, err
	}
	if ok, reason := p.Ready(); !ok {
		return p, core.Refuse(core.FeatureUnavailable, "%s cannot be run now (%s)", p.ID, reason).With("reason", reason)
	}
	return p, nil
}

func (s *Service) compute(ctx context.Context, sc core.Scope, r QuoteRequest, p core.Profile, t core.Target) (core.Quote, error) {
	w, err := s.Store.Workspace(ctx, sc.Workspace)
	if err != nil {
		return core.Quote{}, err
	}
	if err := t.Reasoning.Check(r.Reasoning, core.OutputBound(p, t)); err != nil {
		return core.Quote{}, err
	}
	if r.Reasoning.Mode == core.ReasoningDefault {
		r.Reasoning = core.ReasoningChoice{} // what nothing says
	}
	now := s.Store.Now()
	q := core.Quote{
		ID: core.QuoteID(s.NewID()), Workspace: sc.Workspace, Epoch: w.Epoch, Name: r.Name, CreatedAt: now, ExpiresAt: now + core.QuoteLife,
		Preview: r.Preview, Target: t, Profile: p, Coverage: coverage(r, p), Algorithm: core.OrderAlgorithm, Runtime: core.RuntimeCompat, Concurrency: r.Concurrency, Reasoning: r.Reasoning, Warnings: []string{},
	}
	if r.Cap != nil {
		q.Cap = *r.Cap
	}
	grader, err := s.Catalog.Grader(p)
	if err != nil {
		return core.Quote{}, fmt.Errorf("make grader: %w", err)
	}
	q.Profile.Grader = grader.Identity() // this version's, whichever admitted the benchmark
	q.Profile.Sampling = bundle.SamplingOf(grader)
	q.Sampling = t.Sends(q.Profile.Sampling, q.Reasoning)
	judged, _ := grader.(bundle.Judged)
	if q.Judges, err = s.judges(judged); err != nil {
		return core.Quote{}, err
	}
	q.Limit, q.LimitReasons = core.Limit(r.Concurrency, t, q.Judges, q.Coverage.N)
	if q.TaskIDsHash, err = s.taskIDs(ctx, q); err != nil {
		return core.Quote{}, err
	}
	if q.MinCap, err = s.firstTask(ctx, q, grader, 0); err != nil {
		return core.Quote{}, err
	}
	q.ScopeHash = q.Fingerprint()
	q.Warnings = warnings(q)
	return q, nil
}

func coverage(r QuoteRequest, p core.Profile) core.Coverage {
	c := core.Coverage{Full: r.Full, N: core.DefaultSample, Seed: core.DefaultSeed}
	if r.SampleCount != nil {
		c.N = *r.SampleCount
	}
	if r.Seed != nil {
		c.Seed = *r.Seed
	}
	if c.Full || c.N > p.TaskCount {
		c.N = p.TaskCount
	}
	return c
}

// taskIDs is the hash of the selected tasks' ids in the benchmark's own
// order: what is evaluated, whatever order it is asked in.
func (s *Service) taskIDs(ctx context.Context, q core.Quote) (string, error) {
	if q.Coverage.N == q.Profile.TaskCount {
		return q.Profile.TaskIDsSHA256, nil
	}
	order, at := q.Order(), make([]int, q.Coverage.N)
	for i := range at {
		at[i] = order.At(i)
	}
	slices.Sort(at)
	h := sha256.New()
	for id, err := range s.Catalog.TaskIDs(ctx, q.Profile, at) {
		if err != nil {
			return "", fmt.Errorf("name the selected tasks: %w", err)
		}
		fmt.Fprintln(h, id)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// firstTask is the worst case of the first task in order, all of its parts and
// its judges included.
// The service itself starts no task without setting that aside, so no smaller
// cap can start one.
func (s *Service) firstTask(ctx context.Context, q core.Quote, grader bundle.Grader, idx int) (usd.Micro, error) {
	adapter, ok := s.Adapters[q.Target.Protocol]
	if !ok {
		return 0, core.Refuse(core.ModelUnavailable, "this service does not speak %s", q.Target.Protocol)
	}
	task, err := s.Catalog.Task(ctx, q.Profile, q.Order().At(idx))
	if err != nil {
		return 0, err
	}
	worst, err := s.taskWorst(q, adapter, grader, task)
	var no *core.Refusal
	if errors.As(err, &no) {
		return 0, no
	}
	if err != nil {
		return 0, core.Refuse(core.UnboundedModelCost, "the worst case of one task cannot be computed at these prices")
	}
	return worst, nil
}

// taskWorst is the most that a task can cost.
func (s *Service) taskWorst(q core.Quote, adapter provider.Adapter, grader bundle.Grader, task bundle.Task) (usd.Micro, error) {
	if likely, ok := grader.(bundle.Likely); ok {
		asks, err := likely.Asks(task)
		if err != nil {
			return 0, err
		}
		return s.Adapters.AsksWorst(q, task, asks)
	}
	worst, _, err := q.Target.Worst(adapter.Bound(provider.RequestFor(q, task)), q.OutputBound())
	if judged, ok := grader.(bundle.Judged); ok && err == nil {
		var pledge usd.Micro
		if pledge, err = s.Adapters.Pledge(q, judged, task); err == nil {
			worst, err = worst.Add(pledge)
		}
	}
	return worst, err
}

func warnings(q core.Quote) []string {
	w := []string{}
	if q.Target.Simulated {
		w = append(w, "Simulated: a practice route answers from the tasks themselves. Its score shows nothing about a model.")
	}
	if len(q.Judges) > 0 {
		w = append(w, judgeWarning(q))
	}
	if slices.Contains(q.Profile.Needs, core.OffersLogprobs) {
		w = append(w, "Each task is one request for each of its choices, one after the other. The model writes nothing; the score compares how likely it finds them.")
	}
	if q.Profile.Sampling.Temperature != nil && q.Sampling.Temperature == nil && !q.Target.Simulated {
		w = append(w, fmt.Sprintf("This benchmark draws answers with temperature %v. The model is not known to take one, so its provider's own is used.", *q.Profile.Sampling.Temperature))
	}
	if q.Coverage.N < q.Profile.TaskCount {
		w = append(w, "A sample is not a full-benchmark score.")
	}
	if q.Target.Metered() {
		if q.Target.Priced {
			w = append(w, "The provider bills you directly. The cap bounds what its reported usage costs at your declared rates, not its invoice.")
		} else {
			w = append(w, "The provider bills you directly and no rates are declared, so the cap cannot bound what it bills.")
		}
	}
	return w
}
