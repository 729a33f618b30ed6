package exercise

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// quoteID makes a quote and answers its id.
func (w *wire) quoteID(t *testing.T) string {
	t.Helper()
	var q quoteView
	w.send(t, "POST", "/quotes", w.newQuote()).want(t, 200).decode(t, &q)
	return q.ID
}

// runs is a run's whole life: submission with every rule of idempotency, then
// what can be read while it goes on, then what its end leaves.
func (w *wire) runs(t *testing.T) {
	quote := w.quoteID(t)
	body := object{"quote_id": quote, "name": "exercise", "metadata": object{"suite": "apitest"}}
	w.send(t, "POST", "/runs", body).refused(t, 400, "idempotency_key_required")
	w.send(t, "POST", "/runs", body, keyed(string(bytes.Repeat([]byte("k"), 129)))).refusedAny(t, []int{400, 422}, "invalid_request")

	key := freshKey()
	first := w.send(t, "POST", "/runs", body, keyed(key))
	first.record(t, "RunRecord")
	if first.header.Get("Idempotency-Replayed") != "" {
		t.Error("the first answer says that it is a replay")
	}
	var run api.RunRecord
	first.decode(t, &run)
	if run.QuoteID != quote || run.Name != "exercise" || run.Metadata["suite"] != "apitest" || run.CapMicrousd != w.target.Cap || run.PlannedCount != w.target.Sample {
		t.Errorf("the run reads %+v", run)
	}
	w.idempotency(t, body, key, first)

	w.whileRunning(t, run)
	final, err := w.client.Runs.Wait(t.Context(), run.ID, evalrouter.WaitOptions{Every: 20 * time.Millisecond, Limit: w.target.Within})
	if err != nil {
		t.Fatal(err)
	}
	w.ended(t, final)
	t.Run("events", func(t *testing.T) { w.events(t, final) })
	t.Run("results", func(t *testing.T) { w.results(t, final) })
	t.Run("exports", func(t *testing.T) { w.exports(t, final) })
}

func (w *wire) idempotency(t *testing.T, body object, key string, first *answer) {
	t.Helper()
	var run api.RunRecord
	first.decode(t, &run)
	second := w.send(t, "POST", "/runs", body, keyed(key)).want(t, first.status)
	if !bytes.Equal(first.body, second.body) || second.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the same key and body answer other bytes, or no Idempotency-Replayed: true\nfirst:  %s\nsecond: %s", first.body, second.body)
	}
	other := object{"quote_id": body["quote_id"], "name": "another name"}
	w.send(t, "POST", "/runs", other, keyed(key)).refused(t, 409, "idempotency_conflict")
	d := w.send(t, "POST", "/runs", body, keyed(freshKey())).refused(t, 409, "quote_already_accepted")
	if d["run_id"] != run.ID {
		t.Errorf("quote_already_accepted names the run %v, want %s", d["run_id"], run.ID)
	}
	w.send(t, "POST", "/runs", object{"quote_id": otherID}, keyed(freshKey())).refused(t, 404, "not_found")
	var q quoteView
	w.send(t, "GET", "/quotes/%s", nil, args(body["quote_id"])).decode(t, &q)
	if q.Status != "accepted" || q.RunID == nil || *q.RunID != run.ID {
		t.Errorf("after submission the quote reads %+v", q)
	}
}

