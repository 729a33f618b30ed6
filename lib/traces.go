package evalrouter

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Traces brings traces into a workspace and reads them.
type Traces struct {
	c *core
	// Connections are the ways by which senders bring traces.
	Connections *TraceConnections
	// Evaluators look at traces, and Findings are what they found.
	Evaluators *TraceEvaluators
	Findings   *TraceFindings
}

// Import sends a batch of whole traces to a connection. The client's key must
// be the ingest key of that connection. The batch may be sent again: a trace
// that is stored already is counted as a duplicate.
func (s *Traces) Import(ctx context.Context, connectionID string, key IdempotencyKey, in api.TraceImport) (api.TraceImportResult, error) {
	return do[api.TraceImportResult](ctx, s.c, call{
		op: "import traces", method: http.MethodPost, path: path("trace-connections", connectionID, "imports"),
		body: in, key: key, keyed: true, retry: true,
	})
}

// TraceFilter selects traces; the zero value of a field is any.
type TraceFilter struct {
	ConnectionID string
	// Query is a part of the name, in any case of letters.
	Query        string
	Status, Name string
	Model, Tool  string
	From, To     time.Time // of the start; To is exclusive
	MinDuration  time.Duration
	HasFindings  bool
}

func (f TraceFilter) put(q *query) {
	q.text("connection_id", f.ConnectionID)
	q.text("q", f.Query)
	q.text("status", f.Status)
	q.text("name", f.Name)
	q.text("model", f.Model)
	q.text("tool", f.Tool)
	q.time("from", f.From)
	q.time("to", f.To)
	q.number("min_duration_ms", f.MinDuration.Milliseconds())
	q.flag("has_findings", f.HasFindings)
}

// List is one page of traces, those first that started last.
func (s *Traces) List(ctx context.Context, f TraceFilter, in Paging) (api.Page[api.TraceRecord], error) {
	var q query
	f.put(&q)
	in.put(&q)
	return list[api.TraceRecord](ctx, s.c, "list traces", path("traces"), q)
}

// All walks every page.
func (s *Traces) All(ctx context.Context, f TraceFilter, in Paging) iter.Seq2[api.TraceRecord, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.TraceRecord], error) {
		in.Cursor = cursor
		return s.List(ctx, f, in)
	})
}

// Get reads one trace.
func (s *Traces) Get(ctx context.Context, id string) (api.TraceRecord, error) {
	return get[api.TraceRecord](ctx, s.c, "read trace "+id, path("traces", id))
}

// Spans is one page of the steps of a trace, by their start.
func (s *Traces) Spans(ctx context.Context, id string, in Paging) (api.Page[api.SpanRecord], error) {
	var q query
	in.put(&q)
	return list[api.SpanRecord](ctx, s.c, "read the spans of trace "+id, path("traces", id, "spans"), q)
}

// AllSpans walks every step of a trace.
func (s *Traces) AllSpans(ctx context.Context, id string, in Paging) iter.Seq2[api.SpanRecord, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.SpanRecord], error) {
		in.Cursor = cursor
		return s.Spans(ctx, id, in)
	})
}

// Evaluations is one page of what was said of a trace, in that order.
func (s *Traces) Evaluations(ctx context.Context, id string, in Paging) (api.Page[api.TraceEvaluation], error) {
	var q query
	in.put(&q)
	return list[api.TraceEvaluation](ctx, s.c, "read the evaluations of trace "+id, path("traces", id, "evaluations"), q)
}

// AllEvaluations walks everything that was said of a trace.
func (s *Traces) AllEvaluations(ctx context.Context, id string, in Paging) iter.Seq2[api.TraceEvaluation, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.TraceEvaluation], error) {
		in.Cursor = cursor
		return s.Evaluations(ctx, id, in)
	})
}

