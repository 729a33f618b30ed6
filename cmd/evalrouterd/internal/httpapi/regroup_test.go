package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// halted starts a group whose first two members are stopped by their caps, while
// the third has room for all of its tasks, and waits for its end.
func (h *harness) halted() api.GroupRecord {
	h.t.Helper()
	o := newGroup(object{"coverage": object{"mode": "sample", "sample_count": 60}, "max_charge_microusd": "1008000"}, solver, sure, echo)
	for i, limit := range []string{"4000", "4000", "1000000"} {
		o["members"].([]object)[i]["max_charge_microusd"] = limit
	}
	g := h.grouped(o)
	return h.awaitGroup(g.ID)
}

func (h *harness) awaitGroup(id string) api.GroupRecord {
	h.t.Helper()
	for _, m := range h.readGroup(id).Members {
		h.await(m.RunID)
	}
	return h.readGroup(id)
}

func (h *harness) regroup(id string, body object) api.GroupQuoteRecord {
	h.t.Helper()
	var q api.GroupQuoteRecord
	h.send("POST", "/v1/groups/"+id+"/continuation-quotes", body).want(h.t, 200).into(h.t, &q)
	return q
}

func (h *harness) startGroup(q api.GroupQuoteRecord, more object) reply {
	body := object{"group_quote_id": q.ID}
	for k, v := range more {
		body[k] = v
	}
	return h.send("POST", "/v1/groups", body, keyed("g-"+q.ID))
}

// A group is gone on with under one cap: every member that has something left,
// from the newest run of its chain, and those that have nothing stand aside.
func TestGroupContinuation(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	first := h.halted()
	if first.Status != "partial" || first.Members[0].Resume.Status != "available" || first.Members[2].Status != "completed" {
		t.Fatalf("the group is %+v", first)
	}
	preview := h.regroup(first.ID, object{})
	if !preview.Preview || preview.MaxChargeMicrousd != nil || len(preview.Members) != 3 {
		t.Errorf("the preview is %+v", preview)
	}
	q := h.regroup(first.ID, object{"max_charge_microusd": "2000001"})
	var caps usd.Micro
	for i, m := range q.Members {
		if m.Index != i || *m.SourceRunID != first.Members[i].RunID || m.Model.ModelID != first.Members[i].Model.ModelID {
			t.Errorf("member %d is %+v", i, m)
		}
		if i == 2 {
			if m.Eligible || *m.IneligibleReason != "nothing_to_resume" || m.Continuation != nil || m.MaxChargeMicrousd != nil {
				t.Errorf("the member that has completed is %+v", m)
			}
			continue
		}
		p := m.Continuation
		if !m.Eligible || p.SourceRunID != *m.SourceRunID || p.ReusedCells != first.Members[i].GradedCount || p.ReusedCells+p.RerunCells != 60 {
			t.Errorf("member %d is %+v with the plan %+v", i, m, p)
		}
		caps += *m.MaxChargeMicrousd
	}
	if caps != 2000001 || *q.Members[0].MaxChargeMicrousd != 1000001 || *q.SourceGroupID != first.ID || q.TotalTasks != 60 {
		t.Errorf("caps of %s in %+v", caps, q)
	}
	var again api.GroupQuoteRecord
	h.send("GET", "/v1/group-quotes/"+q.ID, nil).want(t, 200).into(t, &again)
	if diff := cmp.Diff(q, again); diff != "" {
		t.Error("read back it is another one:", diff)
	}
	before := h.readGroup(first.ID)
	var started api.GroupRecord
	h.startGroup(q, nil).want(t, 200).into(t, &started)
	next := h.awaitGroup(started.ID)
	if next.Status != "completed" || len(next.Members) != 2 || *next.SourceGroupID != first.ID || next.CapMicrousd != 2000001 {
		t.Fatalf("the next group is %+v", next)
	}
	for i, m := range next.Members {
		r := h.record(t, m.RunID)
		if *r.ContinuedFromRunID != first.Members[i].RunID || r.GradedCount != 60 || r.ReusedCount != first.Members[i].GradedCount {
			t.Errorf("member %d is %+v", i, r)
		}
	}
	after := h.readGroup(first.ID)
	if *after.ContinuedByGroupID != next.ID || before.ContinuedByGroupID != nil {
		t.Errorf("the first group is continued by %v", after.ContinuedByGroupID)
	}
	p := h.send("POST", "/v1/groups/"+first.ID+"/continuation-quotes", object{"max_charge_microusd": "1000000"}).refused(t, 409, "continuation_exists")
	if p.Error.Details["group_id"] != next.ID {
		t.Errorf("details are %v", p.Error.Details)
	}
	p = h.send("POST", "/v1/groups/"+next.ID+"/continuation-quotes", object{"max_charge_microusd": "1000000"}).refused(t, 409, "nothing_to_resume")
	if n, ok := p.Error.Details["members"].([]any); !ok || len(n) != 3 {
		t.Errorf("details are %v", p.Error.Details)
	}
	if found, err := h.store.Audit(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("the audit found %v, %v", found, err)
	}
}

