package report_test

import (
	"bytes"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report"
	"github.com/evalrouter/evalrouter/lib/usd"
)

func compared(name string) api.Comparison {
	value, charge, p, d, n := 0.87, usd.Micro(610_000), 0.0072, 0.13, 520
	hash := strings.Repeat("ab", 32)
	series := func(label, status string, reasons []string) api.ComparisonSeries {
		return api.ComparisonSeries{
			Label: label, RunIDs: []string{"run-" + label}, Status: status, Partial: len(reasons) > 0, PartialReasons: reasons,
			Model:    api.ComparedModel{Kind: "managed", ModelID: "m", Name: name, Protocol: "chat", Limits: map[string]any{"a": 1}, Generation: map[string]any{}},
			Coverage: api.CoverageCounts{Planned: 100, Attempted: 100, Graded: 100}, ErrorCounts: map[string]int{"provider_error": 2}, Native: map[string]any{"exact": 0.5},
			Headline: api.ExportHeadline{Key: "accuracy", Name: "Accuracy", Value: &value, Denominator: 100}, ChargeMicrousd: &charge, BillingState: "settled",
			Source: api.ComparedSource{Path: "sources/" + label + ".json", SHA256: hash, Bytes: 1234, Kind: "full"},
		}
	}
	return api.Comparison{
		Schema: api.ComparisonSchema, GeneratedAt: time.Date(2026, 11, 30, 1, 2, 3, 0, time.UTC), WorkspaceID: "w",
		Benchmark: api.ExportIdentities{ProfileID: "sums@1", PopulationCount: 400, SelectedCount: 100, ManifestSHA256: hash, DatasetAssetsSHA256: hash, PopulationSHA256: hash, TaskIDsHash: hash, OutputFormat: "default"},
		Series:    []api.ComparisonSeries{series("A", "completed", nil), series("B", "partial", []string{"not_completed", "spending_cap"})},
		Warnings:  []api.ComparisonWarning{{Code: "limits_differ", Series: []string{"A", "B"}, Detail: "limits: A 1; B 2"}},
		Evidence:  &api.ComparedEvidence{Checked: true, GraderVersions: "same", TaskSets: "same", Series: []api.SeriesTaskSet{{Label: "A", Graded: 100, Answers: 100, SHA256: hash}}},
		Statistics: &api.ComparedStatistics{Level: 0.05, Confidence: 0.95, Correction: "holm", Pairs: []api.ComparedPair{
			{First: "A", Second: "B", Method: "mcnemar_exact", Tasks: 100, FirstHigher: 17, SecondHigher: 4, Difference: &d, P: &p, PHolm: &p, Interval: &api.Interval{Lower: 0.041, Upper: 0.22}, Verdict: "better"},
			{First: "A", Second: "C", Method: "mcnemar_exact", Tasks: 90, LeftOut: 10, Difference: &d, P: &value, PHolm: &value, Verdict: "not shown", NeededTasks: &n},
		}},
	}
}

func TestComparison_Page(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := report.Comparison(&out, compared("Model <b>one</b>")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "comparison.html")
	if *update {
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, out.Bytes()) {
		t.Errorf("the page is not %s (run with -update to accept it)", path)
	}
	for _, s := range []string{"Model &lt;b&gt;one&lt;/b&gt;", "87.0 %", "partial: not completed, spending cap", "A better", "0.0072", "about 520 paired tasks", "limits differ"} {
		if !strings.Contains(out.String(), s) {
			t.Errorf("the page does not say %q", s)
		}
	}
	for _, s := range []string{"http://", "https://", "src=", "<b>one", "@import", "url("} {
		if strings.Contains(out.String(), s) {
			t.Errorf("the page holds %q", s)
		}
	}
}

// What a provider or a person named a model cannot become markup or move a
// cursor.
func TestComparison_HostileNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"</style><script>alert(1)</script>", "\x1b[2Jgone", "a\u202eb", "\" onload=\"x"} {
		var out bytes.Buffer
		if err := report.Comparison(&out, compared(name)); err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"<script>", "\x1b", "\u202e", `" onload="`} {
			if strings.Contains(out.String(), bad) {
				t.Errorf("%q let %q through", name, bad)
			}
		}
	}
}

// CHN-15 to CHN-21: what the page of a chain shows is what was kept. A count or an
// interval that was not recorded is unknown; what has no score is counted by why,
// and is in no figure.
func TestComparison_CHN15_CHN16_CHN18_CHN19_CHN20_CHN21_Chain(t *testing.T) {
	t.Parallel()
	c := compared("Model")
	n := 48
	s := &c.Series[0]
	s.RunIDs, s.Model.Variant = []string{"run-1", "run-2"}, "json-schema"
	s.Chain = &api.ComparedChain{Label: "original + 1 resume", Version: "v1", Runs: []api.ChainRun{{RunID: "run-1", ResultVersion: 1, Status: "partial", DecidedCells: 40}, {RunID: "run-2", ResultVersion: 3, Status: "partial", DecidedCells: 8}}}
	s.Coverage.Graded, s.Headline.Denominator = 48, 48
	s.Metrics = []api.MetricRecord{
		{Name: "Accuracy", Value: 0.875, SampleCount: &n, Uncertainty: &api.Uncertainty{Interval: &api.Interval{Lower: 0.75, Upper: 0.95, Confidence: 0.95}}},
		{Name: "Depth", Value: 2.5}, {Name: "Truth", Value: 0.5, Uncertainty: &api.Uncertainty{}},
	}
	s.Native = map[string]any{"family": "sob", "n": 48.0, "metrics": map[string]any{"leaf_value_em": map[string]any{"mean": 0.75, "ci95_low": 0.5, "ci95_high": 0.875, "metric_name": "Truth <Score>"}, "odd": 7.0},
		"categories": map[string]any{"Strict Precision": map[string]any{"mean": 0.25}}}
	s.Unscored = []api.PendingReason{{Code: "provider_error", Cells: 2}, {Code: "skipped_budget", Cells: 50}}
	s.ErrorCounts = map[string]int{"provider_timeout": 2}
	s.Members = []api.ComparedSource{{Path: "sources/run-1.json", SHA256: "ab", Bytes: 7, Kind: api.SourceFull}}
	var out bytes.Buffer
	if err := report.Comparison(&out, c); err != nil {
		t.Fatal(err)
	}
	page := html.UnescapeString(out.String())
	if strings.Contains(out.String(), "<Score>") {
		t.Error("the name of a figure is markup")
	}
	for _, want := range []string{
		`<small>original + 1 resume</small>`, `<small>variant json-schema</small>`, "48 of 100", "n 48", "original + 1 resume, not complete", "run-2, partial, decided 8, result 3",
		`<th scope="row">Accuracy</th><td class="num">87.5 %</td><td class="num">48</td><td>75.0 to 95.0 (95 %)</td>`,
		`<th scope="row">Depth</th><td class="num">2.5000</td><td class="num">unknown</td><td>unknown</td>`,
		`<th scope="row">Truth</th><td class="num">50.0 %</td><td class="num">unknown</td><td>unknown</td>`,
		`<th scope="row">Truth <Score></th><td class="num">75.0 %</td><td class="num">48</td><td>50.0 to 87.5 (95 %)</td>`,
		`<th scope="row">Strict Precision</th><td class="num">25.0 %</td><td class="num">48</td><td>unknown</td>`,
		"provider error 2, skipped budget 50; they count in no figure", "provider timeout 2", "sources/run-1.json",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
