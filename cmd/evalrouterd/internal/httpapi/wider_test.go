package httpapi_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
)

// widen lets a run's quote say that it does more than this version does, as one of
// a later version in the same database would.
func (h *harness) widen(t *testing.T, run, wider string) {
	t.Helper()
	_, err := h.raw(t).ExecContext(t.Context(), `UPDATE quotes SET doc = json_set(doc, '$.wider', json($1)) WHERE id = (SELECT quote_id FROM runs WHERE id = $2)`, wider, run)
	if err != nil {
		t.Fatal(err)
	}
}

// Only one model, one benchmark and one attempt a task can be resumed. What is
// wider is refused with the reason of the contract and never begun again.
func TestContinuationRefusals_RES55_Wider(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run := h.finished(object{"coverage": object{"mode": "sample", "sample_count": 60}, "max_charge_microusd": "4000"})
	if r := h.record(t, run); r.Resume.Status != "available" {
		t.Fatalf("the run says %+v", r.Resume)
	}
	for _, tt := range []struct{ name, wider, reason string }{
		{"RES-59 a comparison", `{"models":2}`, "comparison"},
		{"RES-60 several benchmarks", `{"profiles":3}`, "several_profiles"},
		{"RES-60 several attempts", `{"attempts":5}`, "several_attempts"},
		{"RES-62 a repository agent", `{"agent":true}`, "agent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h.widen(t, run, tt.wider)
			p := h.send("POST", "/v1/runs/"+run+"/continuation-quotes", object{"max_charge_microusd": "1000000"}).refused(t, 422, "resume_unsupported")
			if p.Error.Details["reason"] != tt.reason {
				t.Errorf("details are %v", p.Error.Details)
			}
			h.send("POST", "/v1/runs/"+run+"/continuation-quotes", object{}).refused(t, 422, "resume_unsupported")
			var st api.ContinuationStatus
			h.send("GET", "/v1/runs/"+run+"/continuation", nil).want(t, 200).into(t, &st)
			if st.Supported || st.NewestResumable || *st.ReasonCode != tt.reason {
				t.Errorf("the continuation is %+v", st)
			}
			if r := h.record(t, run); r.Resume.Status != "unavailable" || *r.Resume.ReasonCode != tt.reason || r.ContinuedByRunID != nil {
				t.Errorf("the run says %+v", r.Resume)
			}
		})
	}
	h.widen(t, run, `{"models":1,"profiles":1,"attempts":1}`)
	if next := h.continued(t, run, "1000000"); next.Status != api.StatusCompleted {
		t.Errorf("one of each ended %s", next.Status)
	}
}

// A quote that was made before its run turned out wider starts nothing either, and
// a member of a group stands aside.
func TestContinuationRefusals_RES59_InBetween(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	g := h.halted()
	q := h.regroup(g.ID, object{"max_charge_microusd": "2000000"})
	h.widen(t, g.Members[0].RunID, `{"models":2}`)
	h.startGroup(q, nil).refused(t, 422, "resume_unsupported")
	q = h.regroup(g.ID, object{"max_charge_microusd": "2000000"})
	if m := q.Members[0]; m.Eligible || *m.IneligibleReason != "comparison" || !q.Members[1].Eligible {
		t.Errorf("the members are %+v", q.Members)
	}
}

// No such run is made here: the routes refuse to quote one.
func TestQuotes_RES55_OneOfEach(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.send("POST", "/v1/quotes", newQuote(object{"selection": object{"profile_ids": []string{profil, "dates@1"}}})).refused(t, 404, "feature_unavailable")
	h.send("POST", "/v1/quotes", newQuote(object{"model": object{"kind": "comparison", "models": []object{{"kind": "managed", "route_id": solver}}}})).refused(t, 422, "invalid_request")
	h.send("POST", "/v1/quotes", newQuote(object{"model": object{"kind": "agent", "route_id": solver}})).refused(t, 422, "invalid_request")
	h.send("POST", "/v1/quotes", newQuote(object{"attempts_per_task": 2})).refused(t, 422, "invalid_request")
	var q struct {
		Plan struct {
			Profiles []struct {
				Attempts int `json:"attempts_per_task"`
			} `json:"profiles"`
		} `json:"plan"`
	}
	h.send("POST", "/v1/quotes", newQuote(nil)).want(t, 200).into(t, &q)
	if len(q.Plan.Profiles) != 1 || q.Plan.Profiles[0].Attempts != 1 {
		t.Errorf("the plan is %+v", q.Plan)
	}
}
