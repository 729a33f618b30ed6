package manifests_test

import (
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/generic"
	"github.com/evalrouter/evalrouter/bundle/manifests"
	"github.com/google/go-cmp/cmp"
)

// counts are the numbers of tasks that the benchmarks' authors published.
var counts = map[string]int{"aqua": 254, "gsm8k": 1319, "svamp": 1000}

func TestList_ReadsAndNamesEverything(t *testing.T) {
	t.Parallel()
	all, err := manifests.List()
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(manifests.FS(), "*.json")
	if err != nil || len(all) != len(names) || len(all) != len(counts) {
		t.Fatalf("%d manifests from files %v (%v), want %d", len(all), names, err, len(counts))
	}
	for i, m := range all {
		if names[i] != m.Slug+".json" {
			t.Errorf("%s holds the manifest of %s", names[i], m.Slug)
		}
		if m.Source.Revision == "" || m.Source.Path == "" || m.License.Data == "" || m.License.URL == "" || m.Data.Bytes == 0 {
			t.Errorf("%s does not say where it comes from: %+v %+v", m.Slug, m.Source, m.License)
		}
		if _, err := generic.New(m.Grader); err != nil {
			t.Errorf("%s: %v", m.Slug, err)
		}
	}
}

func TestCheck_RealData(t *testing.T) {
	t.Parallel()
	data := filepath.Join("..", "..", "..", "shared", "data")
	if _, err := os.Stat(data); os.IsNotExist(err) {
		t.Skip("skipped: the shared data folder is not beside the repository, so the shipped manifests cannot be held against their files")
	}
	all, err := manifests.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		t.Run(m.Slug, func(t *testing.T) {
			t.Parallel()
			g, err := generic.New(m.Grader)
			if err != nil {
				t.Fatal(err)
			}
			rep, err := m.Check(t.Context(), func() (io.ReadCloser, error) {
				return os.Open(filepath.Join(data, m.Slug, m.Data.File))
			}, g)
			if err != nil {
				t.Fatal(err)
			}
			if rep.Total != 0 || rep.Tasks != counts[m.Slug] || rep.Rows != counts[m.Slug] {
				t.Errorf("%+v, want %d tasks", rep, counts[m.Slug])
			}
		})
	}
}

// The four published models' real answers, graded as the shipped manifest says,
// come to the published counts.
func TestGSM8K_PublishedAnswers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "..", "shared", "data", "gsm8k")
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		t.Skip("skipped: the shared data folder is not beside the repository, so the published GSM8K answers cannot be read")
	}
	var m bundle.Manifest
	all, err := manifests.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		if x.Slug == "gsm8k" {
			m = x
		}
	}
	g, err := generic.New(m.Grader)
	if err != nil {
		t.Fatal(err)
	}
	answers := publishedAnswers(t, filepath.Join(dir, "example_model_solutions.jsonl"))
	f, err := os.Open(filepath.Join(dir, m.Data.File))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	right := map[string]int{}
	for task, err := range m.Load(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range answers {
			if !strings.HasPrefix(task.Input[0].Text, a.question+"\n") {
				continue
			}
			for model, text := range a.byModel {
				v, err := g.Grade(task, bundle.Answer{Text: text, Finish: bundle.FinishStop})
				if err != nil {
					t.Fatal(err)
				}
				right[model] += int(v.Score)
			}
		}
	}
	want := map[string]int{"6b_finetuning": 286, "6b_verification": 515, "175b_finetuning": 458, "175b_verification": 742}
	if d := cmp.Diff(want, right); d != "" {
		t.Errorf("right answers (-want +got):\n%s", d)
	}
}

type published struct {
	question string
	byModel  map[string]string
}

func publishedAnswers(t *testing.T, path string) []published {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []published
	for line := range strings.Lines(string(raw)) {
		var row map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		a := published{byModel: map[string]string{}}
		if err := json.Unmarshal(row["question"], &a.question); err != nil {
			t.Fatal(err)
		}
		for _, model := range []string{"6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"} {
			var s struct{ Solution string }
			if err := json.Unmarshal(row[model], &s); err != nil {
				t.Fatal(err)
			}
			a.byModel[model] = s.Solution
		}
		out = append(out, a)
	}
	return out
}
