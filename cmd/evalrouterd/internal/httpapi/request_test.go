package httpapi_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
)

// TestStatuses holds the table of codes to the codes of the domain and to
// those that the contract reserves for services.
func TestStatuses(t *testing.T) {
	t.Parallel()
	domain := []core.Code{
		core.BudgetLimit, core.CapBelowMinimum, core.ConcurrencyUnsupported, core.ConnectionUnverified, core.EndpointRefused, core.FeatureUnavailable,
		core.IdempotencyConflict, core.InsufficientCredit, core.InvalidRequest, core.ModelUnavailable, core.NotFound, core.OutputFormat,
		core.QuoteAlreadyAccepted, core.QuoteExpired, core.QuoteStale, core.ReasoningUnsupported, core.ResultExpired, core.RunNotFinished,
		core.ContinuationExists, core.DuplicatesUnaccepted, core.EvidenceGone, core.EvidenceUnfit, core.LeftOutUnaccepted, core.NothingToResume, core.ResumeUnsupported, core.RetryUnknownLimit,
		core.ManifestInvalid, core.SourceNotReady, core.SourceOffset, core.SourceQuota, core.SourceTooLarge, core.StorageLow, core.DatasetArchived, core.NameTaken, core.DuplicateItem, core.ItemChanged, core.SelfReview, core.NothingApproved, core.NothingChanged, core.VersionRetracted, core.EvaluatorPaused, core.TraceHeld, core.UnboundedModelCost, core.Code(api.KeyUnopenable),
	}
	wire := []api.Code{
		api.AmbiguousModel, api.BudgetLimit, api.BudgetRequired, api.CapBelowMinimum, api.ClientOutdated, api.ConcurrencyUnsupported,
		api.ConnectionUnverified, api.ContinuationExists, api.EndpointRefused, api.FeatureUnavailable, api.HostRefused, api.IdempotencyConflict,
		api.DuplicateCharges, api.EvidenceExpired, api.EvidenceIncompatible, api.LeftOutUnacknowledged, api.NothingToResume, api.ResumeUnsupported, api.RetryUnknownLimit,
		api.IdempotencyKeyRequired, api.IngestOnly, api.InsufficientCredit, api.InsufficientScope, api.InternalError, api.InvalidCursor, api.InvalidRequest,
		api.JudgeOnlyRoute, api.KeyRevoked, api.KeyUnopenable, api.MalformedExport, api.ManifestInvalid, api.MethodNotAllowed, api.ModelUnavailable, api.NamespaceNotFound, api.NotAcceptable, api.NotFound,
		api.OperationInProgress, api.OutputFormatUnsupported, api.QuoteAlreadyAccepted, api.QuoteExpired, api.QuoteStale, api.RateLimited,
		api.ReasoningUnsupported, api.RequestTooLarge, api.ResultExpired, api.RunNotFinished, api.SessionExpired, api.SourceNotReady, api.SourceOffset, api.SourceQuota, api.SourceTooLarge, api.SpendCeilingReached,
		api.StorageFull, api.StorageLow, api.DatasetArchived, api.NameTaken, api.DuplicateItem, api.ItemChanged, api.SelfReview, api.NothingApproved, api.NothingChanged, api.VersionRetracted, api.EvaluatorPaused, api.TraceHeld, api.TooManyQuotes, api.TooManyRuns, api.Unauthenticated, api.UnboundedModelCost, api.Unavailable, api.UnsupportedMediaType, api.WorkspaceMismatch, api.WorkspaceRequired,
	}
	table := httpapi.Statuses()
	for _, c := range domain {
		if _, ok := table[api.Code(c)]; !ok {
			t.Errorf("the domain's code %s has no status", c)
		}
	}
	for _, c := range wire {
		if s := table[c]; s < 400 || s > 599 {
			t.Errorf("the code %s has the status %d", c, s)
		}
	}
	if len(table) != len(wire) {
		t.Errorf("the table has %d codes, the contract %d", len(table), len(wire))
	}
	if s := httpapi.StatusOf("no_such_code"); s != 500 {
		t.Errorf("a code outside the table has the status %d", s)
	}
}

