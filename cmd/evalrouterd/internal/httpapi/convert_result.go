package httpapi

import (
	"encoding/json"
	"fmt"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/lineage"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/offer"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/optional"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/sample"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report/evidence"
)

// ended is a run with its frozen result.
type ended struct {
	export.Run
	result store.Result
	// native is the family's own figures, filled for exports; nil for none.
	native map[string]any
	// chained says that the run stands for the chain that it ends.
	chained bool
}

func resultRecord(e ended, now core.Micros) api.ResultRecord {
	cov := coverage(e.Quote.Coverage)
	return api.ResultRecord{
		ID: e.result.ID, RunID: string(e.ID), ManifestHash: e.ScopeHash, Checksum: e.result.Checksum, Version: e.result.Version,
		FinalizedAt: optional.At(e.result.FinalizedAt), Model: offer.Model(e.Quote), Coverage: &cov, Profiles: []api.ProfileResult{profileResult(e)},
		Summary: resultSummary(e), Costs: resultCosts(e), Retention: retention(e.Run.Run, now), BenchmarkNotices: notices(e), Continuation: lineage.Position(e.Run.Run),
		TerminalDetail: optional.Text(e.result.Detail),
		Simulated:      e.Quote.Simulated(), Warnings: append(warnings(e.result.Warnings), warnings(e.Quote.Warnings)...),
	}
}

func resultSummary(e ended) api.ResultSummary {
	return api.ResultSummary{
		SchemaVersion: 1, RunID: string(e.ID), Name: e.Name, ManifestHash: e.ScopeHash, ResultVersion: e.result.Version,
		Status: api.RunStatus(e.result.State), TerminalReason: optional.Text(e.result.Reason), FinishedAt: optional.At(e.result.FinalizedAt),
		Coverage: counts(e.result), BillingSnapshot: billing(e.result), Outcomes: outcomes(e.result.Outcomes),
	}
}

func counts(r store.Result) api.CoverageCounts {
	t := r.Outcomes
	return api.CoverageCounts{
		Planned: r.Planned, Attempted: t.Graded() + t.Errors(), Graded: t.Graded(), Errors: t.Errors(),
		Cancelled: t[core.CancelledTask], SkippedBudget: t[core.SkippedBudget],
	}
}

func billing(r store.Result) api.BillingSnapshot {
	return api.BillingSnapshot{AsOf: optional.At(r.FinalizedAt), CapMicrousd: r.Money.Cap, SpendMicrousd: r.Money.Charged + r.Money.Metered, ChargedMicrousd: new(r.Money.Charged)}
}

func resultCosts(e ended) api.ResultCosts {
	m := e.result.Money
	out := api.ResultCosts{AsOf: optional.At(e.result.FinalizedAt), Basis: "managed_total", Currency: "USD", Note: "Everything that was charged for the model's answers."}
	if len(e.Quote.Judges) > 0 {
		out.Note = "Everything that was charged for the model's answers and for judging them."
	}
	cost := api.ProfileCost{ProfileID: string(e.Quote.Profile.ID), ChargedMicrousd: m.Charged, TotalCostMicrousd: new(m.Charged)}
	switch t := e.Quote.Target; {
	case e.Quote.Practice():
		out.Note = "Practice credit only; no money was spent."
	case t.Metered() && t.Priced:
		out.Basis, out.Note = "platform_fees_only", "The provider bills you directly. The total counts its reported usage at your declared rates."
		cost.TotalCostMicrousd = new(m.Charged + external(e.Quote, m.Metered, m.Absorbed))
	case t.Metered():
		out.Basis, out.Note = "platform_fees_only", "The provider bills you directly, at rates that this service does not know."
		cost.TotalCostMicrousd = nil
	}
	out.Profiles = []api.ProfileCost{cost}
	return out
}

func profileResult(e ended) api.ProfileResult {
	p, c := e.Quote.Profile, counts(e.result)
	out := api.ProfileResult{
		ProfileID: string(p.ID), UnitID: string(p.ID), Name: p.Name, Runner: p.Runner, Status: string(e.result.State), UncertaintyNote: uncertaintyNote(e),
		Selection: selection(e.Quote), Planned: c.Planned, Graded: c.Graded, Errors: c.Errors, Cancelled: c.Cancelled, SkippedBudget: c.SkippedBudget,
		Eligible: new(p.TaskCount), Metrics: metrics(e), Native: map[string]any{}, DataLicense: optional.Text(p.Licence.Data), LicenseURL: optional.Text(p.Licence.URL),
		SourceRevision: optional.Text(p.Source.Revision), SourceURL: optional.Text(p.Source.URL),
	}
	if len(e.result.Metrics) > 0 {
		out.HeadlineKey = new(e.result.Metrics[0].Key)
	}
	if e.result.State == core.Failed {
		out.ErrorCode = optional.Text(e.result.Reason)
	}
	return out
}

// uncertaintyNote says what the interval can and cannot tell.
func uncertaintyNote(e ended) string {
	n, p := e.result.Outcomes.Graded(), e.Quote.Profile
	switch {
	case n == 0:
		return "Nothing was graded, so there is no figure."
	case n < p.TaskCount:
		return fmt.Sprintf("The interval is for all %d tasks, judged by %d graded ones. Tasks without a score are left out of it.", p.TaskCount, n)
	}
	return "Every task was graded. The interval is for other tasks of the same kind, not for these."
}

