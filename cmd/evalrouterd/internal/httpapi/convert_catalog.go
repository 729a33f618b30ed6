package httpapi

import (
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// ownProvider is the namespace of the benchmarks that this service offers.
const ownProvider = "evalrouter"

// chat is the capability that most benchmarks ask for and every model has.
const chat = "chat"

// required is what a benchmark asks of a model: that it answers, unless it needs
// something else of it.
func required(p core.Profile) []string {
	if len(p.Needs) > 0 {
		return p.Needs
	}
	return []string{chat}
}

// capabilities is what a model can do.
func capabilities(offers []string) []string { return append([]string{chat}, offers...) }

func versionOf(p core.Profile) string { return fmt.Sprint(p.Version) }

func evalRecord(p core.Profile) api.EvalRecord {
	availability := availabilityOf(p)
	e := api.EvalRecord{
		Name: p.Slug, DisplayName: p.Name, Description: p.Description, Provider: ownProvider, Version: versionOf(p),
		Ref: "eval://" + ownProvider + "/" + p.Slug + "/" + versionOf(p), Runner: p.Runner, Status: p.Status, Kind: "benchmark", Protocol: "batch",
		ExecutionMode: "router", RequiredCapabilities: required(p), TaskCount: ptr(p.TaskCount), ProfileID: ptr(string(p.ID)),
		Pricing:      api.EvalPricing{PriceVersion: "1", ExecutionFeeMicrousd: ptr(usd.Micro(0)), TaskFeeMicrousd: ptr(usd.Micro(0))},
		Availability: availability.Status, Category: p.Category, Family: p.Family, Publisher: ownProvider, Source: p.Source.URL, Visibility: visibility(p),
	}
	if availability.ReasonCode != nil {
		e.AvailabilityReason = *availability.ReasonCode
	}
	return e
}

func visibility(p core.Profile) string {
	if p.Workspace != "" {
		return "private"
	}
	return "public"
}

func benchmarkRecord(p core.Profile) api.BenchmarkRecord {
	resumable, _ := p.Resumable()
	return api.BenchmarkRecord{
		ID: string(p.ID), Slug: p.Slug, Version: versionOf(p), Runner: p.Runner, Status: p.Status, ManifestSHA256: p.ManifestSHA256,
		Name: maybe(p.Name), Description: maybe(p.Description), Category: maybe(p.Category), CodeLicense: maybe(p.Licence.Code),
		DataLicense: maybe(p.Licence.Data), LicenseURL: maybe(p.Licence.URL), SamplingAlgorithm: ptr(core.OrderAlgorithm),
		SourceRevision: maybe(p.Source.Revision), SourceURL: maybe(p.Source.URL), TaskCount: ptr(p.TaskCount), Metrics: p.Metrics,
		RequiredCapabilities: required(p), GenerationConfig: map[string]any{"max_output_tokens": p.MaxOutputTokens}, Provenance: provenance(p),
		QuoteAvailability: availabilityOf(p), SuggestedSampleCount: ptr(min(core.DefaultSample, p.TaskCount)), OutputFormats: []string{"default"},
		ResumeSupported: resumable, Family: p.Family, Visibility: visibility(p),
	}
}

// provenance says where the tasks come from: a generator with its seed, so
// that anyone can draw the same, or a file with its hash.
func provenance(p core.Profile) map[string]any {
	out := map[string]any{
		"dataset_sha256": p.DatasetSHA256, "population_sha256": p.PopulationSHA256, "task_ids_sha256": p.TaskIDsSHA256,
		"grader": map[string]any{"id": p.Grader.ID, "version": p.Grader.Version},
	}
	if g := p.Generator; g != nil {
		out["generator"] = map[string]any{"slug": g.Slug, "version": fmt.Sprint(g.Version), "seed": fmt.Sprint(g.Seed), "tasks": p.TaskCount}
	}
	if p.Source.Path != "" {
		out["path"] = p.Source.Path
	}
	return out
}

func availabilityOf(p core.Profile) *api.BenchmarkQuoteAvailability {
	ready, reason := p.Ready()
	if ready {
		return &api.BenchmarkQuoteAvailability{Status: api.ReadyForQuote}
	}
	return &api.BenchmarkQuoteAvailability{Status: api.QuoteUnavailable, ReasonCode: &reason, Message: ptr("This version cannot be quoted now.")}
}
