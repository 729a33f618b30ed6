package httpapi_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/bundle/builtin"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

func newGroup(more object, routes ...string) object {
	members := []object{}
	for _, r := range routes {
		members = append(members, object{"model": object{"kind": "managed", "route_id": r}})
	}
	o := object{
		"selection": object{"profile_ids": []string{profil}}, "coverage": object{"mode": "sample", "sample_count": 3, "seed": 7}, "max_charge_microusd": "1000000", "members": members,
	}
	for k, v := range more {
		o[k] = v
	}
	return o
}

const sure, echo = "practice.solver-0.95", "practice.echo"

func (h *harness) groupQuote(o object) api.GroupQuoteRecord {
	h.t.Helper()
	var q api.GroupQuoteRecord
	h.send("POST", "/v1/group-quotes", o).want(h.t, 200).into(h.t, &q)
	return q
}

func (h *harness) grouped(o object) api.GroupRecord {
	h.t.Helper()
	var g api.GroupRecord
	q := h.groupQuote(o)
	h.send("POST", "/v1/groups", object{"group_quote_id": q.ID}, keyed("g-"+q.ID)).want(h.t, 200).into(h.t, &g)
	return g
}

func (h *harness) readGroup(id string) api.GroupRecord {
	h.t.Helper()
	var g api.GroupRecord
	h.send("GET", "/v1/groups/"+id, nil).want(h.t, 200).into(h.t, &g)
	return g
}

// One quote holds every model's rates and cap; the caps are the group's, split.
func TestGroupQuotes_AreReviewedAsOne(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	q := h.groupQuote(newGroup(object{"max_charge_microusd": "1000001", "name": "three"}, solver, sure, echo))
	var sum usd.Micro
	for i, m := range q.Members {
		sum += *m.MaxChargeMicrousd
		if m.Index != i || m.Pricing == nil || m.MinimumCapMicrousd == nil || !m.Eligible || m.Concurrency.RunCeiling == 0 {
			t.Errorf("member %d is %+v", i, m)
		}
	}
	if q.Status != "open" || sum != 1000001 || *q.MaxChargeMicrousd != sum || *q.Members[0].MaxChargeMicrousd != 333334 || q.TotalTasks != 3 || q.Name != "three" || q.GroupID != nil || q.ExpiresIn != 1800 {
		t.Errorf("quote is %+v", q)
	}
	var again api.GroupQuoteRecord
	h.send("GET", "/v1/group-quotes/"+q.ID, nil).want(t, 200).into(t, &again)
	if fmt.Sprint(again.Members[2].Model.ModelID, *again.MinimumCapMicrousd) != fmt.Sprint(q.Members[2].Model.ModelID, *q.MinimumCapMicrousd) {
		t.Errorf("read back as %+v", again)
	}
	mixed := newGroup(nil, solver, sure, echo)
	mixed["members"].([]object)[1]["max_charge_microusd"] = "500001"
	if got := h.groupQuote(mixed).Members; *got[0].MaxChargeMicrousd != 250000 || *got[1].MaxChargeMicrousd != 500001 || *got[2].MaxChargeMicrousd != 249999 {
		t.Errorf("caps of %v, %v and %v", *got[0].MaxChargeMicrousd, *got[1].MaxChargeMicrousd, *got[2].MaxChargeMicrousd)
	}
	preview := h.groupQuote(newGroup(object{"preview": true, "max_charge_microusd": nil}, solver, sure))
	if preview.MaxChargeMicrousd != nil || preview.MinimumCapMicrousd == nil || !preview.Preview {
		t.Errorf("preview is %+v", preview)
	}
	h.send("GET", "/v1/group-quotes/"+preview.ID, nil).refused(t, 404, "not_found")
}

