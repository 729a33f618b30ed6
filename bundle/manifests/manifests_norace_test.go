//go:build !race

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
	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/bundle/manifests"
	"github.com/google/go-cmp/cmp"
)

// counts are the numbers of tasks that the benchmarks' authors published.
var counts = map[string]int{
	"aqua": 254, "aqua-inspect": 254, "gsm8k": 1319, "gsm8k-inspect": 1319, "gsm8k-lm-eval": 1319, "svamp": 1000, "svamp-inspect": 1000,
	"bbh-boolean-expressions": 250, "bbh-date-understanding": 250, "bbh-logical-deduction-three-objects": 250, "bbh-object-counting": 250,
	"bbh-web-of-lies": 250, "sob-image": 209, "sob-text": 209,
}

// file is where the shared data keeps the file of a manifest.
func file(data string, m bundle.Manifest) string {
	folder, _, _ := strings.Cut(m.Slug, "-")
	if folder == "sob" {
		folder = filepath.Join(folder, "gpt-5.5")
	}
	return filepath.Join(data, folder, m.Data.File)
}

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
		if _, err := families.Grader(m.Grader); err != nil {
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
			g, err := families.Grader(m.Grader)
			if err != nil {
				t.Fatal(err)
			}
			rep, err := m.Check(t.Context(), func() (io.ReadCloser, error) {
				return os.Open(file(data, m))
			}, g)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("figure f: %s: gold of %d tasks grades itself right", m.Slug, rep.Tasks)
			if rep.Total != 0 || rep.Tasks != counts[m.Slug] || rep.Rows != counts[m.Slug] {
				t.Errorf("%+v, want %d tasks", rep, counts[m.Slug])
			}
		})
	}
}

// Practice answers to every task of every shipped manifest are graded as they
// are meant, so that a simulated route is right as often as it says.
func TestReply_RealData(t *testing.T) {
	t.Parallel()
	data := filepath.Join("..", "..", "..", "shared", "data")
	if _, err := os.Stat(data); os.IsNotExist(err) {
		t.Skip("skipped: the shared data folder is not beside the repository, so practice answers cannot be held against its tasks")
	}
	all, err := manifests.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		t.Run(m.Slug, func(t *testing.T) {
			t.Parallel()
			g, err := families.Grader(m.Grader)
			if err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(file(data, m))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			n := 0
			for task, err := range m.Load(t.Context(), f) {
				if err != nil {
					t.Fatal(err)
				}
				if n++; n > 100 {
					break
				}
				for _, right := range []bool{true, false} {
					if text, err := bundle.ReplyUnder(g, task, right, uint64(n)); err != nil {
						t.Errorf("%v; the natural one is %.200q", err, text)
					}
				}
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
	all, err := manifests.List()
	if err != nil {
		t.Fatal(err)
	}
	answers := publishedAnswers(t, filepath.Join(dir, "example_model_solutions.jsonl"))
	for _, m := range all {
		if !strings.HasPrefix(m.Slug, "gsm8k") {
			continue
		}
		t.Run(m.Slug, func(t *testing.T) {
			t.Parallel()
			want := map[string]int{"6b_finetuning": 286, "6b_verification": 515, "175b_finetuning": 458, "175b_verification": 742}
			got := rightAnswers(t, m, filepath.Join(dir, m.Data.File), answers)
			t.Logf("figure c: profile %s: right %v", m.Slug, got)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("right answers (-want +got):\n%s", d)
			}
		})
	}
}

// rightAnswers grades the published answers to every task of a manifest; both
// files hold the questions in one order.
func rightAnswers(t *testing.T, m bundle.Manifest, path string, answers []published) map[string]int {
	t.Helper()
	g, err := families.Grader(m.Grader)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	right, at := map[string]int{}, 0
	for task, err := range m.Load(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(task.Input[0].Text, answers[at].question+"\n") {
			t.Fatalf("task %d is not the question of the published answer", at)
		}
		for model, text := range answers[at].byModel {
			v, err := g.Grade(task, bundle.Answer{Text: text, Finish: bundle.FinishStop})
			if err != nil {
				t.Fatal(err)
			}
			right[model] += int(v.Score)
		}
		at++
	}
	return right
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

// The line that a prompt asks for counts before any number that stands behind
// it, the last such line before the others, and without one the last number.
func TestGrade_AnswerLineOutranksOtherNumbers(t *testing.T) {
	t.Parallel()
	all, err := manifests.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.Grader.Kind != "numeric" {
			continue
		}
		for _, tt := range []struct {
			name, text string
			want       bundle.Outcome
		}{
			{"a remark behind it", "6 and 12\nANSWER: 18\n\nThis took 3 steps.", bundle.Right},
			{"another number on it", "It is 18.\nANSWER: 17\nor 18", bundle.Wrong},
			{"the last of two", "ANSWER: 17\nI made a mistake.\nANSWER: 18\n(2 tries)", bundle.Right},
			{"an example before it", "The form is ANSWER: N.\n- **ANSWER:** 18\n2 tries", bundle.Wrong},
			{"in bold", "**ANSWER:** 18\n2 tries", bundle.Right},
			{"a quantity that is not read", "It is 18.\nANSWER: √18\n18", bundle.ExtractionFailed},
			{"a sum on it", "ANSWER: 6 + 12 = 18\n2 steps", bundle.Right},
			{"no number on it", "ANSWER: eighteen\nwhich is 18", bundle.Right},
			{"none", "6 and 12 are 18", bundle.Right},
			{"the word in prose", "The answer: 17 is too low, so 18", bundle.Right},
		} {
			t.Run(m.Slug+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				g, err := families.Grader(m.Grader)
				if err != nil {
					t.Fatal(err)
				}
				v, err := g.Grade(bundle.Task{ID: "t", Target: []string{"18"}}, bundle.Answer{Text: tt.text, Finish: bundle.FinishStop})
				if err != nil || v.Outcome != tt.want {
					t.Errorf("%+v, %v, want %s", v, err, tt.want)
				}
			})
		}
	}
}

// The line that the prompts ask for is often written in bold, and is right all
// the same under every profile that asks for it.
func TestGrade_AnswerLineInBold(t *testing.T) {
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
		if !strings.Contains(m.Prompt.Template, "ANSWER: ") {
			continue
		}
		t.Run(m.Slug, func(t *testing.T) {
			t.Parallel()
			g, err := families.Grader(m.Grader)
			if err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(file(data, m))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			n := 0
			for task, err := range m.Load(t.Context(), f) {
				if err != nil {
					t.Fatal(err)
				}
				text := "Step by step it follows.\n\n**ANSWER: " + task.Target[0] + "**"
				v, err := g.Grade(task, bundle.Answer{Text: text, Finish: bundle.FinishStop})
				if err != nil || v.Outcome != bundle.Right {
					t.Fatalf("%s, target %s: %+v, %v", task.ID, task.Target[0], v, err)
				}
				n++
			}
			if n == 0 {
				t.Error("no tasks")
			}
		})
	}
}
