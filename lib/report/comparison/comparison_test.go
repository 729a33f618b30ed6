package comparison_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report/comparison"
	"github.com/evalrouter/evalrouter/lib/usd"
)

func ptr[T any](v T) *T { return &v }

var hash = strings.Repeat("ab", 32)

// run is a member like every other one of these tests, but for its id and model.
func run(id string, change func(*comparison.Member)) comparison.Member {
	m := comparison.Member{
		Source: api.ComparedSource{Path: "sources/" + id + ".summary.json", SHA256: hash, Bytes: 10, Kind: api.SourceSummary},
		Summary: api.ExportSummary{
			Schema: api.ExportSummarySchema, RunID: id, ResultVersion: 1, WorkspaceID: "w", TargetKind: api.ManagedKind, Checksum: hash,
			Identities: api.ExportIdentities{
				ProfileID: "sums@1", Slug: "sums", Version: "1", ManifestSHA256: hash, DatasetAssetsSHA256: hash, PopulationCount: 40, PopulationSHA256: hash,
				SelectedCount: 4, TaskIDsHash: hash, SamplingAlgorithm: "s", OutputFormat: "default", Graders: []api.GraderRecord{{ID: "g", Version: "1", SHA256: hash}},
			},
			Model: api.SelectedModel{
				Kind: api.ManagedKind, ModelID: "m-" + id, RouteID: ptr("r-" + id), Protocol: "chat", Revision: 3, DisplayName: "Model " + id,
				Limits: map[string]any{"output_tokens_per_task": 64}, Generation: map[string]any{"max_output_tokens": 64}, Routing: map[string]any{"order": "fixed"},
			},
			Summary: api.ResultSummary{Status: api.StatusCompleted, TerminalReason: ptr("completed")},
			Profiles: []api.ExportProfile{{
				ProfileID: "sums@1", Native: map[string]any{"exact": 0.5}, Headline: api.ExportHeadline{Key: "accuracy", Name: "Accuracy", Value: ptr(0.5), Denominator: 4},
				Counts: api.CoverageCounts{Planned: 4, Attempted: 4, Graded: 4}, ErrorCounts: map[string]int{},
			}},
			BillingSnapshot: api.BillingSnapshot{CapMicrousd: 100, SpendMicrousd: 30, ChargedMicrousd: ptr(usd.Micro(30))},
			ExportPolicy:    api.ExportPolicy{Answers: "included"},
		},
	}
	if change != nil {
		change(&m)
	}
	return m
}

var at = time.Date(2026, 11, 30, 1, 2, 3, 0, time.UTC)

