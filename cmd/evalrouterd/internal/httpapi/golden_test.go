package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest/contract"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sample is one answer: its golden file and what record it is.
type sample struct {
	file, record string
	page         bool
	answer       reply
}

// TestGolden compares every record of the contract that this service produces
// with its golden file, and member by member with the contract as it stands
// in text.
func TestGolden(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	contract, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append(h.samples(t), h.groupSamples(t)...) {
		t.Run(s.file, func(t *testing.T) {
			s.answer.want(t, 200)
			check := contract.Check
			if s.page {
				check = contract.CheckPage
			}
			for _, wrong := range check(s.record, s.answer.body) {
				t.Error(wrong)
			}
			golden(t, s.file, s.answer.body)
		})
	}
}

// samples makes every record once. Ids and times are those of the harness.
func (h *harness) samples(t *testing.T) []sample {
	t.Helper()
	stub := httptest.NewServer(http.HandlerFunc(answerOK))
	t.Cleanup(stub.Close)
	get := func(path string) reply { return h.send("GET", path, nil) }
	conn := h.send("POST", "/v1/connections", object{"name": "Stub", "base_url": stub.URL + "/v1", "model_id": "stub-1", "api_key": "sk-golden", "price_in_microusd": "1000000", "price_out_microusd": "2000000"})
	var c struct{ ID string }
	conn.want(t, 200).into(t, &c)
	checked := h.send("POST", "/v1/connections/"+c.ID+"/check", nil)
	preview := newQuote(object{"preview": true})
	delete(preview, "max_charge_microusd")
	quote := h.send("POST", "/v1/quotes", newQuote(nil))
	var q struct{ ID string }
	quote.want(t, 200).into(t, &q)
	metered := h.send("POST", "/v1/quotes", newQuote(object{"model": object{"kind": "connection", "connection_id": c.ID}}))
	free := h.send("POST", "/v1/connections", object{"name": "Unpriced", "base_url": stub.URL + "/v1", "model_id": "stub-1"})
	var f struct{ ID string }
	free.want(t, 200).into(t, &f)
	unpriced := h.send("POST", "/v1/quotes", newQuote(object{"model": object{"kind": "connection", "connection_id": f.ID}}))
	created := h.send("POST", "/v1/runs", object{"quote_id": q.ID, "name": "Golden", "metadata": object{"suite": "golden"}}, keyed("golden"))
	var r struct{ ID string }
	created.want(t, 200).into(t, &r)
	h.await(r.ID)
	run := "/v1/runs/" + r.ID
	return []sample{
		{"evals", "EvalRecord", true, get("/v1/evals")},
		{"eval", "EvalRecord", false, get("/v1/evals/arithmetic@1")},
		{"benchmarks", "BenchmarkRecord", true, get("/v1/catalog/benchmarks")},
		{"benchmark", "BenchmarkDetail", false, get("/v1/catalog/benchmarks/arithmetic")},
		{"models", "ManagedRoute", true, get("/v1/catalog/models")},
		{"model", "ManagedRoute", false, get("/v1/catalog/models/" + solver)},
		{"compatibility", "CompatibleRoute", true, get("/v1/catalog/compatibility?profile_id=arithmetic%401")},
		{"execution_options", "ExecutionOptions", false, get("/v1/catalog/execution-options")},
		{"environments", "EnvironmentRecord", true, get("/v1/catalog/environments")},
		{"connection_created", "ConnectionRecord", false, conn},
		{"connection_checked", "ConnectionRecord", false, checked},
		{"connections", "ConnectionRecord", true, get("/v1/connections")},
		{"discovery", "DiscoveryRecord", false, h.send("POST", "/v1/connections/discover", nil)},
		{"quote", "QuoteRecord", false, quote},
		{"quote_preview", "QuoteRecord", false, h.send("POST", "/v1/quotes", preview)},
		{"quote_connection", "QuoteRecord", false, metered},
		{"quote_unpriced", "QuoteRecord", false, unpriced},
		{"quote_accepted", "QuoteRecord", false, get("/v1/quotes/" + q.ID)},
		{"run_created", "RunRecord", false, created},
		{"run_finished", "RunRecord", false, get(run)},
		{"runs", "RunRecord", true, get("/v1/runs")},
		{"evaluation", "RunRecord", false, get("/v1/evaluations/" + r.ID)},
		{"run_cancelled_late", "RunRecord", false, h.send("POST", run+"/cancel", nil)},
		{"receipt", "RunReceipt", false, get(run + "/receipt")},
		{"executions", "SandboxExecutionPage", false, get(run + "/executions")},
		{"events", "EventPage", false, get(run + "/events?limit=200")},
		{"tasks", "TaskRecord", true, get(run + "/tasks")},
		{"results", "ResultRecord", false, get(run + "/results")},
		{"export", "Export", false, get(run + "/export?format=json")},
		{"export_summary", "ExportSummary", false, get(run + "/export?format=summary")},
		{"credits", "CreditsRecord", false, get("/v1/credits")},
		{"ledger", "LedgerEntry", true, get("/v1/credits/ledger")},
		{"whoami", "WhoamiRecord", false, get("/v1/auth/whoami")},
		{"workspaces", "WorkspaceRecord", true, get("/v1/workspaces")},
		{"workspace", "WorkspaceRecord", false, get("/v1/workspaces/local")},
		{"meta", "MetaRecord", false, get("/v1/meta")},
		{"connection_disabled", "OKResponse", false, h.send("DELETE", "/v1/connections/"+c.ID, nil)},
	}
}

// groupSamples are the records of a group. Its members run side by side, so it
// comes after every record of which member wrote to the ledger first.
func (h *harness) groupSamples(t *testing.T) []sample {
	t.Helper()
	get := func(path string) reply { return h.send("GET", path, nil) }
	joint := h.groupQuote(newGroup(nil, solver, echo))
	group := h.send("POST", "/v1/groups", object{"group_quote_id": joint.ID, "name": "Golden"}, keyed("golden-group"))
	var g api.GroupRecord
	group.want(t, 200).into(t, &g)
	for _, m := range g.Members {
		h.await(m.RunID)
	}
	return []sample{
		{"group_quote", "GroupQuoteRecord", false, get("/v1/group-quotes/" + joint.ID)},
		{"group_created", "GroupRecord", false, group},
		{"group_finished", "GroupRecord", false, get("/v1/groups/" + g.ID)},
		{"groups", "GroupRecord", true, get("/v1/groups")},
	}
}

// answerOK is the smallest OpenAI-compatible endpoint.
func answerOK(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Write([]byte(`{"id":"c1","object":"chat.completion","created":1,"model":"stub-1-2026",` +
		`"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":1,"total_tokens":8}}`))
}

// unstable is what differs between two runs of the test: ids that the engine
// draws while calls are in flight, and the stub's port.
var unstable = regexp.MustCompile(`[ef]0000000-0000-4000-8000-\d{12}|127\.0\.0\.1:\d+`)

func golden(t *testing.T, name string, body []byte) {
	t.Helper()
	body = unstable.ReplaceAll(body, []byte("UNSTABLE"))
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(body), "", "  "); err != nil {
		t.Fatal(err)
	}
	out.WriteByte('\n')
	path := filepath.Join("testdata", "golden", name+".json")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(out.String(), "\n")); diff != "" {
		t.Errorf("%s (run with -update to accept): %s", path, diff)
	}
}
