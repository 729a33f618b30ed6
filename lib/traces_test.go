package evalrouter_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
)

// An import goes to its connection with the ingest key and an idempotency key,
// and is sent again after a failure that may pass.
func TestTraces_Import(t *testing.T) {
	t.Parallel()
	sent := api.TraceImport{Source: api.SourceLangSmith, ProjectID: "p", Traces: []api.ImportedTrace{{
		SourceTraceID: "t1", Name: "a < b", Reasons: []string{}, Labels: []string{}, StartedAt: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC),
		Spans: []api.ImportedSpan{{SourceSpanID: "s", Input: json.RawMessage(`{"x":"<"}`), Output: json.RawMessage("null"), Attributes: json.RawMessage("null")}},
	}}}
	digest, _, err := sent.Traces[0].ContentDigest()
	if err != nil {
		t.Fatal(err)
	}
	sent.Traces[0].Digest = digest
	attempts := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if attempts++; attempts == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		got := []string{r.Method, r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("X-Workspace-Id"), r.Header.Get("Idempotency-Key")}
		if diff := cmp.Diff([]string{"POST", "/v1/trace-connections/c-1/imports", "Bearer eri_x", "w-1", "k-1"}, got); diff != "" {
			t.Errorf("request (-want +got):\n%s", diff)
		}
		var in api.TraceImport
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(sent, in); diff != "" {
			t.Errorf("body (-sent +got):\n%s", diff)
		}
		if again, _, err := in.Traces[0].ContentDigest(); err != nil || again != digest {
			t.Errorf("the digest changed on the way: %s, %v", again, err)
		}
		w.Write([]byte(`{"accepted":1,"duplicates":0,"rejected":[]}`))
	}))
	t.Cleanup(srv.Close)
	c, err := evalrouter.New(evalrouter.Config{BaseURL: srv.URL, AllowHTTP: true, APIKey: "eri_x", WorkspaceID: "w-1", Rand: func() float64 { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	res, err := c.Traces.Import(t.Context(), "c-1", "k-1", sent)
	if err != nil || res.Accepted != 1 || attempts != 2 {
		t.Errorf("%+v after %d attempts, %v", res, attempts, err)
	}
	if _, err := c.Traces.Import(t.Context(), "c-1", "", sent); err == nil || attempts != 2 {
		t.Errorf("without a key: %v after %d attempts", err, attempts)
	}
}