func made(t *testing.T, o comparison.Options, members ...comparison.Member) api.Comparison {
	t.Helper()
	o.GeneratedAt, o.Version = at, "1.0"
	c, err := comparison.Make(members, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// CMP-19 to CMP-24: what stands in a series, and that it is partial when it did
// not complete or graded fewer tasks than it planned.
func TestMake_CMP23_Series(t *testing.T) {
	t.Parallel()
	c := made(t, comparison.Options{GroupID: "g"}, run("a", nil), run("b", func(m *comparison.Member) {
		m.Summary.Summary.Status, m.Summary.Summary.TerminalReason = api.StatusPartial, ptr("spending_cap")
		m.Summary.Profiles[0].Counts.Graded = 2
		m.Summary.Profiles[0].Headline.Denominator = 2
		m.Summary.BillingSnapshot.Pending = true
		m.Summary.Profiles[0].ErrorCounts = map[string]int{"provider_error": 1}
	}))
	want := api.ComparisonSeries{
		Label: "A", RunIDs: []string{"a"}, Status: "completed", PartialReasons: []string{},
		Model: api.ComparedModel{
			Kind: "managed", RouteID: ptr("r-a"), ModelID: "m-a", Name: "Model a", Revision: 3, Protocol: "chat", Limits: map[string]any{"output_tokens_per_task": 64},
			Generation: map[string]any{"max_output_tokens": 64}, Routing: map[string]any{"order": "fixed"},
		},
		Coverage: api.CoverageCounts{Planned: 4, Attempted: 4, Graded: 4}, ErrorCounts: map[string]int{}, Native: map[string]any{"exact": 0.5},
		Headline: api.ExportHeadline{Key: "accuracy", Name: "Accuracy", Value: ptr(0.5), Denominator: 4}, ChargeMicrousd: ptr(usd.Micro(30)), BillingState: "settled",
		Source: api.ComparedSource{Path: "sources/a.summary.json", SHA256: hash, Bytes: 10, Kind: "summary"}, ResultChecksum: hash, RawAnswers: "included",
	}
	if d := cmp.Diff(want, c.Series[0]); d != "" {
		t.Errorf("series A (-want +got):\n%s", d)
	}
	b := c.Series[1]
	if !b.Partial || !slices.Equal(b.PartialReasons, []string{"not_completed", "spending_cap", "graded_fewer_than_planned"}) || b.ChargeMicrousd != nil || b.BillingState != "pending" ||
		b.Headline.Denominator != 2 || b.ErrorCounts["provider_error"] != 1 {
		t.Errorf("series B is %+v", b)
	}
	if c.Schema != api.ComparisonSchema || c.WorkspaceID != "w" || *c.GroupID != "g" || c.Evidence != nil || c.Statistics != nil || c.Benchmark.ProfileID != "sums@1" {
		t.Errorf("comparison is %+v", c)
	}
	if codes(c) != "unsettled_billing[B]" {
		t.Errorf("warnings are %s", codes(c))
	}
	if solo := made(t, comparison.Options{}, run("a", nil)); len(solo.Series) != 1 || len(solo.Warnings) != 0 {
		t.Errorf("one run alone: %+v", solo)
	}
}

func codes(c api.Comparison) string {
	var out []string
	for _, w := range c.Warnings {
		out = append(out, w.Code+"["+strings.Join(w.Series, "")+"]")
	}
	return strings.Join(out, " ")
}

func TestMake_Warnings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*comparison.Member)
		want   string
	}{
		{"nothing differs", func(*comparison.Member) {}, ""},
		{"CMP-31 transport", func(m *comparison.Member) { m.Summary.Model.Protocol = "completions" }, "transport_differs[AB]"},
		{"CMP-31 limits", func(m *comparison.Member) { m.Summary.Model.Limits = map[string]any{"output_tokens_per_task": 32} }, "limits_differ[AB]"},
		{"CMP-31 generation", func(m *comparison.Member) { m.Summary.Model.Generation = map[string]any{"temperature": 1} }, "generation_differs[AB]"},
		{"routing", func(m *comparison.Member) { m.Summary.Model.Routing = nil }, "routing_differs[AB]"},
		{"reasoning", func(m *comparison.Member) {
			m.Summary.Reasoning = &api.ReasoningChoice{Mode: "effort", Effort: "low"}
			m.Summary.Model.Generation = map[string]any{"max_output_tokens": 64, "reasoning": m.Summary.Reasoning}
		}, "reasoning_differs[AB]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := codes(made(t, comparison.Options{}, run("a", nil), run("b", tt.change))); got != tt.want {
				t.Errorf("warnings are %q, want %q", got, tt.want)
			}
		})
	}
}

