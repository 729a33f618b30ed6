package export_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
)

// book is a run's rows as a slice.
type book []history.SampleRow

func (b book) Samples(_ context.Context, _ core.Scope, _ core.RunID, from int) iter.Seq2[history.SampleRow, error] {
	return func(yield func(history.SampleRow, error) bool) {
		for _, r := range b {
			if r.Idx >= from && !yield(r, nil) {
				return
			}
		}
	}
}

func (b book) Brief(ctx context.Context, sc core.Scope, run core.RunID, from int) iter.Seq2[history.SampleRow, error] {
	return b.Samples(ctx, sc, run, from)
}

func (b book) SamplesAt(_ context.Context, _ core.Scope, _ core.RunID, at []int) (map[int]history.SampleRow, error) {
	out := map[int]history.SampleRow{}
	for _, r := range b {
		if slices.Contains(at, r.Idx) {
			out[r.Idx] = r
		}
	}
	return out, nil
}

// numbered names tasks by their position.
type numbered struct{}

func (numbered) TasksAt(_ context.Context, _ core.Profile, positions []int) (map[int]bundle.Task, error) {
	out := map[int]bundle.Task{}
	for _, pos := range positions {
		out[pos] = bundle.Task{ID: fmt.Sprintf("t%d", pos)}
	}
	return out, nil
}

// plain is an adapter whose answers are their own text.
type plain struct{ provider.Adapter }

func (plain) Parse(raw []byte) provider.Outcome {
	return provider.Outcome{Class: provider.Answered, Text: string(raw)}
}

func source(b book) export.Source {
	return export.Source{Samples: b, Tasks: numbered{}, Adapters: provider.Set{"plain": plain{}}}
}

func runOf(planned int, state core.State, reason core.Reason) export.Run {
	q := core.Quote{Profile: core.Profile{ID: "b@1", TaskCount: 10}, Coverage: core.Coverage{N: planned, Seed: 3}, Target: core.Target{Protocol: "plain"}}
	return export.Run{Run: core.Run{ID: "r", Planned: planned, State: state, Reason: reason}, Quote: q}
}

