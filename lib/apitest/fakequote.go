package apitest

import (
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

const (
	quoteLife = 30 * time.Minute
	maxCharge = 1000 * usd.Dollar

	// Bounds of one task, in tokens; actual counts stay below.
	maxInputTokens  = 60
	maxOutputTokens = 64
)

// fakeQuote is a quote with what its run needs.
type fakeQuote struct {
	rec     api.QuoteRecord
	bench   api.BenchmarkRecord
	model   api.SelectedModel
	indices []int // of the selected tasks
	cap     usd.Micro
	worst   usd.Micro // of one task
	again   *continuation
}

// worstCase is what one task can cost at most.
func worstCase(p api.Pricing) (usd.Micro, error) { return cost(p, maxInputTokens, maxOutputTokens) }

func cost(p api.Pricing, in, out int64) (usd.Micro, error) {
	return usd.Cost(usd.Term{Units: in, Price: price(p.InputMicrousd)}, usd.Term{Units: out, Price: price(p.OutputMicrousd)})
}

func price(m *usd.Micro) usd.PerMillion {
	if m == nil {
		return 0
	}
	return usd.PerMillion(*m)
}

func (f *Fake) createQuote(in *request) (*reply, *failure) {
	var n api.NewQuote
	if x := in.decode(&n); x != nil {
		return nil, x
	}
	q, x := f.quote(n)
	if x != nil {
		return nil, x
	}
	if !n.Preview {
		f.quotes[q.rec.ID] = q
	}
	return ok(q.rec)
}

func (f *Fake) getQuote(in *request) (*reply, *failure) {
	q, found := f.quotes[in.PathValue("id")]
	if !found {
		return nil, notFound("quote")
	}
	rec := q.rec
	rec.ExpiresIn = max(0, int64(rec.ExpiresAt.Sub(f.now())/time.Second))
	if rec.Status == "open" && rec.ExpiresIn == 0 {
		rec.Status = "expired"
	}
	return ok(rec)
}

func (f *Fake) quote(n api.NewQuote) (*fakeQuote, *failure) {
	q := &fakeQuote{}
	var x *failure
	if q.bench, x = f.selected(n.Selection); x != nil {
		return nil, x
	}
	if q.model, x = f.frozen(n.Model); x != nil {
		return nil, x
	}
	var err error
	if q.worst, err = worstCase(*q.model.Pricing); err != nil {
		return nil, refuse(http.StatusUnprocessableEntity, api.UnboundedModelCost, "the model has no bounded price")
	}
	switch {
	case n.MaxChargeMicrousd != nil:
		q.cap = *n.MaxChargeMicrousd
	case !n.Preview:
		return nil, refuse(http.StatusUnprocessableEntity, api.BudgetRequired, "say what the run may cost at most").with("fields", []api.FieldError{{Path: "max_charge_microusd", Code: "required"}})
	}
	switch {
	case n.MaxChargeMicrousd != nil && q.cap < 1:
		return nil, invalid(api.FieldError{Path: "max_charge_microusd", Code: "out_of_range"})
	case q.cap > maxCharge:
		return nil, refuse(http.StatusUnprocessableEntity, api.BudgetLimit, "the cap is above the largest of one run").with("max_charge_microusd", maxCharge)
	case n.MaxChargeMicrousd != nil && q.cap < q.worst:
		return nil, refuse(http.StatusUnprocessableEntity, api.CapBelowMinimum, "not one task can start under this cap").with("minimum_cap_microusd", q.worst)
	}
	coverage, x := f.coverage(n.Coverage, q)
	if x != nil {
		return nil, x
	}
	f.fillQuote(q, n, coverage)
	return q, nil
}

func (f *Fake) selected(s api.Selection) (api.BenchmarkRecord, *failure) {
	id := ""
	switch {
	case s.SuiteVersionID != "":
		return api.BenchmarkRecord{}, notFound("suite")
	case len(s.ProfileIDs) == 1 && s.Eval == "":
		id = s.ProfileIDs[0]
	case len(s.ProfileIDs) == 0 && s.Eval != "":
		id = s.Eval
		if p := strings.Split(strings.TrimPrefix(s.Eval, "eval://"), "/"); len(p) == 3 {
			id = p[1] + "@" + p[2]
		}
	default:
		return api.BenchmarkRecord{}, invalid(api.FieldError{Path: "selection", Code: "one_profile_or_eval"})
	}
	b, found := f.benchmark(id)
	if !found {
		return b, notFound("benchmark")
	}
	return b, nil
}

func (f *Fake) frozen(m api.ModelRef) (api.SelectedModel, *failure) {
	switch {
	case m.Kind == api.ManagedKind && m.ConnectionID == "":
		r, found := f.model(m.RouteID)
		if !found {
			return api.SelectedModel{}, notFound("model")
		}
		return api.SelectedModel{
			Kind: m.Kind, ModelID: r.ModelID, Protocol: "openai_chat", Revision: r.Revision, Capabilities: r.Capabilities, Limits: r.Limits,
			RouteID: &r.ID, PriceVersion: &r.PriceVersion, ProviderCharges: new("included"), Pricing: r.Pricing, DisplayName: r.DisplayName, Simulated: r.Simulated,
		}, nil
	case m.Kind == api.ConnectionKind && m.RouteID == "":
		c, x := f.connection(m.ConnectionID)
		if x != nil {
			return api.SelectedModel{}, x
		}
		if c.CheckResult.Status != "ok" || c.DisabledAt != nil {
			return api.SelectedModel{}, refuse(http.StatusConflict, api.ConnectionUnverified, "the connection has not been checked")
		}
		return api.SelectedModel{
			Kind: m.Kind, ModelID: c.ModelID, Protocol: c.Protocol, Revision: c.Revision, Capabilities: c.Capabilities, Limits: c.Config,
			ConnectionID: &c.ID, ProviderCharges: new("external"), DisplayName: c.Name,
			Pricing: &api.Pricing{Currency: "USD", Unit: "per_million_tokens", ProviderCharges: "external"},
		}, nil
	}
	return api.SelectedModel{}, invalid(api.FieldError{Path: "model", Code: "managed_or_connection"})
}

// coverage chooses consecutive tasks from a start that the seed gives.
func (f *Fake) coverage(c *api.Coverage, q *fakeQuote) (api.Coverage, *failure) {
	total := *q.bench.TaskCount
	if c == nil {
		c = &api.Coverage{}
	}
	switch c.Mode {
	case api.Full:
		if c.SampleCount != nil || c.Seed != nil {
			return *c, invalid(api.FieldError{Path: "coverage", Code: "full_has_no_sample"})
		}
		q.indices = make([]int, total)
		for i := range q.indices {
			q.indices[i] = i
		}
		return *c, nil
	case "", api.Sample:
	default:
		return *c, invalid(api.FieldError{Path: "coverage.mode", Code: "sample_or_full"})
	}
	n, seed := 25, uint32(42)
	if c.SampleCount != nil {
		n = *c.SampleCount
	}
	if n < 1 || n > 1000 {
		return *c, invalid(api.FieldError{Path: "coverage.sample_count", Code: "out_of_range"})
	}
	if c.Seed != nil {
		seed = *c.Seed
	}
	n = min(n, total)
	for i := range n {
		q.indices = append(q.indices, (int(seed)+i)%total)
	}
	return api.Coverage{Mode: api.Sample, SampleCount: &n, Seed: &seed}, nil
}

func (f *Fake) fillQuote(q *fakeQuote, n api.NewQuote, coverage api.Coverage) {
	now := f.now()
	ids := make([]string, len(q.indices))
	for i, x := range q.indices {
		ids[i] = taskID(q.bench, x)
	}
	profile := api.ProfileSelection{
		ID: q.bench.ID, ManifestSHA256: q.bench.ManifestSHA256, DatasetAssetsSHA256: digest("assets", q.bench.Slug),
		SamplingAlgorithm: *q.bench.SamplingAlgorithm, TaskIDsHash: digest(ids), PopulationCount: *q.bench.TaskCount, SelectedCount: len(ids), AttemptsPerTask: 1,
	}
	var external *string
	if q.model.Kind == api.ConnectionKind {
		external = new("the provider bills its own charges; the cap does not bound them")
	}
	concurrency := api.Concurrency{}
	if n.Concurrency != nil {
		concurrency = *n.Concurrency
	}
	q.rec = api.QuoteRecord{
		ID: uuid.NewString(), PriceVersion: "1", CreatedAt: now, ExpiresAt: now.Add(quoteLife), MaxChargeMicrousd: n.MaxChargeMicrousd,
		Plan: api.QuotePlan{
			SchemaVersion: 4, Model: api.Model{Selected: &q.model}, Coverage: coverage, Profiles: []api.ProfileSelection{profile},
			Pricing: q.model.Pricing, SelectionSource: map[string]any{"kind": "profiles"}, TotalTasks: len(ids), Warnings: []string{},
		},
		Retention: api.RetentionPolicy{RawDays: 30, SummaryDays: 365, StartsAt: "run_created_at"},
		Status:    "open", MinimumCapMicrousd: &q.worst, Reasoning: n.Reasoning, OutputFormat: n.OutputFormat,
		Concurrency: api.QuoteConcurrency{
			Requested: concurrency, RunCeiling: 1, Reasons: []string{},
			Profiles: []api.ProfileConcurrency{{ProfileID: q.bench.ID, Ceiling: 1, Reasons: []string{}}},
		},
		Compatibility: api.Compatibility{OK: true, Reasons: []api.Reason{}}, ExternalCharges: external,
		Preview: n.Preview, ExpiresIn: int64(quoteLife / time.Second),
	}
}
