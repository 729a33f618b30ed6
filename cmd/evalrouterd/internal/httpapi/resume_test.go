package httpapi_test

import (
	"encoding/json"
	"html"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle/builtin"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// texts adds the benchmark of the SOB text family.
func (h *harness) texts(t *testing.T) object {
	t.Helper()
	if _, err := h.catalog.Generate(t.Context(), "extraction", builtin.DefaultSeed, builtin.DefaultSize); err != nil {
		t.Fatal(err)
	}
	return object{"profile_ids": []string{"extraction@1"}}
}

func (h *harness) record(t *testing.T, id string) (r api.RunRecord) {
	t.Helper()
	h.send("GET", "/v1/runs/"+id, nil).want(t, 200).into(t, &r)
	return r
}

// continued quotes and starts the continuation of a run, and waits for its end.
func (h *harness) continued(t *testing.T, id, cap string) api.RunRecord {
	t.Helper()
	var q api.QuoteRecord
	h.send("POST", "/v1/runs/"+id+"/continuation-quotes", object{"max_charge_microusd": cap}).want(t, 200).into(t, &q)
	next := h.started(q.ID, "again-"+id)
	h.await(next)
	return h.record(t, next)
}

func shape(t *testing.T, v any) (out map[string]any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// A chain of SOB Text runs is one result: each task from the run that graded it,
// and the family's own summary the same as that of a run which nothing stopped.
func TestChain_CHN04_CHN05_NativeSummary(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	more := object{"selection": h.texts(t), "coverage": object{"mode": "sample", "sample_count": 40}}
	whole := h.finished(more)
	more["max_charge_microusd"] = "6000"
	first := h.finished(more)
	if r := h.record(t, first); r.Status != api.StatusPartial || r.GradedCount == 0 || r.GradedCount >= 38 || r.Resume.Status != "available" {
		t.Fatalf("the first run is %s with %d graded, %+v", r.Status, r.GradedCount, r.Resume)
	}
	second := h.continued(t, first, "6000")
	last := second
	for n := 0; last.Status != api.StatusCompleted && n < 4; n++ {
		last = h.continued(t, last.ID, "1000000")
	}
	if last.Status != api.StatusCompleted || last.GradedCount != 40 {
		t.Fatalf("the chain ends %s with %d graded", last.Status, last.GradedCount)
	}
	var whole1 api.ExportSummary
	h.send("GET", "/v1/runs/"+whole+"/export?format=summary", nil).want(t, 200).into(t, &whole1)
	var chain api.ChainExport
	h.send("GET", "/v1/runs/"+first+"/export?format=json&include_resumed=true", nil).want(t, 200).into(t, &chain)
	if diff := cmp.Diff(shape(t, whole1.Profiles[0].Native), shape(t, chain.Profiles[0].Native)); diff != "" || len(chain.Profiles[0].Native) == 0 {
		t.Error("the native summary is another one:", diff)
	}
	decided := 0
	for i, r := range chain.Runs {
		decided += r.DecidedCells
		if r.DecidedCells == 0 || i == 0 && r.RunID != first {
			t.Errorf("run %d of the chain is %+v", i, r)
		}
	}
	origins := map[string]int{}
	for _, s := range chain.Samples {
		origins[s.OriginRunID]++
		if s.Reused != (s.OriginRunID != last.ID) || s.Answer == nil {
			t.Errorf("task %s is of %s, reused %t", s.TaskID, s.OriginRunID, s.Reused)
		}
	}
	for _, r := range chain.Runs {
		if origins[r.RunID] != r.DecidedCells {
			t.Errorf("run %s decided %d tasks and %d are of it", r.RunID, r.DecidedCells, origins[r.RunID])
		}
	}
	if decided != 40 || !chain.Complete || !chain.Chain.Complete || chain.Graded != 40 || chain.Planned != 40 || !strings.HasPrefix(chain.Label, "original + ") {
		t.Errorf("%d of %d decided, %+v, %s", decided, chain.Planned, chain.Chain, chain.Label)
	}
	if found, err := h.store.Audit(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("the audit found %v, %v", found, err)
	}
}

// A later resume makes a longer chain of another version.
func TestChain_CHN06_Grows(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	more := object{"selection": h.texts(t), "coverage": object{"mode": "sample", "sample_count": 40}, "max_charge_microusd": "4000"}
	first := h.finished(more)
	var before, after api.ChainRecord
	h.send("GET", "/v1/runs/"+first+"/chain", nil).want(t, 200).into(t, &before)
	var part api.ChainExport
	h.send("GET", "/v1/runs/"+first+"/export?format=summary&include_resumed=true", nil).want(t, 200).into(t, &part)
	if len(part.Unscored) != 1 || part.Unscored[0].Code != "skipped_budget" || part.Graded+part.Unscored[0].Cells != 40 || part.Profiles[0].Headline.Denominator != part.Graded || part.Complete || part.Label != "original" {
		t.Errorf("before: %d graded of %d, %+v, %s", part.Graded, part.Planned, part.Unscored, part.Label)
	}
	next := h.continued(t, first, "1000000")
	h.send("GET", "/v1/runs/"+first+"/chain", nil).want(t, 200).into(t, &after)
	if before.Complete || len(before.RunIDs) != 1 || !after.Complete || !cmp.Equal(after.RunIDs, []string{first, next.ID}) || before.Version == after.Version || !after.Supported {
		t.Errorf("before %+v, after %+v", before, after)
	}
	var status api.ContinuationStatus
	h.send("GET", "/v1/runs/"+first+"/continuation", nil).want(t, 200).into(t, &status)
	if status.NewestRunID != next.ID || status.NewestResumable || *status.ReasonCode != "nothing_to_resume" || !status.Supported {
		t.Errorf("%+v", status)
	}
	var summary api.ChainExport
	h.send("GET", "/v1/runs/"+first+"/export?format=summary&include_resumed=true", nil).want(t, 200).into(t, &summary)
	if summary.Samples != nil || summary.Label != "original + 1 resume" {
		t.Errorf("%s, %d tasks in the summary", summary.Label, len(summary.Samples))
	}
	h.send("GET", "/v1/runs/"+first+"/export?include_resumed=true&version=1", nil).refused(t, 422, "invalid_request")
}

// EXP-15: a chain's export is a result by itself: whose it is, of what kind, why
// it ended, and what all of its runs were given and cost. Reports are of the same.
func TestChainExport_EXP15_ByItself(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	first := h.finished(object{"selection": h.texts(t), "coverage": object{"mode": "sample", "sample_count": 40}, "max_charge_microusd": "4000"})
	next := h.continued(t, first, "6000")
	var chain api.ChainExport
	h.send("GET", "/v1/runs/"+first+"/export?format=summary&include_resumed=true", nil).want(t, 200).into(t, &chain)
	var runs [2]api.ExportSummary
	var want api.BillingSnapshot
	var charged usd.Micro
	for i, id := range []string{first, next.ID} {
		h.send("GET", "/v1/runs/"+id+"/export?format=summary", nil).want(t, 200).into(t, &runs[i])
		b := runs[i].BillingSnapshot
		want.AsOf, want.CapMicrousd, want.SpendMicrousd = b.AsOf, want.CapMicrousd+b.CapMicrousd, want.SpendMicrousd+b.SpendMicrousd
		charged += *b.ChargedMicrousd
		if c := chain.Runs[i]; c.RunID != id || c.SpendMicrousd != b.SpendMicrousd || c.SpendMicrousd == 0 || c.ResultVersion != runs[i].ResultVersion || *c.TerminalReason != *runs[i].Summary.TerminalReason {
			t.Errorf("run %d of the chain is %+v", i, c)
		}
	}
	want.ChargedMicrousd = &charged
	if d := cmp.Diff(want, chain.BillingSnapshot); d != "" {
		t.Error("the bill is not the sum of the runs:", d)
	}
	if chain.WorkspaceID != runs[1].WorkspaceID || chain.TargetKind != api.ManagedKind || *chain.TerminalReason != "spending_cap" || chain.Chain.Status != api.StatusPartial {
		t.Errorf("the chain is of workspace %q, kind %q, ended %v as %s", chain.WorkspaceID, chain.TargetKind, chain.TerminalReason, chain.Chain.Status)
	}
	if d := cmp.Diff(runs[1].Profiles, chain.Profiles); d != "" {
		t.Error("the figures are not those of the newest run, which has every task:", d)
	}
	for _, format := range []string{"html", "md", "junit"} {
		page := html.UnescapeString(string(h.send("GET", "/v1/runs/"+first+"/export?include_resumed=true&format="+format, nil).want(t, 200).body))
		for _, s := range []string{"original + 1 resume", next.ID, report.Dollars(want.SpendMicrousd), report.Dollars(want.CapMicrousd), chain.Checksum} {
			if !strings.Contains(page, s) {
				t.Errorf("%s does not say %q", format, s)
			}
		}
	}
}

// A chain whose newest run goes on has no result yet: the refusal names that run,
// whichever one was asked for.
func TestChain_GoesOn(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	first := h.finished(object{"selection": h.texts(t), "coverage": object{"mode": "sample", "sample_count": 40}, "max_charge_microusd": "4000"})
	var q api.QuoteRecord
	h.send("POST", "/v1/runs/"+first+"/continuation-quotes", object{"max_charge_microusd": "6000"}).want(t, 200).into(t, &q)
	next := h.liveOf(t, q.ID)
	p := h.send("GET", "/v1/runs/"+first+"/export?include_resumed=true", nil).refused(t, 409, "run_not_finished")
	if id := p.Error.Details["run_id"]; id != string(next) {
		t.Errorf("the refusal names %v, the newest run is %s", id, next)
	}
	var c api.ChainRecord
	h.send("GET", "/v1/runs/"+first+"/chain", nil).want(t, 200).into(t, &c)
	if c.Complete || c.NewestRunID != string(next) || c.Status.Terminal() {
		t.Errorf("the chain is %+v", c)
	}
}

// A reused answer that was graded again and got another score: the chain warns
// of it and is not complete, whatever else is.
func TestChain_CHN10_Mismatch(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	first := h.finished(object{"selection": h.texts(t), "coverage": object{"mode": "sample", "sample_count": 20}, "max_charge_microusd": "4000"})
	next := h.continued(t, first, "1000000")
	chain := func() (c api.ChainExport) {
		h.send("GET", "/v1/runs/"+first+"/export?format=json&include_resumed=true", nil).want(t, 200).into(t, &c)
		return c
	}
	if c := chain(); !c.Complete || len(c.Warnings) > 0 {
		t.Fatalf("the chain is complete %t, %v", c.Complete, c.Warnings)
	}
	reused, err := h.store.Continuation().Reused(t.Context(), core.RunID(next.ID), 0, 1)
	if err != nil || len(reused) != 1 {
		t.Fatal(reused, err)
	}
	other := 0.25
	if err := h.store.Continuation().RecordMismatch(t.Context(), core.RunID(next.ID), core.Mismatch{Idx: reused[0].Idx, Original: reused[0].Score, Replayed: &other}); err != nil {
		t.Fatal(err)
	}
	c := chain()
	if c.Complete || c.Chain.Complete || !cmp.Equal(c.Warnings, []api.ChainWarning{{Code: api.ReuseScoreMismatch}}) {
		t.Errorf("complete %t and %t, %v", c.Complete, c.Chain.Complete, c.Warnings)
	}
	var summary api.ChainExport
	h.send("GET", "/v1/runs/"+first+"/export?format=summary&include_resumed=true", nil).want(t, 200).into(t, &summary)
	if len(summary.ReuseScoreMismatch) != 1 || summary.ReuseScoreMismatch[0].TaskID != nil || summary.Complete || len(summary.Warnings) != 1 {
		t.Errorf("the summary, which names no task, says %+v, %v", summary.ReuseScoreMismatch, summary.Warnings)
	}
	page := html.UnescapeString(string(h.send("GET", "/v1/runs/"+first+"/export?format=html&include_resumed=true", nil).want(t, 200).body))
	if !strings.Contains(page, "A reused answer got another score") || !strings.Contains(page, "original + 1 resume, not complete") {
		t.Error("the page does not warn")
	}
	if len(c.ReuseScoreMismatch) != 1 || *c.ReuseScoreMismatch[0].TaskID == "" || c.ReuseScoreMismatch[0].Original != reused[0].Score || *c.ReuseScoreMismatch[0].Replayed != other {
		t.Errorf("%+v", c.ReuseScoreMismatch)
	}
}

// The wire refuses what cannot be resumed with the code and the details of the
// contract, and starts nothing.
func TestContinuationRefusals_CHN03(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	done := h.finished(object{})
	capped := h.finished(object{"coverage": object{"mode": "sample", "sample_count": 60}, "max_charge_microusd": "4000"})
	quote := func(id string, body object) reply { return h.send("POST", "/v1/runs/"+id+"/continuation-quotes", body) }
	for _, tt := range []struct {
		name, run string
		body      object
		status    int
		code      string
	}{
		{"no such run", "none", object{}, 404, "not_found"},
		{"nothing is left", done, object{"max_charge_microusd": "1000000"}, 409, "nothing_to_resume"},
		{"a cap that pays nothing", capped, object{"max_charge_microusd": "1"}, 422, "cap_below_minimum"},
		{"a cap of nothing", capped, object{"max_charge_microusd": "0"}, 422, "invalid_request"},
		{"a negative limit", capped, object{"retry_unknown": true, "retry_unknown_max": -1}, 422, "invalid_request"},
		{"a misspelt field", capped, object{"include_canceled": true}, 422, "invalid_request"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			quote(tt.run, tt.body).refused(t, tt.status, tt.code)
		})
	}
	// CHN-03: only SOB Text runs are chained into one result.
	h.send("GET", "/v1/runs/"+capped+"/export?include_resumed=true", nil).refused(t, 422, "resume_unsupported")
	var preview api.QuoteRecord
	quote(capped, object{}).want(t, 200).into(t, &preview)
	if !preview.Preview || preview.Continuation == nil || preview.Continuation.SourceRunID != capped || preview.Continuation.ReusedCells == 0 {
		t.Errorf("without a cap the quote is %+v", preview)
	}
	next := h.continued(t, capped, "1000000")
	quote(capped, object{"max_charge_microusd": "1000000"}).refused(t, 409, "continuation_exists")
	quote(next.ID, object{"max_charge_microusd": "1000000"}).refused(t, 409, "nothing_to_resume")
	var p api.ContinuationPlan
	h.send("GET", "/v1/quotes/"+next.QuoteID, nil).want(t, 200).into(t, &struct {
		Continuation *api.ContinuationPlan `json:"continuation"`
	}{&p})
	if p.PlannedCells != p.ReusedCells+p.SavedResponseCells+p.RerunCells+p.LeftOut.Cells+p.Pending.Cells || p.PlannedCells != 60 || p.ReusedCells != next.ReusedCount {
		t.Errorf("the plan does not add up: %+v", p)
	}
	h.now.Add(31 * 24 * 3600 * 1_000_000)
	quote(done, object{"max_charge_microusd": "1000000"}).refused(t, 410, "evidence_expired")
	if r := h.record(t, next.ID); r.Resume.Status != "unavailable" || *r.Resume.ReasonCode != string(core.EvidenceGone) {
		t.Errorf("past its retention the run says %+v", r.Resume)
	}
}
