package httpapi_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/lib/api"
)

// TestTenancy asks every route of the table as everybody who must not get in.
func TestTenancy(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	good := h.key(core.Local, nil, httpapi.Scopes()...)
	revoked := h.key(core.Local, func(k *store.Key) { k.RevokedAt = 1 }, httpapi.Scopes()...)
	expired := h.key(core.Local, func(k *store.Key) { k.ExpiresAt = core.Micros(began.UnixMicro()) }, httpapi.Scopes()...)
	ingest := h.traceConnection("otlp").Secret
	table := h.api.RouteTable()
	if len(table) != 93 {
		t.Fatalf("the table has %d routes", len(table))
	}
	for _, rt := range table {
		path := strings.NewReplacer("{id}", "x", "{ref}", "x", "{slug}", "x", "{family}", "x", "{profile_id}", "x", "{item_id}", "x", "{n}", "1", "{m}", "1").Replace(rt.Path)
		var body any
		if rt.Body {
			body = "{}"
		}
		ask := func(tweaks ...tweak) reply { return h.send(rt.Method, path, body, tweaks...) }
		t.Run(rt.Method+" "+rt.Path, func(t *testing.T) {
			if r := ask(anonymous); rt.Public && r.status == 401 {
				t.Errorf("a public route answers %d to nobody", r.status)
			} else if !rt.Public {
				r.refused(t, 401, "unauthenticated")
			}
			ask(as("erk_unknown")).refused(t, 401, "unauthenticated")
			ask(header("Authorization", "Basic eDp5")).refused(t, 401, "unauthenticated")
			ask(as(good), header("X-Workspace-Id", string(other))).refused(t, 403, "workspace_mismatch")
			ask(header("X-Workspace-Id", string(other))).refused(t, 403, "workspace_mismatch")
			ask(as(revoked)).refused(t, 401, "key_revoked")
			ask(as(expired)).refused(t, 401, "session_expired")
			if rt.Scope == "traces:ingest" {
				ask(as(good)).refused(t, 403, "insufficient_scope")
				ask().refused(t, 403, "insufficient_scope") // the owner brings nothing either
				return
			}
			if !rt.Public {
				ask(as(ingest)).refused(t, 403, "ingest_only")
			}
			if r := ask(as(good)); r.status == 401 || r.status == 403 {
				t.Errorf("a good key with every scope answers %d: %s", r.status, r.body)
			}
			if rt.Scope == "" {
				return
			}
			short := h.key(core.Local, nil, slices.DeleteFunc(httpapi.Scopes(), func(s string) bool { return s == rt.Scope })...)
			if p := ask(as(short)).refused(t, 403, "insufficient_scope"); p.Error.Details["required"] != rt.Scope {
				t.Errorf("details.required is %v, want %s", p.Error.Details["required"], rt.Scope)
			}
		})
	}
}

