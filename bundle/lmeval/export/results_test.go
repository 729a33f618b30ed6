package export_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/lmeval/export"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
	"github.com/google/go-cmp/cmp"
)

// A run of four documents as both files, read back as any reader of lm-eval's
// files would.
func TestFiles_ReadBack(t *testing.T) {
	t.Parallel()
	var samples, results bytes.Buffer
	f := export.NewSampleFile(&samples)
	var hashes []export.Hashes
	for i, v := range []float64{1, 0, 1, 1} {
		task := bundle.Task{ID: string(rune('a' + i)), Input: []bundle.Message{{Role: bundle.User, Text: "q é"}}, Target: []string{"1"}}
		err := f.Add(export.Sample{DocID: i, Task: task, Answer: "It is \"1\"", Filtered: "1", Filter: "none", Metric: "exact_match", Value: v})
		if err != nil {
			t.Fatal(err)
		}
		var line map[string]any
		last := strings.Split(strings.TrimSpace(samples.String()), "\n")[i]
		if err := json.Unmarshal([]byte(last), &line); err != nil {
			t.Fatal(err)
		}
		doc, err := value.Loads(last)
		if err != nil {
			t.Fatal(err)
		}
		d, _ := doc.(*value.Dict).Get("doc")
		h, err := export.HashSample(d, "q é", "1")
		if err != nil || h.Doc != line["doc_hash"] || h.Prompt != line["prompt_hash"] || h.Target != line["target_hash"] {
			t.Errorf("document %d has other hashes than its own text: %v", i, err)
		}
		hashes = append(hashes, h)
		want := map[string]any{"doc_id": float64(i), "target": "1", "resps": []any{[]any{`It is "1"`}}, "filtered_resps": []any{"1"}, "filter": "none",
			"metrics": []any{"exact_match"}, "exact_match": v}
		for key, w := range want {
			if d := cmp.Diff(w, line[key]); d != "" {
				t.Errorf("%s of document %d: %s", key, i, d)
			}
		}
	}
	r := export.Results{Task: "my task", Alias: "My task", Version: "2", Model: "org/m:1", ModelSource: "evalrouter", Filter: "none", Metric: "exact_match",
		Started: time.Unix(1, 0), Ended: time.Unix(3, 0), Original: 9, Limit: 4}
	if err := r.Write(&results, f); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Results  map[string]map[string]any `json:"results"`
		NSamples map[string]map[string]int `json:"n-samples"`
		Hashes   map[string]string         `json:"task_hashes"`
	}
	if err := json.Unmarshal(results.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	task := got.Results["my task"]
	if task["exact_match,none"] != 0.75 || math.Abs(task["exact_match_stderr,none"].(float64)-0.25) > 1e-15 || task["sample_len"] != 4.0 {
		t.Errorf("results = %v", task)
	}
	if got.Hashes["my task"] != export.TaskHash(hashes) {
		t.Error("the hash of the task is not that of its samples")
	}
	if d := cmp.Diff(map[string]map[string]int{"my task": {"original": 9, "effective": 4}}, got.NSamples); d != "" {
		t.Error(d)
	}
	a, b := r.Names()
	if a != "org__m__1/results_1970-01-01T00-00-03.000000.json" || b != "org__m__1/samples_my_task_1970-01-01T00-00-03.000000.jsonl" {
		t.Errorf("names %s, %s", a, b)
	}
}

func TestResults_NothingGraded(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := export.Results{Task: "t", Model: "m", Filter: "none", Metric: "score"}
	if err := r.Write(&out, export.NewSampleFile(&out)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "score,none") {
		t.Error("a run without a value has a figure")
	}
}