// What no database keeps as text is refused where a person typed it, with the
// place.
func TestRefuses_NUL(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	key := func(r *http.Request) { r.Header.Set("Idempotency-Key", "k") }
	for _, tt := range []struct{ name, method, path, body, field, code string }{
		{"the name of a run", "POST", "/v1/runs", `{"quote_id":"x","name":"a\u0000"}`, "name", "nul_character"},
		{"metadata of a run", "POST", "/v1/runs", `{"quote_id":"x","name":"a","metadata":{"a\u0000":"b"}}`, "metadata.?", "nul_character"},
		{"a model", "POST", "/v1/quotes", `{"model":"connection:\u0000"}`, "model", "nul_character"},
		{"a connection", "POST", "/v1/connections", `{"name":"\u0000"}`, "name", "nul_character"},
		{"a trace connection", "POST", "/v1/trace-connections", `{"name":"a","kind":"otlp","capture":{"redact_fields":["\u0000"]}}`, "capture.redact_fields[0]", "nul_character"},
		{"a filter", "GET", "/v1/runs?id_prefix=abc%00", "", "query.id_prefix", "nul_character"},
		{"a filter that is no UTF-8", "GET", "/v1/runs?id_prefix=abc%ff", "", "query.id_prefix", "invalid_utf8"},
		{"an id", "GET", "/v1/runs/abc%00", "", "path", "nul_character"},
		{"an id that is no UTF-8", "GET", "/v1/runs/abc%ff", "", "path", "invalid_utf8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var body any
			if tt.body != "" {
				body = tt.body
			}
			p := h.send(tt.method, tt.path, body, key).refused(t, 422, "invalid_request")
			if got := fmt.Sprint(p.Error.Details["fields"]); !strings.Contains(got, "code:"+tt.code+" path:"+tt.field) {
				t.Errorf("details.fields is %s", got)
			}
		})
	}
	cursor := base64.RawURLEncoding.EncodeToString([]byte("runs\n1\n\x00"))
	h.send("GET", "/v1/runs?cursor="+cursor, nil).refused(t, 422, "invalid_cursor")
}

