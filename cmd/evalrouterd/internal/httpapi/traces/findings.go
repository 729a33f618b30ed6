package traces

import (
	"context"
	"net/http"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	kept "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces"
	"github.com/evalrouter/evalrouter/lib/api"
)

// findingRoutes are those of evaluators and of what they found.
func (h *Handlers) findingRoutes() []httpapi.Route {
	at := func(method, path, id, scope, summary string, body bool) httpapi.Route {
		return httpapi.Route{Method: method, Path: path, ID: id, Summary: summary, Tag: "traces", Scope: scope, Body: body}
	}
	return []httpapi.Route{
		httpapi.On(at(http.MethodGet, "/v1/trace-evaluators", "list-trace-evaluators", read, "Evaluators, newest first", false), h.evaluators),
		httpapi.On(at(http.MethodPost, "/v1/trace-evaluators", "create-trace-evaluator", write, "Make a rule that looks at traces", true), h.createEvaluator),
		httpapi.On(at(http.MethodGet, "/v1/trace-evaluators/{id}", "get-trace-evaluator", read, "One evaluator", false), h.evaluator),
		httpapi.On(at(http.MethodPatch, "/v1/trace-evaluators/{id}", "update-trace-evaluator", write, "Change settings, severity or status", true), h.updateEvaluator),
		httpapi.On(at(http.MethodPost, "/v1/trace-evaluators/{id}/runs", "run-trace-evaluator", write, "Look at the newest traces; finds nothing twice", true), h.look),
		httpapi.On(at(http.MethodPost, "/v1/trace-evaluators/{id}/preview", "preview-trace-evaluator", read, "What a look would find; keeps nothing", true), h.preview),
		httpapi.On(at(http.MethodGet, "/v1/trace-findings", "list-trace-findings", read, "Findings, those first that were seen last", false), h.findings),
		httpapi.On(at(http.MethodGet, "/v1/trace-findings/{id}", "get-trace-finding", read, "One finding", false), h.finding),
		httpapi.On(at(http.MethodPatch, "/v1/trace-findings/{id}", "update-trace-finding", write, "Say what you think of a finding", true), h.updateFinding),
	}
}

type newEvaluatorInput struct {
	httpapi.With[api.NewTraceEvaluator]
}

func (h *Handlers) createEvaluator(_ *httpapi.Server, ctx context.Context, in *newEvaluatorInput) (*httpapi.Answer[api.TraceEvaluator], error) {
	n := in.Value()
	switch {
	case n.Kind != "" && n.Kind != api.EvaluatorRule && n.Kind != api.EvaluatorJudge:
		return nil, httpapi.RefuseFields(core.InvalidRequest, "an evaluator is of the kind rule or judge; nothing was made", []api.FieldError{{Path: "kind", Code: "unknown_value"}})
	case (n.Kind == api.EvaluatorJudge) != (n.Rule == ""), n.Rule == core.RuleJudge:
		return nil, httpapi.RefuseFields(core.InvalidRequest, "an evaluator of the kind rule names its rule, and a judge has none; nothing was made", []api.FieldError{{Path: "rule", Code: "invalid_value"}})
	case n.Kind == api.EvaluatorJudge:
		n.Rule = core.RuleJudge
	}
	config, err := traces.Config(n.Config)
	if err != nil {
		return nil, err
	}
	severity := n.Severity
	if severity == "" {
		severity = "warning"
	}
	return evaluatorAnswer(h.Evaluation.Create(ctx, httpapi.ScopeOf(ctx), core.Evaluator{Name: n.Name, Rule: n.Rule, Config: config, Severity: severity}))
}

func evaluatorAnswer(e core.Evaluator, err error) (*httpapi.Answer[api.TraceEvaluator], error) {
	if err != nil {
		return nil, worded(err)
	}
	return httpapi.Reply(evaluatorRecord(e)), nil
}

func evaluatorRecord(e core.Evaluator) api.TraceEvaluator {
	out := api.TraceEvaluator{
		ID: string(e.ID), Name: e.Name, Kind: api.EvaluatorRule, Rule: e.Rule, Config: e.Config, Severity: e.Severity, Revision: e.Revision, Status: api.EvaluatorActive, CreatedAt: httpapi.TimeOf(e.CreatedAt),
	}
	if e.Rule == core.RuleJudge {
		out.Kind, out.Rule = api.EvaluatorJudge, ""
	}
	if e.Paused {
		out.Status = api.EvaluatorIsPaused
	}
	return out
}

func (h *Handlers) evaluator(_ *httpapi.Server, ctx context.Context, in *traceInput) (*httpapi.Answer[api.TraceEvaluator], error) {
	return evaluatorAnswer(h.Evaluation.Evaluator(ctx, httpapi.ScopeOf(ctx), core.EvaluatorID(in.ID)))
}

type changeEvaluatorInput struct {
	ID string `path:"id"`
	httpapi.With[api.UpdateTraceEvaluator]
}

func (h *Handlers) updateEvaluator(_ *httpapi.Server, ctx context.Context, in *changeEvaluatorInput) (*httpapi.Answer[api.TraceEvaluator], error) {
	n := in.Value()
	if n.Status != nil && *n.Status != api.EvaluatorActive && *n.Status != api.EvaluatorIsPaused {
		return nil, httpapi.RefuseFields(core.InvalidRequest, "an evaluator is active or paused; nothing was changed", []api.FieldError{{Path: "status", Code: "unknown_value"}})
	}
	return evaluatorAnswer(h.Evaluation.Update(ctx, httpapi.ScopeOf(ctx), core.EvaluatorID(in.ID), func(e *core.Evaluator) {
		if n.Config != nil {
			e.Config = n.Config
		}
		if n.Severity != nil {
			e.Severity = *n.Severity
		}
		if n.Status != nil {
			e.Paused = *n.Status == api.EvaluatorIsPaused
		}
	}))
}

