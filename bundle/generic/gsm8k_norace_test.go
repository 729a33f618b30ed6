//go:build !race

package generic_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/generic"
)

// The real answers of four published models, each labelled right or wrong by
// its authors: the last number of an answer must reproduce every label.
func TestNumeric_ReproducesPublishedGSM8KLabels(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "..", "shared", "data", "gsm8k", "example_model_solutions.jsonl")
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		t.Skip("skipped: the shared data folder is not beside the repository, so the published GSM8K answers cannot be read")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	g := must(t, generic.Numeric, "")
	want := map[string]int{"6b_finetuning": 286, "6b_verification": 515, "175b_finetuning": 458, "175b_verification": 742}
	got := map[string]int{}
	rows, differ := 0, 0
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		rows++
		var row map[string]json.RawMessage
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		var worked string
		if err := json.Unmarshal(row["ground_truth"], &worked); err != nil {
			t.Fatal(err)
		}
		_, target, ok := strings.Cut(worked, "\nA: ")
		if !ok {
			t.Fatalf("row %d: no A: line in the ground truth", rows)
		}
		for model := range want {
			var a struct {
				Right    bool   `json:"is_correct"`
				Solution string `json:"solution"`
			}
			if err := json.Unmarshal(row[model], &a); err != nil {
				t.Fatal(err)
			}
			v, err := g.Grade(bundle.Task{ID: "t", Target: []string{target}}, bundle.Answer{Text: a.Solution, Finish: bundle.FinishStop})
			if err != nil {
				t.Fatalf("row %d: %v", rows, err)
			}
			if (v.Outcome == bundle.Right) != a.Right {
				differ++
				t.Errorf("row %d %s: got %s %q, label %v, target %q, end %q", rows, model, v.Outcome, v.Extracted, a.Right, target, a.Solution[max(0, len(a.Solution)-60):])
			}
			got[model] += int(v.Score)
		}
	}
	if rows != 1319 {
		t.Fatalf("read %d rows, want 1319", rows)
	}
	for model, n := range want {
		if got[model] != n {
			t.Errorf("%s: %d right, want %d (%d labels differ)", model, got[model], n, differ)
		}
	}
}