func TestUnmatched(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	tests := []struct {
		name, method, path string
		status             int
		code, allow        string
	}{
		{"no such path", "GET", "/v1/no-such", 404, "not_found", ""},
		{"root", "GET", "/", 404, "not_found", ""},
		{"no documentation page", "GET", "/docs", 404, "not_found", ""},
		{"no schemas", "GET", "/schemas/RunRecord.json", 404, "not_found", ""},
		{"slash at the end", "GET", "/v1/runs/", 404, "not_found", ""},
		{"two slashes", "GET", "/v1//runs", 404, "not_found", ""},
		{"dots", "GET", "/v1/x/../runs", 404, "not_found", ""},
		{"other method", "DELETE", "/v1/runs", 405, "method_not_allowed", "GET, POST"},
		{"other method below", "PUT", "/v1/connections/x", 405, "method_not_allowed", "PATCH, DELETE"},
		{"unknown method", "BREW", "/v1/meta", 405, "method_not_allowed", "GET"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := h.send(tt.method, tt.path, nil)
			r.refused(t, tt.status, tt.code)
			if got := r.header.Get("Allow"); got != tt.allow {
				t.Errorf("Allow is %q, want %q", got, tt.allow)
			}
			if r.header.Get("Location") != "" {
				t.Error("the answer redirects")
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(o *httpapi.Options) {
		n := byte(0)
		o.Random = func(b []byte) { n++; b[0] = n }
	})
	seen := map[string]bool{}
	for _, path := range []string{"/healthz", "/v1/meta", "/v1/runs", "/v1/no-such"} {
		r := h.send("GET", path, nil)
		id := r.header.Get("X-Request-Id")
		if !regexp.MustCompile(`^req_[0-9a-f]{24}$`).MatchString(id) || seen[id] {
			t.Errorf("GET %s has the request id %q", path, id)
		}
		seen[id] = true
		if cc := r.header.Get("Cache-Control"); cc != "no-store" {
			t.Errorf("GET %s: Cache-Control is %q", path, cc)
		}
		if link := r.header.Get("Link"); link != "" {
			t.Errorf("GET %s: Link is %q", path, link)
		}
		if strings.Contains(string(r.body), "$schema") {
			t.Errorf("GET %s: the body names a schema: %s", path, r.body)
		}
		if p := (problem{}); r.status >= 400 {
			if r.into(t, &p); p.Error.RequestID != id {
				t.Errorf("error.request_id is %q, the header %q", p.Error.RequestID, id)
			}
		}
	}
}

// TestCatalog_CAT02 reads the public catalog as nobody: it answers, and may be
// stored; what a credential reads may not.
func TestCatalog_CAT02(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, path := range []string{"/v1/catalog/benchmarks", "/v1/catalog/benchmarks/arithmetic", "/v1/catalog/models"} {
		t.Run(path, func(t *testing.T) {
			r := h.send("GET", path, nil, anonymous).want(t, 200)
			tag := r.header.Get("ETag")
			if !regexp.MustCompile(`^"[0-9a-f]{32}"$`).MatchString(tag) || r.header.Get("Cache-Control") != "public, max-age=120" || r.header.Get("Vary") != "Authorization" {
				t.Errorf("the headers are %v", r.header)
			}
			same := h.send("GET", path, nil, anonymous, header("If-None-Match", `"x", `+tag)).want(t, 304)
			if len(same.body) != 0 || same.header.Get("ETag") != tag || same.header.Get("Cache-Control") != "public, max-age=120" {
				t.Errorf("304 has %d bytes and %v", len(same.body), same.header)
			}
			h.send("GET", path, nil, anonymous, header("If-None-Match", `"x"`)).want(t, 200)
			known := h.send("GET", path, nil, header("If-None-Match", tag)).want(t, 200)
			if known.header.Get("ETag") != "" || known.header.Get("Cache-Control") != "private, no-store" {
				t.Errorf("with a credential the headers are %v", known.header)
			}
		})
	}
	h.send("GET", "/v1/catalog/benchmarks/no-such", nil, anonymous).refused(t, 404, "not_found")
}

func TestBody(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	good, err := json.Marshal(newQuote(nil))
	if err != nil {
		t.Fatal(err)
	}
	exact := strings.Repeat(" ", 256<<10-len(good)) + string(good)
	tests := []struct {
		name, body, kind string
		status           int
		code             string
	}{
		{"right", string(good), "application/json", 200, ""},
		{"right with a charset", string(good), "application/json; charset=UTF-8", 200, ""},
		{"as large as it may be", exact, "application/json", 200, ""},
		{"one byte more", exact + " ", "application/json", 413, "request_too_large"},
		{"no content type", string(good), "", 415, "unsupported_media_type"},
		{"form", string(good), "application/x-www-form-urlencoded", 415, "unsupported_media_type"},
		{"other charset", string(good), "application/json; charset=latin1", 415, "unsupported_media_type"},
		{"suffix type", string(good), "application/x+json", 415, "unsupported_media_type"},
		{"nothing", "", "application/json", 422, "invalid_request"},
		{"white space", "  \n", "application/json", 422, "invalid_request"},
		{"no JSON", "{", "application/json", 422, "invalid_request"},
		{"trailing data", string(good) + "{}", "application/json", 422, "invalid_request"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := h.send("POST", "/v1/quotes", tt.body, header("Content-Type", tt.kind))
			if tt.code == "" {
				r.want(t, tt.status)
				return
			}
			r.refused(t, tt.status, tt.code)
		})
	}
	t.Run("chunked and too large", func(t *testing.T) {
		h.send("POST", "/v1/quotes", exact+" ", func(r *http.Request) { r.ContentLength = -1 }).refused(t, 413, "request_too_large")
	})
}

// TestCanary misspells a field beside each secret one. Neither secret may come
// back or reach the log.
func TestCanary(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	const secret, twin = "sk-canary-5d1f0b7e", "sk-canary-other-9a"
	tests := []struct{ name, method, path, body, field, code string }{
		{"new connection", "POST", "/v1/connections", `{"name":"n","base_url":"https://example.com/v1","model_id":"m","api_key":"%s","api_kye":"%s"}`, "api_kye", "unknown_field"},
		{"letter case", "POST", "/v1/connections", `{"name":"n","base_url":"https://example.com/v1","model_id":"m","api_key":"%s","API_KEY":"%s"}`, "API_KEY", "wrong_letter_case"},
		{"twice", "POST", "/v1/connections", `{"name":"n","base_url":"https://example.com/v1","model_id":"m","api_key":"%s","api_key":"%s"}`, "api_key", "duplicate_field"},
		{"rotation", "PATCH", "/v1/connections/x", `{"api_key":"%s","apikey":"%s"}`, "apikey", "unknown_field"},
		{"wrong type", "PATCH", "/v1/connections/x", `{"api_key":["%s","%s"]}`, "api_key", "wrong_type"},
		{"key in the wrong field", "POST", "/v1/connections", `{"name":"n","base_url":"https://example.com/v1","model_id":"m","api_key":"%s","max_output_tokens":"%s"}`, "max_output_tokens", "wrong_type"},
		{"key with a space", "POST", "/v1/connections", `{"name":"n","base_url":"https://example.com/v1","model_id":"m","api_key":"%s %s"}`, "api_key", "not_printable_ascii"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := h.send(tt.method, tt.path, fmt.Sprintf(tt.body, secret, twin))
			p := r.refused(t, 422, "invalid_request")
			want := []any{map[string]any{"path": tt.field, "code": tt.code}}
			if diff := cmp.Diff(want, p.Error.Details["fields"]); diff != "" {
				t.Errorf("details.fields: %s", diff)
			}
			if strings.Contains(string(r.body), "canary") {
				t.Errorf("the answer repeats a secret: %s", r.body)
			}
		})
	}
	h.send("POST", "/v1/connections", `{"name":"n","base_url":"https://u:`+secret+`@example.com/v1","model_id":"m","api_key":"`+twin+`"}`).refused(t, 422, "endpoint_refused")
	h.send("GET", "/v1/runs?cursor="+secret, nil, header("X-Workspace-Id", "local"))
	if strings.Contains(h.log.String(), "canary") {
		t.Error("the log holds a secret")
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	tests := []struct{ path, code, field string }{
		{"/v1/evals?kind=canary", "invalid_request", "query.kind"},
		{"/v1/runs?status=canary", "invalid_request", "query.status"},
		{"/v1/runs?created_after=canary", "invalid_request", "query.created_after"},
		{"/v1/runs?limit=canary", "invalid_request", "query.limit"},
		{"/v1/runs?limit=201", "invalid_request", "query.limit"},
		{"/v1/runs?limit=0", "invalid_request", "query.limit"},
		{"/v1/runs?id_prefix=abc", "invalid_request", "query.id_prefix"},
		{"/v1/runs?route_id=a&connection_id=b", "invalid_request", "query.connection_id"},
		{"/v1/runs?cursor=canary", "invalid_cursor", ""},
		{"/v1/credits/ledger?cursor=canary", "invalid_cursor", ""},
		{"/v1/runs/x/events?wait_seconds=21", "invalid_request", "query.wait_seconds"},
		{"/v1/runs/x/events?after=-1", "invalid_request", "query.after"},
		{"/v1/runs/x/results?version=0", "invalid_request", "query.version"},
		{"/v1/runs/x/export?format=canary", "invalid_request", "query.format"},
		{"/v1/runs/x/events?type=canary", "invalid_request", "query.type"},
		{"/v1/runs/x/events?type=run.started&type=canary", "invalid_request", "query.type"},
		{"/v1/runs?stauts=canary", "invalid_request", "query.stauts"},
		{"/v1/runs?Status=canary", "invalid_request", "query.Status"},
		{"/v1/runs?status=running&status=canary", "invalid_request", "query.status"},
		{"/v1/runs?limit=5&limit=canary", "invalid_request", "query.limit"},
		{"/v1/runs?can%20ary=1", "invalid_request", "query.?"},
		{"/v1/runs?%1b%5Dcanary=1", "invalid_request", "query.?"},
		{"/v1/runs?status=run;canary", "invalid_request", "query"},
		{"/v1/runs?status=%zzcanary", "invalid_request", "query"},
		{"/v1/meta?verbose=canary", "invalid_request", "query.verbose"},
		{"/v1/evals/x?unknown", "invalid_request", "query.unknown"},
		{"/healthz?x=canary", "invalid_request", "query.x"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			r := h.send("GET", tt.path, nil)
			p := r.refused(t, 422, tt.code)
			if strings.Contains(string(r.body), "canary") {
				t.Errorf("the answer repeats the value: %s", r.body)
			}
			if tt.field != "" && !strings.Contains(fmt.Sprint(p.Error.Details["fields"]), "path:"+tt.field) {
				t.Errorf("details.fields is %v, want %s", p.Error.Details["fields"], tt.field)
			}
		})
	}
}