type evaluatorsInput struct {
	httpapi.Paging
}

func (h *Handlers) evaluators(_ *httpapi.Server, ctx context.Context, in *evaluatorsInput) (*httpapi.Answer[api.Page[api.TraceEvaluator]], error) {
	after, err := in.Place("trace-evaluators")
	if err != nil {
		return nil, err
	}
	rows, err := h.Evaluation.Evaluators(ctx, httpapi.ScopeOf(ctx), after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return httpapi.PageOf("trace-evaluators", in.Paging, rows, func(e core.Evaluator) core.Place { return core.Place{At: e.CreatedAt, ID: string(e.ID)} }, evaluatorRecord), nil
}

type lookInput struct {
	ID string `path:"id"`
	httpapi.With[api.NewEvaluatorRun]
}

func (h *Handlers) look(_ *httpapi.Server, ctx context.Context, in *lookInput) (*httpapi.Answer[api.TraceEvaluatorRun], error) {
	return h.looked(ctx, in, false)
}

func (h *Handlers) preview(_ *httpapi.Server, ctx context.Context, in *lookInput) (*httpapi.Answer[api.TraceEvaluatorRun], error) {
	return h.looked(ctx, in, true)
}

// shownHits bounds how many hits an answer lists.
const shownHits = 100

func (h *Handlers) looked(ctx context.Context, in *lookInput, dry bool) (*httpapi.Answer[api.TraceEvaluatorRun], error) {
	limit := in.Value().Limit
	if limit == 0 {
		limit = 200
	}
	if limit < 1 || limit > traces.MaxLook {
		return nil, httpapi.RefuseFields(core.InvalidRequest, "a look covers 1 to 1,000 traces; nothing was looked at", []api.FieldError{{Path: "limit", Code: "out_of_range"}})
	}
	done, hits, err := h.Evaluation.Look(ctx, httpapi.ScopeOf(ctx), core.EvaluatorID(in.ID), limit, dry)
	if err != nil {
		return nil, err
	}
	out := api.TraceEvaluatorRun{EvaluatorID: in.ID, Status: "completed", Evaluated: done.Looked, Matched: done.Matched, Findings: done.Findings, Hits: []api.FindingHit{}}
	for _, x := range hits[:min(len(hits), shownHits)] {
		out.Hits = append(out.Hits, api.FindingHit{TraceID: string(x.Trace), SpanID: x.Span, Title: x.Title, Detail: x.Detail})
	}
	return httpapi.Reply(out), nil
}

type findingsInput struct {
	Trace     string `query:"trace_id"`
	Evaluator string `query:"evaluator_id"`
	Status    string `query:"status" enum:"open,confirmed,dismissed,fixed"`
	Severity  string `query:"severity" enum:"info,warning,error"`
	httpapi.Paging
}

func (h *Handlers) findings(_ *httpapi.Server, ctx context.Context, in *findingsInput) (*httpapi.Answer[api.Page[api.TraceFinding]], error) {
	after, err := in.Place("trace-findings")
	if err != nil {
		return nil, err
	}
	f := kept.FindingFilter{Trace: core.TraceID(in.Trace), Evaluator: core.EvaluatorID(in.Evaluator), Status: in.Status, Severity: in.Severity}
	rows, err := h.Reader.FindingList(ctx, httpapi.ScopeOf(ctx), f, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return httpapi.PageOf("trace-findings", in.Paging, rows, func(f core.Finding) core.Place { return core.Place{At: f.LastAt, ID: string(f.ID)} }, findingRecord), nil
}

func (h *Handlers) finding(_ *httpapi.Server, ctx context.Context, in *traceInput) (*httpapi.Answer[api.TraceFinding], error) {
	f, err := h.Evaluation.Finding(ctx, httpapi.ScopeOf(ctx), core.FindingID(in.ID))
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(findingRecord(f)), nil
}

type changeFindingInput struct {
	ID string `path:"id"`
	httpapi.With[api.UpdateTraceFinding]
}

func (h *Handlers) updateFinding(_ *httpapi.Server, ctx context.Context, in *changeFindingInput) (*httpapi.Answer[api.TraceFinding], error) {
	n := in.Value()
	f, err := h.Evaluation.SetFinding(ctx, httpapi.ScopeOf(ctx), core.FindingID(in.ID), n.Status, n.Note)
	if err != nil {
		return nil, worded(err)
	}
	return httpapi.Reply(findingRecord(f)), nil
}

func findingRecord(f core.Finding) api.TraceFinding {
	return api.TraceFinding{
		ID: string(f.ID), EvaluatorID: string(f.Evaluator), TraceID: string(f.Trace), SpanID: maybe(f.Span), Fingerprint: f.Fingerprint, Severity: f.Severity, Title: f.Title, Detail: f.Detail,
		Status: f.Status, Note: maybe(f.Note), Occurrences: f.Seen, Recurred: f.Recurred, FirstSeenAt: httpapi.TimeOf(f.FirstAt), LastSeenAt: httpapi.TimeOf(f.LastAt), UpdatedAt: httpapi.TimeOf(f.ChangedAt),
	}
}