// Whoever resumes one member between the quote and the yes takes the quote its
// ground: nothing starts, neither of that member nor of the others.
func TestGroupContinuation_AllOrNone(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	first := h.halted()
	runs := func() int {
		var p api.Page[api.RunRecord]
		h.send("GET", "/v1/runs?limit=100", nil).want(t, 200).into(t, &p)
		return len(p.Data)
	}
	q := h.regroup(first.ID, object{"max_charge_microusd": "2000000"})
	other := h.regroup(first.ID, object{"max_charge_microusd": "2000000"})
	single := h.continued(t, first.Members[1].RunID, "1700")
	n := runs()
	p := h.startGroup(q, nil).refused(t, 409, "continuation_exists")
	if p.Error.Details["run_id"] != single.ID || runs() != n {
		t.Errorf("%d runs before and %d after; details %v", n, runs(), p.Error.Details)
	}
	// Quoted again, the group goes on from the newest run of each member.
	q = h.regroup(first.ID, object{"max_charge_microusd": "2000000"})
	if *q.Members[1].SourceRunID != single.ID || q.Members[1].Continuation.ChainIndex != 2 {
		t.Errorf("the member is %+v", q.Members[1])
	}
	var started api.GroupRecord
	h.startGroup(q, nil).want(t, 200).into(t, &started)
	p = h.startGroup(other, nil).refused(t, 409, "continuation_exists")
	if next := h.awaitGroup(started.ID); next.Status != "completed" || p.Error.Details["group_id"] != started.ID {
		t.Errorf("ended %s; details %v", next.Status, p.Error.Details)
	}
}

// Only wishes that can be had are quoted, and consents are for every member.
func TestGroupContinuation_Consents(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	g := h.grouped(newGroup(object{"coverage": object{"mode": "sample", "sample_count": 60}}, solver, sure))
	h.send("POST", "/v1/groups/"+g.ID+"/cancel", nil).want(t, 200)
	g = h.awaitGroup(g.ID)
	if g.Status == "completed" {
		t.Skip("both members had ended before they were cancelled")
	}
	h.send("POST", "/v1/groups/"+g.ID+"/continuation-quotes", object{"max_charge_microusd": "0"}).refused(t, 422, "invalid_request")
	h.send("POST", "/v1/groups/"+g.ID+"/continuation-quotes", object{"max_charge_microusd": "1000000", "retry_unknown_max": -1}).refused(t, 422, "invalid_request")
	h.send("POST", "/v1/groups/none/continuation-quotes", object{"max_charge_microusd": "1000000"}).refused(t, 404, "not_found")
	p := h.send("POST", "/v1/groups/"+g.ID+"/continuation-quotes", object{"max_charge_microusd": "1000000"}).refused(t, 409, "nothing_to_resume")
	if !strings.Contains(fmt.Sprint(p.Error.Details["members"]), "reason:cancelled") {
		t.Errorf("details are %v", p.Error.Details)
	}
	for _, m := range g.Members {
		if m.Status != "completed" {
			one := h.send("POST", "/v1/runs/"+m.RunID+"/continuation-quotes", object{}).refused(t, 409, "nothing_to_resume")
			if n, ok := one.Error.Details["stopped"].(float64); !ok || int(n) != 60-m.GradedCount || !strings.Contains(one.Error.Message, "which include_cancelled takes in") {
				t.Errorf("%s; details are %v", one.Error.Message, one.Error.Details)
			}
		}
	}
	q := h.regroup(g.ID, object{"max_charge_microusd": "1000000", "include_cancelled": true})
	for _, m := range q.Members {
		if m.Eligible && (!m.Continuation.IncludeCancelled || m.Continuation.CancelledCells != m.Continuation.RerunCells) {
			t.Errorf("the plan is %+v", m.Continuation)
		}
	}
	var next api.GroupRecord
	h.startGroup(q, nil).want(t, 200).into(t, &next)
	if end := h.awaitGroup(next.ID); end.Status != "completed" {
		t.Errorf("ended as %+v", end)
	}
}
