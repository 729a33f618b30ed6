package comparison_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report/comparison"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// chainOf is the export of a chain of two runs: the first decided two of four
// tasks, the second one more.
func chainOf(change func(*api.ChainExport)) api.ChainExport {
	s := run("b", nil).Summary
	s.Profiles[0].Counts.Graded, s.Profiles[0].Headline.Denominator = 3, 3
	s.Profiles[0].Metrics = []api.MetricRecord{{Key: "accuracy", Name: "Accuracy", Source: api.ChainFamily, Value: 2.0 / 3, SampleCount: ptr(3)}}
	c := api.ChainExport{
		Schema: api.ChainExportSchema, Label: "original + 1 resume", WorkspaceID: "w", TargetKind: api.ManagedKind, Identities: s.Identities, Model: s.Model, Profiles: s.Profiles,
		Chain:   api.ChainRecord{RootRunID: "a", NewestRunID: "b", RunIDs: []string{"a", "b"}, Version: hash, Supported: true, Status: api.StatusPartial},
		Runs:    []api.ChainRun{{RunID: "a", ResultVersion: 1, DecidedCells: 2, SpendMicrousd: 10}, {RunID: "b", ResultVersion: 2, DecidedCells: 1, SpendMicrousd: 20}},
		Planned: 4, Graded: 3, ErrorCounts: map[string]int{"provider_timeout": 1}, Unscored: []api.PendingReason{{Code: "provider_error", Cells: 1}}, TerminalReason: ptr("spending_cap"),
		BillingSnapshot: api.BillingSnapshot{CapMicrousd: 200, SpendMicrousd: 30, ChargedMicrousd: ptr(usd.Micro(30))}, ExportPolicy: api.ExportPolicy{Answers: "included"}, Checksum: hash,
	}
	if change != nil {
		change(&c)
	}
	return c
}

func chainMember(t *testing.T, c api.ChainExport) comparison.Member {
	t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	m := comparison.Member{Source: api.ComparedSource{Path: "sources/a.chain.json", SHA256: hash, Bytes: int64(len(b)), Kind: api.SourceChain}}
	if m.Summary, m.Chain, err = comparison.ReadChain(strings.NewReader(string(b))); err != nil {
		t.Fatal(err)
	}
	return m
}

// A chain is one series. CHN-07, CHN-08: its score stands with its runs and its
// graded tasks. CHN-16, CHN-21: what has no score is counted by why, apart from it.
func TestChain_CHN02_CHN07_CHN08_Series(t *testing.T) {
	t.Parallel()
	c := made(t, comparison.Options{}, chainMember(t, chainOf(nil)), run("x", nil))
	a := c.Series[0]
	want := api.ComparedChain{Label: "original + 1 resume", Version: hash, Runs: chainOf(nil).Runs}
	if d := cmp.Diff(&want, a.Chain); d != "" {
		t.Error(d)
	}
	if !slices.Equal(a.RunIDs, []string{"a", "b"}) || a.Coverage.Graded != 3 || a.Coverage.Planned != 4 || a.Headline.Denominator != 3 || *a.ChargeMicrousd != 30 || a.Source.Kind != api.SourceChain {
		t.Errorf("series A is %+v", a)
	}
	if !slices.Equal(a.PartialReasons, []string{"not_completed", "spending_cap", "graded_fewer_than_planned"}) {
		t.Errorf("it is partial because of %v", a.PartialReasons)
	}
	if a.ErrorCounts["provider_timeout"] != 1 || !slices.Equal(a.Unscored, []api.PendingReason{{Code: "provider_error", Cells: 1}}) || *a.Metrics[0].SampleCount != 3 || a.Model.Variant != "default" {
		t.Errorf("its counts are %v and %v, its metrics %v, its variant %q", a.ErrorCounts, a.Unscored, a.Metrics, a.Model.Variant)
	}
	if b := c.Series[1]; b.Chain != nil || b.Model.Variant != "" {
		t.Errorf("the run beside it is %+v", b)
	}
	if codes(c) != "aggregate_only[A]" {
		t.Errorf("warnings are %s", codes(c))
	}
}

// CHN-09, CHN-17: a reused answer with another score is warned of, the chain is not
// complete, and the task is not named.
func TestChain_CHN17_Mismatch(t *testing.T) {
	t.Parallel()
	m := chainMember(t, chainOf(func(c *api.ChainExport) {
		c.Chain.Status, c.TerminalReason, c.Graded, c.Planned, c.Unscored = api.StatusCompleted, nil, 3, 3, nil
		c.Profiles[0].Counts.Planned = 3
		c.ReuseScoreMismatch = []api.ReuseMismatch{{TaskID: ptr("secret-task"), Original: 1, Replayed: ptr(0.5)}}
	}))
	c := made(t, comparison.Options{}, m)
	if a := c.Series[0]; !a.Partial || !slices.Equal(a.PartialReasons, []string{"chain_not_complete"}) || a.Chain.Complete || a.Chain.Mismatches != 1 {
		t.Errorf("the series is %+v", a)
	}
	if codes(c) != "reuse_score_mismatch[A] aggregate_only[A]" {
		t.Errorf("warnings are %s", codes(c))
	}
	if b, err := json.Marshal(c); err != nil || strings.Contains(string(b), "secret-task") {
		t.Errorf("the task is named: %v", err)
	}
}