// TestForeign asks for what another workspace has; the answer must be the one
// for what does not exist.
func TestForeign(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run := h.finished(nil)
	quote := h.quote(nil)
	var conn struct{ ID string }
	h.send("POST", "/v1/connections", object{"name": "n", "base_url": "https://example.com/v1", "model_id": "m", "api_key": "k"}).want(t, 200).into(t, &conn)
	h.importFrom(map[string]string{"a.csv": csvRows})
	src := h.uploaded("sums.csv", "csv", csvRows)
	var fetched api.BenchmarkImport
	h.send("POST", "/v1/benchmark-imports", object{"source": "hf://org/set@main", "files": []string{"a.csv"}}).want(t, 200).into(t, &fetched)
	mine := h.made(sums(src.URI, nil))
	own := h.traceConnection("otlp")
	trace := h.trace(own)
	set := h.sealed("orders").ID
	stranger := as(h.key(other, nil, httpapi.Scopes()...))
	missing := "00000000-0000-4000-8000-00000000dead"
	tests := []struct{ name, method, path, id, body string }{
		{"quote", "GET", "/v1/quotes/%", quote, ""},
		{"run", "GET", "/v1/runs/%", run, ""},
		{"evaluation", "GET", "/v1/evaluations/%", run, ""},
		{"receipt", "GET", "/v1/runs/%/receipt", run, ""},
		{"executions", "GET", "/v1/runs/%/executions", run, ""},
		{"events", "GET", "/v1/runs/%/events", run, ""},
		{"tasks", "GET", "/v1/runs/%/tasks", run, ""},
		{"cancel", "POST", "/v1/runs/%/cancel", run, ""},
		{"results", "GET", "/v1/runs/%/results", run, ""},
		{"export", "GET", "/v1/runs/%/export", run, ""},
		{"submit", "POST", "/v1/runs", quote, `{"quote_id":"%"}`},
		{"connection check", "POST", "/v1/connections/%/check", conn.ID, ""},
		{"connection change", "PATCH", "/v1/connections/%", conn.ID, `{"name":"stolen"}`},
		{"connection end", "DELETE", "/v1/connections/%", conn.ID, ""},
		{"source", "GET", "/v1/benchmark-sources/%", src.ID, ""},
		{"source content", "PUT", "/v1/benchmark-sources/%/content", src.ID, "q"},
		{"source end", "POST", "/v1/benchmark-sources/%/archive", src.ID, ""},
		{"import", "GET", "/v1/benchmark-imports/%", fetched.ID, ""},
		{"benchmark", "GET", "/v1/benchmarks/%", mine.ProfileID, ""},
		{"benchmark end", "POST", "/v1/benchmarks/%/archive", mine.ProfileID, ""},
		{"workspace", "GET", "/v1/workspaces/%", "local", ""},
		{"trace connection", "GET", "/v1/trace-connections/%", own.ID, ""},
		{"trace connection change", "PATCH", "/v1/trace-connections/%", own.ID, `{"name":"stolen"}`},
		{"trace connection key", "POST", "/v1/trace-connections/%/rotate-key", own.ID, ""},
		{"trace connection end", "DELETE", "/v1/trace-connections/%", own.ID, ""},
		{"trace", "GET", "/v1/traces/%", trace.ID, ""},
		{"spans", "GET", "/v1/traces/%/spans", trace.ID, ""},
		{"dataset", "GET", "/v1/datasets/%", set, ""},
		{"dataset change", "PATCH", "/v1/datasets/%", set, `{"description":"stolen"}`},
		{"dataset end", "POST", "/v1/datasets/%/archive", set, ""},
		{"items", "GET", "/v1/datasets/%/items", set, ""},
		{"more items", "POST", "/v1/datasets/%/items", set, `{"items":[{"input":"x"}]}`},
		{"item", "GET", "/v1/datasets/%/items/x", set, ""},
		{"item change", "PATCH", "/v1/datasets/%/items/x", set, `{"input":"x"}`},
		{"item end", "DELETE", "/v1/datasets/%/items/x", set, ""},
		{"review", "POST", "/v1/datasets/%/items/x/review", set, `{"decision":"approved"}`},
		{"seal", "POST", "/v1/datasets/%/versions", set, `{}`},
		{"versions", "GET", "/v1/datasets/%/versions", set, ""},
		{"version", "GET", "/v1/datasets/%/versions/1", set, ""},
		{"version file", "GET", "/v1/datasets/%/versions/1/export", set, ""},
		{"version diff", "GET", "/v1/datasets/%/versions/1/diff/1", set, ""},
		{"retraction", "POST", "/v1/datasets/%/versions/1/retract", set, `{"reason":"x"}`},
		{"package", "POST", "/v1/datasets/%/versions/1/package", set, ""},
		{"trace end", "DELETE", "/v1/traces/%?force=true", trace.ID, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ask := func(id string) reply {
				var body any
				if tt.body != "" {
					body = strings.ReplaceAll(tt.body, "%", id)
				}
				return h.send(tt.method, strings.ReplaceAll(tt.path, "%", id), body, stranger, keyed("foreign-"+tt.name+id))
			}
			ask(tt.id).refused(t, 404, "not_found")
			if foreign, none := ask(tt.id), ask(missing); !bytes.Equal(foreign.body, none.body) {
				t.Errorf("foreign and missing differ:\n%s\n%s", foreign.body, none.body)
			}
		})
	}
	for _, list := range []string{"/v1/runs", "/v1/connections", "/v1/credits/ledger", "/v1/benchmark-sources", "/v1/benchmarks", "/v1/traces", "/v1/trace-connections", "/v1/datasets"} {
		if r := h.send("GET", list, nil, stranger).want(t, 200); !bytes.Contains(r.body, []byte(`"data":[]`)) {
			t.Errorf("GET %s shows a stranger %s", list, r.body)
		}
	}
	h.send("GET", "/v1/quotes/"+quote, nil).want(t, 200)
}

func TestDeclaration(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		access int
		scope  string
		starts bool
	}{
		{"nothing declared", httpapi.Undeclared, "", false},
		{"a scope alone", httpapi.Undeclared, "eval:read", false},
		{"scoped without a scope", httpapi.Scoped, "", false},
		{"public with a scope", httpapi.Public, "eval:read", false},
		{"public", httpapi.Public, "", true},
		{"any caller", httpapi.AnyCaller, "", true},
		{"scoped", httpapi.Scoped, "eval:read", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := httpapi.DeclarationOf(tt.access, tt.scope); (err == nil) != tt.starts {
				t.Errorf("the route's declaration says %v", err)
			}
		})
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(o *httpapi.Options) { o.Hosts = func(h string) bool { return h == "127.0.0.1:7788" } })
	for host, status := range map[string]int{"127.0.0.1:7788": 200, "attacker.example:7788": 403, "127.0.0.1": 403, "127.0.0.1:80": 403} {
		r := h.send("GET", "/v1/meta", nil, anonymous, func(r *http.Request) { r.Host = host })
		if r.status != status {
			t.Errorf("Host %s answers %d, want %d", host, r.status, status)
		}
		if status == 403 {
			r.refused(t, 403, "host_refused")
		}
	}
}

// TestCredits_CRD05_scope shows that a key reads the balance with billing:read and not
// without.
func TestCredits_CRD05_scope(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.send("GET", "/v1/credits", nil, as(h.key(core.Local, nil, "billing:read"))).want(t, 200)
	h.send("GET", "/v1/credits", nil, as(h.key(core.Local, nil, "eval:read", "eval:write"))).refused(t, 403, "insufficient_scope")
}
