package httpapi_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
)

// From a rule to a finding to an item of a dataset.
func TestFindings_TDS04_TDS05_FromARuleToAnItem(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.traceConnection("otlp")
	tr := h.trace(c)
	var e api.TraceEvaluator
	h.send("POST", "/v1/trace-evaluators", object{"name": "says 42", "rule": "phrase", "config": object{"phrase": "is 42"}}).want(t, 200).into(t, &e)
	if e.Kind != "rule" || e.Severity != "warning" || e.Status != "active" || e.Revision != 1 {
		t.Errorf("%+v", e)
	}
	look := func(how string) (out api.TraceEvaluatorRun) {
		t.Helper()
		h.send("POST", "/v1/trace-evaluators/"+e.ID+"/"+how, object{"limit": 10}).want(t, 200).into(t, &out)
		return out
	}
	if got := look("runs"); got.Evaluated != 0 {
		t.Errorf("a trace that may still grow was judged: %+v", got)
	}
	h.now.Add(31 * 1_000_000)
	if got := look("preview"); got.Matched != 1 || len(got.Hits) != 1 || got.Hits[0].SpanID != "0000000000000004" || got.Findings != 0 {
		t.Errorf("%+v", got)
	}
	var page api.Page[api.TraceFinding]
	if h.send("GET", "/v1/trace-findings", nil).want(t, 200).into(t, &page); len(page.Data) != 0 {
		t.Errorf("a preview kept %+v", page.Data)
	}
	if first, again := look("runs"), look("runs"); first.Findings != 1 || again.Findings != 0 || again.Matched != 1 || first.QuoteID != nil {
		t.Errorf("%+v, then %+v", first, again)
	}
	h.send("GET", "/v1/trace-findings?status=open&trace_id="+tr.ID, nil).want(t, 200).into(t, &page)
	f := page.Data[0]
	if len(page.Data) != 1 || f.Occurrences != 1 || *f.SpanID != "0000000000000004" || !strings.Contains(f.Title, "is 42") {
		t.Errorf("%+v", f)
	}
	h.send("PATCH", "/v1/trace-findings/"+f.ID, object{"status": "solved"}).refused(t, 422, "invalid_request")
	h.send("PATCH", "/v1/trace-findings/"+f.ID, object{"status": "confirmed", "note": "yes"}).want(t, 200).into(t, &f)
	if f.Status != "confirmed" || *f.Note != "yes" {
		t.Errorf("%+v", f)
	}
	var traces api.Page[api.TraceRecord]
	if h.send("GET", "/v1/traces?has_findings=true", nil).want(t, 200).into(t, &traces); len(traces.Data) != 1 || traces.Data[0].FindingCount != 1 {
		t.Errorf("%+v", traces.Data)
	}
	d := h.dataset("hard", object{})
	var x api.DatasetItem
	h.send("POST", "/v1/trace-findings/"+f.ID+"/promote", object{"dataset_id": d.ID, "expected": "42"}).want(t, 200).into(t, &x)
	if x.Source.TraceID != tr.ID || x.Source.SpanID != *f.SpanID || string(x.Expected) != `"42"` || !strings.Contains(string(x.Metadata), f.ID) || x.Review != "pending" {
		t.Errorf("%+v", x)
	}
	h.send("POST", "/v1/trace-findings/"+f.ID+"/promote", object{"dataset_id": d.ID, "expected": "42"}).refused(t, 409, "duplicate_item")
	h.send("PATCH", "/v1/trace-evaluators/"+e.ID, object{"config": object{"phrase": ""}}).refused(t, 422, "invalid_request")
	h.send("PATCH", "/v1/trace-evaluators/"+e.ID, object{"config": object{"phrase": "other"}, "status": "paused"}).want(t, 200).into(t, &e)
	if e.Revision != 2 || e.Status != "paused" {
		t.Errorf("%+v", e)
	}
	h.send("POST", "/v1/trace-evaluators/"+e.ID+"/runs", object{}).refused(t, 409, "evaluator_paused")
	for _, bad := range []object{{"name": "n", "rule": "none"}, {"name": "n", "rule": "slow"}, {"name": "", "rule": "error"}, {"name": "n", "rule": "error", "severity": "bad"}, {"name": "n", "rule": "error", "kind": "model"}} {
		h.send("POST", "/v1/trace-evaluators", bad).refused(t, 422, "invalid_request")
	}
	h.send("POST", "/v1/trace-evaluators", object{"name": "says 42", "rule": "error"}).refused(t, 409, "name_taken")
}
