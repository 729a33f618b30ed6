package traces

import (
	"context"
	"net/http"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/judging"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces/judge"
	"github.com/evalrouter/evalrouter/lib/api"
)

// judgingRoutes are those by which models judge traces. None of them spends
// anything: what they make is quoted and run by the routes of runs.
func (h *Handlers) judgingRoutes() []httpapi.Route {
	at := func(method, path, id, scope, summary string, body bool) httpapi.Route {
		return httpapi.Route{Method: method, Path: path, ID: id, Summary: summary, Tag: "traces", Scope: scope, Body: body}
	}
	return []httpapi.Route{
		httpapi.On(at(http.MethodPost, "/v1/trace-evaluators/{id}/questions", "make-trace-questions", write, "A judge's questions about traces as a private benchmark; spends nothing", true), h.questions),
		httpapi.On(at(http.MethodPost, "/v1/trace-evaluations", "take-trace-evaluations", write, "Take over what a judge said in a run that has ended", true), h.take),
		httpapi.On(at(http.MethodGet, "/v1/traces/{id}/evaluations", "list-trace-evaluations", read, "What was said of a trace", false), h.evaluations),
	}
}

type questionsInput struct {
	ID string `path:"id"`
	httpapi.With[api.NewTraceQuestions]
}

func (h *Handlers) questions(_ *httpapi.Server, ctx context.Context, in *questionsInput) (*httpapi.Answer[api.TraceQuestions], error) {
	n := in.Value()
	limit := n.Limit
	if limit == 0 {
		limit = 200
	}
	if limit < 1 || limit > judging.MaxAsked || len(n.TraceIDs) > judging.MaxAsked {
		return nil, httpapi.RefuseFields(core.InvalidRequest, "1 to 1,000 traces are judged at a time; nothing was made", []api.FieldError{{Path: "limit", Code: "out_of_range"}})
	}
	if err := httpapi.Require(ctx, "benchmarks:submit"); err != nil {
		return nil, err
	}
	var ids []core.TraceID
	for _, id := range n.TraceIDs {
		ids = append(ids, core.TraceID(id))
	}
	q, err := h.Judging.Prepare(ctx, httpapi.ScopeOf(ctx), core.EvaluatorID(in.ID), ids, limit)
	if err != nil {
		return nil, worded(err)
	}
	return httpapi.Reply(api.TraceQuestions{
		EvaluatorID: string(q.Evaluator.ID), Revision: q.Evaluator.Revision, ProfileID: maybe(string(q.Profile)), Questions: q.Asked, JudgedBefore: q.Judged, Collecting: q.Growing,
	}), nil
}

type takeInput struct {
	httpapi.With[api.NewTraceEvaluations]
}

func (h *Handlers) take(_ *httpapi.Server, ctx context.Context, in *takeInput) (*httpapi.Answer[api.TraceVerdicts], error) {
	if err := httpapi.Require(ctx, "eval:read"); err != nil {
		return nil, err
	}
	t, err := h.Judging.Take(ctx, httpapi.ScopeOf(ctx), core.RunID(in.Value().RunID))
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(api.TraceVerdicts{
		RunID: in.Value().RunID, EvaluatorID: string(t.Evaluator.ID), Revision: t.Revision, Passed: t.Passed, Failed: t.Failed, NoVerdict: t.NoVerdict, Unanswered: t.NotAsked,
		Kept: t.Kept, Known: t.Before, Gone: t.Gone, Findings: t.Findings,
	}), nil
}

type evaluationsInput struct {
	ID string `path:"id"`
	httpapi.Paging
}

func (h *Handlers) evaluations(_ *httpapi.Server, ctx context.Context, in *evaluationsInput) (*httpapi.Answer[api.Page[api.TraceEvaluation]], error) {
	after, err := in.Place("trace-evaluations")
	if err != nil {
		return nil, err
	}
	rows, err := h.Judging.Kept.Evaluations(ctx, httpapi.ScopeOf(ctx), core.TraceID(in.ID), after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return httpapi.PageOf("trace-evaluations", in.Paging, rows, func(j core.Judged) core.Place { return core.Place{At: j.At, ID: j.ID} }, evaluationRecord), nil
}

func evaluationRecord(j core.Judged) api.TraceEvaluation {
	out := api.TraceEvaluation{
		ID: j.ID, TraceID: string(j.Trace), EvaluatorID: string(j.Evaluator), EvaluatorRevision: j.Revision, Source: "judge", Label: j.Label, Explanation: j.Why,
		RunID: string(j.Run), CostMicrousd: j.Cost, CreatedAt: httpapi.TimeOf(j.At),
	}
	if j.Label == judge.Pass {
		out.Score = 1
	}
	return out
}
