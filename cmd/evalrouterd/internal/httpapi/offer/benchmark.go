// Package offer writes what can be evaluated, and with what, as the records of the
// wire: benchmarks, routes with their prices, connections.
package offer

import (
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/optional"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// OwnProvider is the namespace of the benchmarks that this service offers.
const OwnProvider = "evalrouter"

// chat is the capability that most benchmarks ask for and every model has.
const chat = "chat"

// Required is what a benchmark asks of a model: that it answers, unless it needs
// something else of it.
func Required(p core.Profile) []string {
	if len(p.Needs) > 0 {
		return p.Needs
	}
	return []string{chat}
}

// Capabilities is what a model can do.
func Capabilities(offers []string) []string { return append([]string{chat}, offers...) }

func Version(p core.Profile) string { return fmt.Sprint(p.Version) }

func Evaluation(p core.Profile) api.EvalRecord {
	availability := availabilityOf(p)
	e := api.EvalRecord{
		Name: p.Slug, DisplayName: p.Name, Description: p.Description, Provider: OwnProvider, Version: Version(p),
		Ref: "eval://" + OwnProvider + "/" + p.Slug + "/" + Version(p), Runner: p.Runner, Status: p.Status, Kind: "benchmark", Protocol: "batch",
		ExecutionMode: "router", RequiredCapabilities: Required(p), TaskCount: new(p.TaskCount), ProfileID: new(string(p.ID)),
		Pricing:      api.EvalPricing{PriceVersion: "1", ExecutionFeeMicrousd: new(usd.Micro(0)), TaskFeeMicrousd: new(usd.Micro(0))},
		Availability: availability.Status, Category: p.Category, Family: p.Family, Publisher: OwnProvider, Source: p.Source.URL, Visibility: visibility(p),
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

func Benchmark(p core.Profile) api.BenchmarkRecord {
	resumable, _ := p.Resumable()
	return api.BenchmarkRecord{
		ID: string(p.ID), Slug: p.Slug, Version: Version(p), Runner: p.Runner, Status: p.Status, ManifestSHA256: p.ManifestSHA256,
		Name: optional.Text(p.Name), Description: optional.Text(p.Description), Category: optional.Text(p.Category), CodeLicense: optional.Text(p.Licence.Code),
		DataLicense: optional.Text(p.Licence.Data), LicenseURL: optional.Text(p.Licence.URL), SamplingAlgorithm: new(core.OrderAlgorithm),
		SourceRevision: optional.Text(p.Source.Revision), SourceURL: optional.Text(p.Source.URL), TaskCount: new(p.TaskCount), Metrics: p.Metrics,
		RequiredCapabilities: Required(p), GenerationConfig: map[string]any{"max_output_tokens": p.MaxOutputTokens}, Provenance: provenance(p),
		QuoteAvailability: availabilityOf(p), SuggestedSampleCount: new(min(core.DefaultSample, p.TaskCount)), OutputFormats: []string{"default"},
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
	return &api.BenchmarkQuoteAvailability{Status: api.QuoteUnavailable, ReasonCode: &reason, Message: new("This version cannot be quoted now.")}
}
