package evals

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/pass"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/report"
	"github.com/evalrouter/evalrouter/lib/report/pages"
)

// Sizes of lists.
const (
	listLimit = "50"
	taskLimit = "50"
	logLimit  = "20"
)

// listed is the part of an address that lists have in common: the filter, the
// workspace and the place.
func listed(r *http.Request, v web.Visit) (q url.Values, l pages.List) {
	in := r.URL.Query()
	q, l = url.Values{"limit": {listLimit}}, pages.List{Statuses: pages.Statuses()}
	if s := in.Get("status"); slices.Contains(l.Statuses, s) {
		q.Set("status", s)
		l.Status = s
	}
	if c := in.Get("cursor"); c != "" {
		q.Set("cursor", c)
	}
	if in.Get("workspace") != "" {
		l.Keep = []pages.Field{{Name: "workspace", Value: string(v.At.ID)}}
	}
	return q, l
}

// nextOf is the address of the page behind this one.
func nextOf(r *http.Request, cursor *string) string {
	if cursor == nil {
		return ""
	}
	q := r.URL.Query()
	q.Set("cursor", *cursor)
	return r.URL.Path + "?" + q.Encode()
}

func (h *Handlers) runs(_ http.ResponseWriter, r *http.Request, v web.Visit) (web.Shown, error) {
	q, l := listed(r, v)
	page, err := ask[api.Page[api.RunRecord]](r.Context(), h, reader(v, v.At.ID), "/v1/runs?"+q.Encode())
	if err != nil {
		return web.Shown{}, err
	}
	for _, run := range page.Data {
		l.Rows = append(l.Rows, pages.RunRow(run))
	}
	l.Next = nextOf(r, page.NextCursor)
	return h.body(pages.NameRuns, l, web.Shown{Title: "Runs", Section: "/runs", Choose: true})
}

// run is a run as it stands, or its report.
func (h *Handlers) run(_ http.ResponseWriter, r *http.Request, v web.Visit) (web.Shown, error) {
	id := r.PathValue("id")
	rec, as, own, err := found[api.RunRecord](h, r, v, pass.Run, id, "/v1/runs/"+url.PathEscape(id))
	if err != nil {
		return web.Shown{}, err
	}
	if !rec.Status.Terminal() {
		return h.live(r.Context(), rec, as, own)
	}
	p, err := h.result(r.Context(), rec, as)
	if err != nil {
		return web.Shown{}, err
	}
	p.Path = "/runs/" + rec.ID
	neighbours(&p, rec, own)
	if own && !p.Expired {
		p.Files = runFiles(p.Path)
	}
	if err := h.tasks(r, &p, rec, as); err != nil {
		return web.Shown{}, err
	}
	return h.body(pages.NameRun, p, web.Shown{Title: titleOf(p), Own: true, Section: "/runs"})
}

func titleOf(p pages.Run) string { return string(p.Benchmark + ": " + p.Model) }

// neighbours are pages of a person's: whoever looks with a link sees one run.
func neighbours(p *pages.Run, rec api.RunRecord, own bool) {
	if !own {
		return
	}
	for to, id := range map[*string]*string{&p.Before: rec.ContinuedFromRunID, &p.After: rec.ContinuedByRunID} {
		if id != nil && *id != "" {
			*to = "/runs/" + *id
		}
	}
	if rec.GroupID != nil && *rec.GroupID != "" {
		p.Group = "/groups/" + *rec.GroupID
	}
}

func (h *Handlers) live(ctx context.Context, rec api.RunRecord, as Looker, own bool) (web.Shown, error) {
	p, rec, seq, err := h.standing(ctx, rec.ID, as)
	if err != nil {
		return web.Shown{}, err
	}
	neighbours(&p, rec, own)
	s, err := h.body(pages.NameLive, p, web.Shown{Title: titleOf(p), Own: true, Section: "/runs", Scripts: []string{scriptPath}, Refresh: 5})
	s.Body = alive(s.Body, "/runs/"+rec.ID+"/stream", seq)
	return s, err
}

// standing is a run that goes on with what happened last. The log is read before
// the record: what the record says is at least as new as seq. The other way round a
// browser would be told old figures under a new sequence, and nothing after them.
func (h *Handlers) standing(ctx context.Context, id string, as Looker) (p pages.Run, rec api.RunRecord, seq int64, err error) {
	path := "/v1/runs/" + url.PathEscape(id)
	q := url.Values{"tail": {"true"}, "limit": {logLimit}, "type": {"task.graded", "task.failed", "task.reused", "call.retry", "run.started", "run.waiting", "run.cap_reached", "run.cancel_requested", "run.finished"}}
	log, err := ask[api.EventPage](ctx, h, as, path+"/events?"+q.Encode())
	if err != nil {
		return p, rec, 0, err
	}
	if rec, err = ask[api.RunRecord](ctx, h, as, path); err != nil {
		return p, rec, 0, err
	}
	if n := len(log.Data); n > 0 {
		seq = log.Data[n-1].Sequence
	}
	rep, err := report.Live(rec)
	return pages.Run{Report: rep, Path: "/runs/" + rec.ID, Log: pages.LogOf(log.Data)}, rec, seq, err
}

