package httpapi_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// judged admits a benchmark of 30 tasks that a judge grades.
func (h *harness) judged(t *testing.T, judge string) string {
	t.Helper()
	var data bytes.Buffer
	for i := range 30 {
		fmt.Fprintf(&data, "{\"q\":\"Who is number %d?\",\"a\":\"Citizen %d\"}\n", i, i)
	}
	sum := sha256.Sum256(data.Bytes())
	added, err := h.catalog.Add(t.Context(), bundle.Manifest{
		Schema: bundle.ManifestSchema, Slug: "citizens", Version: "1", Name: "Citizens", Family: "inspect",
		Data:   bundle.Data{File: "tasks.jsonl", Format: "jsonl", SHA256: hex.EncodeToString(sum[:])},
		Source: bundle.Source{URL: "https://example.org/tasks"}, License: bundle.License{Data: "CC0-1.0"},
		Columns: bundle.Columns{Input: []string{"q"}, Target: "a", TargetFormat: "text"}, Prompt: bundle.Prompt{Template: "{{q}}"},
		Grader: bundle.GraderConfig{Kind: "inspect/model_graded_fact", Options: []byte(`{"judges":["` + judge + `"]}`)}, MaxOutputTokens: 100, Metrics: []string{"accuracy"},
	}, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	return string(added.Profile.ID)
}

// TestJudged follows a judge-graded run from its quote to its export.
func TestJudged(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	profile := object{"profile_ids": []string{h.judged(t, "practice.judge")}}
	var q api.QuoteRecord
	h.send("POST", "/v1/quotes", newQuote(object{"selection": profile, "coverage": object{"mode": "full"}})).want(t, 200).into(t, &q)
	j := q.Plan.Profiles[0].Judge
	if j == nil || *j.Model.RouteID != "practice.judge" || j.Model.Pricing.InputMicrousd == nil || !j.Model.Simulated || j.Protocol["grader"] != "inspect/model_graded_fact" {
		t.Fatalf("the quote does not show its judge with its rates: %+v", j)
	}
	if !strings.Contains(strings.Join(q.Plan.Warnings, " "), "Judge-graded: what is right is decided by practice.judge.") {
		t.Errorf("the warnings are %q", q.Plan.Warnings)
	}
	// One call of the solver is 5 tokens in and 100 out; the judge's share is more than that.
	if alone := usd.Micro(153); *q.MinimumCapMicrousd < 2*alone {
		t.Errorf("the least cap is %s, which pays no judge", *q.MinimumCapMicrousd)
	}
	id := h.finished(object{"selection": profile, "coverage": object{"mode": "full"}})
	var res api.ResultRecord
	h.send("GET", "/v1/runs/"+id+"/results", nil).want(t, 200).into(t, &res)
	if o := res.Summary.Outcomes; res.Summary.Status != api.StatusCompleted || o["right"] == 0 || o["wrong"] == 0 || o["right"]+o["wrong"] != 30 || !res.Simulated {
		t.Errorf("%s, %v, simulated %v", res.Summary.Status, o, res.Simulated)
	}
	if !strings.Contains(strings.Join(res.Warnings, " "), "Judge-graded") {
		t.Errorf("the result does not say that a judge graded: %q", res.Warnings)
	}
	var e api.Export
	h.send("GET", "/v1/runs/"+id+"/export?format=json", nil).want(t, 200).into(t, &e)
	var sum usd.Micro
	for _, s := range e.Samples {
		sum += s.ChargeMicrousd
		if len(s.Judges) != 1 {
			t.Fatalf("task %s has %d judges", s.TaskID, len(s.Judges))
		}
		g := s.Judges[0]
		letter := map[string]string{"right": "GRADE: C", "wrong": "GRADE: I"}[s.Outcome]
		if g.RouteID != "practice.judge" || g.Status != "responded" || g.Reply == nil || !strings.HasSuffix(*g.Reply, letter) || g.Usage == nil || g.Nonce != "5ca1ab1e0ddba115" {
			t.Errorf("task %s is %s by %+v", s.TaskID, s.Outcome, g)
		}
		if g.ChargeMicrousd == 0 || s.ChargeMicrousd <= g.ChargeMicrousd {
			t.Errorf("task %s costs %s, of it the judge %s", s.TaskID, s.ChargeMicrousd, g.ChargeMicrousd)
		}
	}
	if len(e.Samples) != 30 || sum != e.Summary.BillingSnapshot.SpendMicrousd {
		t.Errorf("%d tasks cost %s, the run %s", len(e.Samples), sum, e.Summary.BillingSnapshot.SpendMicrousd)
	}
}

func TestJudged_Refused(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	quote := newQuote(object{"selection": object{"profile_ids": []string{h.judged(t, "acme.judge")}}})
	h.send("POST", "/v1/quotes", quote).refused(t, 409, "model_unavailable")
	h.send("POST", "/v1/quotes", newQuote(object{"model": object{"kind": "managed", "route_id": "practice.judge"}})).refused(t, 422, "judge_only_route")
}
