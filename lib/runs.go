package evalrouter

import (
	"context"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Runs starts, follows and ends evaluations.
type Runs struct{ c *core }

// Submit starts the run of an accepted quote and can start paid work, up to
// the quote's cap.
//
// Keep in.QuoteID and key in a durable place before calling. If the answer is
// lost, submit both again, unchanged: the service answers with the run that
// the first submission started, or starts it now if it never arrived. With
// another key the same quote never starts a second run; that is
// quote_already_accepted, with the run's id in the details.
func (s *Runs) Submit(ctx context.Context, in api.NewRun, key IdempotencyKey) (api.RunRecord, error) {
	if in.QuoteID == "" {
		return api.RunRecord{}, inputError("a run needs the id of an accepted quote")
	}
	return do[api.RunRecord](ctx, s.c, call{op: "submit a run", method: http.MethodPost, path: path("runs"), body: in, key: key, keyed: true, retry: true})
}

// RunQuery filters runs. IDPrefix has at least 4 characters; with it the
// service answers at most 5 runs.
type RunQuery struct {
	IDPrefix      string
	Status        api.RunStatus
	ProfileID     string
	RouteID       string
	ConnectionID  string
	GroupID       string
	CreatedBefore time.Time
	CreatedAfter  time.Time
	Paging
}

// List is one page of runs, newest first.
func (s *Runs) List(ctx context.Context, in RunQuery) (api.Page[api.RunRecord], error) {
	var q query
	q.text("id_prefix", in.IDPrefix)
	q.text("status", string(in.Status))
	q.text("profile_id", in.ProfileID)
	q.text("route_id", in.RouteID)
	q.text("connection_id", in.ConnectionID)
	q.text("group_id", in.GroupID)
	q.time("created_before", in.CreatedBefore)
	q.time("created_after", in.CreatedAfter)
	in.put(&q)
	return list[api.RunRecord](ctx, s.c, "list runs", path("runs"), q)
}

// All walks every page.
func (s *Runs) All(ctx context.Context, in RunQuery) iter.Seq2[api.RunRecord, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.RunRecord], error) {
		in.Cursor = cursor
		return s.List(ctx, in)
	})
}

// Get reads a run as it stands.
func (s *Runs) Get(ctx context.Context, id string) (api.RunRecord, error) {
	return get[api.RunRecord](ctx, s.c, "read run "+id, path("runs", id))
}

// Receipt is what a run cost.
func (s *Runs) Receipt(ctx context.Context, id string) (api.RunReceipt, error) {
	return get[api.RunReceipt](ctx, s.c, "read the receipt of run "+id, path("runs", id, "receipt"))
}

// ExecutionQuery filters sandbox executions.
type ExecutionQuery struct {
	SampleID string
	Paging
}

// Executions is one page of sandbox executions; empty for runs without any.
func (s *Runs) Executions(ctx context.Context, id string, in ExecutionQuery) (api.SandboxExecutionPage, error) {
	var q query
	q.text("sample_id", in.SampleID)
	in.put(&q)
	return do[api.SandboxExecutionPage](ctx, s.c, call{op: "read the executions of run " + id, method: http.MethodGet, path: path("runs", id, "executions"), query: q, retry: true})
}

// EventQuery asks for a piece of a run's log.
type EventQuery struct {
	// After is the last sequence that is already known.
	After int64
	// Limit is 1 to 200; 0 is the service's default.
	Limit int
	// Tail asks for the last Limit events instead, in ascending order.
	Tail bool
	// Types keeps only events of these types.
	Types []string
	// Wait lets the service hold the answer back until there is something
	// new: whole seconds, at most 20.
	Wait time.Duration
}

// Events is one piece of a run's log.
func (s *Runs) Events(ctx context.Context, id string, in EventQuery) (api.EventPage, error) {
	var q query
	q.number("after", in.After)
	q.number("limit", int64(in.Limit))
	q.flag("tail", in.Tail)
	for _, t := range in.Types {
		q.add("type", t)
	}
	q.number("wait_seconds", int64(in.Wait/time.Second))
	return do[api.EventPage](ctx, s.c, call{op: "read the events of run " + id, method: http.MethodGet, path: path("runs", id, "events"), query: q, retry: true})
}

