package export_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/inspect/evallog"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
)

// longRun is a run in another order than the benchmark's whose answers are
// longer than what is kept of them beside a score.
func longRun(config string) (export.Run, export.Source, []string) {
	const n = 12
	var tasks listed
	var whole []string
	for i := range n {
		tasks = append(tasks, bundle.Task{ID: fmt.Sprint(i), Input: []bundle.Message{{Role: bundle.User, Text: "q"}}, Target: []string{"x"}})
		whole = append(whole, strings.Repeat(fmt.Sprintf("é%d ", i), 150)+"end")
	}
	r := runOf(n, core.Completed, core.ReasonCompleted)
	r.Quote.Profile = core.Profile{ID: "b@1", Slug: "b", TaskCount: n, GraderConfig: []byte(config)}
	var cfg bundle.GraderConfig
	if json.Unmarshal([]byte(config), &cfg) == nil {
		r.Quote.Profile.Grader.ID = cfg.Kind
		if !strings.Contains(cfg.Kind, "/") {
			r.Quote.Profile.Grader.ID = "generic/" + cfg.Kind
		}
	}
	r.Quote.Coverage = core.Coverage{N: n, Seed: 5, Full: true}
	order, zero := r.Quote.Order(), 0.0
	var rows book
	for i := range n {
		text := whole[order.At(i)]
		rows = append(rows, history.SampleRow{Sample: core.Sample{
			Idx: i, TaskID: tasks[order.At(i)].ID, State: core.SampleGraded, Outcome: bundle.Wrong, Score: &zero,
			Extracted: string([]rune(text)[:core.MaxExtracted]), Rule: "rule",
		}, Raw: []byte(text), Finish: "other:pause"})
	}
	return r, export.Source{Samples: rows, Tasks: tasks, Adapters: provider.Set{"plain": plain{}}}, whole
}

// Both formats of Inspect read back as the same log, sample for sample, with
// the whole of what was extracted and our own word for why an answer ended.
func TestInspectLog_WholeAndIdentical(t *testing.T) {
	t.Parallel()
	r, src, whole := longRun(`{"kind":"exact_match"}`)
	var logs [2]*evallog.Log
	for i, archive := range []bool{true, false} {
		var b bytes.Buffer
		if err := src.InspectLog(t.Context(), r, archive, &b); err != nil {
			t.Fatal(err)
		}
		l, err := evallog.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		logs[i] = l
		for at, d := range l.Samples {
			s, err := evallog.View(d)
			if err != nil {
				t.Fatal(err)
			}
			if s.ID != fmt.Sprint(at) || len(s.Scores) != 1 || *s.Scores[0].Score.Answer != whole[at] || s.Completion != whole[at] {
				t.Errorf("sample %d is %v, extracted %q", at, s.ID, *s.Scores[0].Score.Answer)
			}
			if s.Finish != "other:pause" {
				t.Errorf("sample %d ended because of %q", at, s.Finish)
			}
		}
	}
	show := func(l *evallog.Log) string {
		var b bytes.Buffer
		if err := l.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if d := cmp.Diff(show(logs[0]), show(logs[1])); d != "" {
		t.Errorf("the formats read back as different logs (-archive +document):\n%s", d)
	}
}

// Samples stand in the order of their documents, under the name of the filter
// that found their answers, and whole.
func TestLMEval_SamplesInOrderWithTheirFilter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, config, filter, metric string }{
		{"a named filter", `{"kind":"lmeval/generate_until","options":{"filter_name":"all-of-it","filter":[{"function":"regex","regex_pattern":"(?s)(.*)"},{"function":"take_first"}]}}`, "all-of-it", "exact_match"},
		{"a filter without a name", `{"kind":"lmeval/generate_until","options":{"filter":[{"function":"regex","regex_pattern":"(?s)(.*)"},{"function":"take_first"}]}}`, "regex", "exact_match"},
		{"no filter", `{"kind":"lmeval/generate_until"}`, "none", "exact_match"},
		{"another grader", `{"kind":"exact_match"}`, "generic/exact_match", "score"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, src, whole := longRun(tt.config)
			var b bytes.Buffer
			if err := src.LMEval(t.Context(), r, &b); err != nil {
				t.Fatal(err)
			}
			lines := member(t, b.Bytes(), "samples_")
			for i, line := range lines {
				var s struct {
					DocID    int      `json:"doc_id"`
					Filter   string   `json:"filter"`
					Metrics  []string `json:"metrics"`
					Filtered []string `json:"filtered_resps"`
				}
				if err := json.Unmarshal([]byte(line), &s); err != nil {
					t.Fatal(err)
				}
				if s.DocID != i || s.Filter != tt.filter || s.Metrics[0] != tt.metric || s.Filtered[0] != whole[i] {
					t.Errorf("line %d: %+v", i, s)
				}
			}
			if len(lines) != len(whole) {
				t.Errorf("%d lines of %d", len(lines), len(whole))
			}
			if results := strings.Join(member(t, b.Bytes(), "results_"), ""); !strings.Contains(results, `"`+tt.metric+","+tt.filter+`"`) {
				t.Errorf("no figure of the filter in %s", results)
			}
		})
	}
}

// member is the lines of the file of an archive whose name begins so.
func member(t *testing.T, archive []byte, begin string) []string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		if _, base, _ := strings.Cut(f.Name, "/"); !strings.HasPrefix(base, begin) {
			continue
		}
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		return strings.SplitAfter(strings.TrimSuffix(string(raw), "\n"), "\n")
	}
	t.Fatalf("no file %s", begin)
	return nil
}