func (w *wire) whileRunning(t *testing.T, run api.RunRecord) {
	t.Helper()
	w.send(t, "GET", "/runs/%s", nil, args(run.ID)).record(t, "RunRecord")
	w.send(t, "GET", "/runs/%s/receipt", nil, args(run.ID)).record(t, "RunReceipt")
	w.send(t, "GET", "/runs/%s/executions", nil, args(run.ID)).record(t, "SandboxExecutionPage")
	w.send(t, "GET", "/runs/%s/events", nil, args(run.ID)).record(t, "EventPage")
	w.send(t, "GET", "/runs/%s/tasks", nil, args(run.ID)).page(t, "TaskRecord")
	w.send(t, "GET", "/runs", nil).page(t, "RunRecord")
	if !slices.Contains(w.runIDs(t), run.ID) {
		t.Errorf("GET /runs does not list the run %s", run.ID)
	}
	for _, filter := range []string{"id_prefix=" + run.ID[:8], "profile_id=" + query(w.target.ProfileID), "route_id=" + query(w.target.RouteID)} {
		var page api.Page[api.RunRecord]
		w.send(t, "GET", "/runs?limit=200&"+filter, nil).page(t, "RunRecord").decode(t, &page)
		if !slices.ContainsFunc(page.Data, func(r api.RunRecord) bool { return r.ID == run.ID }) {
			t.Errorf("GET /runs?%s does not list the run", filter)
		}
	}
	var none api.Page[api.RunRecord]
	if w.send(t, "GET", "/runs?profile_id=no-such%401", nil).page(t, "RunRecord").decode(t, &none); len(none.Data) > 0 {
		t.Errorf("a filter for another benchmark lists %d runs", len(none.Data))
	}
	w.send(t, "GET", "/runs?id_prefix=abc", nil).refused(t, 422, "invalid_request")
}

// ended demands that a final record adds up.
func (w *wire) ended(t *testing.T, run api.RunRecord) {
	t.Helper()
	if run.FinishedAt == nil || run.TerminalReason == nil || run.ReservedMicrousd != 0 || run.SpendMicrousd > run.CapMicrousd {
		t.Errorf("the final record reads %+v", run)
	}
	sum := 0
	for _, n := range run.Outcomes {
		sum += n
	}
	if sum != run.PlannedCount || run.ProcessedCount != run.PlannedCount {
		t.Errorf("of %d planned tasks the outcomes hold %d and processed_count says %d", run.PlannedCount, sum, run.ProcessedCount)
	}
	if h := run.Headline; h != nil && (h.Denominator != run.GradedCount || h.Interval == nil || h.Value < h.Interval.Lower || h.Value > h.Interval.Upper) {
		t.Errorf("the headline reads %+v for %d graded tasks", h, run.GradedCount)
	}
	after, err := w.client.Runs.Cancel(t.Context(), run.ID)
	if err != nil || !reflect.DeepEqual(after, run) {
		t.Errorf("cancelling a finished run answers %v and %+v, want the unchanged %+v", err, after, run)
	}
}