// Delete takes a trace away with all of its content. One that dataset items
// were made of goes only with force; the items keep what they copied.
func (s *Traces) Delete(ctx context.Context, id string, force bool) error {
	var q query
	q.flag("force", force)
	_, err := do[api.OKResponse](ctx, s.c, call{op: "delete trace " + id, method: http.MethodDelete, path: path("traces", id), query: q})
	return err
}

// TraceConnections manages the ways by which senders bring traces. None of the
// changing operations is ever sent twice.
type TraceConnections struct{ c *core }

// List is one page of connections, newest first.
func (s *TraceConnections) List(ctx context.Context, in Paging) (api.Page[api.TraceConnection], error) {
	var q query
	in.put(&q)
	return list[api.TraceConnection](ctx, s.c, "list trace connections", path("trace-connections"), q)
}

// All walks every page.
func (s *TraceConnections) All(ctx context.Context, in Paging) iter.Seq2[api.TraceConnection, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.TraceConnection], error) {
		in.Cursor = cursor
		return s.List(ctx, in)
	})
}

// Get reads one connection.
func (s *TraceConnections) Get(ctx context.Context, id string) (api.TraceConnection, error) {
	return get[api.TraceConnection](ctx, s.c, "read trace connection "+id, path("trace-connections", id))
}

// Create makes a connection. Its ingest key stands in Secret, this once.
func (s *TraceConnections) Create(ctx context.Context, in api.NewTraceConnection) (api.TraceConnectionCreated, error) {
	return do[api.TraceConnectionCreated](ctx, s.c, call{op: "create a trace connection", method: http.MethodPost, path: path("trace-connections"), body: in})
}

// Update changes what is set.
func (s *TraceConnections) Update(ctx context.Context, id string, in api.UpdateTraceConnection) (api.TraceConnection, error) {
	return do[api.TraceConnection](ctx, s.c, call{op: "update trace connection " + id, method: http.MethodPatch, path: path("trace-connections", id), body: in})
}

// RotateKey gives a connection another ingest key, which stands in Secret, this
// once. The key before it stays good until the next rotation.
func (s *TraceConnections) RotateKey(ctx context.Context, id string) (api.TraceConnectionCreated, error) {
	return do[api.TraceConnectionCreated](ctx, s.c, call{op: "rotate the key of trace connection " + id, method: http.MethodPost, path: path("trace-connections", id, "rotate-key")})
}

// Disable ends a connection and its keys. Its traces stay.
func (s *TraceConnections) Disable(ctx context.Context, id string) error {
	_, err := do[api.OKResponse](ctx, s.c, call{op: "disable trace connection " + id, method: http.MethodDelete, path: path("trace-connections", id)})
	return err
}

// TraceEvaluators manages rules that look at traces. None of the changing
// operations is ever sent twice.
type TraceEvaluators struct{ c *core }

// List is one page of evaluators, newest first.
func (s *TraceEvaluators) List(ctx context.Context, in Paging) (api.Page[api.TraceEvaluator], error) {
	var q query
	in.put(&q)
	return list[api.TraceEvaluator](ctx, s.c, "list trace evaluators", path("trace-evaluators"), q)
}

// All walks every page.
func (s *TraceEvaluators) All(ctx context.Context, in Paging) iter.Seq2[api.TraceEvaluator, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.TraceEvaluator], error) {
		in.Cursor = cursor
		return s.List(ctx, in)
	})
}

// Get reads one evaluator.
func (s *TraceEvaluators) Get(ctx context.Context, id string) (api.TraceEvaluator, error) {
	return get[api.TraceEvaluator](ctx, s.c, "read trace evaluator "+id, path("trace-evaluators", id))
}

// Create makes an evaluator.
func (s *TraceEvaluators) Create(ctx context.Context, in api.NewTraceEvaluator) (api.TraceEvaluator, error) {
	return do[api.TraceEvaluator](ctx, s.c, call{op: "create a trace evaluator", method: http.MethodPost, path: path("trace-evaluators"), body: in})
}

