package httpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
)

// opinionated is a model that judges: it says fail of what is rude, gives no
// verdict about what mumbles, and follows what it is told inside of a run only
// where that is shown to it as something else than data.
func opinionated(w http.ResponseWriter, r *http.Request) {
	asked, _ := io.ReadAll(r.Body)
	said := "It was polite.\nVERDICT: pass"
	switch {
	case strings.Contains(string(asked), "go away"):
		said = "The agent sent a customer away.\n\nVERDICT: fail\n"
	case strings.Contains(string(asked), "mumble"):
		said = "I cannot say."
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object{
		"model": "m", "choices": []any{object{"message": object{"content": said}, "finish_reason": "stop"}}, "usage": object{"prompt_tokens": 200, "completion_tokens": 10, "total_tokens": 210},
	})
}

// talked is a run of an agent that said something, as an exporter sends it.
func (h *harness) talked(secret string, n int, said string) {
	h.t.Helper()
	body := fmt.Sprintf(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"%032x","spanId":"%016x","name":"invoke_agent support","startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[
		{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}},{"key":"evalrouter.output","value":{"stringValue":%q}}]}]}]}]}`,
		n, n, 1_700_000_000_000_000_000+n, 1_700_000_000_000_001_000+n, said)
	h.send("POST", "/v1/otlp/v1/traces", body, as(secret)).want(h.t, 200)
}

// A model judges traces by a benchmark that is quoted and run like any other. Its
// verdicts become evaluations and findings once, however often they are taken.
func TestJudging_AQuotedRunBecomesEvaluations(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	model := httptest.NewServer(http.HandlerFunc(opinionated))
	t.Cleanup(model.Close)
	secret := h.traceConnection("otlp").Secret
	h.talked(secret, 1, `"How can I help?"`)
	h.talked(secret, 2, `"go away"`)
	h.talked(secret, 3, `"mumble"`)

	var e api.TraceEvaluator
	h.send("POST", "/v1/trace-evaluators", object{"name": "polite", "kind": "judge", "config": object{"prompt": "Was the agent polite?"}, "severity": "error"}).want(t, 200).into(t, &e)
	if e.Kind != "judge" || e.Rule != "" || e.Revision != 1 {
		t.Errorf("%+v", e)
	}
	at := "/v1/trace-evaluators/" + e.ID
	h.send("POST", at+"/runs", object{}).refused(t, 422, "invalid_request") // never beside a quote
	ask := func(body object) (q api.TraceQuestions) {
		t.Helper()
		h.send("POST", at+"/questions", body).want(t, 200).into(t, &q)
		return q
	}
	if q := ask(object{}); q.ProfileID != nil || q.Collecting != 3 || q.Questions != 0 {
		t.Errorf("traces that may still grow: %+v", q)
	}
	h.now.Add(31 * 1_000_000)
	q := ask(object{})
	if q.ProfileID == nil || q.Questions != 3 || q.Revision != 1 {
		t.Fatalf("%+v", q)
	}
	if again := ask(object{}); again.ProfileID == nil || *again.ProfileID != *q.ProfileID {
		t.Errorf("the same questions are %+v, and were %+v", again, q)
	}
	h.send("POST", at+"/questions", object{"trace_ids": []string{"00000000-0000-7000-8000-000000000000"}}).refused(t, 404, "not_found")
	h.send("POST", at+"/questions", object{"limit": 1001}).refused(t, 422, "invalid_request")
	few := h.key("local", nil, "traces:read", "traces:write")
	h.send("POST", at+"/questions", object{}, as(few)).refused(t, 403, "insufficient_scope")

	var c struct{ ID string }
	h.send("POST", "/v1/connections", object{"name": "judge", "base_url": model.URL + "/v1", "model_id": "m", "price_in_microusd": "1000000", "price_out_microusd": "1000000"}).want(t, 200).into(t, &c)
	run := h.finished(object{"selection": object{"profile_ids": []string{*q.ProfileID}}, "model": object{"kind": "connection", "connection_id": c.ID}, "coverage": object{"mode": "full"}})
	var record api.RunRecord
	h.send("GET", "/v1/runs/"+run, nil).want(t, 200).into(t, &record)
	if record.Status != "completed" || record.Outcomes["right"] != 1 || record.Outcomes["wrong"] != 1 || record.Outcomes["extraction_failed"] != 1 {
		t.Errorf("%s: %v", record.Status, record.Outcomes)
	}
	other := h.finished(nil)
	h.send("POST", "/v1/trace-evaluations", object{"run_id": other}).refused(t, 422, "invalid_request")
	h.send("POST", "/v1/trace-evaluations", object{"run_id": "00000000-0000-4000-8000-000000000000"}).refused(t, 404, "not_found")
	h.send("POST", "/v1/trace-evaluations", object{"run_id": run}, as(few)).refused(t, 403, "insufficient_scope")
	take := func() (v api.TraceVerdicts) {
		t.Helper()
		h.send("POST", "/v1/trace-evaluations", object{"run_id": run}).want(t, 200).into(t, &v)
		return v
	}
	want := api.TraceVerdicts{RunID: run, EvaluatorID: e.ID, Revision: 1, Passed: 1, Failed: 1, NoVerdict: 1, Kept: 2, Findings: 1}
	if v := take(); v != want {
		t.Errorf("%+v, want %+v", v, want)
	}
	want.Kept, want.Known, want.Findings = 0, 2, 0
	if v := take(); v != want {
		t.Errorf("taken again %+v, want %+v", v, want)
	}

	var found api.Page[api.TraceFinding]
	h.send("GET", "/v1/trace-findings?evaluator_id="+e.ID, nil).want(t, 200).into(t, &found)
	if len(found.Data) != 1 || found.Data[0].Occurrences != 1 || found.Data[0].Detail != "The agent sent a customer away." || found.Data[0].Severity != "error" {
		t.Fatalf("%+v", found.Data)
	}
	rude := found.Data[0].TraceID
	var said api.Page[api.TraceEvaluation]
	h.send("GET", "/v1/traces/"+rude+"/evaluations", nil).want(t, 200).into(t, &said)
	if len(said.Data) != 1 || said.Data[0].Label != "fail" || said.Data[0].Score != 0 || said.Data[0].Source != "judge" || said.Data[0].RunID != run || said.Data[0].CostMicrousd != 210 || said.Data[0].EvaluatorRevision != 1 {
		t.Errorf("%+v", said.Data)
	}
	// What was judged is not asked about again; what got no verdict is, and another
	// revision asks about everything.
	if rest := ask(object{}); rest.Questions != 1 || rest.JudgedBefore != 2 || *rest.ProfileID == *q.ProfileID {
		t.Errorf("%+v", rest)
	}
	if named := ask(object{"trace_ids": []string{rude}}); named.Questions != 0 || named.JudgedBefore != 1 || named.ProfileID != nil {
		t.Errorf("%+v", named)
	}
	h.send("PATCH", at, object{"config": object{"prompt": "Was the agent very polite?"}}).want(t, 200)
	if anew := ask(object{}); anew.Questions != 3 || anew.Revision != 2 {
		t.Errorf("%+v", anew)
	}
	h.send("DELETE", "/v1/traces/"+rude, nil).want(t, 200)
	h.send("GET", "/v1/traces/"+rude+"/evaluations", nil).refused(t, 404, "not_found")
	want.Known, want.Gone = 1, 1
	if v := take(); v != want {
		t.Errorf("after a trace has gone %+v, want %+v", v, want)
	}
	h.send("PATCH", at, object{"status": "paused"}).want(t, 200)
	h.send("POST", at+"/questions", object{}).refused(t, 409, "evaluator_paused")
}

// What a judge cannot be is refused, and makes nothing.
func TestJudging_SettingsOfAJudge(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for name, bad := range map[string]object{
		"no prompt":          {"name": "x", "kind": "judge"},
		"with a rule":        {"name": "x", "kind": "judge", "rule": "error", "config": object{"prompt": "x"}},
		"judge as a rule":    {"name": "x", "rule": "judge", "config": object{"prompt": "x"}},
		"no rule":            {"name": "x"},
		"settings of a rule": {"name": "x", "kind": "judge", "config": object{"phrase": "x"}},
	} {
		if p := h.send("POST", "/v1/trace-evaluators", bad).refused(t, 422, "invalid_request"); !strings.Contains(p.Error.Message, "nothing was") {
			t.Errorf("%s: %s", name, p.Error.Message)
		}
	}
	var all api.Page[api.TraceEvaluator]
	if h.send("GET", "/v1/trace-evaluators", nil).want(t, 200).into(t, &all); len(all.Data) != 0 {
		t.Errorf("%+v", all.Data)
	}
}

// Questions whose source was archived have no bytes any more: asked again they
// are made once more, and a run of either is known for what it is.
func TestJudging_ArchivedQuestions(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.talked(h.traceConnection("otlp").Secret, 1, `"How can I help?"`)
	h.now.Add(31 * 1_000_000)
	var e api.TraceEvaluator
	h.send("POST", "/v1/trace-evaluators", object{"name": "polite", "kind": "judge", "config": object{"prompt": "Was the agent polite?"}}).want(t, 200).into(t, &e)
	seen := map[string]bool{}
	for range 3 {
		var q api.TraceQuestions
		h.send("POST", "/v1/trace-evaluators/"+e.ID+"/questions", object{}).want(t, 200).into(t, &q)
		var b api.PrivateBenchmark
		h.send("GET", "/v1/benchmarks/"+*q.ProfileID, nil).want(t, 200).into(t, &b)
		if b.TaskCount != 1 || seen[b.SourceURI] {
			t.Errorf("%+v after %v", b, seen)
		}
		seen[b.SourceURI] = true
		run := h.finished(object{"selection": object{"profile_ids": []string{*q.ProfileID}}, "coverage": object{"mode": "full"}, "model": object{"kind": "managed", "route_id": "practice.echo"}})
		var v api.TraceVerdicts
		h.send("POST", "/v1/trace-evaluations", object{"run_id": run}).want(t, 200).into(t, &v)
		// The echo says what it was asked, in which both verdicts stand.
		if v.EvaluatorID != e.ID || v.NoVerdict != 1 || v.Kept != 0 {
			t.Errorf("%+v", v)
		}
		source, _, _ := strings.Cut(strings.TrimPrefix(b.SourceURI, "workspace://"), "/")
		h.send("POST", "/v1/benchmark-sources/"+source+"/archive", nil).want(t, 200)
	}
}
