package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/stat"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// fakeRun is a run and all that follows from it. Its state is a function of
// the clock: advance brings it up to a moment.
type fakeRun struct {
	rec    api.RunRecord
	quote  *fakeQuote
	events []api.RunEvent
	tasks  []api.TaskRecord
	next   int // first task that is not decided
	result *api.ResultRecord
	after  *fakeRun // the run that goes on with it
}

func taskID(b api.BenchmarkRecord, index int) string { return fmt.Sprintf("%s-%04d", b.Slug, index) }

func (f *Fake) createRun(in *request) (*reply, *failure) {
	var n api.NewRun
	if x := in.decode(&n); x != nil {
		return nil, x
	}
	q, found := f.quotes[n.QuoteID]
	if !found {
		return nil, notFound("quote")
	}
	if q.rec.RunID == nil && f.now().Before(q.rec.ExpiresAt) {
		if x := agreed(q, n.Acknowledgements); x != nil {
			return nil, x
		}
	}
	r, x := f.start(q, n.Name, n.Metadata)
	if x != nil {
		return nil, x
	}
	return ok(r.rec)
}

// createEvaluation quotes and starts in one step.
func (f *Fake) createEvaluation(in *request) (*reply, *failure) {
	var n api.NewEvaluation
	if x := in.decode(&n); x != nil {
		return nil, x
	}
	budget, x := budgetOf(n)
	if x != nil {
		return nil, x
	}
	q, x := f.quote(api.NewQuote{Selection: api.Selection{Eval: n.Eval, Provider: n.Provider, Split: n.Split}, Model: n.Model.ModelRef, Coverage: n.Coverage, MaxChargeMicrousd: &budget})
	if x != nil {
		return nil, x
	}
	f.quotes[q.rec.ID] = q
	r, x := f.start(q, n.Name, n.Metadata)
	if x != nil {
		return nil, x
	}
	return ok(r.rec)
}

// budgetOf reads the budget as decimal text, whichever way it was written.
func budgetOf(n api.NewEvaluation) (usd.Micro, *failure) {
	text := string(n.BudgetUSD)
	given := text != "" && text != "null"
	switch {
	case given && n.MaxChargeMicrousd != nil:
		return 0, invalid(api.FieldError{Path: "budget_usd", Code: "one_budget_only"})
	case n.MaxChargeMicrousd != nil:
		return *n.MaxChargeMicrousd, nil
	case !given:
		return 0, refuse(http.StatusUnprocessableEntity, api.BudgetRequired, "say what the run may cost at most, with budget_usd or max_charge_microusd")
	}
	if text[0] == '"' {
		json.Unmarshal(n.BudgetUSD, &text) // a valid string: decode checked it
	}
	m, err := usd.Parse(text)
	if err != nil {
		return 0, invalid(api.FieldError{Path: "budget_usd", Code: "invalid_value"})
	}
	return m, nil
}

func (f *Fake) start(q *fakeQuote, name string, metadata map[string]string) (*fakeRun, *failure) {
	now := f.now()
	switch {
	case q.rec.RunID != nil:
		return nil, refuse(http.StatusConflict, api.QuoteAlreadyAccepted, "the quote has started a run already").with("run_id", *q.rec.RunID)
	case !now.Before(q.rec.ExpiresAt):
		return nil, refuse(http.StatusGone, api.QuoteExpired, "the quote has expired; nothing was started")
	case q.cap > f.balance-f.held:
		return nil, refuse(http.StatusPaymentRequired, api.InsufficientCredit, "the credit does not cover the cap; nothing was started").
			with("required_microusd", q.cap).with("available_microusd", f.balance-f.held).with("billing_url", f.URL+"/settings/billing")
	}
	r := &fakeRun{quote: q, rec: f.newRecord(q, name, metadata, now)}
	q.rec.Status, q.rec.RunID = "accepted", &r.rec.ID
	f.held += q.cap
	f.move("hold", q.cap, &r.rec.ID, "cap of the run")
	for i, x := range q.indices {
		r.tasks = append(r.tasks, api.TaskRecord{Index: i, ProfileID: q.bench.ID, TaskID: taskID(q.bench, x), Attempt: 1, Status: "planned", OriginRunID: r.rec.ID})
	}
	if q.again != nil {
		r.takeOver(q.again)
	}
	r.log(now, "run.queued", nil)
	r.log(now, "billing.held", map[string]any{"amount_microusd": q.cap})
	f.runs = append(f.runs, r)
	return r, nil
}

