package exercise

import (
	"slices"
	"testing"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// groups runs two models under one cap that stops both, and goes on with what is
// left of them: as one, and once.
func (w *wire) groups(t *testing.T) {
	for _, route := range []string{"GET /group-quotes/%s", "GET /groups/%s", "GET /runs/%s"} {
		w.send(t, route[:3], route[4:], nil, args(otherID)).refused(t, 404, "not_found")
	}
	w.send(t, "POST", "/groups/%s/continuation-quotes", object{}, args(otherID)).refused(t, 404, "not_found")
	first := w.halted(t)
	w.send(t, "POST", "/groups/%s/continuation-quotes", object{"no_such_field": 1}, args(first.ID)).refused(t, 422, "invalid_request")
	var preview, q, same api.GroupQuoteRecord
	w.send(t, "POST", "/groups/%s/continuation-quotes", object{}, args(first.ID)).record(t, "GroupQuoteRecord").decode(t, &preview)
	w.send(t, "POST", "/groups/%s/continuation-quotes", object{"max_charge_microusd": (5 * usd.Dollar).Wire()}, args(first.ID)).record(t, "GroupQuoteRecord").decode(t, &q)
	w.send(t, "GET", "/group-quotes/%s", nil, args(q.ID)).record(t, "GroupQuoteRecord").decode(t, &same)
	if !preview.Preview || q.Preview || q.SourceGroupID == nil || *q.SourceGroupID != first.ID || len(q.Members) != 2 || same.ID != q.ID {
		t.Fatalf("without a cap a preview %t, with one %+v", preview.Preview, q)
	}
	var caps usd.Micro
	for i, m := range q.Members {
		p := m.Continuation
		if !m.Eligible || p == nil || m.SourceRunID == nil || *m.SourceRunID != first.Members[i].RunID || p.ReusedCells != first.Members[i].GradedCount {
			t.Fatalf("member %d of the quote is %+v", i, m)
		}
		caps += *m.MaxChargeMicrousd
	}
	if caps != 5*usd.Dollar {
		t.Errorf("the members' caps come to %s", caps)
	}
	body, key := object{"group_quote_id": q.ID}, freshKey()
	var next, again api.GroupRecord
	w.send(t, "POST", "/groups", body, keyed(key)).record(t, "GroupRecord").decode(t, &next)
	w.send(t, "POST", "/groups", body, keyed(key)).record(t, "GroupRecord").decode(t, &again)
	if again.ID != next.ID || next.SourceGroupID == nil || *next.SourceGroupID != first.ID {
		t.Errorf("the next group is %s after %v; the repeat %s", next.ID, next.SourceGroupID, again.ID)
	}
	d := w.send(t, "POST", "/groups", body, keyed(freshKey())).refused(t, 409, "quote_already_accepted")
	if d["group_id"] != next.ID {
		t.Errorf("quote_already_accepted names %v, want %s", d["group_id"], next.ID)
	}
	w.regrouped(t, first, next)
}

// regrouped looks at both groups once the second has ended.
func (w *wire) regrouped(t *testing.T, first, next api.GroupRecord) {
	t.Helper()
	for i, m := range next.Members {
		if end := w.over(t, m.RunID); end.Status != api.StatusCompleted || end.ReusedCount != first.Members[i].GradedCount {
			t.Errorf("member %d is %s with %d reused, want %d", i, end.Status, end.ReusedCount, first.Members[i].GradedCount)
		}
	}
	d := w.send(t, "POST", "/groups/%s/continuation-quotes", object{"max_charge_microusd": "1000000"}, args(first.ID)).refused(t, 409, "continuation_exists")
	if d["group_id"] != next.ID {
		t.Errorf("continuation_exists names %v, want %s", d["group_id"], next.ID)
	}
	d = w.send(t, "POST", "/groups/%s/continuation-quotes", object{"max_charge_microusd": "1000000"}, args(next.ID)).refused(t, 409, "nothing_to_resume")
	if members, ok := d["members"].([]any); !ok || len(members) != 2 {
		t.Errorf("nothing_to_resume names %v", d["members"])
	}
	var after api.GroupRecord
	w.send(t, "GET", "/groups/%s", nil, args(first.ID)).record(t, "GroupRecord").decode(t, &after)
	if after.ContinuedByGroupID == nil || *after.ContinuedByGroupID != next.ID || after.SpendMicrousd != first.SpendMicrousd {
		t.Errorf("the first group reads %+v", after)
	}
	w.send(t, "GET", "/groups", nil).page(t, "GroupRecord")
}

// halted is a group of two that its cap has stopped.
func (w *wire) halted(t *testing.T) api.GroupRecord {
	t.Helper()
	o := w.newQuote()
	o["coverage"] = object{"mode": "full"}
	o["members"] = []object{{"model": o["model"]}, {"model": object{"kind": "managed", "route_id": w.second(t)}}}
	delete(o, "model")
	delete(o, "max_charge_microusd")
	o["preview"] = true
	var q api.GroupQuoteRecord
	w.send(t, "POST", "/group-quotes", o).record(t, "GroupQuoteRecord").decode(t, &q)
	o["preview"], o["max_charge_microusd"] = false, (2 * *q.MinimumCapMicrousd).Wire()
	w.send(t, "POST", "/group-quotes", o).record(t, "GroupQuoteRecord").decode(t, &q)
	var g api.GroupRecord
	w.send(t, "POST", "/groups", object{"group_quote_id": q.ID}, keyed(freshKey())).record(t, "GroupRecord").decode(t, &g)
	for _, m := range g.Members {
		w.over(t, m.RunID)
	}
	w.send(t, "GET", "/groups/%s", nil, args(g.ID)).record(t, "GroupRecord").decode(t, &g)
	if g.Status != api.StatusPartial || slices.ContainsFunc(g.Members, func(m api.GroupMember) bool { return m.Resume.Status != "available" }) {
		t.Fatalf("under a cap of %s the group is %+v", g.CapMicrousd, g)
	}
	return g
}

// second is another route that the workspace can pay: a simulated one.
func (w *wire) second(t *testing.T) string {
	t.Helper()
	page, err := w.client.Catalog.Models(t.Context(), evalrouter.ModelQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range page.Data {
		if r.Simulated && r.ID != w.target.RouteID && r.ID != "practice.flaky" {
			return r.ID
		}
	}
	t.Skip("the service has no second simulated route, and a group needs two models")
	return ""
}