// TestPanic turns a fault of a handler into an answer and a line of the log.
func TestPanic(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(o *httpapi.Options) { o.Connections = nil })
	h.send("GET", "/v1/connections", nil).refused(t, 500, "internal_error")
	if !strings.Contains(h.log.String(), "request panicked") {
		t.Error("the log does not tell")
	}
}

// undescribed says that an operation answers with JSON of which nothing is said.
func undescribed(op map[string]any) bool {
	at := func(v any, key string) any { m, _ := v.(map[string]any); return m[key] }
	answer := at(at(at(op["responses"], "200"), "content"), "application/json")
	schema, _ := at(answer, "schema").(map[string]any)
	return answer != nil && len(schema) == 0
}

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	var doc struct {
		OpenAPI string                               `json:"openapi"`
		Paths   map[string]map[string]map[string]any `json:"paths"`
	}
	r := h.send("GET", "/v1/openapi.json", nil, anonymous).want(t, 200).into(t, &doc)
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("the document is OpenAPI %s", doc.OpenAPI)
	}
	for _, rt := range h.api.RouteTable() {
		op := doc.Paths[rt.Path][strings.ToLower(rt.Method)]
		if op == nil {
			t.Errorf("%s %s is not described", rt.Method, rt.Path)
			continue
		}
		if _, secured := op["security"]; secured == rt.Public {
			t.Errorf("%s %s: public %v, security %v", rt.Method, rt.Path, rt.Public, op["security"])
		}
		if _, body := op["requestBody"]; body != (rt.Body || rt.Upload) {
			t.Errorf("%s %s: takes a body %v, described %v", rt.Method, rt.Path, rt.Body, body)
		}
		if undescribed(op) && rt.Path != "/v1/openapi.json" {
			t.Errorf("%s %s: the answer is not described", rt.Method, rt.Path)
		}
	}
	for _, name := range []string{"NewQuote", "NewRun", "RunRecord", "QuoteRecord", "PageRunRecord", "ResultRecord", "Envelope"} {
		if !strings.Contains(string(r.body), `"`+name+`":`) {
			t.Errorf("the document has no schema %s", name)
		}
	}
	if strings.Contains(string(r.body), "problem+json") {
		t.Error("the document describes errors that are never sent")
	}
}