func (f *Fake) newRecord(q *fakeQuote, name string, metadata map[string]string, now time.Time) api.RunRecord {
	if name == "" {
		name = "Evaluation"
	}
	if metadata == nil {
		metadata = map[string]string{}
	}
	coverage, id := q.rec.Plan.Coverage, uuid.NewString()
	return api.RunRecord{
		ID: id, Name: name, ManifestHash: digest("run", q.rec.ID), Status: api.StatusQueued, BillingState: "pending",
		CapMicrousd: q.cap, PlannedCount: len(q.indices), Coverage: &coverage, Model: q.rec.Plan.Model, Profiles: q.rec.Plan.Profiles,
		Metadata: metadata, Retention: api.RunRetention{RawExpiresAt: now.AddDate(0, 0, 30), SummaryExpiresAt: now.AddDate(0, 0, 365)},
		CreatedAt: now, QuoteID: q.rec.ID, Outcomes: map[string]int{"pending": len(q.indices)}, Reasoning: q.rec.Reasoning,
		OutputFormat: q.rec.OutputFormat, Concurrency: q.rec.Concurrency, Resume: api.ResumeState{Status: "unknown"}, Simulated: q.model.Simulated,
		Links: api.RunLinks{Report: new(f.URL + "/r/" + id), Live: new(f.URL + "/r/" + id + "/live")},
	}
}

func (r *fakeRun) log(at time.Time, kind string, data map[string]any) {
	all := map[string]any{"run_id": r.rec.ID}
	maps.Copy(all, data)
	r.events = append(r.events, api.RunEvent{Sequence: int64(len(r.events)) + 1, Type: kind, CreatedAt: at, Data: all})
}

// advance brings every run up to now.
func (f *Fake) advance() {
	now := f.now()
	for _, r := range f.runs {
		f.advanceRun(r, now)
	}
}

func (f *Fake) advanceRun(r *fakeRun, now time.Time) {
	if r.rec.Status.Terminal() {
		return
	}
	if r.rec.CancelRequestedAt != nil {
		f.finish(r, now, "cancelled_by_user")
		return
	}
	begin := r.rec.CreatedAt.Add(f.opt.TaskTime)
	if now.Before(begin) {
		return
	}
	if r.rec.StartedAt == nil {
		r.rec.Status, r.rec.StartedAt = api.StatusRunning, &begin
		r.rec.ReservedMicrousd = min(r.quote.worst, r.quote.cap)
		r.log(begin, "run.started", nil)
	}
	for r.next < len(r.tasks) {
		at := begin.Add(time.Duration(r.next-r.rec.ReusedCount+1) * f.opt.TaskTime)
		if now.Before(at) {
			return
		}
		if r.rec.SpendMicrousd+r.quote.worst > r.quote.cap {
			r.log(at, "run.cap_reached", nil)
			f.finish(r, at, "spending_cap")
			return
		}
		f.decide(r, at)
	}
	f.finish(r, begin.Add(time.Duration(len(r.tasks))*f.opt.TaskTime), "completed")
}

// decide answers and grades the next task.
func (f *Fake) decide(r *fakeRun, at time.Time) {
	t := &r.tasks[r.next]
	index := r.quote.indices[r.next]
	outcome := outcomeOf(r.quote.model, index)
	charge, _ := cost(*r.quote.model.Pricing, inputTokens(index), outputTokens(index)) // bounded: worstCase of the same price fits
	t.Outcome, t.ChargeMicrousd, t.StartedAt, t.FinishedAt = &outcome, charge, new(at.Add(-f.opt.TaskTime)), &at
	r.rec.SpendMicrousd += charge
	r.rec.Outcomes[outcome]++
	if r.rec.Outcomes["pending"]--; r.rec.Outcomes["pending"] == 0 {
		delete(r.rec.Outcomes, "pending")
	}
	r.next++
	if outcome == "provider_error" {
		t.Status, t.ErrorCode = "error", new("provider_error")
		r.rec.ErrorCount++
		r.log(at, "task.failed", map[string]any{"task_id": t.TaskID, "error_code": "provider_error"})
	} else {
		t.Status, t.Scores, t.Extracted = "graded", map[string]float64{"accuracy": score(outcome)}, new("answer "+t.TaskID)
		r.rec.GradedCount++
		r.log(at, "task.graded", map[string]any{"task_id": t.TaskID, "outcome": outcome})
	}
	r.rec.CompletedCount, r.rec.ProcessedCount, r.rec.Headline = r.next, r.next, soFar(r)
	r.log(at, "billing.charged", map[string]any{"task_id": t.TaskID, "amount_microusd": charge})
	r.log(at, "run.progress", map[string]any{
		"phase": r.rec.Status, "processed": r.next, "planned": len(r.tasks), "graded": r.rec.GradedCount, "errors": r.rec.ErrorCount,
		"spend_microusd": r.rec.SpendMicrousd, "reserved_microusd": min(r.rec.ReservedMicrousd, r.quote.cap-r.rec.SpendMicrousd),
	})
}

