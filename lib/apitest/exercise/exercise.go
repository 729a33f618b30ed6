// Package exercise holds a service to the contract of the API, as any program
// could that speaks HTTP.
package exercise

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest/contract"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Target is the service that Run tests, with the facts it needs.
type Target struct {
	BaseURL     string // an origin, without /v1
	Token       string // a key with every scope
	WorkspaceID string
	AllowHTTP   bool

	ProfileID string // a benchmark that is ready for a quote, such as arithmetic@1
	RouteID   string // a managed route that can run it and that the workspace can pay

	Sample int           // tasks of each run; 5
	Cap    usd.Micro     // enough for that many tasks; $1
	Within time.Duration // how long a run may take; one minute

	// Restricted makes a key that has these scopes only. Without it the tests
	// of scopes are skipped and say so.
	Restricted func(scopes ...string) (string, error)
	// Endpoint is an OpenAI-compatible base URL that the service may connect
	// to. Empty means a stub that the suite starts on loopback.
	Endpoint string
}

// Run checks that a service keeps the contract: records member by
// member, pages, errors, idempotency, quotes, runs, events, results and
// exports. It starts a few small runs and leaves them, and one disabled
// connection, behind.
func Run(t *testing.T, x Target) {
	t.Helper()
	if x.Sample == 0 {
		x.Sample = 5
	}
	if x.Cap == 0 {
		x.Cap = usd.Dollar
	}
	if x.Within == 0 {
		x.Within = time.Minute
	}
	contract, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	client, err := evalrouter.New(evalrouter.Config{BaseURL: x.BaseURL, APIKey: x.Token, WorkspaceID: x.WorkspaceID, AllowHTTP: x.AllowHTTP})
	if err != nil {
		t.Fatalf("make a client for the target: %v", err)
	}
	t.Cleanup(func() { client.Close() })
	w := &wire{target: x, contract: contract, client: client, seen: map[string]bool{}}
	w.http = &http.Client{
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}

	t.Run("service", w.service)
	t.Run("catalog", w.catalog)
	t.Run("pages", w.pages)
	t.Run("access", w.access)
	t.Run("bodies", w.bodies)
	t.Run("connections", w.connections)
	t.Run("quotes", w.quotes)
	t.Run("runs", w.runs)
	t.Run("evaluations", w.evaluations)
	t.Run("cancel", w.cancel)
	t.Run("resume", w.resume)
	t.Run("groups", w.groups)
	t.Run("credit", w.credit)
	t.Run("routes", w.routes)
}

// partA is the 26 routes of existing clients.
var partA = []string{
	"GET /evals", "GET /evals/%s", "GET /catalog/benchmarks", "GET /catalog/benchmarks/%s", "GET /catalog/models",
	"GET /catalog/execution-options", "GET /catalog/environments", "GET /catalog/environments/%s",
	"GET /connections", "POST /connections", "POST /connections/%s/check", "PATCH /connections/%s", "DELETE /connections/%s",
	"POST /quotes", "GET /quotes/%s", "POST /runs", "GET /runs", "GET /runs/%s", "GET /runs/%s/receipt", "GET /runs/%s/executions",
	"GET /runs/%s/events", "POST /runs/%s/cancel", "GET /runs/%s/results", "GET /runs/%s/export", "POST /evaluations", "GET /evaluations/%s",
}

// routes makes sure that the suite itself left no route out.
func (w *wire) routes(t *testing.T) {
	for _, r := range partA {
		if !w.seen[r] {
			t.Errorf("%s was not exercised", r)
		}
	}
}

func (w *wire) service(t *testing.T) {
	w.send(t, "GET", "/meta", nil, anonymous).record(t, "MetaRecord")
	who := w.send(t, "GET", "/auth/whoami", nil)
	who.record(t, "WhoamiRecord")
	var id api.WhoamiRecord
	if who.decode(t, &id); id.Workspace == nil || id.Workspace.ID != w.target.WorkspaceID {
		t.Errorf("whoami names another workspace than %s: %s", w.target.WorkspaceID, who.body)
	}
	w.send(t, "GET", "/no-such-route", nil).refused(t, 404, "not_found")
	w.send(t, "GET", "/runs/none/of/this", nil).refused(t, 404, "not_found")
	w.send(t, "DELETE", "/runs", nil).refused(t, 405, "method_not_allowed")
	w.send(t, "PUT", "/quotes", "{}").refused(t, 405, "method_not_allowed")
}

