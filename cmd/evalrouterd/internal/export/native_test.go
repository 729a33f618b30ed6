package export_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/manifests"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
)

type listed []bundle.Task

func (l listed) TasksAt(_ context.Context, _ core.Profile, positions []int) (map[int]bundle.Task, error) {
	out := map[int]bundle.Task{}
	for _, pos := range positions {
		out[pos] = l[pos]
	}
	return out, nil
}

// TestNative_PublishedSOB runs the shipped profile of SOB's image split on the
// published answers of every model, and wants the published figures, intervals
// included, to the last bit.
func TestNative_PublishedSOB(t *testing.T) {
	t.Parallel()
	shared := filepath.Join("..", "..", "..", "..", "..", "shared", "data", "sob")
	models, err := os.ReadDir(shared)
	if os.IsNotExist(err) {
		t.Skip("skipped: the shared data folder is not beside the repository, so published SOB answers cannot be read")
	}
	if err != nil {
		t.Fatal(err)
	}
	profile, tasks := sobProfile(t, filepath.Join(shared, "gpt-5.5", "responses.jsonl"))
	for _, m := range models {
		if !m.IsDir() {
			continue
		}
		t.Run(m.Name(), func(t *testing.T) {
			t.Parallel()
			tasks, answers := published(t, filepath.Join(shared, m.Name()), tasks)
			r := runOf(len(tasks), core.Completed, core.ReasonCompleted)
			r.Quote.Profile, r.Quote.Coverage = profile, core.Coverage{N: len(tasks), Seed: 9, Full: true}
			src := export.Source{Samples: answered(tasks, answers, r.Quote.Order()), Tasks: listed(tasks), Adapters: provider.Set{"plain": plain{}}}
			got, err := src.Native(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			var want struct {
				Summary struct {
					Overall struct{ Metrics, Categories map[string]any }
				}
			}
			raw, err := os.ReadFile(filepath.Join(shared, m.Name(), "eval_summary.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want.Summary.Overall.Metrics, got["metrics"]); d != "" {
				t.Errorf("metrics (-published +ours):\n%s", d)
			}
			t.Logf("figure b: profile sob-image on %s: %v records, every metric and interval equal", m.Name(), got["n"])
		})
	}
}

func sobProfile(t *testing.T, path string) (core.Profile, []bundle.Task) {
	t.Helper()
	all, err := manifests.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.Slug != "sob-image" {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var tasks []bundle.Task
		for task, err := range m.Load(t.Context(), f) {
			if err != nil {
				t.Fatal(err)
			}
			tasks = append(tasks, task)
		}
		cfg, err := json.Marshal(m.Grader)
		if err != nil {
			t.Fatal(err)
		}
		return core.Profile{ID: "sob-image@1", TaskCount: len(tasks), GraderConfig: cfg}, tasks
	}
	t.Fatal("no manifest sob-image")
	return core.Profile{}, nil
}

// published reads what a model answered, and puts the tasks in the order of its
// file, on which the published intervals depend.
func published(t *testing.T, dir string, tasks []bundle.Task) (ordered []bundle.Task, answers map[string][]byte) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "responses.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]bundle.Task{}
	for _, task := range tasks {
		byID[task.ID] = task
	}
	answers = map[string][]byte{}
	for line := range strings.Lines(string(raw)) {
		var row struct {
			Metadata struct {
				ID string `json:"record_id"`
			}
			Output struct {
				Candidate json.RawMessage `json:"candidate_response"`
			}
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		text := []byte(row.Output.Candidate)
		var s string
		if json.Unmarshal(text, &s) == nil {
			// What the authors could not parse they kept as text. We read JSON in
			// some of it, behind reasoning and in prose, which they did not.
			text = []byte("no JSON")
		}
		answers[row.Metadata.ID] = text
		ordered = append(ordered, byID[row.Metadata.ID])
	}
	return ordered, answers
}

// answered is a run in which every task got its published answer.
func answered(tasks []bundle.Task, answers map[string][]byte, order core.Order) book {
	score := 0.0
	var out book
	for i := range tasks {
		id := tasks[order.At(i)].ID
		out = append(out, history.SampleRow{Sample: core.Sample{Idx: i, TaskID: id, State: core.SampleGraded, Outcome: bundle.Wrong, Score: &score}, Raw: answers[id], Finish: "stop"})
	}
	return out
}
