package httpapi_test

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
)

// TestTenancy asks every route of the table as everybody who must not get in.
// What each of them is told follows from what the route declares, so that a
// new route is asked without anybody remembering it.
func TestTenancy(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	everything := append(httpapi.Scopes(), "traces:ingest") // more than a key can be given
	good := h.key(core.Local, nil, everything...)
	revoked := h.key(core.Local, func(k *core.APIKey) { k.RevokedAt = 1 }, everything...)
	expired := h.key(core.Local, func(k *core.APIKey) { k.ExpiresAt = core.Micros(began.UnixMicro()) }, everything...)
	bound := h.key(core.Local, func(k *core.APIKey) { k.Connection = "c" }, everything...)
	ingest := h.key(core.Local, func(k *core.APIKey) { k.Prefix = "eri_1234" }, everything...)
	sender := h.traceConnection("otlp").Secret
	ada, bob, eve := h.person("ada"), h.person("bob"), h.person("eve")
	h.joins(ada, core.Local, core.RoleOwner)
	h.joins(bob, core.Local, core.RoleViewer)
	h.joins(eve, other, core.RoleOwner)
	owner, viewer, stranger, left, late := h.session(ada), h.session(bob), h.session(eve), h.session(ada), h.session(ada)
	if err := h.store.Access().Leave(t.Context(), nil, left[:12], h.master.MAC(parsed(t, left)), core.By{Entry: "left"}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.raw(t).Exec(`UPDATE access_tokens SET expires_at = $1 WHERE prefix = $2`, began.UnixMicro(), late[:12]); err != nil {
		t.Fatal(err)
	}
	here, there := header("X-Workspace-Id", string(core.Local)), header("X-Workspace-Id", string(other))
	nowhere := header("X-Workspace-Id", "00000000-0000-4000-8000-00000000dead")
	table := h.api.RouteTable()
	if len(table) != 123 {
		t.Fatalf("the table has %d routes", len(table))
	}
	for _, rt := range table {
		path := strings.NewReplacer("{id}", "x", "{index}", "0", "{ref}", "x", "{slug}", "x", "{family}", "x", "{profile_id}", "x", "{item_id}", "x", "{n}", "1", "{m}", "1").Replace(rt.Path)
		var body any
		if rt.Body {
			body = "{}"
		}
		ask := func(tweaks ...tweak) reply { return h.send(rt.Method, path, body, tweaks...) }
		in := func(who string, r reply) {
			t.Helper()
			if r.status == 401 || r.status == 403 {
				t.Errorf("%s is answered %d: %s", who, r.status, r.body)
			}
		}
		t.Run(rt.Method+" "+rt.Path, func(t *testing.T) {
			if rt.Form { // sign-in itself: a credential changes nothing
				want := ask(anonymous)
				for _, who := range [][]tweak{{as("erk_unknown")}, {as(good), there}, {as(revoked)}, {as(expired)}, {as(bound)}, {as(left)}, {as(late)}, {as(stranger), here}} {
					if r := ask(who...); r.status != want.status || !bytes.Equal(r.body, want.body) {
						t.Errorf("a credential changes the answer to %d %s", r.status, r.body)
					}
				}
				return
			}
			if rt.Public {
				in("nobody", ask(anonymous))
			} else {
				ask(anonymous).refused(t, 401, "unauthenticated")
			}
			ask(as("erk_unknown")).refused(t, 401, "unauthenticated")
			ask(as("ers_unknown"), here).refused(t, 401, "unauthenticated")
			ask(header("Authorization", "Basic eDp5")).refused(t, 401, "unauthenticated")
			ask(as(good), there).refused(t, 403, "workspace_mismatch")
			ask(there).refused(t, 403, "workspace_mismatch")
			foreign := ask(as(stranger), here)
			foreign.refused(t, 403, "workspace_mismatch")
			if none := ask(as(stranger), nowhere); !bytes.Equal(foreign.body, none.body) {
				t.Errorf("a foreign workspace and a missing one differ:\n%s\n%s", foreign.body, none.body)
			}
			ask(as(revoked)).refused(t, 401, "key_revoked")
			ask(as(expired)).refused(t, 401, "session_expired")
			ask(as(left), here).refused(t, 401, "unauthenticated")
			ask(as(late), here).refused(t, 401, "session_expired")
			if rt.Scope == "traces:ingest" {
				onlyIngest(t, rt.Path, ask, sender, []tweak{as(good)}, nil, []tweak{as(owner), here}, []tweak{as(owner)})
				return
			}
			if !rt.Public {
				for _, only := range []string{bound, ingest, sender} {
					ask(as(only)).refused(t, 403, "ingest_only")
				}
			}
			in("a good key with every scope", ask(as(good)))
			in("an owner", ask(as(owner), here))
			if rt.Scope == "" {
				in("a session without a workspace", ask(as(owner)))
				return
			}
			ask(as(owner)).refused(t, 400, "workspace_required")
			if strings.HasSuffix(rt.Scope, ":read") {
				in("a viewer", ask(as(viewer), here))
			} else {
				ask(as(viewer), here).refused(t, 403, "insufficient_scope")
			}
			lacking := slices.DeleteFunc(httpapi.Scopes(), func(s string) bool { return s == rt.Scope })
			ask(as(h.session(ada, lacking...)), here).refused(t, 403, "insufficient_scope")
			if p := ask(as(h.key(core.Local, nil, lacking...))).refused(t, 403, "insufficient_scope"); p.Error.Details["required"] != rt.Scope {
				t.Errorf("details.required is %v, want %s", p.Error.Details["required"], rt.Scope)
			}
		})
	}
}

// onlyIngest demands that nobody brings traces but the key of a connection,
// which brings none to another one.
func onlyIngest(t *testing.T, path string, ask func(...tweak) reply, sender string, others ...[]tweak) {
	t.Helper()
	for _, who := range others {
		if p := ask(who...).refused(t, 403, "insufficient_scope"); p.Error.Details["required"] != "traces:ingest" {
			t.Errorf("details.required is %v", p.Error.Details["required"])
		}
	}
	r := ask(as(sender))
	if strings.Contains(path, "{id}") {
		r.refused(t, 403, "ingest_only")
	} else if r.status == 401 || r.status == 403 {
		t.Errorf("the key of a connection is answered %d: %s", r.status, r.body)
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
	joint, group := h.groupQuote(newGroup(nil, solver, echo)).ID, h.grouped(newGroup(nil, solver, echo)).ID
	var made struct{ ID string }
	h.send("POST", "/v1/api-keys", object{"name": "n", "scopes": []string{"eval:read"}}).want(t, 200).into(t, &made)
	key := made.ID
	var said api.FeedbackReceipt
	h.send("POST", "/v1/feedback", api.NewFeedback{Kind: "bug", Severity: "degraded", Summary: "It hangs at once", Client: api.FeedbackClient{Name: "evalrouter", Version: "1.0.0"}}).want(t, 200).into(t, &said)
	own := h.traceConnection("otlp")
	trace := h.trace(own)
	set := h.sealed("orders").ID
	var rule api.TraceEvaluator
	h.send("POST", "/v1/trace-evaluators", object{"name": "says 42", "rule": "phrase", "config": object{"phrase": "is 42"}}).want(t, 200).into(t, &rule)
	h.now.Add(31 * 1_000_000) // the trace is quiet
	h.send("POST", "/v1/trace-evaluators/"+rule.ID+"/runs", object{}).want(t, 200)
	var found api.Page[api.TraceFinding]
	h.send("GET", "/v1/trace-findings", nil).want(t, 200).into(t, &found)
	finding := found.Data[0].ID
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
		{"task", "GET", "/v1/runs/%/tasks/0", run, ""},
		{"run link", "POST", "/v1/runs/%/links", run, `{"purpose":"live"}`},
		{"group link", "POST", "/v1/groups/%/links", group, `{"purpose":"comparison"}`},
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
		{"group quote", "GET", "/v1/group-quotes/%", joint, ""},
		{"group submit", "POST", "/v1/groups", joint, `{"group_quote_id":"%"}`},
		{"group", "GET", "/v1/groups/%", group, ""},
		{"group cancel", "POST", "/v1/groups/%/cancel", group, ""},
		{"group continuation quote", "POST", "/v1/groups/%/continuation-quotes", group, `{"max_charge_microusd":"1000000"}`},
		{"group events", "GET", "/v1/groups/%/events", group, ""},
		{"continuation", "GET", "/v1/runs/%/continuation", run, ""},
		{"continuation quote", "POST", "/v1/runs/%/continuation-quotes", run, `{"max_charge_microusd":"1000000"}`},
		{"chain", "GET", "/v1/runs/%/chain", run, ""},
		{"feedback", "GET", "/v1/feedback/%", said.FeedbackID, ""},
		{"group stream", "GET", "/v1/groups/%/stream", group, ""},
		{"group comparison", "GET", "/v1/groups/%/comparison", group, ""},
		{"workspace", "GET", "/v1/workspaces/%", "local", ""},
		{"key end", "DELETE", "/v1/api-keys/%", key, ""},
		{"key rotation", "POST", "/v1/api-keys/%/rotate", key, "{}"},
		{"trace connection", "GET", "/v1/trace-connections/%", own.ID, ""},
		{"trace connection change", "PATCH", "/v1/trace-connections/%", own.ID, `{"name":"stolen"}`},
		{"trace connection key", "POST", "/v1/trace-connections/%/rotate-key", own.ID, ""},
		{"trace connection end", "DELETE", "/v1/trace-connections/%", own.ID, ""},
		{"trace", "GET", "/v1/traces/%", trace.ID, ""},
		{"spans", "GET", "/v1/traces/%/spans", trace.ID, ""},
		{"evaluator", "GET", "/v1/trace-evaluators/%", rule.ID, ""},
		{"evaluator change", "PATCH", "/v1/trace-evaluators/%", rule.ID, `{"status":"paused"}`},
		{"evaluator run", "POST", "/v1/trace-evaluators/%/runs", rule.ID, `{}`},
		{"evaluator preview", "POST", "/v1/trace-evaluators/%/preview", rule.ID, `{}`},
		{"judge's questions", "POST", "/v1/trace-evaluators/%/questions", rule.ID, `{}`},
		{"evaluations", "GET", "/v1/traces/%/evaluations", trace.ID, ""},
		{"finding", "GET", "/v1/trace-findings/%", finding, ""},
		{"finding change", "PATCH", "/v1/trace-findings/%", finding, `{"status":"confirmed"}`},
		{"finding promotion", "POST", "/v1/trace-findings/%/promote", finding, `{"dataset_id":"` + set + `"}`},
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
	placeholder := regexp.MustCompile(`\{[a-z_]+\}`)
	for _, rt := range h.api.RouteTable() {
		if !placeholder.MatchString(rt.Path) || rt.Public || rt.Scope == "traces:ingest" { // TestTraces_TRC02 has the keys of other connections
			continue
		}
		shape := regexp.MustCompile("^" + placeholder.ReplaceAllString(rt.Path, "[^/?]+") + `(\?.*)?$`)
		if !slices.ContainsFunc(tests, func(tt struct{ name, method, path, id, body string }) bool {
			return tt.method == rt.Method && shape.MatchString(tt.path)
		}) {
			t.Errorf("%s %s names something of a workspace, and no row asks for another one's", rt.Method, rt.Path)
		}
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
	for _, list := range []string{"/v1/runs", "/v1/connections", "/v1/credits/ledger", "/v1/benchmark-sources", "/v1/benchmarks", "/v1/api-keys", "/v1/traces", "/v1/trace-connections", "/v1/trace-evaluators", "/v1/trace-findings", "/v1/datasets"} {
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
	h := newHarness(t, func(o *httpapi.Options) {
		o.Admit = func(r *http.Request) error {
			if r.Host != "127.0.0.1:7788" {
				return core.Refuse(core.Code(api.HostRefused), "no")
			}
			return nil
		}
	})
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

// TestCredits_CRD04_session shows that a sign-in reads the balance.
func TestCredits_CRD04_session(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	ada := h.person("ada")
	h.joins(ada, core.Local, core.RoleViewer)
	here := header("X-Workspace-Id", string(core.Local))
	h.send("GET", "/v1/credits", nil, as(h.session(ada)), here).want(t, 200)
	h.send("GET", "/v1/credits/ledger", nil, as(h.session(ada)), here).want(t, 200)
	h.send("GET", "/v1/credits", nil, as(h.session(ada, "eval:read")), here).refused(t, 403, "insufficient_scope")
}