func (w *wire) catalog(t *testing.T) {
	x := w.target
	slug, version := splitProfile(t, x.ProfileID)
	w.send(t, "GET", "/catalog/benchmarks", nil).page(t, "BenchmarkRecord")
	var detail api.BenchmarkDetail
	a := w.send(t, "GET", "/catalog/benchmarks/%s", nil, args(slug))
	a.record(t, "BenchmarkDetail")
	if a.decode(t, &detail); detail.Slug != slug || len(detail.Versions) == 0 {
		t.Fatalf("benchmark %s answers slug %q with %d versions", slug, detail.Slug, len(detail.Versions))
	}
	if !slices.ContainsFunc(detail.Versions, func(v api.BenchmarkRecord) bool { return v.ID == x.ProfileID && v.Version == version }) {
		t.Errorf("benchmark %s has no version %s with the id %s", slug, version, x.ProfileID)
	}
	w.send(t, "GET", "/catalog/benchmarks/%s", nil, args("no-such-benchmark")).refused(t, 404, "not_found")
	w.send(t, "GET", "/catalog/models", nil).page(t, "ManagedRoute")
	w.send(t, "GET", "/catalog/models/%s", nil, args(x.RouteID)).record(t, "ManagedRoute")
	w.send(t, "GET", "/catalog/models/%s", nil, args("no-such-route")).refused(t, 404, "not_found")
	w.send(t, "GET", "/catalog/compatibility?profile_id="+query(x.ProfileID), nil).page(t, "CompatibleRoute")
	w.send(t, "GET", "/catalog/execution-options", nil).record(t, "ExecutionOptions")
	w.send(t, "GET", "/catalog/environments", nil).page(t, "EnvironmentRecord")
	w.send(t, "GET", "/catalog/environments/%s", nil, args("no-such-family")).refused(t, 404, "not_found")
	w.send(t, "GET", "/evals?kind=benchmark&limit=200", nil).page(t, "EvalRecord")
	w.send(t, "GET", "/evals/%s", nil, args(x.ProfileID)).record(t, "EvalRecord")
	w.send(t, "GET", "/evals/%s", nil, args("no-such-eval@1")).refused(t, 404, "not_found")
	for _, public := range []string{"/catalog/benchmarks", "/catalog/models"} {
		w.send(t, "GET", public, nil, anonymous).want(t, 200)
	}
	w.send(t, "GET", "/catalog/benchmarks/%s", nil, args(slug), anonymous).want(t, 200)
}

func (w *wire) pages(t *testing.T) {
	for _, path := range []string{"/catalog/benchmarks", "/catalog/models", "/evals"} {
		whole := w.ids(t, path, 200)
		single := w.ids(t, path, 1)
		if !slices.Equal(whole, single) {
			t.Errorf("GET %s page by page answers %v, at once %v", path, single, whole)
		}
		if len(whole) == 0 {
			t.Errorf("GET %s is empty: nothing shows that pages work", path)
		}
		w.send(t, "GET", path+"?cursor=no-such-cursor", nil).refused(t, 422, "invalid_cursor")
		for _, limit := range []string{"0", "201", "many"} {
			w.send(t, "GET", path+"?limit="+limit, nil).refused(t, 422, "invalid_request")
		}
	}
}

// ids walks a list and answers what identifies each entry.
func (w *wire) ids(t *testing.T, path string, limit int) []string {
	t.Helper()
	var out []string
	at := path + "?limit=" + number(limit)
	for range 1000 {
		var page struct {
			Data []struct {
				ID  string `json:"id"`
				Ref string `json:"ref"`
			} `json:"data"`
			Next *string `json:"next_cursor"`
		}
		w.send(t, "GET", at, nil).want(t, 200).decode(t, &page)
		if len(page.Data) > limit {
			t.Fatalf("GET %s answers %d entries", at, len(page.Data))
		}
		for _, e := range page.Data {
			out = append(out, e.ID+e.Ref)
		}
		if page.Next == nil {
			return out
		}
		at = path + "?limit=" + number(limit) + "&cursor=" + query(*page.Next)
	}
	t.Fatalf("GET %s has no end", path)
	return nil
}

