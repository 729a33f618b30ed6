package apitest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// routes is every route of the fake with its rules.
func (f *Fake) routes() []route {
	return []route{
		{"GET /v1/meta", "", false, f.getMeta},
		{"GET /v1/auth/whoami", "any", false, f.getWhoami},
		{"GET /v1/evals", "eval:read", false, f.listEvals},
		{"GET /v1/evals/{ref}", "eval:read", false, f.getEval},
		{"GET /v1/catalog/benchmarks", "", false, f.listBenchmarks},
		{"GET /v1/catalog/benchmarks/{slug}", "", false, f.getBenchmark},
		{"GET /v1/catalog/models", "", false, f.listModels},
		{"GET /v1/catalog/models/{id}", "", false, f.getModel},
		{"GET /v1/catalog/execution-options", "eval:read", false, func(*request) (*reply, *failure) { return ok(api.ExecutionOptions{MaxModelsPerRun: 8}) }},
		{"GET /v1/catalog/environments", "eval:read", false, func(in *request) (*reply, *failure) { return page(in, []api.EnvironmentRecord{}) }},
		{"GET /v1/catalog/environments/{family}", "eval:read", false, func(*request) (*reply, *failure) { return nil, notFound("environment") }},
		{"GET /v1/catalog/compatibility", "", false, f.listCompatible},
		{"GET /v1/connections", "connections:read", false, f.listConnections},
		{"POST /v1/connections", "connections:write", false, f.createConnection},
		{"POST /v1/connections/discover", "connections:read", false, f.discover},
		{"POST /v1/connections/{id}/check", "connections:write", false, f.checkConnection},
		{"PATCH /v1/connections/{id}", "connections:write", false, f.updateConnection},
		{"DELETE /v1/connections/{id}", "connections:write", false, f.disableConnection},
		{"POST /v1/quotes", "eval:write", false, f.createQuote},
		{"GET /v1/quotes/{id}", "eval:read", false, f.getQuote},
		{"POST /v1/runs", "eval:write", true, f.createRun},
		{"GET /v1/runs", "eval:read", false, f.listRuns},
		{"GET /v1/runs/{id}", "eval:read", false, f.getRun},
		{"GET /v1/runs/{id}/receipt", "billing:read", false, f.getReceipt},
		{"GET /v1/runs/{id}/executions", "eval:read", false, f.listExecutions},
		{"GET /v1/runs/{id}/events", "eval:read", false, f.listEvents},
		{"GET /v1/runs/{id}/tasks", "eval:read", false, f.listTasks},
		{"POST /v1/runs/{id}/cancel", "eval:write", false, f.cancelRun},
		{"GET /v1/runs/{id}/results", "eval:read", false, f.getResults},
		{"GET /v1/runs/{id}/export", "eval:read", false, f.export},
		{"GET /v1/runs/{id}/continuation", "eval:read", false, f.getContinuation},
		{"POST /v1/runs/{id}/continuation-quotes", "eval:write", false, f.createContinuationQuote},
		{"GET /v1/runs/{id}/chain", "eval:read", false, f.getChain},
		{"POST /v1/evaluations", "eval:write", true, f.createEvaluation},
		{"GET /v1/evaluations/{id}", "eval:read", false, f.getRun},
		{"GET /v1/auth/config", "", false, f.authConfig},
		{"GET /v1/workspaces", "any", false, f.listWorkspaces},
		{"POST /v1/feedback", "feedback:write", false, f.createFeedback},
		{"GET /v1/feedback/{id}", "feedback:write", false, f.getFeedback},
		{"GET /v1/credits", "billing:read", false, f.getCredits},
		{"GET /v1/credits/ledger", "billing:read", false, f.listLedger},
	}
}

func (f *Fake) getMeta(*request) (*reply, *failure) {
	return ok(api.MetaRecord{
		Service: "evalrouterd", Version: "0.0.0", APIVersion: "v1", StartedAt: f.started,
		Features:  map[string]bool{"groups": true, "resume": true},
		Limits:    api.MetaLimits{MaxModelsPerRun: 8, MaxChargeMicrousd: 1000 * usd.Dollar, SampleCountMax: 1000, SourceMaxBytes: 64 << 20, SourceMaxRows: 100_000},
		WebOrigin: f.URL, DocsURL: f.URL + "/docs",
	})
}

func (f *Fake) getWhoami(in *request) (*reply, *failure) {
	token := strings.TrimPrefix(in.Header.Get("Authorization"), "Bearer ")
	out := api.WhoamiRecord{Kind: "api_key", Scopes: f.tokens[token]}
	for _, w := range f.auth.workspaces {
		if id := in.Header.Get("X-Workspace-Id"); id == w.ID || id == "" && f.auth.sessions[token].family == "" {
			out.Workspace = &w
			break
		}
	}
	if s, person := f.auth.sessions[token]; person {
		out.Kind, out.Account, out.ExpiresAt, out.SetupRequired = "session", new(f.person()), &s.ends, f.auth.looks < f.auth.how.Later
		if out.SetupRequired {
			out.SetupURL = new(f.URL + "/setup")
		}
		return ok(out)
	}
	out.APIKey = &api.KeyView{ID: digest(token)[:8], Name: "fake", Prefix: token[:min(len(token), 8)]}
	return ok(out)
}