// Update changes what is set.
func (s *TraceEvaluators) Update(ctx context.Context, id string, in api.UpdateTraceEvaluator) (api.TraceEvaluator, error) {
	return do[api.TraceEvaluator](ctx, s.c, call{op: "update trace evaluator " + id, method: http.MethodPatch, path: path("trace-evaluators", id), body: in})
}

// Run looks at so many of the newest traces that are complete, 200 for 0.
// Looking again finds nothing twice.
func (s *TraceEvaluators) Run(ctx context.Context, id string, limit int) (api.TraceEvaluatorRun, error) {
	return do[api.TraceEvaluatorRun](ctx, s.c, call{op: "run trace evaluator " + id, method: http.MethodPost, path: path("trace-evaluators", id, "runs"), body: api.NewEvaluatorRun{Limit: limit}, retry: true})
}

// Preview says what Run would find, and keeps nothing.
func (s *TraceEvaluators) Preview(ctx context.Context, id string, limit int) (api.TraceEvaluatorRun, error) {
	return do[api.TraceEvaluatorRun](ctx, s.c, call{op: "preview trace evaluator " + id, method: http.MethodPost, path: path("trace-evaluators", id, "preview"), body: api.NewEvaluatorRun{Limit: limit}, retry: true})
}

// Questions makes a private benchmark of a judge's questions about traces. It
// spends nothing, and the same questions are the same benchmark.
func (s *TraceEvaluators) Questions(ctx context.Context, id string, in api.NewTraceQuestions) (api.TraceQuestions, error) {
	return do[api.TraceQuestions](ctx, s.c, call{op: "make the questions of trace evaluator " + id, method: http.MethodPost, path: path("trace-evaluators", id, "questions"), body: in, retry: true})
}

// Take takes over what a judge said in a run that has ended. Taking again changes
// nothing.
func (s *TraceEvaluators) Take(ctx context.Context, runID string) (api.TraceVerdicts, error) {
	return do[api.TraceVerdicts](ctx, s.c, call{op: "take over the verdicts of run " + runID, method: http.MethodPost, path: path("trace-evaluations"), body: api.NewTraceEvaluations{RunID: runID}, retry: true})
}

// TraceFindings reads what evaluators found, and says what people think of it.
type TraceFindings struct{ c *core }

// FindingFilter selects findings; the zero value of a field is any.
type FindingFilter struct{ TraceID, EvaluatorID, Status, Severity string }

// List is one page of findings, those first that were seen last.
func (s *TraceFindings) List(ctx context.Context, f FindingFilter, in Paging) (api.Page[api.TraceFinding], error) {
	var q query
	q.text("trace_id", f.TraceID)
	q.text("evaluator_id", f.EvaluatorID)
	q.text("status", f.Status)
	q.text("severity", f.Severity)
	in.put(&q)
	return list[api.TraceFinding](ctx, s.c, "list trace findings", path("trace-findings"), q)
}

// All walks every page.
func (s *TraceFindings) All(ctx context.Context, f FindingFilter, in Paging) iter.Seq2[api.TraceFinding, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.TraceFinding], error) {
		in.Cursor = cursor
		return s.List(ctx, f, in)
	})
}

// Get reads one finding.
func (s *TraceFindings) Get(ctx context.Context, id string) (api.TraceFinding, error) {
	return get[api.TraceFinding](ctx, s.c, "read trace finding "+id, path("trace-findings", id))
}

// Update says what a person thinks of a finding.
func (s *TraceFindings) Update(ctx context.Context, id string, in api.UpdateTraceFinding) (api.TraceFinding, error) {
	return do[api.TraceFinding](ctx, s.c, call{op: "update trace finding " + id, method: http.MethodPatch, path: path("trace-findings", id), body: in})
}

// Promote makes a dataset item of the step where a finding was seen last.
func (s *TraceFindings) Promote(ctx context.Context, id string, in api.NewPromotion) (api.DatasetItem, error) {
	return do[api.DatasetItem](ctx, s.c, call{op: "promote trace finding " + id, method: http.MethodPost, path: path("trace-findings", id, "promote"), body: in})
}