// TestKnownParameters sends every parameter of the published contract, and
// those that may stand twice twice: none is unknown.
func TestKnownParameters(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, path := range []string{
		"/v1/evals?provider=evalrouter&kind=benchmark&protocol=batch&q=a&behavior=x&availability=ready_for_quote&publisher=p&include_private=true&limit=5",
		"/v1/catalog/benchmarks?q=a&runner=inspect&capability=chat&status=active&limit=5",
		"/v1/catalog/models?q=a&provider=p&capability=chat&limit=5",
		"/v1/catalog/environments?limit=5",
		"/v1/catalog/compatibility?profile_id=arithmetic%401&q=a&provider=p&limit=5",
		"/v1/connections?limit=5",
		"/v1/runs?limit=5&id_prefix=abcd&status=running&profile_id=p&route_id=r&group_id=g&created_before=2026-01-01T00:00:00Z&created_after=2025-01-01T00:00:00Z",
		"/v1/credits/ledger?run_id=x&limit=5",
	} {
		h.send("GET", path, nil).want(t, 200)
	}
	for _, path := range []string{
		"/v1/runs/x/executions?sample_id=s&limit=5", "/v1/runs/x/events?after=1&limit=5&tail=true&type=run.started&type=run.finished&wait_seconds=1",
		"/v1/runs/x/tasks?status=graded&limit=5", "/v1/runs/x/results?version=1", "/v1/runs/x/export?format=csv&version=1",
	} {
		h.send("GET", path, nil).refused(t, 404, "not_found")
	}
}

