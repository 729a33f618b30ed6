package httpapi_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
)

// TestQuote_LogprobsRequired: a benchmark that compares log probabilities is
// admitted, and refused at the quote for a route that gives none.
func TestQuote_LogprobsRequired(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	const data = `{"q":"1+1?","options":["1","2"],"right":"B"}` + "\n"
	m, err := bundle.ReadManifest(strings.NewReader(fmt.Sprintf(`{"schema":"evalrouter.benchmark_manifest.v1","slug":"likely","version":"1","name":"Likely","family":"lm-eval",
		"data":{"file":"a.jsonl","format":"jsonl","sha256":"%x"},"source":{"url":"https://example.org/a"},"license":{"data":"MIT"},
		"columns":{"input":["q"],"target":"right","choices":["options"]},"prompt":{"template":"{{q}} {{choices}}"},"grader":{"kind":"lmeval/multiple_choice"}}`, sha256.Sum256([]byte(data)))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.catalog.Add(t.Context(), m, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(data)), nil }); err != nil {
		t.Fatal(err)
	}
	selection := object{"selection": object{"profile_ids": []string{"likely@1"}}}
	r := h.send("POST", "/v1/quotes", newQuote(selection))
	r.refused(t, 404, "feature_unavailable")
	if !strings.Contains(string(r.body), `"logprobs_required"`) || !strings.Contains(string(r.body), "nothing was quoted") {
		t.Errorf("the refusal says %s", r.body)
	}
}