func inputTokens(index int) int64  { return int64(40 + index%7) }
func outputTokens(index int) int64 { return int64(8 + index%5) }

// outcomeOf is the script: the solver is right on four of five tasks, the
// echo never, Model X on nine of ten with one error, a connection always.
func outcomeOf(m api.SelectedModel, index int) string {
	switch {
	case m.RouteID == nil:
		return "right"
	case *m.RouteID == "practice.echo", *m.RouteID == "practice.solver-80" && index%5 == 4:
		return "wrong"
	case *m.RouteID == "acme.model-x" && index%10 == 3:
		return "provider_error"
	}
	return "right"
}

func score(outcome string) float64 {
	if outcome == "right" {
		return 1
	}
	return 0
}

// finish ends a run: what was not decided gets its reason, the money settles
// and the result is frozen.
func (f *Fake) finish(r *fakeRun, at time.Time, reason string) {
	left := map[string]string{"spending_cap": "skipped_budget", "cancelled_by_user": "cancelled"}[reason]
	for i := r.next; i < len(r.tasks); i++ {
		r.tasks[i].Status, r.tasks[i].Outcome = left, &left
		r.rec.Outcomes[left]++
		r.log(at, "task.skipped", map[string]any{"task_id": r.tasks[i].TaskID, "reason": reason})
	}
	delete(r.rec.Outcomes, "pending")
	r.rec.ProcessedCount, r.rec.ReservedMicrousd, r.rec.BillingState = len(r.tasks), 0, "settled"
	switch {
	case reason == "cancelled_by_user":
		r.rec.Status = api.StatusCancelled
	case r.rec.GradedCount == 0:
		r.rec.Status, reason = api.StatusFailed, "all_tasks_failed"
	case r.next < len(r.tasks):
		r.rec.Status = api.StatusPartial
	default:
		r.rec.Status = api.StatusCompleted
	}
	r.rec.FinishedAt, r.rec.TerminalReason = &at, &reason
	f.held -= r.quote.cap
	f.move("release", r.quote.cap, &r.rec.ID, "cap of the run")
	f.move("charge", -r.rec.SpendMicrousd, &r.rec.ID, "answers of the run")
	r.rec.Headline = soFar(r)
	r.rec.Resume = resumeState(r)
	r.result = f.freeze(r, at)
	r.log(at, "run.finalizing", nil)
	r.log(at, "billing.settled", map[string]any{"spend_microusd": r.rec.SpendMicrousd})
	r.log(at, "result.published", map[string]any{"version": 1})
	r.log(at, "run.finished", map[string]any{"status": r.rec.Status, "terminal_reason": reason})
}

// soFar is the share of right answers among those graded, nil before the first.
func soFar(r *fakeRun) *api.Headline {
	right, n := r.rec.Outcomes["right"], r.rec.GradedCount
	if n == 0 {
		return nil
	}
	return &api.Headline{Key: "accuracy", Name: "Accuracy", Value: float64(right) / float64(n), Denominator: n, Interval: interval(right, n, *r.quote.bench.TaskCount)}
}

func interval(right, n, population int) *api.Interval {
	w := stat.Wilson(right, n, 0.95)
	return &api.Interval{
		Method: "wilson", Target: "population", Weights: "none", Lower: w.Lower, Upper: w.Upper, Confidence: 0.95,
		SampleCount: n, EligibleCount: population, StrataCount: 1,
	}
}

// find reads the run of a request, up to date.
func (f *Fake) find(in *request) (*fakeRun, *failure) {
	f.advance()
	for _, r := range f.runs {
		if r.rec.ID == in.PathValue("id") {
			return r, nil
		}
	}
	return nil, notFound("run")
}

func (f *Fake) getRun(in *request) (*reply, *failure) {
	r, x := f.find(in)
	if x != nil {
		return nil, x
	}
	return ok(r.rec)
}