// TestHeadersOnce refuses what a request may say once and says twice, and
// bodies that are encoded.
func TestHeadersOnce(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	twice := func(name, a, b string) tweak {
		return func(r *http.Request) { r.Header[name] = []string{a, b} }
	}
	quote := h.quote(nil)
	for name, tweaks := range map[string][]tweak{
		"Idempotency-Key": {twice("Idempotency-Key", "one", "two")},
		"X-Workspace-Id":  {keyed("k"), twice("X-Workspace-Id", "local", "local")},
	} {
		p := h.send("POST", "/v1/runs", object{"quote_id": quote}, tweaks...).refused(t, 422, "invalid_request")
		want := []any{map[string]any{"path": "header." + name, "code": "duplicate_field"}}
		if diff := cmp.Diff(want, p.Error.Details["fields"]); diff != "" {
			t.Errorf("%s twice: details.fields: %s", name, diff)
		}
	}
	if r := h.send("GET", "/v1/runs", nil).want(t, 200); !strings.Contains(string(r.body), `"data":[]`) {
		t.Errorf("a refused request started %s", r.body)
	}
	for coding, status := range map[string]int{"gzip": 415, "br": 415, "identity, gzip": 415, "x-unknown": 415, "identity": 200, "Identity": 200} {
		r := h.send("POST", "/v1/quotes", newQuote(nil), header("Content-Encoding", coding))
		if r.status != status {
			t.Errorf("Content-Encoding %s answers %d: %s", coding, r.status, r.body)
		}
		if status == 415 {
			r.refused(t, 415, "unsupported_media_type")
		}
	}
	h.send("POST", "/v1/runs/x/cancel", nil, header("Content-Encoding", "gzip")).refused(t, 415, "unsupported_media_type")
}

// TestProof asks a local service whether it knows the owner's token, and one
// for others, which has none.
func TestProof(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	const nonce = "0123456789abcdef0123456789ABCDEF"
	ask := func(h *harness, tweaks ...tweak) reply {
		return h.send("GET", "/healthz", nil, append(tweaks, anonymous)...)
	}
	mac := hmac.New(sha256.New, []byte(owner))
	mac.Write([]byte(nonce + "\n" + h.Listener.Addr().String()))
	if got, want := string(ask(h, header("X-Local-Nonce", nonce)).want(t, 200).body), `{"ok":true,"proof":"`+hex.EncodeToString(mac.Sum(nil))+`"}`+"\n"; got != want {
		t.Errorf("the answer is %s, want %s", got, want)
	}
	if got := string(ask(h).want(t, 200).body); got != `{"ok":true}`+"\n" {
		t.Errorf("without a nonce the answer is %s", got)
	}
	for _, bad := range []string{nonce[1:], strings.Repeat("0", 65), nonce[:31] + "g", "*"} {
		ask(h, header("X-Local-Nonce", bad)).refused(t, 422, "invalid_request")
	}
	ask(h, func(r *http.Request) { r.Header["X-Local-Nonce"] = []string{nonce, nonce} }).refused(t, 422, "invalid_request")
	public := newHarness(t, func(o *httpapi.Options) { o.Owner = "" })
	if got := string(ask(public, header("X-Local-Nonce", nonce)).want(t, 200).body); got != `{"ok":true}`+"\n" {
		t.Errorf("a service without an owner answers %s", got)
	}
}