// Every identity must be recorded and shared; the message names the field and
// both runs.
func TestMake_Mismatches(t *testing.T) {
	t.Parallel()
	other := strings.Repeat("cd", 32)
	for _, tt := range []struct {
		name, says string
		change     func(*api.ExportSummary)
	}{
		{"CMP-09 workspace", "workspace", func(s *api.ExportSummary) { s.WorkspaceID = "x" }},
		{"CMP-04 version", "benchmark version sums@2", func(s *api.ExportSummary) { s.Identities.ProfileID = "sums@2" }},
		{"manifest", "benchmark manifest", func(s *api.ExportSummary) { s.Identities.ManifestSHA256 = other }},
		{"CMP-05 dataset", "dataset cdcdcdcdcdcd", func(s *api.ExportSummary) { s.Identities.DatasetAssetsSHA256 = other }},
		{"CMP-06 population", "task population", func(s *api.ExportSummary) { s.Identities.PopulationSHA256 = other }},
		{"population size", "number of tasks in the population 41", func(s *api.ExportSummary) { s.Identities.PopulationCount = 41 }},
		{"CMP-07 selection", "task selection", func(s *api.ExportSummary) { s.Identities.TaskIDsHash = other }},
		{"selected", "number of selected tasks 5", func(s *api.ExportSummary) { s.Identities.SelectedCount = 5 }},
		{"CMP-08 format", "output format free", func(s *api.ExportSummary) { s.Identities.OutputFormat = "free" }},
		{"no workspace", "does not record its workspace", func(s *api.ExportSummary) { s.WorkspaceID = "" }},
		{"no version", "does not record its benchmark version", func(s *api.ExportSummary) { s.Identities.ProfileID = "" }},
		{"CMP-11 no dataset", "does not record its dataset", func(s *api.ExportSummary) { s.Identities.DatasetAssetsSHA256 = "" }},
		{"no population", "does not record its task population", func(s *api.ExportSummary) { s.Identities.PopulationSHA256 = "" }},
		{"CMP-11 no selection", "does not record its task selection", func(s *api.ExportSummary) { s.Identities.TaskIDsHash = "" }},
		{"no format", "does not record its output format", func(s *api.ExportSummary) { s.Identities.OutputFormat = "" }},
		{"CMP-10 comparison run", "kind comparison", func(s *api.ExportSummary) { s.TargetKind = "comparison" }},
		{"CMP-10 agent run", "kind agent", func(s *api.ExportSummary) { s.TargetKind = "agent" }},
		{"CMP-10 environment run", "kind environment", func(s *api.ExportSummary) { s.TargetKind = "environment" }},
		{"two benchmarks", "2 benchmarks", func(s *api.ExportSummary) { s.Profiles = append(s.Profiles, s.Profiles[0]) }},
		{"unknown schema", "schema", func(s *api.ExportSummary) { s.Schema = "x" }},
		{"twice", "named twice", func(s *api.ExportSummary) { s.RunID = "a" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := comparison.Make([]comparison.Member{run("a", nil), run("b", func(m *comparison.Member) { tt.change(&m.Summary) })}, comparison.Options{})
			var no *comparison.Mismatch
			if !errors.As(err, &no) || !strings.Contains(no.Message, tt.says) {
				t.Errorf("%v, want a mismatch that says %q", err, tt.says)
			}
		})
	}
	var nine []comparison.Member
	for i := range 9 {
		nine = append(nine, run(fmt.Sprint(i), nil))
	}
	for _, m := range [][]comparison.Member{nil, nine} {
		if _, err := comparison.Make(m, comparison.Options{}); err == nil {
			t.Errorf("%d runs compared", len(m))
		}
	}
}

const full = `{"schema":"evalrouter.export.v1","run_id":"a","samples":[
{"task_id":"t2","status":"graded","answer":"x","scores":{"accuracy":1},"grader":{"id":"g","version":"1","sha256":"h"}},
{"task_id":"t1","status":"graded","answer":null,"answer_withheld":"expired","grader":{"id":"g","version":"1","sha256":"h"}},
{"task_id":"t3","status":"error","answer":null,"grader":{"id":"g","version":"1","sha256":"h"}}
],"workspace_id":"w","result":{"id":"r"}}`