// events demands a log without gaps that reads the same in pieces as at once.
func (w *wire) events(t *testing.T, run api.RunRecord) {
	ctx := t.Context()
	var all []api.RunEvent
	for e, err := range w.client.Runs.Follow(ctx, run.ID, evalrouter.EventQuery{Limit: 200}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	if len(all) < 3 || all[0].Sequence != 1 || all[0].Type != "run.queued" {
		t.Fatalf("the log has %d events, the first %+v", len(all), all)
	}
	var pieces []api.RunEvent
	for after := int64(0); ; {
		p, err := w.client.Runs.Events(ctx, run.ID, evalrouter.EventQuery{After: after, Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(p.Data); n > 0 {
			after = p.Data[n-1].Sequence
			if p.NextSequence != after && p.NextSequence != after+1 {
				t.Errorf("after sequence %d next_sequence is %d", after, p.NextSequence)
			}
		}
		pieces = append(pieces, p.Data...)
		if p.HasMore == p.Terminal {
			t.Fatalf("the log of a finished run says has_more %v and terminal %v", p.HasMore, p.Terminal)
		}
		if !p.HasMore {
			break
		}
	}
	if !reflect.DeepEqual(all, pieces) {
		t.Errorf("the log reads otherwise in pieces:\n%+v\n%+v", all, pieces)
	}
	tail, err := w.client.Runs.Events(ctx, run.ID, evalrouter.EventQuery{Tail: true, Limit: 2})
	if err != nil || !reflect.DeepEqual(tail.Data, all[len(all)-2:]) {
		t.Errorf("the last two events are %+v (%v), want %+v", tail.Data, err, all[len(all)-2:])
	}
	only, err := w.client.Runs.Events(ctx, run.ID, evalrouter.EventQuery{Types: []string{"run.finished"}})
	if err != nil || len(only.Data) != 1 || only.Data[0].Data["status"] != string(run.Status) {
		t.Errorf("the events run.finished are %+v (%v)", only.Data, err)
	}
	for _, e := range all {
		spend, ok1 := money(e.Data["spend_microusd"])
		reserved, ok2 := money(e.Data["reserved_microusd"])
		if e.Type == "run.progress" && (!ok1 || !ok2 || spend+reserved > run.CapMicrousd) {
			t.Errorf("event %d reads %v under a cap of %s", e.Sequence, e.Data, run.CapMicrousd)
		}
	}
}

func money(v any) (usd.Micro, bool) {
	s, _ := v.(string)
	m, err := usd.ParseWire(s)
	return m, err == nil
}

func (w *wire) results(t *testing.T, run api.RunRecord) {
	w.send(t, "GET", "/runs/%s/results", nil, args(run.ID)).record(t, "ResultRecord")
	w.send(t, "GET", "/runs/%s/results?version=1", nil, args(run.ID)).record(t, "ResultRecord")
	w.send(t, "GET", "/runs/%s/results?version=99", nil, args(run.ID)).refused(t, 404, "not_found")
	res, err := w.client.Runs.Results(t.Context(), run.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := res.Summary.Coverage
	if c.Planned != run.PlannedCount || c.Graded != run.GradedCount || c.Errors != run.ErrorCount || res.Summary.Status != run.Status {
		t.Errorf("the result says %+v of the run %+v", res.Summary, run)
	}
	if bill := res.Summary.BillingSnapshot; bill.SpendMicrousd != run.SpendMicrousd || bill.CapMicrousd != run.CapMicrousd {
		t.Errorf("the result's bill is %+v, the run spent %s of %s", bill, run.SpendMicrousd, run.CapMicrousd)
	}
	receipt, err := w.client.Runs.Receipt(t.Context(), run.ID)
	if err != nil || receipt.SpendMicrousd != run.SpendMicrousd || receipt.RunID != run.ID {
		t.Errorf("the receipt reads %+v (%v)", receipt, err)
	}
	n := 0
	for task, err := range w.client.Runs.AllTasks(t.Context(), run.ID, evalrouter.TaskQuery{Paging: evalrouter.Paging{Limit: 2}}) {
		if err != nil {
			t.Fatal(err)
		}
		if task.Index != n {
			t.Errorf("task %d has the index %d", n, task.Index)
		}
		n++
	}
	if n != run.PlannedCount {
		t.Errorf("%d tasks are listed of %d", n, run.PlannedCount)
	}
}

func (w *wire) exports(t *testing.T, run api.RunRecord) {
	full := w.send(t, "GET", "/runs/%s/export?format=json", nil, args(run.ID))
	full.record(t, "Export")
	var e api.Export
	full.decode(t, &e)
	seen := map[string]bool{}
	var sum usd.Micro
	for _, s := range e.Samples {
		if seen[s.TaskID] {
			t.Errorf("task %s is exported twice", s.TaskID)
		}
		seen[s.TaskID] = true
		sum += s.ChargeMicrousd
	}
	if len(e.Samples) != run.PlannedCount || sum != run.SpendMicrousd {
		t.Errorf("%d samples for %s, the run planned %d and spent %s", len(e.Samples), sum, run.PlannedCount, run.SpendMicrousd)
	}
	if again := w.send(t, "GET", "/runs/%s/export?format=json", nil, args(run.ID)); !bytes.Equal(again.body, full.body) {
		t.Error("the same export has other bytes the second time")
	}
	table := w.send(t, "GET", "/runs/%s/export?format=csv", nil, args(run.ID)).want(t, 200)
	rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(table.body, []byte("\xef\xbb\xbf")))).ReadAll()
	if err != nil || len(rows) != run.PlannedCount+1 || !slices.Contains(rows[0], "task_id") {
		t.Errorf("the CSV has %d rows (%v), want %d and a column task_id", len(rows), err, run.PlannedCount+1)
	}
	w.send(t, "GET", "/runs/%s/export?format=no-such-format", nil, args(run.ID)).refusedAny(t, []int{400, 422}, "invalid_request")

	dir := t.TempDir()
	file := filepath.Join(dir, "run.json")
	info, err := w.client.Runs.ExportFile(t.Context(), run.ID, evalrouter.ExportQuery{Format: evalrouter.FormatJSON}, file, false)
	if err != nil || info.Bytes != int64(len(full.body)) || info.ResultVersion != 1 || info.SHA256 != full.header.Get("X-Content-SHA256") {
		t.Errorf("exporting to a file answers %+v (%v)", info, err)
	}
	_, err = w.client.Runs.ExportFile(t.Context(), run.ID, evalrouter.ExportQuery{Format: evalrouter.FormatJSON}, file, false)
	if !errors.Is(err, api.DestinationExists) {
		t.Errorf("exporting over a file answers %v", err)
	}
}

// evaluations quotes and starts in one step.
func (w *wire) evaluations(t *testing.T) {
	base := func(more object) object {
		o := object{"model": w.target.RouteID, "eval": w.target.ProfileID, "coverage": object{"mode": "sample", "sample_count": w.target.Sample, "seed": 7}}
		for k, v := range more {
			o[k] = v
		}
		return o
	}
	w.send(t, "POST", "/evaluations", base(object{"budget_usd": 1})).refused(t, 400, "idempotency_key_required")
	w.send(t, "POST", "/evaluations", base(nil), keyed(freshKey())).refused(t, 422, "budget_required")
	w.send(t, "POST", "/evaluations", base(object{"budget_usd": nil}), keyed(freshKey())).refused(t, 422, "budget_required")
	w.send(t, "POST", "/evaluations", base(object{"budget_usd": "a lot"}), keyed(freshKey())).refused(t, 422, "invalid_request")

	budget := json.Number(decimal(w.target.Cap))
	key := freshKey()
	first := w.send(t, "POST", "/evaluations", base(object{"budget_usd": budget}), keyed(key))
	first.record(t, "RunRecord")
	var run api.RunRecord
	if first.decode(t, &run); run.CapMicrousd != w.target.Cap {
		t.Errorf("a budget of %s became a cap of %s", budget, run.CapMicrousd)
	}
	second := w.send(t, "POST", "/evaluations", base(object{"budget_usd": budget}), keyed(key))
	if !bytes.Equal(first.body, second.body) || second.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the same key and body answer other bytes, or no Idempotency-Replayed: true: %s", second.body)
	}
	w.send(t, "GET", "/evaluations/%s", nil, args(run.ID)).record(t, "RunRecord")

	text, err := w.client.Evaluations.Start(t.Context(), api.NewEvaluation{
		Model: api.EvaluationModel{ModelRef: api.ModelRef{Kind: api.ManagedKind, RouteID: w.target.RouteID}}, Eval: w.target.ProfileID,
		BudgetUSD: json.RawMessage(`"` + decimal(w.target.Cap) + `"`), Coverage: &api.Coverage{Mode: api.Sample, SampleCount: &w.target.Sample},
	}, evalrouter.IdempotencyKey(freshKey()))
	if err != nil || text.CapMicrousd != w.target.Cap {
		t.Errorf("a budget as text answers %s (%v)", text.CapMicrousd, err)
	}
	for _, id := range []string{run.ID, text.ID} {
		if _, err := w.client.Runs.Wait(t.Context(), id, evalrouter.WaitOptions{Every: 20 * time.Millisecond, Limit: w.target.Within}); err != nil {
			t.Fatal(err)
		}
	}
}

// decimal is an amount as a plain number of dollars.
func decimal(m usd.Micro) string { return m.String()[1:] }

// cancel stops a run over the whole benchmark. It may win the race and end
// first; then it must say so and be complete.
func (w *wire) cancel(t *testing.T) {
	o := w.newQuote()
	o["coverage"] = object{"mode": "full"}
	var q quoteView
	w.send(t, "POST", "/quotes", o).record(t, "QuoteRecord").decode(t, &q)
	var run api.RunRecord
	w.send(t, "POST", "/runs", object{"quote_id": q.ID}, keyed(freshKey())).record(t, "RunRecord").decode(t, &run)
	w.notFinished(t, run.ID)
	w.send(t, "POST", "/runs/%s/cancel", nil, args(run.ID)).record(t, "RunRecord")
	w.send(t, "POST", "/runs/%s/cancel", nil, args(run.ID)).record(t, "RunRecord")
	w.send(t, "POST", "/runs/%s/cancel", nil, args(otherID)).refused(t, 404, "not_found")
	final, err := w.client.Runs.Wait(t.Context(), run.ID, evalrouter.WaitOptions{Every: 20 * time.Millisecond, Limit: w.target.Within})
	if err != nil {
		t.Fatal(err)
	}
	w.ended(t, final)
	switch {
	case final.Status == api.StatusCancelled && *final.TerminalReason == "cancelled_by_user" && final.CancelRequestedAt != nil:
	case final.Status == api.StatusCompleted && final.Outcomes["cancelled"] == 0:
		t.Log("the run had ended before it could be cancelled")
	default:
		t.Errorf("after a cancel the run is %s because of %s", final.Status, *final.TerminalReason)
	}
}

// notFinished demands the refusal of results while a run goes on. A run that
// ends in between is seen afterwards and excuses the answer.
func (w *wire) notFinished(t *testing.T, id string) {
	t.Helper()
	for _, path := range []string{"/runs/%s/results", "/runs/%s/export"} {
		a := w.send(t, "GET", path, nil, args(id))
		run, err := w.client.Runs.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if a.status == 200 && run.Status.Terminal() {
			t.Logf("%s: the run had ended already", a.name)
			continue
		}
		a.refused(t, 409, "run_not_finished")
	}
}

func (w *wire) credit(t *testing.T) {
	w.send(t, "GET", "/credits", nil).record(t, "CreditsRecord")
	w.send(t, "GET", "/credits/ledger", nil).page(t, "LedgerEntry")
	c, err := w.client.Credits.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.AvailableMicrousd != c.BalanceMicrousd-c.HeldMicrousd || c.WorkspaceID != w.target.WorkspaceID {
		t.Errorf("the credits read %+v", c)
	}
	model, err := w.client.Catalog.Model(t.Context(), w.target.RouteID)
	if err != nil {
		t.Fatal(err)
	}
	available := c.AvailableMicrousd
	if model.Simulated && c.Practice != nil {
		available = c.Practice.AvailableMicrousd
	}
	limit := w.limit(t)
	if available >= limit {
		t.Skipf("the workspace has %s, more than one run may cost (%s): insufficient credit is not tested", available, limit)
	}
	o := w.newQuote()
	o["max_charge_microusd"] = limit.Wire()
	var q quoteView
	w.send(t, "POST", "/quotes", o).record(t, "QuoteRecord").decode(t, &q)
	d := w.send(t, "POST", "/runs", object{"quote_id": q.ID}, keyed(freshKey())).refused(t, 402, "insufficient_credit")
	if d["required_microusd"] != limit.Wire() || d["available_microusd"] != available.Wire() {
		t.Errorf("insufficient_credit says %v, want %s required and %s available", d, limit.Wire(), available.Wire())
	}
	w.send(t, "GET", "/quotes/%s", nil, args(q.ID)).decode(t, &q)
	if q.Status != "open" || q.RunID != nil {
		t.Errorf("after a refusal for lack of credit the quote reads %+v", q)
	}
}
