package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	sets "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/datasets"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/off"
	web "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces"
	"github.com/evalrouter/evalrouter/lib/api"
)

// TDS-10: where the operator has switched traces and datasets off, every route of
// them says so, and before that who lacks the permission is told which. An
// exporter hears it too.
func TestTraces_TDS10_SwitchedOff(t *testing.T) {
	t.Parallel()
	gone := []off.Subject{{Of: &web.Handlers{}, Feature: "traces", Name: "traces of agents"}, {Of: &sets.Handlers{}, Feature: "datasets", Name: "datasets"}}
	h := newHarness(t, func(o *httpapi.Options) {
		o.Subjects = []httpapi.Subject{gone[0], gone[1]}
	})
	name := "shop"
	_, exporter, err := h.agents().Service.Create(context.Background(), traces.Asker{Scope: core.Scope{Workspace: core.Local, Actor: "owner"}}, core.TraceOTLP, traces.Settings{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	all, none := h.key(core.Local, nil, httpapi.Scopes()...), h.key(core.Local, nil, "eval:read")
	n := 0
	for _, subject := range gone {
		for _, rt := range subject.Of.Routes() {
			path := strings.NewReplacer("{id}", "x", "{item}", "y", "{version}", "1", "{a}", "1", "{b}", "2").Replace(rt.Path)
			var body any
			if rt.Method != http.MethodGet {
				body = object{"anything": 1}
			}
			who := all
			if rt.Scope == "traces:ingest" {
				who = exporter
			}
			n++
			p := h.send(rt.Method, path, body, as(who), keyed("k")).refused(t, 404, "feature_unavailable")
			if p.Error.Details["feature"] != subject.Feature || !strings.Contains(p.Error.Message, "switched them off") {
				t.Errorf("%s %s: %v %s", rt.Method, path, p.Error.Details, p.Error.Message)
			}
			p = h.send(rt.Method, path, body, as(none), keyed("k")).refused(t, 403, "insufficient_scope")
			if p.Error.Details["required"] != rt.Scope {
				t.Errorf("%s %s: %v is required", rt.Method, path, p.Error.Details)
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d routes", n)
	}
	var meta api.MetaRecord
	h.send("GET", "/v1/meta", nil).want(t, 200).into(t, &meta)
	if meta.Features["traces"] || meta.Features["datasets"] {
		t.Errorf("the service claims %v", meta.Features)
	}
}