func (f *Fake) getCredits(*request) (*reply, *failure) {
	return ok(api.CreditsRecord{
		WorkspaceID: f.WorkspaceID, Currency: "USD", BalanceMicrousd: f.balance, HeldMicrousd: f.held,
		AvailableMicrousd: f.balance - f.held, AsOf: f.now(),
	})
}

func (f *Fake) listLedger(in *request) (*reply, *failure) {
	want := in.URL.Query().Get("run_id")
	entries := slices.Clone(f.ledger)
	slices.Reverse(entries)
	return page(in, slices.DeleteFunc(entries, func(e api.LedgerEntry) bool {
		return want != "" && (e.RunID == nil || *e.RunID != want)
	}))
}

// fakeBenchmarks are the benchmarks by slug, with what they are about.
var fakeBenchmarks = []struct{ slug, name, about string }{
	{"arithmetic", "Arithmetic word problems", "One number answers each problem."},
	{"dates", "Date arithmetic", "Days between dates, dates after days."},
	{"logic", "Five-option logic", "One of five letters is right."},
}

func (f *Fake) benchmarks() []api.BenchmarkRecord {
	out := make([]api.BenchmarkRecord, 0, len(fakeBenchmarks))
	for _, b := range fakeBenchmarks {
		out = append(out, api.BenchmarkRecord{
			ID: b.slug + "@1", Slug: b.slug, Version: "1", Runner: "inspect", Status: "active",
			ManifestSHA256: digest("manifest", b.slug), Name: new(b.name), Description: new(b.about), Category: new("reasoning"),
			CodeLicense: new("MIT"), DataLicense: new("CC0-1.0"), DisplayPolicy: new("open"), SamplingAlgorithm: new("rotation-1"),
			TaskCount: new(f.opt.Tasks), Metrics: []string{"accuracy"}, RequiredCapabilities: []string{"chat"},
			QuoteAvailability:    &api.BenchmarkQuoteAvailability{Status: api.ReadyForQuote},
			SuggestedSampleCount: new(min(25, f.opt.Tasks)), OutputFormats: []string{"default"}, Family: "inspect", Visibility: "public",
		})
	}
	if f.opt.InReview {
		last := out[len(out)-1]
		last.ID, last.Slug, last.Name, last.Status = "riddles@1", "riddles", new("Riddles"), "candidate"
		last.QuoteAvailability = &api.BenchmarkQuoteAvailability{Status: "in_review", ReasonCode: new("in_review")}
		out = append(out, last)
	}
	return out
}

func (f *Fake) benchmark(profileID string) (api.BenchmarkRecord, bool) {
	for _, b := range append(f.benchmarks(), f.ownRecords()...) {
		if b.ID == profileID {
			return b, true
		}
	}
	return api.BenchmarkRecord{}, false
}

func (f *Fake) listBenchmarks(in *request) (*reply, *failure) {
	q := in.URL.Query()
	all := f.benchmarks()
	if in.Header.Get("Authorization") != "" {
		all = append(f.ownRecords(), all...)
	}
	return page(in, slices.DeleteFunc(all, func(b api.BenchmarkRecord) bool {
		return !mentions(q.Get("q"), b.Slug, *b.Name, *b.Description) || differs(q.Get("runner"), b.Runner) ||
			differs(q.Get("status"), b.Status) || q.Get("capability") != "" && !slices.Contains(b.RequiredCapabilities, q.Get("capability"))
	}))
}

func (f *Fake) getBenchmark(in *request) (*reply, *failure) {
	b, found := f.benchmark(in.PathValue("slug") + "@1")
	if !found || b.Visibility == "private" && in.Header.Get("Authorization") == "" {
		return nil, notFound("benchmark")
	}
	return ok(api.BenchmarkDetail{Slug: b.Slug, Versions: []api.BenchmarkRecord{b}})
}

func (f *Fake) evals() []api.EvalRecord {
	var out []api.EvalRecord
	for _, b := range f.benchmarks() {
		out = append(out, api.EvalRecord{
			Name: b.Slug, DisplayName: *b.Name, Description: *b.Description, Provider: "evalrouter", Version: b.Version,
			Ref: "eval://evalrouter/" + b.Slug + "/" + b.Version, Runner: b.Runner, Status: b.Status, Kind: "benchmark", Protocol: "batch",
			ExecutionMode: "router", RequiredCapabilities: b.RequiredCapabilities, TaskCount: b.TaskCount, ProfileID: new(b.ID),
			Pricing: api.EvalPricing{PriceVersion: "1"}, Availability: api.ReadyForQuote, Family: b.Family, Publisher: "evalrouter", Visibility: "public",
		})
	}
	return out
}

