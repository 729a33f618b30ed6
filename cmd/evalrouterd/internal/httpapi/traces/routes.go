// Package traces is the routes of agents' traces. It belongs to httpapi, whose
// gate and answers it uses, and translates between the wire records and package
// traces of the service.
package traces

import (
	"context"
	"net/http"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/judging"
	kept "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces"
)

// Scopes of these routes.
const (
	read   = "traces:read"
	write  = "traces:write"
	ingest = "traces:ingest"
)

// Reader reads what is kept, and takes it away.
type Reader interface {
	List(context.Context, core.Scope, kept.Filter, *kept.Place, int) ([]kept.Row, error)
	Trace(context.Context, core.Scope, core.TraceID) (kept.Row, error)
	Spans(context.Context, core.Scope, core.TraceID, *kept.SpanPlace, int) ([]core.Span, error)
	Delete(ctx context.Context, sc core.Scope, id core.TraceID, force bool) error
	FindingList(context.Context, core.Scope, kept.FindingFilter, *core.Place, int) ([]core.Finding, error)
}

// Handlers answers the routes.
type Handlers struct {
	Service *traces.Service
	Intake  *traces.Intake
	Reader  Reader
	// Evaluation looks at what is kept, and Judging has models look at it.
	Evaluation *traces.Evaluation
	Judging    *judging.Service
	Now        func() time.Time
	// slots bounds the batches that are decoded at a time, and pace the bytes of
	// each key.
	slots chan *slot
	pace  pace
}

// batchesAtOnce is how many batches are decoded and redacted at a time: each
// may be 32 MiB.
const batchesAtOnce = 4

// New makes the handlers.
func New(s *traces.Service, in *traces.Intake, r Reader, v *traces.Evaluation, j *judging.Service, now func() time.Time) *Handlers {
	return &Handlers{Service: s, Intake: in, Reader: r, Evaluation: v, Judging: j, Now: now, slots: slotsOf(batchesAtOnce)}
}

// Features is what the routes add to the service.
func (h *Handlers) Features() []string { return []string{"traces"} }

// Routes lists the routes.
func (h *Handlers) Routes() []httpapi.Route {
	at := func(method, path, id, scope, summary string) httpapi.Route {
		return httpapi.Route{Method: method, Path: path, ID: id, Summary: summary, Tag: "traces", Scope: scope}
	}
	body := func(r httpapi.Route) httpapi.Route { r.Body = true; return r }
	export := func(path, id, summary string) httpapi.Route {
		r := at(http.MethodPost, path, id, ingest, summary)
		r.Upload, r.Ingest = true, true
		return httpapi.On(r, h.export)
	}
	imports := body(at(http.MethodPost, "/v1/trace-connections/{id}/imports", "import-traces", ingest, "Whole traces of another system"))
	imports.Ingest, imports.MaxBody = true, maxImport
	return append(append(h.findingRoutes(), h.judgingRoutes()...), []httpapi.Route{
		httpapi.On(at(http.MethodGet, "/v1/trace-connections", "list-trace-connections", read, "Trace connections, newest first"), h.listConnections),
		httpapi.On(body(at(http.MethodPost, "/v1/trace-connections", "create-trace-connection", write, "Let a sender bring traces; shows its key once")), h.createConnection),
		httpapi.On(at(http.MethodGet, "/v1/trace-connections/{id}", "get-trace-connection", read, "One trace connection"), h.getConnection),
		httpapi.On(body(at(http.MethodPatch, "/v1/trace-connections/{id}", "update-trace-connection", write, "Change what a connection keeps")), h.updateConnection),
		httpapi.On(at(http.MethodDelete, "/v1/trace-connections/{id}", "disable-trace-connection", write, "End a connection and its keys; its traces stay"), h.disableConnection),
		httpapi.On(at(http.MethodPost, "/v1/trace-connections/{id}/rotate-key", "rotate-trace-key", write, "Another key; the one before stays good until the next rotation"), h.rotate),
		httpapi.On(imports, h.imports),
		export("/v1/otlp/v1/traces", "export-spans", "Spans of an OpenTelemetry exporter"),
		export("/v1/traces", "export-spans-plain", "The same, where exporters look that are given an origin"),
		export("/api/public/otel/v1/traces", "export-spans-langfuse", "The same, where the Langfuse exporter looks"),
		httpapi.On(at(http.MethodGet, "/v1/traces", "list-traces", read, "Traces, those first that started last"), h.list),
		httpapi.On(at(http.MethodGet, "/v1/traces/{id}", "get-trace", read, "One trace"), h.get),
		httpapi.On(at(http.MethodGet, "/v1/traces/{id}/spans", "list-spans", read, "The steps of a trace, by their start"), h.spans),
		httpapi.On(at(http.MethodDelete, "/v1/traces/{id}", "delete-trace", write, "Take a trace away with all of its content"), h.remove),
	}...)
}
