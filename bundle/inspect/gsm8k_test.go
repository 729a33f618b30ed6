package inspect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/inspect/metric"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// solution is one model's published answer to one question of GSM8K.
type solution struct {
	target, text string
	label        bool
}

// solutions reads the published answers of four models.
func solutions(t testing.TB) map[string][]solution {
	t.Helper()
	dir := vt.Shared(t, filepath.Join("data", "gsm8k"))
	lines := func(name string) []*value.Dict {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		var out []*value.Dict
		for line := range strings.Lines(string(data)) {
			v, err := value.Loads(line)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, vt.Dict(vt.Wrap(v), "expected"))
		}
		return out
	}
	questions := lines("test.jsonl")
	out := map[string][]solution{}
	for i, row := range lines("example_model_solutions.jsonl") {
		_, target, ok := strings.Cut(vt.Str(questions[i], "answer"), "#### ")
		if !ok {
			t.Fatalf("question %d has no answer line", i)
		}
		for _, model := range []string{"6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"} {
			d := vt.Dict(row, model)
			out[model] = append(out[model], solution{strings.TrimSpace(target), vt.Str(d, "solution"), vt.Flag(d, "is_correct")})
		}
	}
	return out
}

// The published answers score as the reference scores them, one by one, and
// match(numeric) at the end gives every label that was shipped with them.
func TestGSM8K(t *testing.T) {
	t.Parallel()
	all := solutions(t)
	want := map[string]int{"6b_finetuning": 286, "6b_verification": 515, "175b_finetuning": 458, "175b_verification": 742}
	labels := 0
	vt.Replay(t, "e2e_gsm8k_inspect", func(t *testing.T, c vt.Case) {
		model, location := vt.Str(c.Input, "model"), vt.Str(c.Params, "location")
		g := grader(t, "inspect/"+vt.Str(c.Params, "scorer"), `{"numeric": true, "location": "`+location+`"}`)
		var hits strings.Builder
		var samples []metric.Sample
		right := 0
		for i, s := range all[model] {
			v, err := g.Grade(bundle.Task{ID: "t", Target: []string{s.target}}, bundle.Answer{Text: s.text, Finish: bundle.FinishStop})
			if err != nil {
				t.Fatal(err)
			}
			hits.WriteByte("01"[int(v.Score)])
			right += int(v.Score)
			samples = append(samples, metric.Sample{ID: int64(i), Score: score.Score{Value: v.Score}})
			if location == "end" && (v.Outcome == bundle.Right) == s.label {
				labels++
			}
		}
		expected := vt.Dict(vt.Wrap(c.Expected), "expected")
		if hits.String() != vt.Str(expected, "hits") {
			t.Errorf("%s at %s: the answers that are right differ", model, location)
		}
		if location == "end" && right != want[model] {
			t.Errorf("%s: %d right, want %d", model, right, want[model])
		}
		for name, m := range map[string]metric.Metric{"accuracy": metric.Accuracy{}, "stderr": metric.Stderr{}} {
			got, err := m.Compute(samples)
			w, ok := expected.Get(name)
			if err != nil || !ok {
				t.Fatalf("%s: %v, expected there: %v", name, err, ok)
			}
			vt.Exact(t, name, vt.Float(t, got), vt.Float(t, w))
		}
	})
	t.Logf("figure c: Inspect match(numeric) reproduces %d of 5276 labels", labels)
	if labels != 5276 {
		t.Errorf("%d labels reproduced, want all 5276", labels)
	}
}