// result is the report of a finished run out of what its export holds; of its
// record where the result is not kept any more.
func (h *Handlers) result(ctx context.Context, rec api.RunRecord, as Looker) (pages.Run, error) {
	base := "/v1/runs/" + rec.ID
	head, err := ask[api.ExportSummary](ctx, h, as, base+"/export?format=summary")
	if errors.Is(err, &core.Refusal{Code: core.ResultExpired}) {
		rep, err := report.Live(rec)
		return pages.Run{Report: rep, Expired: true}, err
	}
	if err != nil {
		return pages.Run{}, err
	}
	res, err := ask[api.ResultRecord](ctx, h, as, base+"/results?version="+strconv.Itoa(head.ResultVersion))
	if err != nil {
		return pages.Run{}, err
	}
	rep, err := report.From(api.Export{ExportSummary: head, Result: res}, nil)
	return pages.Run{Report: rep}, err
}

// tasks reads a page of a finished run's tasks.
func (h *Handlers) tasks(r *http.Request, p *pages.Run, rec api.RunRecord, as Looker) error {
	in := r.URL.Query()
	q := url.Values{"limit": {taskLimit}}
	p.Filters = pages.TaskFilters()
	if s := in.Get("tasks"); slices.ContainsFunc(p.Filters, func(f pages.Filter) bool { return f.Key == s }) && s != "" {
		q.Set("status", s)
		p.Filter = s
	}
	if c := in.Get("cursor"); c != "" {
		q.Set("cursor", c)
	}
	page, err := ask[api.Page[api.TaskRecord]](r.Context(), h, as, "/v1/runs/"+rec.ID+"/tasks?"+q.Encode())
	if err != nil {
		return err
	}
	for _, t := range page.Data {
		p.Tasks = append(p.Tasks, pages.TaskRowOf(p.Path, t))
	}
	if next := nextOf(r, page.NextCursor); next != "" {
		p.NextPage = next + "#tasks"
	}
	return nil
}

// task is one task with its answer.
func (h *Handlers) task(_ http.ResponseWriter, r *http.Request, v web.Visit) (web.Shown, error) {
	id := r.PathValue("id")
	rec, as, _, err := found[api.RunRecord](h, r, v, pass.Run, id, "/v1/runs/"+url.PathEscape(id))
	if err != nil {
		return web.Shown{}, err
	}
	n, err := strconv.Atoi(r.PathValue("index"))
	if err != nil || n < 0 {
		return web.Shown{}, core.Missing("task")
	}
	d, err := ask[api.TaskDetail](r.Context(), h, as, fmt.Sprintf("/v1/runs/%s/tasks/%d", rec.ID, n))
	if err != nil {
		return web.Shown{}, err
	}
	run := "/runs/" + rec.ID
	row := pages.TaskRowOf(run, d.TaskRecord)
	p := pages.Task{
		RunPath: run, Model: plain.Line(rec.Model.Name()), Place: fmt.Sprintf("Task %s of %s", report.Count(n+1), report.Count(rec.PlannedCount)), ID: row.ID, Label: row.Label, Kind: row.Kind, Shown: taskOf(d).View(),
	}
	if len(rec.Profiles) > 0 {
		p.Benchmark = plain.Line(rec.Profiles[0].ID)
	}
	for _, m := range d.Input {
		p.Input = append(p.Input, pages.MessageOf(m.Role, m.Text))
	}
	if n > 0 {
		p.Before = fmt.Sprintf("%s/tasks/%d", run, n-1)
	}
	if n+1 < rec.PlannedCount {
		p.Behind = fmt.Sprintf("%s/tasks/%d", run, n+1)
	}
	return h.body(pages.NameTask, p, web.Shown{Title: string(p.ID), Own: true, Section: "/runs"})
}

// taskOf is a task as reports show it.
func taskOf(d api.TaskDetail) report.Task {
	t := report.Task{Index: d.Index, Span: d.Span, Target: d.Target, ExportSample: api.ExportSample{
		ProfileID: d.ProfileID, TaskID: d.TaskID, Attempt: d.Attempt, Status: d.Status, ErrorCode: d.ErrorCode, Scores: d.Scores, Answer: d.Answer, AnswerWithheld: d.Withheld,
		AnswerSHA256: d.AnswerSHA256, Usage: d.Usage, FinishReason: d.FinishReason, Grader: d.Grader, OriginRunID: d.OriginRunID, Reused: d.Reused, ChargeMicrousd: d.ChargeMicrousd, Judges: d.Judges,
	}}
	if d.Outcome != nil {
		t.Outcome = *d.Outcome
	}
	if d.Extracted != nil {
		t.Extracted = *d.Extracted
	}
	if d.Rule != nil {
		t.Rule = *d.Rule
	}
	return t
}