// brokenConnections fail as a full disk does.
type brokenConnections struct {
	httpapi.Connections
	err error
}

func (b *brokenConnections) List(context.Context, core.Scope) ([]core.ConnectionInfo, error) {
	return nil, fmt.Errorf("list connections: %w", b.err)
}

// TestStorageFull tells the owner where there is no room, others that there
// is none, and the log once a minute.
func TestStorageFull(t *testing.T) {
	t.Parallel()
	broken := &brokenConnections{}
	h := newHarness(t, func(o *httpapi.Options) { o.Connections, o.DataDir = broken, "/srv/data-of-the-test" })
	told := 0
	for _, broken.err = range []error{syscall.ENOSPC, syscall.EDQUOT, &os.PathError{Op: "write", Path: "x", Err: syscall.EIO}} {
		h.now.Add(61_000_000)
		told++
		for range 3 {
			if p := h.send("GET", "/v1/connections", nil).refused(t, 507, "storage_full"); !strings.Contains(p.Error.Message, "/srv/data-of-the-test") {
				t.Errorf("the owner is told %q", p.Error.Message)
			}
			if n := strings.Count(h.log.String(), "storage is full"); n != told {
				t.Errorf("%v: the log tells it %d times, want %d", broken.err, n, told)
			}
		}
	}
	h = newHarness(t, func(o *httpapi.Options) { o.Connections, o.DataDir, o.Owner = broken, "/srv/data-of-the-test", "" })
	if p := h.send("GET", "/v1/connections", nil, as(h.key(core.Local, nil, "connections:read"))).refused(t, 507, "storage_full"); strings.Contains(p.Error.Message, "/srv") {
		t.Errorf("a stranger is told %q", p.Error.Message)
	}
}

// TestEscaped shows a name with controls and bidirectional marks: the answer
// holds them as escapes and still says the same.
func TestEscaped(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	const name = "a\x1b]0;t\x07\u009b31m\u202eb\u200bc"
	var q struct{ ID string }
	h.send("POST", "/v1/quotes", newQuote(nil)).want(t, 200).into(t, &q)
	var r struct{ Name string }
	made := h.send("POST", "/v1/runs", object{"quote_id": q.ID, "name": name}, keyed("escaped")).want(t, 200).into(t, &r)
	if r.Name != name {
		t.Errorf("the name is %q", r.Name)
	}
	for _, want := range []string{`\u001b`, `\u0007`, `\u009b`, `\u202e`, `\u200b`} {
		if !strings.Contains(string(made.body), want) {
			t.Errorf("the answer has no %s: %s", want, made.body)
		}
	}
	for _, c := range string(made.body) {
		if c < 0x20 && c != '\n' || c >= 0x7F && c <= 0x9F || c == 0x202E || c == 0x200B {
			t.Errorf("the answer holds U+%04X raw", c)
		}
	}
}

// TestWithin ends a request that takes too long with an answer, which says that
// it may be repeated.
func TestWithin(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(o *httpapi.Options) {
		o.Within = time.Millisecond
		o.Ready = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	})
	r := h.send("GET", "/readyz", nil, anonymous)
	r.refused(t, 503, "unavailable")
	if r.header.Get("Retry-After") == "" {
		t.Error("it does not say when")
	}
}