func TestReadFull(t *testing.T) {
	t.Parallel()
	s, tasks, err := comparison.ReadFull(strings.NewReader(full))
	if err != nil {
		t.Fatal(err)
	}
	if s.RunID != "a" || s.WorkspaceID != "w" || !slices.Equal(tasks.Graded, []string{"t1", "t2"}) || tasks.Answers != 1 || len(tasks.Graders) != 1 {
		t.Errorf("read %+v and %+v", s, tasks)
	}
	for _, bad := range []string{"", "[]", "{", full[:len(full)-1], strings.Replace(full, "samples", "simples", 1), `{"samples":{}}`, `{"samples":[1]}`} {
		if _, _, err := comparison.ReadFull(strings.NewReader(bad)); err == nil {
			t.Errorf("%.40q was read", bad)
		}
	}
}

func withTasks(id string, tasks comparison.Tasks) comparison.Member {
	return run(id, func(m *comparison.Member) {
		m.Tasks = &tasks
		m.Summary.Profiles[0].Counts.Graded = len(tasks.Graded)
	})
}

// CMP-27, CMP-28: a graded task without its answer refuses its run, unless the
// archive is made without them.
func TestMake_CMP27_CMP28_Evidence(t *testing.T) {
	t.Parallel()
	g1, g2 := []api.GraderRecord{{ID: "g", Version: "1"}}, []api.GraderRecord{{ID: "g", Version: "2"}}
	ids, fewer := []string{"t1", "t2", "t3", "t4"}, []string{"t1", "t2", "t3"}
	same := func() comparison.Member {
		return withTasks("a", comparison.Tasks{Graded: ids, Graders: g1, Answers: 4})
	}
	plain := made(t, comparison.Options{}, run("a", nil), run("b", nil))
	for _, tt := range []struct {
		name           string
		b              comparison.Tasks
		graders, tasks string
		warn           string
	}{
		{"same", comparison.Tasks{Graded: ids, Graders: g1, Answers: 4}, "same", "same", ""},
		{"other grader", comparison.Tasks{Graded: ids, Graders: g2, Answers: 4}, "different", "same", "grader_versions_differ[AB]"},
		{"other tasks", comparison.Tasks{Graded: fewer, Graders: g1, Answers: 3}, "same", "different", "task_sets_differ[AB]"},
		{"both", comparison.Tasks{Graded: fewer, Graders: g2, Answers: 3}, "different", "different", "grader_versions_differ[AB] task_sets_differ[AB]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := made(t, comparison.Options{Evidence: true}, same(), withTasks("b", tt.b))
			if e := c.Evidence; e == nil || !e.Checked || e.GraderVersions != tt.graders || e.TaskSets != tt.tasks || codes(c) != tt.warn {
				t.Errorf("evidence %+v with warnings %s", c.Evidence, codes(c))
			}
			if d := cmp.Diff(plain.Series[0].Headline, c.Series[0].Headline); d != "" {
				t.Errorf("the score is another with evidence: %s", d)
			}
		})
	}
	bare := withTasks("b", comparison.Tasks{Graded: ids, Graders: g1, Answers: 2})
	var no *comparison.Mismatch
	if _, err := comparison.Make([]comparison.Member{same(), bare}, comparison.Options{Evidence: true}); !errors.As(err, &no) || !strings.Contains(no.Message, "--without-raw") {
		t.Errorf("answers are missing: %v", err)
	}
	c := made(t, comparison.Options{WithoutRaw: true}, same(), bare)
	if codes(c) != "aggregate_only[B]" || c.Evidence.Series[1].Answers != 2 {
		t.Errorf("without answers: %s, %+v", codes(c), c.Evidence)
	}
	wrong := withTasks("b", comparison.Tasks{Graded: ids, Graders: g1, Answers: 4})
	wrong.Summary.Profiles[0].Counts.Graded = 3
	if _, err := comparison.Make([]comparison.Member{same(), wrong}, comparison.Options{Evidence: true}); !errors.As(err, &no) {
		t.Errorf("tasks and summary differ: %v", err)
	}
}
