package exercise

import (
	"testing"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// resume goes on with a run that its cap stops: once, over the same tasks, with
// what was graded at no cost.
func (w *wire) resume(t *testing.T) {
	first := w.stopped(t)
	w.send(t, "GET", "/runs/%s/continuation", nil, args(otherID)).refused(t, 404, "not_found")
	w.send(t, "POST", "/runs/%s/continuation-quotes", object{}, args(otherID)).refused(t, 404, "not_found")
	w.send(t, "POST", "/runs/%s/continuation-quotes", object{"no_such_field": 1}, args(first.ID)).refused(t, 422, "invalid_request")
	var st api.ContinuationStatus
	w.send(t, "GET", "/runs/%s/continuation", nil, args(first.ID)).record(t, "ContinuationStatus").decode(t, &st)
	if !st.Supported || !st.NewestResumable || st.NewestRunID != first.ID {
		t.Errorf("a stopped run says %+v", st)
	}
	var preview, q api.QuoteRecord
	w.send(t, "POST", "/runs/%s/continuation-quotes", object{}, args(first.ID)).record(t, "QuoteRecord").decode(t, &preview)
	w.send(t, "POST", "/runs/%s/continuation-quotes", object{"max_charge_microusd": (5 * usd.Dollar).Wire()}, args(first.ID)).record(t, "QuoteRecord").decode(t, &q)
	p := q.Continuation
	if !preview.Preview || q.Preview || p == nil {
		t.Fatalf("without a cap a preview %t, with one %t; the plan is %+v", preview.Preview, q.Preview, p)
	}
	if p.PlannedCells != p.ReusedCells+p.SavedResponseCells+p.RerunCells+p.LeftOut.Cells+p.Pending.Cells || p.ReusedCells != first.GradedCount || p.SourceRunID != first.ID {
		t.Errorf("the plan does not add up: %+v", p)
	}
	body, key := object{"quote_id": q.ID}, freshKey()
	var next, again api.RunRecord
	w.send(t, "POST", "/runs", body, keyed(key)).record(t, "RunRecord").decode(t, &next)
	w.send(t, "POST", "/runs", body, keyed(key)).record(t, "RunRecord").decode(t, &again)
	if again.ID != next.ID || next.ContinuedFromRunID == nil || *next.ContinuedFromRunID != first.ID || next.ChainIndex != 1 {
		t.Errorf("the continuation is %s after %v, number %d; the repeat %s", next.ID, next.ContinuedFromRunID, next.ChainIndex, again.ID)
	}
	w.resumed(t, first, next)
}

// stopped is a run that its cap stops.
func (w *wire) stopped(t *testing.T) api.RunRecord {
	t.Helper()
	o := w.newQuote()
	o["coverage"] = object{"mode": "full"}
	var q quoteView
	w.send(t, "POST", "/quotes", o).record(t, "QuoteRecord").decode(t, &q)
	o["max_charge_microusd"] = (2 * *q.Minimum).Wire()
	w.send(t, "POST", "/quotes", o).record(t, "QuoteRecord").decode(t, &q)
	var run api.RunRecord
	w.send(t, "POST", "/runs", object{"quote_id": q.ID}, keyed(freshKey())).record(t, "RunRecord").decode(t, &run)
	run = w.over(t, run.ID)
	if run.Status != api.StatusPartial || run.Resume.Status != "available" {
		t.Fatalf("under a cap of %s the run is %s, %+v", run.CapMicrousd, run.Status, run.Resume)
	}
	return run
}

func (w *wire) over(t *testing.T, id string) api.RunRecord {
	t.Helper()
	run, err := w.client.Runs.Wait(t.Context(), id, evalrouter.WaitOptions{Every: 20 * time.Millisecond, Limit: w.target.Within})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// resumed looks at both runs once the continuation has ended.
func (w *wire) resumed(t *testing.T, first, next api.RunRecord) {
	t.Helper()
	end := w.over(t, next.ID)
	w.ended(t, end)
	if end.Status != api.StatusCompleted || end.ReusedCount != first.GradedCount {
		t.Errorf("the continuation is %s with %d reused, want %d", end.Status, end.ReusedCount, first.GradedCount)
	}
	d := w.send(t, "POST", "/runs/%s/continuation-quotes", object{"max_charge_microusd": "1000000"}, args(first.ID)).refused(t, 409, "continuation_exists")
	if d["run_id"] != next.ID {
		t.Errorf("continuation_exists names %v, want %s", d["run_id"], next.ID)
	}
	w.send(t, "POST", "/runs/%s/continuation-quotes", object{"max_charge_microusd": "1000000"}, args(next.ID)).refused(t, 409, "nothing_to_resume")
	var chain api.ChainRecord
	w.send(t, "GET", "/runs/%s/chain", nil, args(first.ID)).record(t, "ChainRecord").decode(t, &chain)
	if len(chain.RunIDs) != 2 || chain.RootRunID != first.ID || chain.NewestRunID != next.ID || !chain.Complete {
		t.Errorf("the chain is %+v", chain)
	}
	after, err := w.client.Runs.Get(t.Context(), first.ID)
	if err != nil || after.ContinuedByRunID == nil || *after.ContinuedByRunID != next.ID || after.SpendMicrousd != first.SpendMicrousd || after.GradedCount != first.GradedCount {
		t.Errorf("the source reads %+v, %v", after, err)
	}
}