func TestRows(t *testing.T) {
	t.Parallel()
	graded := func(i int) history.SampleRow {
		return history.SampleRow{Sample: core.Sample{Idx: i, TaskID: fmt.Sprintf("g%d", i), State: core.SampleGraded, Outcome: bundle.Right}}
	}
	replanned := history.SampleRow{Sample: core.Sample{Idx: 2, TaskID: "g2", State: core.SamplePlanned, Attempt: 1}}
	tests := []struct {
		name   string
		state  core.State
		reason core.Reason
		rows   book
		from   int
		want   []string // status per task from "from" on
	}{
		{"nothing opened, live", core.Running, "", nil, 0, []string{"planned", "planned", "planned", "planned"}},
		{"some opened, live", core.Running, "", book{graded(1), {Sample: core.Sample{Idx: 3, State: core.SampleInCall}}}, 0, []string{"planned", "graded", "planned", "calling"}},
		{"cap", core.Partial, core.SpendingCap, book{graded(0), graded(1), replanned}, 0, []string{"graded", "graded", "skipped_budget", "skipped_budget"}},
		{"person", core.Cancelled, core.CancelledByUser, book{graded(0)}, 0, []string{"graded", "cancelled", "cancelled", "cancelled"}},
		{"time", core.Partial, core.TimeLimit, book{graded(0)}, 0, []string{"graded", "time_limit", "time_limit", "time_limit"}},
		{"provider", core.Partial, core.ProviderDown, book{graded(0)}, 0, []string{"graded", "pending", "pending", "pending"}},
		{"errors", core.Completed, core.ReasonCompleted, book{
			graded(0), {Sample: core.Sample{Idx: 1, State: core.SampleUnresolved, Outcome: core.ProviderError}},
			{Sample: core.Sample{Idx: 2, State: core.SampleFailed, Outcome: core.GraderError}}, {Sample: core.Sample{Idx: 3, State: core.SampleRefused, Outcome: bundle.Refused}},
		}, 0, []string{"graded", "error", "error", "refused"}},
		{"judged, live", core.Running, "", book{graded(0), {Sample: core.Sample{Idx: 1, State: core.SampleJudging}}}, 0, []string{"graded", "calling", "planned", "planned"}},
		{"judged, the judges are down", core.Failed, core.JudgesUnavailable, book{
			graded(0), {Sample: core.Sample{Idx: 1, State: core.SamplePending, Outcome: core.PendingTask}}, {Sample: core.Sample{Idx: 2, State: core.SampleFailed, Outcome: core.JudgeError}},
		}, 0, []string{"graded", "pending", "error", "pending"}},
		{"judged, the time is over", core.Partial, core.TimeLimit, book{graded(0), {Sample: core.Sample{Idx: 1, State: core.SampleCancelled, Outcome: core.CancelledTask}}}, 0,
			[]string{"graded", "time_limit", "time_limit", "time_limit"}},
		{"judged, cancelled", core.Cancelled, core.CancelledByUser, book{graded(0), {Sample: core.Sample{Idx: 1, State: core.SampleCancelled, Outcome: core.CancelledTask}}}, 0,
			[]string{"graded", "cancelled", "cancelled", "cancelled"}},
		{"from the middle of a gap", core.Running, "", book{graded(0), graded(3)}, 2, []string{"planned", "graded"}},
		{"from the end", core.Running, "", book{graded(0)}, 4, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			idx := tt.from
			for row, err := range source(tt.rows).Rows(t.Context(), runOf(4, tt.state, tt.reason), tt.from) {
				if err != nil {
					t.Fatal(err)
				}
				if row.Idx != idx {
					t.Errorf("row %d has the index %d", idx, row.Idx)
				}
				if tt.state.Terminal() && row.Outcome == "" {
					t.Errorf("row %d of an ended run has no outcome", idx)
				}
				idx++
				got = append(got, row.Status)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRowsStop leaves early, as pages do, at every place.
func TestRowsStop(t *testing.T) {
	t.Parallel()
	rows := book{{Sample: core.Sample{Idx: 1}}, {Sample: core.Sample{Idx: 4}}}
	for stop := range 7 {
		n := 0
		for _, err := range source(rows).Rows(t.Context(), runOf(6, core.Running, ""), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n > stop {
				break
			}
		}
		if want := min(stop+1, 6); n != want {
			t.Errorf("stopping after %d gave %d rows", want, n)
		}
	}
}

// TestCSVFormulas writes answers that a spreadsheet would run.
func TestCSVFormulas(t *testing.T) {
	t.Parallel()
	score := 0.5
	tests := []struct{ name, answer, want string }{
		{"plain", "42", "42"},
		{"empty", "", ""},
		{"quotes, commas, lines", "a \"b\",\r\nc\n\nd", "a \"b\",\nc\n\nd"},
		{"formula", "=1+1", "'=1+1"},
		{"plus", "+1", "'+1"},
		{"minus", "-1", "'-1"},
		{"at", "@SUM(A1)", "'@SUM(A1)"},
		{"tab", "\t=1", "'\t=1"},
		{"carriage return", "\r=1", `'\x0d=1`},
		{"space before", "  =1", "'  =1"},
		{"line before", "\n=1", "'\n=1"},
		{"a list", "1. a\n2. b", "1. a\n2. b"},
		{"byte order mark before", "\uFEFF=1", "'<U+FEFF>=1"},
		{"zero width before", "\u200B=1", "'<U+200B>=1"},
		{"control before", "\x01=1", `'\x01=1`},
		{"escape sequence", "\x1b[31mred", `\x1b[31mred`},
		{"title", "\x1b]0;pwned\x07", `\x1b]0;pwned\x07`},
		{"link", "\x1b]8;;https://attacker.example\x1b\\here", `\x1b]8;;https://attacker.example\x1b\here`},
		{"C1 control", "a\u009b31mb", `a\x9b31mb`},
		{"bidirectional", "a\u202eb", "a<U+202E>b"},
		{"no character", "a\xffb", "a\uFFFDb"},
		{"full width", "\uFF1D1", "'\uFF1D1"},
		{"full width minus", "\uFF0D1", "'\uFF0D1"},
		{"sign inside", "a=1", "a=1"},
		{"pipe command", "=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rows := book{{Sample: core.Sample{Idx: 0, TaskID: "=task", State: core.SampleGraded, Outcome: bundle.Right, Attempt: 1, Charge: 7, Score: &score, Grader: "g@1"},
				Raw: []byte(tt.answer), Finish: "stop", UsageDoc: `{"input":3,"output":4,"cache_read":2}`}}
			var out bytes.Buffer
			if err := source(rows).CSV(t.Context(), runOf(1, core.Completed, core.ReasonCompleted), "accuracy", &out); err != nil {
				t.Fatal(err)
			}
			got, err := csv.NewReader(&out).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			cells := map[string]string{}
			for i, name := range got[0] {
				cells[name] = got[1][i]
			}
			for name, want := range map[string]string{
				"answer": tt.want, "task_id": "'=task", "score_accuracy": "0.5", "charge_microusd": "7", "attempt": "1", "input_tokens": "5", "output_tokens": "4",
				"grader_id": "g", "grader_version": "1", "reused": "false",
			} {
				if cells[name] != want {
					t.Errorf("%s is %q, want %q", name, cells[name], want)
				}
			}
		})
	}
}

// TestCSVQuoting looks at the bytes: every text quoted, numbers bare, CRLF.
func TestCSVQuoting(t *testing.T) {
	t.Parallel()
	rows := book{{Sample: core.Sample{Idx: 0, TaskID: "t", State: core.SampleFailed, Outcome: core.ProviderError, Code: "provider_error", Attempt: 2}}}
	var out bytes.Buffer
	if err := source(rows).CSV(t.Context(), runOf(1, core.Completed, core.ReasonCompleted), "accuracy", &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\r\n")
	want := `"b@1","t",2,"error","provider_error","provider_error",,"","","",,,0,"","","","r",false`
	if len(lines) != 3 || lines[1] != want || lines[2] != "" {
		t.Errorf("the lines are %q", lines)
	}
}

// The line breaks of an answer stand as they came, as the hash beside it is of
// them too: with no escapes in the way, the cell has that hash.
func TestCSVLines(t *testing.T) {
	t.Parallel()
	answer := "first\r\nsecond\n\tthird \"quoted\"\n"
	rows := book{{Sample: core.Sample{Idx: 0, TaskID: "t", State: core.SampleGraded, Outcome: bundle.Right, Attempt: 1}, Raw: []byte(answer)}}
	var out bytes.Buffer
	if err := source(rows).CSV(t.Context(), runOf(1, core.Completed, core.ReasonCompleted), "accuracy", &out); err != nil {
		t.Fatal(err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(answer)))
	cell := `"` + strings.ReplaceAll(answer, `"`, `""`) + `"`
	if !strings.Contains(out.String(), cell+`,"","`+sum+`"`) {
		t.Errorf("the answer does not stand beside its hash %s:\n%s", sum, out.String())
	}
}

// TestAnswerExpired tells an answer that is gone from one that never was.
func TestAnswerExpired(t *testing.T) {
	t.Parallel()
	r := runOf(1, core.Completed, core.ReasonCompleted)
	gone, err := source(nil).Reader(r).Answer(t.Context(), export.Row{SampleRow: history.SampleRow{Finish: "stop"}})
	if err != nil || !gone.Expired || gone.Text != nil {
		t.Errorf("an answer that is gone reads %+v (%v)", gone, err)
	}
	never, err := source(nil).Reader(r).Answer(t.Context(), export.Row{})
	if err != nil || never.Expired || never.Text != nil {
		t.Errorf("an answer that never was reads %+v (%v)", never, err)
	}
	r.Quote.Target.Protocol = "unknown"
	if _, err := source(nil).Reader(r).Answer(t.Context(), export.Row{SampleRow: history.SampleRow{Raw: []byte("x")}}); err == nil {
		t.Error("an answer was read without an adapter")
	}
}
