package report_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report"
	"github.com/evalrouter/evalrouter/lib/stat"
	"github.com/evalrouter/evalrouter/lib/usd"
)

var ended = time.Date(2026, 11, 2, 9, 30, 15, 0, time.UTC)

// kinds is how many tasks end how in the fixture for each 20 of them.
func outcomeOf(i int) string {
	switch i % 20 {
	case 3, 9, 14:
		return "wrong"
	case 6:
		return "extraction_failed"
	case 11:
		return "provider_error"
	case 17:
		return "skipped_budget"
	}
	return "right"
}

// export is a finished run of n tasks without its samples.
func export(n int) api.Export {
	counts := map[string]int{}
	for i := range n {
		counts[outcomeOf(i)]++
	}
	graded := n - counts["provider_error"] - counts["skipped_budget"]
	right := counts["right"]
	p := float64(right) / float64(graded)
	w := stat.Wilson(right, graded, 0.95)
	metric := api.MetricRecord{
		Key: "accuracy", Name: "Accuracy", Task: "sums", Source: "generic", Value: p, SampleCount: &graded,
		Uncertainty: &api.Uncertainty{Interval: &api.Interval{Method: "wilson", Lower: w.Lower, Upper: w.Upper, Confidence: 0.95}},
	}
	mean := api.MetricRecord{
		Key: "mean_score", Name: "Mean score", Value: 0.7612, SampleCount: &graded,
		Uncertainty: &api.Uncertainty{Interval: &api.Interval{Method: "student_t", Lower: 0.7, Upper: 0.8211, Confidence: 0.95}},
	}
	spend := usd.Micro(1_234_567)
	bill := api.BillingSnapshot{AsOf: ended, CapMicrousd: 2_000_000, SpendMicrousd: spend}
	model := api.SelectedModel{
		Kind: "managed", ModelID: "example-large", DisplayName: "Example Large", Protocol: "openai_chat", Revision: 3, RouteID: new("example.large"), PriceVersion: new("2026-10-01"),
		Generation: map[string]any{"max_output_tokens": 512}, Pricing: &api.Pricing{InputMicrousd: new(usd.Micro(500_000)), OutputMicrousd: new(usd.Micro(1_500_000)), EffectiveAt: &ended},
	}
	coverage := api.Coverage{Mode: "sample", SampleCount: &n, Seed: new(uint32(42))}
	summary := api.ResultSummary{
		RunID: "3f2a9c00-0000-4000-8000-000000000001", Name: "Nightly", ResultVersion: 1, Status: api.StatusPartial, TerminalReason: new("spending_cap"), FinishedAt: ended,
		Coverage: api.CoverageCounts{Planned: n, Graded: graded}, BillingSnapshot: bill, Outcomes: counts,
	}
	return api.Export{
		ExportSummary: api.ExportSummary{
			Schema: api.ExportSchema, RunID: summary.RunID, ResultVersion: 1, Model: model, Summary: summary, BillingSnapshot: bill, Checksum: fill("c0"),
			Identities: api.ExportIdentities{
				ProfileID: "sums@1", Slug: "sums", Version: "1", ManifestSHA256: fill("a1"), DatasetAssetsSHA256: fill("b2"), PopulationCount: 5 * n, SelectedCount: n, TaskIDsHash: fill("d3"),
				SamplingAlgorithm: "feistel-1", Coverage: coverage, Graders: []api.GraderRecord{{ID: "numeric", Version: "2", SHA256: fill("e4")}},
			},
			ExportPolicy: api.ExportPolicy{Answers: "included"},
		},
		Result: api.ResultRecord{
			RunID: summary.RunID, ManifestHash: fill("f5"), Version: 1, FinalizedAt: ended, Model: api.Model{Selected: &model}, Coverage: &coverage, Summary: summary,
			Profiles: []api.ProfileResult{{
				ProfileID: "sums@1", Name: "Sums of two numbers", Planned: n, Graded: graded, Errors: counts["provider_error"], SkippedBudget: counts["skipped_budget"],
				Selection: api.ProfileSelection{PopulationCount: 5 * n, SelectedCount: n}, Metrics: []api.MetricRecord{metric, mean}, HeadlineKey: new("accuracy"),
				UncertaintyNote: "Tasks without a score are left out of the interval.", SourceURL: new("https://example.org/sums"),
			}},
			Costs:            api.ResultCosts{Note: "Everything that was charged for the model's answers.", Profiles: []api.ProfileCost{{ChargedMicrousd: spend, TotalCostMicrousd: &spend}}},
			BenchmarkNotices: []api.BenchmarkNotice{{Licenses: []api.LicenseNotice{{Identifier: "CC-BY-4.0", Attribution: "The makers of the sums", Scope: "data", SourceURL: "https://example.org/sums"}}}},
			Warnings:         []string{"2 answers came without usage that adds up; nothing was charged for them."},
		},
	}
}

func fill(two string) string {
	s := ""
	for range 32 {
		s += two
	}
	return s
}

func newReport(t testing.TB, n int) report.Report {
	t.Helper()
	r, err := report.From(export(n), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tasksOf yields the tasks of the fixture; change alters them one by one.
func tasksOf(n int, change func(*report.Task)) report.Tasks {
	return func(yield func(report.Task, error) bool) {
		for i := range n {
			t := task(i)
			if change != nil {
				change(&t)
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

func task(i int) report.Task {
	o := outcomeOf(i)
	t := report.Task{Index: i, Target: []string{fmt.Sprint(2 * i)}, ExportSample: api.ExportSample{
		ProfileID: "sums@1", TaskID: fmt.Sprintf("sums/%04d", i), Attempt: 1, Outcome: o, ChargeMicrousd: usd.Micro(1000 + i),
	}}
	switch o {
	case "provider_error":
		t.ErrorCode, t.Attempt = new("provider_timeout"), 3
	case "skipped_budget":
		t.Attempt, t.ChargeMicrousd = 0, 0
	case "extraction_failed":
		t.Answer, t.FinishReason, t.Scores, t.Rule = new("I would rather not say."), new("stop"), map[string]float64{"accuracy": 0}, "no number"
	default:
		n, score := 2*i, 1.0
		if o == "wrong" {
			n, score = 2*i+1, 0
		}
		text := fmt.Sprintf("%d plus %d.\nThe sum is %d.", i, i, n)
		number := fmt.Sprint(n)
		from := len(text) - 1 - len(number)
		t.Answer, t.FinishReason, t.Scores, t.Rule = &text, new("stop"), map[string]float64{"accuracy": score}, "last number, equal"
		t.Extracted, t.Span, t.Usage = number, &[2]int{from, from + len(number)}, &api.SampleUsage{InputTokens: 41, OutputTokens: 12}
		t.AnswerSHA256 = new(fill("9c"))
	}
	return t
}