func (f *Fake) listEvals(in *request) (*reply, *failure) {
	q := in.URL.Query()
	return page(in, slices.DeleteFunc(f.evals(), func(e api.EvalRecord) bool {
		return !mentions(q.Get("q"), e.Name, e.DisplayName, e.Description) || differs(q.Get("kind"), e.Kind) ||
			differs(q.Get("provider"), e.Provider) || differs(q.Get("protocol"), e.Protocol) || differs(q.Get("publisher"), e.Publisher)
	}))
}

func (f *Fake) getEval(in *request) (*reply, *failure) {
	for _, e := range f.evals() {
		if *e.ProfileID == in.PathValue("ref") {
			return ok(e)
		}
	}
	return nil, notFound("eval")
}

// models are three routes: two practice routes and one that stands for a
// provider's model.
func (f *Fake) models() []api.ManagedRoute {
	price := func(in, out usd.Micro) *api.Pricing {
		return &api.Pricing{Currency: "USD", Unit: "per_million_tokens", InputMicrousd: &in, OutputMicrousd: &out, ProviderCharges: "included", EffectiveAt: new(f.started)}
	}
	route := func(id, name, provider string, p *api.Pricing, simulated bool) api.ManagedRoute {
		think, ok := f.opt.Reasoning[id]
		if !ok {
			think = api.ReasoningControls{Mode: "none"}
		}
		return f.repriced(api.ManagedRoute{
			ID: id, ModelID: strings.ReplaceAll(id, ".", "/"), DisplayName: name, Provider: provider, Status: "active", PriceVersion: "1", Revision: 1,
			Capabilities: []string{"chat"}, Pricing: p, Limits: map[string]any{"context_window": 32768, "max_output_tokens": 64},
			Reasoning: &think, Benchmarkable: true, Simulated: simulated,
		})
	}
	all := []api.ManagedRoute{
		route("practice.solver-80", "Practice solver 80 %", "practice", price(usd.Dollar, 4*usd.Dollar), true),
		route("practice.echo", "Practice echo", "practice", price(usd.Dollar/2, usd.Dollar), true),
		route("acme.model-x", "Model X", "acme", price(3*usd.Dollar, 15*usd.Dollar), false),
	}
	for n := len(all) + 1; n <= f.opt.Routes; n++ {
		all = append(all, route(fmt.Sprintf("acme.model-%d", n), fmt.Sprintf("Model %d", n), "acme", price(3*usd.Dollar, 15*usd.Dollar), false))
	}
	return all
}

func (f *Fake) model(id string) (api.ManagedRoute, bool) {
	for _, m := range f.models() {
		if m.ID == id {
			return m, true
		}
	}
	return api.ManagedRoute{}, false
}

func (f *Fake) listModels(in *request) (*reply, *failure) {
	q := in.URL.Query()
	return page(in, slices.DeleteFunc(f.models(), func(m api.ManagedRoute) bool {
		return !mentions(q.Get("q"), m.ID, m.DisplayName) || differs(q.Get("provider"), m.Provider) ||
			q.Get("capability") != "" && !slices.Contains(m.Capabilities, q.Get("capability"))
	}))
}

func (f *Fake) getModel(in *request) (*reply, *failure) {
	if m, found := f.model(in.PathValue("id")); found {
		return ok(m)
	}
	return nil, notFound("model")
}

func (f *Fake) listCompatible(in *request) (*reply, *failure) {
	if id := in.URL.Query().Get("profile_id"); id != "" {
		if _, found := f.benchmark(id); !found {
			return nil, notFound("benchmark")
		}
	}
	var out []api.CompatibleRoute
	for _, m := range f.models() {
		worst, _ := worstCase(*m.Pricing)
		c := api.CompatibleRoute{ManagedRoute: m, Compatible: true, Reasons: []api.Reason{}, OutputFormats: []string{"default"}, MinimumCapMicrousd: &worst, Kind: api.ManagedKind}
		if m.ID == f.opt.Unfit {
			c.Compatible, c.Reasons = false, []api.Reason{{Code: "context_too_small", Message: "its context is too small"}}
		}
		out = append(out, c)
	}
	if in.Header.Get("Authorization") != "" {
		for _, c := range f.conns {
			m := api.ManagedRoute{ID: c.ID, ModelID: c.ModelID, DisplayName: c.Name, Provider: "connection", Status: "active", Capabilities: []string{"chat"}, Reasoning: &api.ReasoningControls{Mode: "provider_default"}}
			out = append(out, api.CompatibleRoute{ManagedRoute: m, Compatible: c.DisabledAt == nil, Reasons: []api.Reason{}, OutputFormats: []string{"default"}, Kind: api.ConnectionKind, ConnectionID: &c.ID})
		}
	}
	return page(in, out)
}

// mentions says that one of the texts holds the words, in any case.
func mentions(words string, texts ...string) bool {
	return strings.Contains(strings.ToLower(fmt.Sprint(texts)), strings.ToLower(words))
}

func differs(want, got string) bool { return want != "" && want != got }
