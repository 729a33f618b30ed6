package httpapi_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/lib/api"
)

// A benchmark of lm-eval's output type loglikelihood asks once about each task,
// and its score is acc: whether the target is what the model would have written.
func TestLikelihood_OneContinuation(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	one := likelyCase{Name: "sky", Choices: []string{"blue", "red"}, Results: [][2]any{{-0.5, true}, {-3.5, false}}}
	s := &completions{cases: []likelyCase{one}, asked: map[string]int{}}
	c := h.connect(t, s)
	clear(s.asked)
	data := fmt.Sprintf("{\"id\":\"right\",\"q\":%[1]q,\"a\":\"blue\"}\n{\"id\":\"wrong\",\"q\":%[1]q,\"a\":\"red\"}\n", one.question())
	m, err := bundle.ReadManifest(strings.NewReader(fmt.Sprintf(`{"schema":"evalrouter.benchmark_manifest.v1","slug":"cloze","version":"1","name":"Cloze","family":"lm-eval",
		"data":{"file":"a.jsonl","format":"jsonl","sha256":"%x"},"source":{"url":"https://example.org/a"},"license":{"data":"MIT"},
		"columns":{"id":"id","input":["q"],"target":"a"},"prompt":{"template":"{{q}}"},"grader":{"kind":"lmeval/loglikelihood"}}`, sha256.Sum256([]byte(data)))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.catalog.Add(t.Context(), m, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(data)), nil }); err != nil {
		t.Fatal(err)
	}
	id := h.finished(object{"selection": object{"profile_ids": []string{"cloze@1"}}, "model": object{"kind": "connection", "connection_id": c.ID}, "coverage": object{"mode": "full"}})
	var e api.Export
	h.send("GET", "/v1/runs/"+id+"/export?format=json", nil).want(t, 200).into(t, &e)
	got := map[string]string{}
	for _, x := range e.Samples {
		got[x.TaskID] = x.Outcome
	}
	if e.Summary.Status != api.StatusCompleted || got["right"] != "right" || got["wrong"] != "wrong" || len(s.asked) != 2 {
		t.Errorf("%s, %v after %d prompts", e.Summary.Status, got, len(s.asked))
	}
	body := h.send("GET", "/v1/runs/"+id+"/export?format=lm-eval", nil).want(t, 200).body
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil || len(z.File) == 0 {
		t.Fatalf("the lm-eval files: %v", err)
	}
	if found, err := h.store.Audit(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("the audit found %v, %v", found, err)
	}
}