// Chains that do not add up are not compared, whoever saved them.
func TestChain_Mismatches(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, says string
		change     func(*api.ChainExport)
	}{
		{"another workspace", "workspace", func(c *api.ChainExport) { c.WorkspaceID = "v" }},
		{"no workspace", "does not record its workspace", func(c *api.ChainExport) { c.WorkspaceID = "" }},
		{"an agent", "kind agent", func(c *api.ChainExport) { c.TargetKind = "agent" }},
		{"a task that no run decided", "of which its runs decided 2", func(c *api.ChainExport) { c.Runs[1].DecidedCells = 0 }},
		{"a negative count", "does not say which runs", func(c *api.ChainExport) { c.Runs[0].DecidedCells, c.Runs[1].DecidedCells = 4, -1 }},
		{"another run", "does not say which runs", func(c *api.ChainExport) { c.Runs[0].RunID = "z" }},
		{"another end", "its figures are of 3", func(c *api.ChainExport) { c.Chain.NewestRunID = "a" }},
		{"figures of other tasks", "its figures are of 2", func(c *api.ChainExport) { c.Profiles[0].Counts.Graded = 2 }},
		{"no benchmark", "0 benchmarks", func(c *api.ChainExport) { c.Profiles = nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var no *comparison.Mismatch
			if _, err := comparison.Make([]comparison.Member{run("x", nil), chainMember(t, chainOf(tt.change))}, comparison.Options{}); !errors.As(err, &no) || !strings.Contains(no.Message, tt.says) {
				t.Errorf("%v, want a mismatch that says %q", err, tt.says)
			}
		})
	}
	var no *comparison.Mismatch
	if _, err := comparison.Make([]comparison.Member{chainMember(t, chainOf(nil)), chainMember(t, chainOf(nil))}, comparison.Options{}); !errors.As(err, &no) || !strings.Contains(no.Message, "two runs of its chain") {
		t.Errorf("one chain twice: %v", err)
	}
	for _, bad := range []string{"", "null", "{}", `{"schema":"evalrouter.chain_export.v1"}`, `{"schema":"evalrouter.export_summary.v1","runs":[{}],"chain":{"run_ids":["a"]}}`, `{"schema":"evalrouter.chain_export.v1","runs":[{}],"chain":{"run_ids":[]}}`} {
		if _, _, err := comparison.ReadChain(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was read as a chain", bad)
		}
	}
}

// exportOf is a full export of one run of the chain with these graded tasks.
func exportOf(id string, version int, tasks ...string) string {
	return fmt.Sprintf(`{"schema":"evalrouter.export.v1","run_id":%q,"result_version":%d,"samples":[%s]}`, id, version, strings.Join(tasks, ","))
}

func gradedTask(id string, score float64, answer string) string {
	return fmt.Sprintf(`{"task_id":%q,"status":"graded","answer":"x","answer_sha256":%q,"scores":{"accuracy":%g},"grader":{"id":"g","version":"1"}}`, id, answer, score)
}

// With evidence the exports of a chain's runs must say what the chain says: who
// decided which tasks, and that scores were taken over as they were.
func TestChain_Evidence(t *testing.T) {
	t.Parallel()
	first := exportOf("a", 1, gradedTask("t1", 1, "h1"), gradedTask("t2", 0, "h2"), `{"task_id":"t3","status":"skipped_budget"}`)
	second := func(tasks ...string) string { return exportOf("b", 2, tasks...) }
	t1, t2, t3 := gradedTask("t1", 1, "h1"), gradedTask("t2", 0, "h2"), gradedTask("t3", 1, "h3")
	for _, tt := range []struct {
		name, says string
		runs       []string
	}{
		{"as the chain says", "", []string{first, second(t1, t2, t3)}},
		{"an answer that has expired since", "", []string{first, second(t1, gradedTask("t2", 0, ""), t3)}},
		{"another score", "run b has another score", []string{first, second(gradedTask("t1", 0.5, "h1"), t2, t3)}},
		{"another answer", "run b has another score or answer", []string{first, second(t1, gradedTask("t2", 0, "h9"), t3)}},
		{"another run decided it", "run a decided 1 tasks by the exports and 2", []string{exportOf("a", 1, t1), second(t1, t2, t3)}},
		{"another result", "result 1) is not of the result", []string{first, exportOf("b", 1, t1, t2, t3)}},
		{"another run", "run z (result 2)", []string{first, exportOf("z", 2, t1, t2, t3)}},
		{"a run that is missing", "2 runs and 1 of their exports", []string{second(t1, t2, t3)}},
		{"a task fewer", "2 graded tasks and its summary says 3", []string{first, second(t1, t3)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := chainMember(t, chainOf(nil))
			for i, text := range tt.runs {
				s, tasks, err := comparison.ReadFull(strings.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				m.Tasks = tasks
				m.Runs = append(m.Runs, comparison.ChainMember{Source: api.ComparedSource{Path: fmt.Sprint(i), Kind: api.SourceFull}, Run: s.RunID, Version: s.ResultVersion, Tasks: tasks})
			}
			c, err := comparison.Make([]comparison.Member{m}, comparison.Options{Evidence: true})
			var no *comparison.Mismatch
			switch {
			case tt.says == "" && (err != nil || len(c.Series[0].Members) != 2 || c.Evidence.Series[0].Graded != 3 || codes(c) != ""):
				t.Errorf("%v, %+v, warnings %s", err, c.Evidence, codes(c))
			case tt.says != "" && (!errors.As(err, &no) || !strings.Contains(no.Message, tt.says)):
				t.Errorf("%v, want a mismatch that says %q", err, tt.says)
			}
		})
	}
}