func (f *Fake) listRuns(in *request) (*reply, *failure) {
	f.advance()
	q := in.URL.Query()
	prefix := q.Get("id_prefix")
	if prefix != "" && len(prefix) < 4 {
		return nil, invalid(api.FieldError{Path: "id_prefix", Code: "too_short"})
	}
	var out []api.RunRecord
	for _, r := range slices.Backward(f.runs) {
		m := r.quote.model
		if !strings.HasPrefix(r.rec.ID, prefix) || differs(q.Get("status"), string(r.rec.Status)) || differs(q.Get("profile_id"), r.quote.bench.ID) ||
			q.Get("route_id") != "" && (m.RouteID == nil || *m.RouteID != q.Get("route_id")) ||
			q.Get("connection_id") != "" && (m.ConnectionID == nil || *m.ConnectionID != q.Get("connection_id")) ||
			q.Get("group_id") != "" {
			continue
		}
		if out = append(out, r.rec); prefix != "" && len(out) == 5 {
			break
		}
	}
	return page(in, out)
}

func (f *Fake) getReceipt(in *request) (*reply, *failure) {
	r, x := f.find(in)
	if x != nil {
		return nil, x
	}
	return ok(api.RunReceipt{
		RunID: r.rec.ID, BillingState: r.rec.BillingState, CapMicrousd: r.rec.CapMicrousd, ReservedMicrousd: r.rec.ReservedMicrousd,
		SpendMicrousd: r.rec.SpendMicrousd, Currency: "USD", CreatedAt: r.rec.CreatedAt, SummaryExpiresAt: r.rec.Retention.SummaryExpiresAt,
	})
}

func (f *Fake) listExecutions(in *request) (*reply, *failure) {
	if _, x := f.find(in); x != nil {
		return nil, x
	}
	return ok(api.SandboxExecutionPage{Data: []api.SandboxExecutionRecord{}})
}

func (f *Fake) listTasks(in *request) (*reply, *failure) {
	r, x := f.find(in)
	if x != nil {
		return nil, x
	}
	want := in.URL.Query().Get("status")
	return page(in, slices.DeleteFunc(slices.Clone(r.tasks), func(t api.TaskRecord) bool { return differs(want, t.Status) }))
}

func (f *Fake) cancelRun(in *request) (*reply, *failure) {
	r, x := f.find(in)
	if x != nil {
		return nil, x
	}
	if !r.rec.Status.Terminal() && r.rec.CancelRequestedAt == nil {
		r.rec.CancelRequestedAt, r.rec.Status = new(f.now()), api.StatusCancelling
		r.log(*r.rec.CancelRequestedAt, "run.cancel_requested", nil)
	}
	return ok(r.rec)
}

// listEvents answers a piece of the log. A long poll waits in real time and
// lets other requests in between.
func (f *Fake) listEvents(in *request) (*reply, *failure) {
	q := in.URL.Query()
	after, x := in.number("after", 0, 0, 1<<40)
	if x != nil {
		return nil, x
	}
	limit, x := in.number("limit", 50, 1, 200)
	if x != nil {
		return nil, x
	}
	wait, x := in.number("wait_seconds", 0, 0, 20)
	if x != nil {
		return nil, x
	}
	until := time.Now().Add(time.Duration(wait) * time.Second)
	for {
		r, x := f.find(in)
		if x != nil {
			return nil, x
		}
		p := r.piece(int64(after), limit, q.Get("tail") == "true", q["type"])
		if len(p.Data) > 0 || p.Terminal || in.Context().Err() != nil || !time.Now().Before(until) {
			return ok(p)
		}
		f.mu.Unlock()
		select {
		case <-in.Context().Done():
		case <-time.After(2 * time.Millisecond):
		}
		f.mu.Lock()
	}
}

func (r *fakeRun) piece(after int64, limit int, tail bool, types []string) api.EventPage {
	var all []api.RunEvent
	for _, e := range r.events {
		if e.Sequence > after && (len(types) == 0 || slices.Contains(types, e.Type)) {
			all = append(all, e)
		}
	}
	p := api.EventPage{Data: []api.RunEvent{}, NextSequence: after}
	switch {
	case tail && len(all) > limit:
		all = all[len(all)-limit:]
	case len(all) > limit:
		all, p.HasMore = all[:limit], true
	}
	p.Data = append(p.Data, all...)
	if n := len(all); n > 0 {
		p.NextSequence = all[n-1].Sequence
	}
	p.Terminal = r.rec.Status.Terminal() && !p.HasMore
	return p
}