func metrics(e ended) []api.MetricRecord {
	out := []api.MetricRecord{}
	for _, m := range e.result.Metrics {
		rec := api.MetricRecord{
			Key: m.Key, Name: m.Name, Task: e.Quote.Profile.Slug, Source: e.Quote.Profile.Family, Value: sample.Finite(m.Value),
			Direction: new("higher_is_better"), SampleCount: new(m.N), StandardError: m.StdErr,
		}
		if m.Interval != nil {
			rec.Uncertainty = &api.Uncertainty{Interval: interval(*m.Interval, m.N, e.result.Planned, e.Quote)}
		} else {
			rec.Uncertainty = &api.Uncertainty{Reason: new("there are too few scores, or they do not differ")}
		}
		out = append(out, rec)
	}
	return out
}

// notices repeats what a benchmark's licence asks to be shown.
func notices(e ended) []api.BenchmarkNotice {
	p := e.Quote.Profile
	if p.Licence.Data == "" {
		return []api.BenchmarkNotice{}
	}
	return []api.BenchmarkNotice{{
		ProfileID: string(p.ID), AdaptationNotice: "Tasks are rendered as prompts from the named data; answers are graded by " + p.Grader.ID + " " + p.Grader.Version + ".",
		EvidenceSHA256: p.DatasetSHA256, ManifestSHA256: p.ManifestSHA256,
		Licenses: []api.LicenseNotice{{
			Identifier: p.Licence.Data, Attribution: p.Name, SourceRevision: p.Source.Revision, SourceURL: p.Source.URL, Scope: "data",
		}},
	}}
}

func exportSummary(e ended, schema string, now core.Micros) api.ExportSummary {
	return api.ExportSummary{
		Schema: schema, RunID: string(e.ID), ResultVersion: e.result.Version, WorkspaceID: string(e.Workspace), GeneratedAt: optional.At(e.result.FinalizedAt),
		TargetKind: e.Quote.Target.Kind, Identities: identities(e.Quote), Model: offer.SelectedModel(e.Quote), Reasoning: offer.ReasoningChoice(e.Quote.Reasoning), Summary: resultSummary(e),
		Profiles: []api.ExportProfile{exportProfile(e)}, BillingSnapshot: billing(e.result), ExportPolicy: policy(e, now), Continuation: lineage.Position(e.Run.Run), Checksum: e.result.Checksum,
	}
}

func policy(e ended, now core.Micros) api.ExportPolicy {
	r := retention(e.Run.Run, now)
	p := api.ExportPolicy{Answers: "included", RawExpiresAt: r.RawExpiresAt}
	if r.RawEvidenceExpired {
		p.Answers, p.Reason = "expired", new("the answers were kept for "+fmt.Sprint(core.RawDays)+" days")
	}
	return p
}

func identities(q core.Quote) api.ExportIdentities {
	p := q.Profile
	return api.ExportIdentities{
		ProfileID: string(p.ID), Slug: p.Slug, Version: offer.Version(p), ManifestSHA256: p.ManifestSHA256, DatasetAssetsSHA256: p.DatasetSHA256,
		PopulationCount: p.TaskCount, PopulationSHA256: p.PopulationSHA256, SelectedCount: q.Coverage.N, TaskIDsHash: q.TaskIDsHash,
		SamplingAlgorithm: core.OrderAlgorithm, Coverage: coverage(q.Coverage), OutputFormat: "default",
		Graders: []api.GraderRecord{sample.Grader(p)},
	}
}

func native(e ended) map[string]any {
	if e.native == nil {
		return map[string]any{}
	}
	return e.native
}

func exportProfile(e ended) api.ExportProfile {
	out := api.ExportProfile{
		ProfileID: string(e.Quote.Profile.ID), Native: native(e), Metrics: metrics(e), Counts: counts(e.result), ErrorCounts: map[string]int{},
		Headline: api.ExportHeadline{Key: sample.Headline, Name: "Accuracy", Direction: "higher_is_better", Denominator: e.result.Outcomes.Graded()},
	}
	for code, n := range e.result.Errors {
		out.ErrorCounts[code] = n
	}
	if n := out.Headline.Denominator; n > 0 {
		out.Headline.Value = new(float64(e.result.Outcomes[bundle.Right]) / float64(n))
	}
	return out
}

// evidencePrices is what charges are computed from: the frozen prices of the
// model and of each judge.
func evidencePrices(q core.Quote) evidence.Prices {
	p := evidence.Prices{Target: priceBook(q.Target)}
	for _, j := range q.Judges {
		p.Judges = append(p.Judges, priceBook(j.Target))
	}
	return p
}

func priceBook(t core.Target) evidence.PriceBook {
	p := t.Prices
	return evidence.PriceBook{
		Name: t.Name(), Version: offer.PriceVersion(t), Priced: t.Priced, Request: p.Request, LongAbove: p.Long.Above, UnbilledRefusals: t.UnbilledRefusals,
		Rates: evidence.Rates{Input: p.Input, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite, CacheWriteHour: p.CacheWriteHour, Output: p.Output, Reasoning: p.Reasoning},
		Long:  evidence.Rates(p.Long.Rates),
	}
}

func billedCall(c history.BilledCall) (evidence.BilledCall, error) {
	out := evidence.BilledCall{Kind: c.Kind, Part: c.Part, Reserved: c.Reserved, Charged: c.Spent}
	if c.UsageDoc == "" {
		return out, nil
	}
	var u core.Usage
	if err := json.Unmarshal([]byte(c.UsageDoc), &u); err != nil {
		return out, fmt.Errorf("read usage of task %d: %w", c.Idx, err)
	}
	out.Usage = new(evidence.Usage(u))
	return out, nil
}