func TestGroupQuotes_Refused(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	nine := make([]string, 9)
	for i := range nine {
		nine[i] = solver
	}
	one := newGroup(object{"max_charge_microusd": "2000000"}, solver, sure)
	for _, m := range one["members"].([]object) {
		m["max_charge_microusd"] = "500000"
	}
	for _, c := range []struct {
		name   string
		body   object
		status int
		code   string
	}{
		{"one model", newGroup(nil, solver), 422, "invalid_request"},
		{"nine models", newGroup(nil, nine...), 422, "invalid_request"},
		{"the same twice", newGroup(nil, solver, solver), 422, "invalid_request"},
		{"no cap", newGroup(object{"max_charge_microusd": nil}, solver, sure), 422, "invalid_request"},
		{"a cap of nothing", newGroup(object{"max_charge_microusd": "0"}, solver, sure), 422, "invalid_request"},
		{"caps that do not add up", one, 422, "invalid_request"},
		{"a cap for one task of one model", newGroup(object{"max_charge_microusd": "2"}, solver, sure), 422, "cap_below_minimum"},
		{"an unknown model", newGroup(nil, solver, "nobody.nothing"), 409, "model_unavailable"},
		{"a misspelt field", newGroup(object{"max_charge": "1"}, solver, sure), 422, "invalid_request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h.send("POST", "/v1/group-quotes", c.body).refused(t, c.status, c.code)
		})
	}
}

// GRP-12: the members of a group are runs like others, with ids, results and
// charges of their own, and the group is what they are.
func TestGroups_GRP12_EachMemberHasItsOwnResult(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	g := h.grouped(newGroup(nil, sure, echo))
	if g.Status != "running" || len(g.Members) != 2 || g.CapMicrousd != 1000000 || g.Members[0].RunID == g.Members[1].RunID {
		t.Fatalf("started as %+v", g)
	}
	for _, m := range g.Members {
		h.await(m.RunID)
	}
	g = h.readGroup(g.ID)
	var spent usd.Micro
	for i, m := range g.Members {
		var r api.ResultRecord
		var run api.RunRecord
		h.send("GET", "/v1/runs/"+m.RunID+"/results", nil).want(t, 200).into(t, &r)
		h.send("GET", "/v1/runs/"+m.RunID, nil).want(t, 200).into(t, &run)
		if r.RunID != m.RunID || r.Profiles[0].Metrics[0].Value != m.Headline.Value || i == 1 && m.Headline.Value != 0 || i == 0 && m.Headline.Value == 0 || run.SpendMicrousd != m.SpendMicrousd || *run.GroupID != g.ID {
			t.Errorf("member %d is %+v with result %+v", i, m, r)
		}
		spent += m.SpendMicrousd
	}
	if g.Status != "completed" || g.BillingState != "settled" || g.SpendMicrousd != spent || g.FinishedAt == nil || g.ReservedMicrousd != 0 {
		t.Errorf("ended as %+v", g)
	}
	var page api.Page[api.RunRecord]
	h.send("GET", "/v1/runs?group_id="+g.ID, nil).want(t, 200).into(t, &page)
	if len(page.Data) != 2 {
		t.Errorf("%d runs of the group", len(page.Data))
	}
}

func TestGroups_AreSubmittedOnce(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	q := h.groupQuote(newGroup(nil, solver, sure))
	body := object{"group_quote_id": q.ID, "metadata": object{"k": "v"}}
	h.send("POST", "/v1/groups", body).refused(t, 400, "idempotency_key_required")
	first := h.send("POST", "/v1/groups", body, keyed("k")).want(t, 200)
	again := h.send("POST", "/v1/groups", body, keyed("k")).want(t, 200)
	if string(first.body) != string(again.body) || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("answered\n%s\nand then\n%s", first.body, again.body)
	}
	h.send("POST", "/v1/groups", object{"group_quote_id": q.ID}, keyed("k")).refused(t, 409, "idempotency_conflict")
	p := h.send("POST", "/v1/groups", body, keyed("other")).refused(t, 409, "quote_already_accepted")
	var g api.GroupRecord
	first.into(t, &g)
	if p.Error.Details["group_id"] != g.ID || g.Metadata["k"] != "v" {
		t.Errorf("details are %v, the group %+v", p.Error.Details, g)
	}
	var run api.RunRecord
	h.send("GET", "/v1/runs/"+g.Members[0].RunID, nil).want(t, 200).into(t, &run)
	late := h.groupQuote(newGroup(nil, solver, sure))
	h.now.Add(int64(31 * time.Minute / time.Microsecond))
	h.send("POST", "/v1/groups", object{"group_quote_id": late.ID}, keyed("late")).refused(t, 410, "quote_expired")
	h.send("POST", "/v1/groups", object{"group_quote_id": "none"}, keyed("none")).refused(t, 404, "not_found")
}