// Cancel asks a run to stop. Repeating it is safe; a finished run is answered
// unchanged.
func (s *Runs) Cancel(ctx context.Context, id string) (api.RunRecord, error) {
	return do[api.RunRecord](ctx, s.c, call{op: "cancel run " + id, method: http.MethodPost, path: path("runs", id, "cancel"), retry: true})
}

// Results is the frozen result of a finished run. Version 0 is the newest.
func (s *Runs) Results(ctx context.Context, id string, version int) (api.ResultRecord, error) {
	var q query
	q.number("version", int64(version))
	return do[api.ResultRecord](ctx, s.c, call{op: "read the results of run " + id, method: http.MethodGet, path: path("runs", id, "results"), query: q, retry: true})
}

// TaskQuery filters tasks by status.
type TaskQuery struct {
	Status string
	Paging
}

// Tasks is one page of a run's tasks.
func (s *Runs) Tasks(ctx context.Context, id string, in TaskQuery) (api.Page[api.TaskRecord], error) {
	var q query
	q.text("status", in.Status)
	in.put(&q)
	return list[api.TaskRecord](ctx, s.c, "read the tasks of run "+id, path("runs", id, "tasks"), q)
}

// AllTasks walks every page.
func (s *Runs) AllTasks(ctx context.Context, id string, in TaskQuery) iter.Seq2[api.TaskRecord, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.TaskRecord], error) {
		in.Cursor = cursor
		return s.Tasks(ctx, id, in)
	})
}

// Export formats of every service. A service may have more.
const (
	FormatJSON    = "json"
	FormatCSV     = "csv"
	FormatHTML    = "html"
	FormatSummary = "summary"
	// FormatInspect is an .eval archive of Inspect, FormatInspectJSON the same
	// log as JSON, FormatLMEval a ZIP of lm-eval's results and samples files.
	FormatInspect     = "inspect"
	FormatInspectJSON = "inspect-json"
	FormatLMEval      = "lm-eval"
	// FormatMarkdown is a summary, FormatGitHub the same for a step of GitHub
	// Actions, FormatJUnit JUnit XML with one case a task.
	FormatMarkdown = "md"
	FormatGitHub   = "github"
	FormatJUnit    = "junit"
	// FormatScores is one JSON object a planned task: its score and nothing that
	// a model said.
	FormatScores = "scores"
	// FormatParquet is one typed row a planned task.
	FormatParquet = "parquet"
	// FormatBundle is a ZIP of everything that the run's figures and charges
	// can be derived from again offline.
	FormatBundle = "bundle"
)

// ExportQuery says in which form a finished run is wanted. Version 0 is the
// newest.
type ExportQuery struct {
	Format  string
	Version int
	// IncludeResumed exports the run's chain, up to its newest continuation, as
	// one result. Services offer it for SOB Text runs.
	IncludeResumed bool
}

func (s *Runs) exportCall(id string, in ExportQuery) call {
	var q query
	q.text("format", in.Format)
	q.text("version", versionText(in.Version))
	q.flag("include_resumed", in.IncludeResumed)
	return call{op: "export run " + id, method: http.MethodGet, path: path("runs", id, "export"), query: q, retry: true, raw: true}
}

func versionText(v int) string {
	if v == 0 {
		return ""
	}
	return strconv.Itoa(v)
}

// Link is an address that shows one run for a quarter of an hour in a browser that is
// not signed in. Not every service makes them.
func (s *Runs) Link(ctx context.Context, id, purpose string) (api.Link, error) {
	return do[api.Link](ctx, s.c, call{op: "make a link to run " + id, method: http.MethodPost, path: path("runs", id, "links"), body: api.NewLink{Purpose: purpose}, retry: true})
}

// Task is one task of a run with its answer, by its place in the run's order.
func (s *Runs) Task(ctx context.Context, id string, index int) (api.TaskDetail, error) {
	return get[api.TaskDetail](ctx, s.c, "read a task of run "+id, path("runs", id, "tasks", strconv.Itoa(index)))
}