func (w *wire) access(t *testing.T) {
	w.send(t, "GET", "/runs", nil, anonymous).refused(t, 401, "unauthenticated")
	w.send(t, "POST", "/quotes", "{}", anonymous).refused(t, 401, "unauthenticated")
	w.send(t, "GET", "/runs", nil, bearer(w.target.Token+"x")).refused(t, 401, "unauthenticated")
	w.send(t, "GET", "/runs", nil, header("X-Workspace-Id", otherID)).refused(t, 403, "workspace_mismatch")
	w.send(t, "POST", "/quotes", w.newQuote(), header("X-Workspace-Id", otherID)).refused(t, 403, "workspace_mismatch")
	for _, path := range []string{"/runs/%s", "/runs/%s/receipt", "/runs/%s/events", "/runs/%s/results", "/runs/%s/export", "/quotes/%s", "/evaluations/%s"} {
		w.send(t, "GET", path, nil, args(otherID)).refused(t, 404, "not_found")
	}
	t.Run("scopes", func(t *testing.T) {
		if w.target.Restricted == nil {
			t.Skip("the target makes no restricted keys: scopes are not tested")
		}
		for _, c := range []struct{ has, method, path, needs string }{
			{"eval:read", "POST", "/quotes", "eval:write"},
			{"eval:read", "POST", "/runs", "eval:write"},
			{"billing:read", "GET", "/runs", "eval:read"},
			{"eval:read", "GET", "/credits", "billing:read"},
		} {
			token, err := w.target.Restricted(c.has)
			if err != nil {
				t.Fatalf("make a key with %s: %v", c.has, err)
			}
			var body any
			if c.method == "POST" {
				body = "{}"
			}
			a := w.send(t, c.method, c.path, body, bearer(token), header("Idempotency-Key", "scope"))
			if d := a.refused(t, 403, "insufficient_scope"); !mentionsScope(d["required"], c.needs) {
				t.Errorf("%s %s with %s: details.required is %v, want %s", c.method, c.path, c.has, d["required"], c.needs)
			}
		}
	})
}

func mentionsScope(v any, scope string) bool {
	if list, ok := v.([]any); ok {
		return slices.Contains(list, any(scope))
	}
	return v == scope
}

func (w *wire) connections(t *testing.T) {
	endpoint := w.target.Endpoint
	if endpoint == "" {
		stub := httptest.NewServer(http.HandlerFunc(answerChat))
		defer stub.Close()
		endpoint = stub.URL + "/v1"
	}
	const secret = "sk-exercise-5f2d8a1c"
	made := w.send(t, "POST", "/connections", object{"name": "exercise", "base_url": endpoint, "model_id": "stub", "api_key": secret})
	made.record(t, "ConnectionRecord").lacks(t, secret)
	var c api.ConnectionRecord
	if made.decode(t, &c); c.Protocol != "openai_chat" || c.CheckedAt != nil || c.DisabledAt != nil {
		t.Errorf("a new connection has protocol %q, checked_at %v, disabled_at %v", c.Protocol, c.CheckedAt, c.DisabledAt)
	}
	w.send(t, "GET", "/connections", nil).page(t, "ConnectionRecord").lacks(t, secret)
	checked := w.send(t, "POST", "/connections/%s/check", nil, args(c.ID))
	checked.record(t, "ConnectionRecord").lacks(t, secret)
	if checked.decode(t, &c); c.CheckResult.Status != "ok" || c.CheckedAt == nil {
		t.Errorf("the check of a working endpoint says %q, checked_at %v: %s", c.CheckResult.Status, c.CheckedAt, checked.body)
	}
	revision := c.Revision
	renamed := w.send(t, "PATCH", "/connections/%s", object{"name": "renamed"}, args(c.ID))
	renamed.record(t, "ConnectionRecord")
	if renamed.decode(t, &c); c.Name != "renamed" {
		t.Errorf("after the update the name is %q", c.Name)
	}
	const rotated = "sk-exercise-rotated-77"
	after := w.send(t, "PATCH", "/connections/%s", object{"api_key": rotated}, args(c.ID))
	after.record(t, "ConnectionRecord").lacks(t, rotated)
	if after.decode(t, &c); c.Revision <= revision || c.CheckedAt != nil {
		t.Errorf("after a new key the revision is %d (was %d) and checked_at %v", c.Revision, revision, c.CheckedAt)
	}
	w.send(t, "DELETE", "/connections/%s", nil, args(c.ID)).record(t, "OKResponse")
	w.send(t, "POST", "/connections/%s/check", nil, args(otherID)).refused(t, 404, "not_found")
	w.send(t, "PATCH", "/connections/%s", object{"name": "x"}, args(otherID)).refused(t, 404, "not_found")
	w.send(t, "DELETE", "/connections/%s", nil, args(otherID)).refused(t, 404, "not_found")
}

// answerChat is the smallest OpenAI-compatible endpoint.
func answerChat(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		w.Write([]byte(`{"object":"list","data":[{"id":"stub","object":"model"}]}`))
		return
	}
	w.Write([]byte(`{"id":"c1","object":"chat.completion","created":1,"model":"stub",` +
		`"choices":[{"index":0,"message":{"role":"assistant","content":"pong"},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`))
}