func TestGroups_ListAndPrefix(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	var ids []string
	for range 3 {
		g := h.grouped(newGroup(nil, solver, sure))
		for _, m := range g.Members {
			h.await(m.RunID)
		}
		ids = append([]string{g.ID}, ids...)
		h.now.Add(int64(time.Second / time.Microsecond))
	}
	var got []string
	for next := "/v1/groups?limit=2&status=completed"; next != ""; {
		var p api.Page[api.GroupRecord]
		h.send("GET", next, nil).want(t, 200).into(t, &p)
		for _, g := range p.Data {
			got = append(got, g.ID)
		}
		if next = ""; p.NextCursor != nil {
			next = "/v1/groups?limit=2&status=completed&cursor=" + *p.NextCursor
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(ids) {
		t.Errorf("listed %v, started %v", got, ids)
	}
	var p api.Page[api.GroupRecord]
	h.send("GET", "/v1/groups?status=failed", nil).want(t, 200).into(t, &p)
	if len(p.Data) != 0 {
		t.Errorf("%d failed groups", len(p.Data))
	}
	h.send("GET", "/v1/groups?id_prefix="+ids[0][:8], nil).want(t, 200).into(t, &p)
	if len(p.Data) != 3 { // the harness's ids begin alike
		t.Errorf("%d groups found by prefix", len(p.Data))
	}
	stranger := h.key(other, nil, "eval:read", "eval:write")
	h.send("GET", "/v1/groups/"+ids[0], nil, as(stranger)).refused(t, 404, "not_found")
	h.send("POST", "/v1/groups/"+ids[0]+"/cancel", nil, as(stranger)).refused(t, 404, "not_found")
	h.send("GET", "/v1/groups/"+ids[0]+"/events", nil, as(stranger)).refused(t, 404, "not_found")
	h.send("POST", "/v1/group-quotes", newGroup(nil, solver, sure), as(h.key(other, nil, "eval:read"))).refused(t, 403, "insufficient_scope")
}

// A group's log tells each member's events, numbered as one, and a reader goes
// on where it stopped.
func TestGroups_Events(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	g := h.grouped(newGroup(nil, solver, sure))
	for _, m := range g.Members {
		h.await(m.RunID)
	}
	var seq int64
	graded := map[string]int{}
	for {
		var p api.EventPage
		h.send("GET", fmt.Sprintf("/v1/groups/%s/events?limit=4&after=%d&wait_seconds=1", g.ID, seq), nil).want(t, 200).into(t, &p)
		for _, e := range p.Data {
			if seq++; e.Sequence != seq {
				t.Fatalf("sequence %d behind %d", e.Sequence, seq-1)
			}
			if e.Type == core.EventTaskGraded {
				graded[fmt.Sprint(e.Data["run_id"])]++
			}
		}
		if p.NextSequence != seq || p.HasMore == p.Terminal {
			t.Fatalf("page is %+v", p)
		}
		if p.Terminal {
			break
		}
	}
	if graded[g.Members[0].RunID] != 3 || graded[g.Members[1].RunID] != 3 {
		t.Errorf("graded %v", graded)
	}
	h.send("GET", "/v1/groups/"+g.ID+"/events?type=nonsense", nil).refused(t, 422, "invalid_request")
}

// Cancelling a group asks each member to stop; what has ended stays as it was.
func TestGroups_Cancel(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	g := h.grouped(newGroup(object{"coverage": object{"mode": "full"}, "max_charge_microusd": "20000000"}, solver, sure, echo))
	h.send("POST", "/v1/runs/"+g.Members[1].RunID+"/cancel", nil).want(t, 200)
	h.send("POST", "/v1/groups/"+g.ID+"/cancel", nil).want(t, 200)
	for _, m := range g.Members {
		h.await(m.RunID)
	}
	var a, b api.GroupRecord
	h.send("POST", "/v1/groups/"+g.ID+"/cancel", nil).want(t, 200).into(t, &a)
	b = h.readGroup(g.ID)
	if fmt.Sprint(a.Status, a.SpendMicrousd) != fmt.Sprint(b.Status, b.SpendMicrousd) || !a.Status.Terminal() || a.SpendMicrousd > a.CapMicrousd {
		t.Errorf("cancelled twice: %+v, then %+v", a, b)
	}
}

// GRP-15: a group's comparison is of what is kept of its members. It asks no
// model, and made twice it is the same bytes.
func TestGroups_GRP15_ComparisonIsOfRetainedResults(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	g := h.grouped(newGroup(nil, sure, echo))
	for _, m := range g.Members {
		h.await(m.RunID)
	}
	g = h.readGroup(g.ID)
	path := "/v1/groups/" + g.ID + "/comparison"
	first := h.send("GET", path, nil).want(t, 200)
	var c api.Comparison
	first.into(t, &c)
	if c.Schema != api.ComparisonSchema || *c.GroupID != g.ID || len(c.Series) != 2 || c.Statistics != nil {
		t.Fatalf("comparison is %+v", c)
	}
	for i, s := range c.Series {
		export := h.send("GET", "/v1/runs/"+s.RunIDs[0]+"/export?format=summary", nil).want(t, 200)
		if sum := sha256.Sum256(export.body); s.Source.SHA256 != hex.EncodeToString(sum[:]) || *s.Headline.Value != g.Members[i].Headline.Value || *s.ChargeMicrousd != g.Members[i].SpendMicrousd {
			t.Errorf("series %d is %+v", i, s)
		}
	}
	page := h.send("GET", path+"?format=html", nil).want(t, 200)
	if !strings.HasPrefix(string(page.body), "<!doctype html>") || page.header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("the page is %.80s", page.body)
	}
	h.now.Add(int64(time.Hour / time.Microsecond))
	if again := h.send("GET", path, nil).want(t, 200); !bytes.Equal(again.body, first.body) {
		t.Error("the comparison changed by itself")
	}
	if after := h.readGroup(g.ID); after.SpendMicrousd != g.SpendMicrousd {
		t.Errorf("comparing cost %s", after.SpendMicrousd-g.SpendMicrousd)
	}
	open := h.grouped(newGroup(object{"coverage": object{"mode": "full"}, "max_charge_microusd": "20000000"}, sure, echo))
	if r := h.send("GET", "/v1/groups/"+open.ID+"/comparison", nil); r.status != 200 { // it may have ended meanwhile
		r.refused(t, 409, "run_not_finished")
	}
}

// CMP-13, CMP-30: the summary has no tasks, and no export says more of a task
// than its answer and its counts. Scores have not even that.
func TestExport_CMP13_SummaryAndScoresHoldNoAnswers(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id := h.finished(nil)
	var summary map[string]any
	h.send("GET", "/v1/runs/"+id+"/export?format=summary", nil).want(t, 200).into(t, &summary)
	for _, want := range []string{"identities", "profiles", "billing_snapshot", "export_policy", "summary"} {
		if summary[want] == nil {
			t.Errorf("the summary has no %s", want)
		}
	}
	if summary["samples"] != nil || summary["result"] != nil {
		t.Error("the summary holds tasks")
	}
	scores := h.send("GET", "/v1/runs/"+id+"/export?format=scores", nil).want(t, 200)
	lines := strings.Split(strings.TrimSpace(string(scores.body)), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines of scores", len(lines))
	}
	for _, text := range lines {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if len(line) != 5 || line["task_id"] == "" || line["score"] == nil || line["outcome"] == "" {
			t.Errorf("line is %s", text)
		}
	}
}

// CMP-29: for a benchmark of SOB the scored answer is the final completion text,
// with what is supplied of each sample: token counts and the finish reason.
func TestExport_CMP29_ScoredAnswerOfSOB(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	p, err := h.catalog.Generate(t.Context(), "extraction", builtin.DefaultSeed, 20)
	if err != nil {
		t.Fatal(err)
	}
	if p.Family != builtin.FamilySOBText {
		t.Fatalf("the benchmark is of %s", p.Family)
	}
	id := h.finished(object{"selection": object{"profile_ids": []string{string(p.ID)}}, "coverage": object{"mode": "sample", "sample_count": 8, "seed": 7}})
	var e api.Export
	h.send("GET", "/v1/runs/"+id+"/export?format=json", nil).want(t, 200).into(t, &e)
	run, err := h.store.Run(t.Context(), core.Scope{Workspace: core.Local}, core.RunID(id))
	if err != nil {
		t.Fatal(err)
	}
	graded := 0
	for i, s := range e.Samples {
		if s.Status != "graded" {
			continue
		}
		graded++
		kept, ok, err := h.store.Evidence(t.Context(), run.ID, i)
		if err != nil || !ok {
			t.Fatalf("task %d: %v, %v", i, ok, err)
		}
		if s.Answer == nil || !strings.Contains(string(kept.Raw), strings.Trim(strconv.Quote(*s.Answer), `"`)) || s.Usage == nil || s.Usage.OutputTokens == 0 || s.FinishReason == nil || *s.FinishReason != "stop" {
			t.Errorf("task %d is exported as %+v of %.200s", i, s, kept.Raw)
		}
	}
	if graded == 0 {
		t.Error("nothing was graded")
	}
}

// A stream tells every event once under its sequence, goes on behind the one
// that the reader names, and ends with the group.
func TestGroups_StreamIsResumed(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	g := h.grouped(newGroup(object{"coverage": object{"mode": "sample", "sample_count": 30}}, solver, sure))
	live := h.send("GET", "/v1/groups/"+g.ID+"/stream", nil).want(t, 200) // returns when all have ended
	if ct := live.header.Get("Content-Type"); ct != "text/event-stream" {
		t.Errorf("content type %q", ct)
	}
	told := streamed(t, live.body)
	for i, e := range told {
		if e.Sequence != int64(i+1) {
			t.Fatalf("event %d has sequence %d", i, e.Sequence)
		}
	}
	if n := len(told); n < 60 || told[n-1].Type != core.EventFinished {
		t.Fatalf("%d events, the last %s", n, told[n-1].Type)
	}
	for _, again := range []reply{
		h.send("GET", "/v1/groups/"+g.ID+"/stream", nil, header("Last-Event-ID", "10")),
		h.send("GET", "/v1/groups/"+g.ID+"/stream?after=10", nil),
	} {
		if rest := streamed(t, again.want(t, 200).body); fmt.Sprint(rest) != fmt.Sprint(told[10:]) {
			t.Errorf("behind the tenth come %d events, the first %+v", len(rest), rest[0])
		}
	}
	h.send("GET", "/v1/groups/"+g.ID+"/stream", nil, header("Last-Event-ID", "x")).refused(t, 422, "invalid_request")
}

// streamed reads a stream back; the id of each event is that of its data.
func streamed(t *testing.T, body []byte) (out []api.RunEvent) {
	t.Helper()
	for _, part := range strings.Split(strings.TrimSpace(string(body)), "\n\n") {
		var id int64
		var e api.RunEvent
		for _, line := range strings.Split(part, "\n") {
			if v, ok := strings.CutPrefix(line, "id: "); ok {
				id, _ = strconv.ParseInt(v, 10, 64)
			}
			if v, ok := strings.CutPrefix(line, "data: "); ok {
				if err := json.Unmarshal([]byte(v), &e); err != nil {
					t.Fatal(err)
				}
			}
		}
		if id == 0 || id != e.Sequence {
			t.Fatalf("id %d of %+v in %q", id, e, part)
		}
		out = append(out, e)
	}
	return out
}
