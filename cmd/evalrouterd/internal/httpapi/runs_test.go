package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

func TestQuoteRefusals(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	tests := []struct {
		name   string
		change object
		status int
		code   string
	}{
		{"unknown benchmark", object{"selection": object{"profile_ids": []string{"none@1"}}}, 404, "not_found"},
		{"unknown eval", object{"selection": object{"eval": "none@1"}}, 404, "not_found"},
		{"eval of another provider", object{"selection": object{"eval": "eval://acme/arithmetic/1"}}, 404, "namespace_not_found"},
		{"eval and profiles", object{"selection": object{"eval": "arithmetic@1", "profile_ids": []string{profil}}}, 422, "invalid_request"},
		{"two benchmarks", object{"selection": object{"profile_ids": []string{profil, profil}}}, 404, "feature_unavailable"},
		{"51 benchmarks", object{"selection": object{"profile_ids": make([]string, 51)}}, 422, "invalid_request"},
		{"suite", object{"selection": object{"suite_version_id": "s"}}, 404, "feature_unavailable"},
		{"split", object{"selection": object{"eval": "arithmetic@1", "split": "train"}}, 422, "invalid_request"},
		{"unknown route", object{"model": object{"kind": "managed", "route_id": "none"}}, 409, "model_unavailable"},
		{"unknown connection", object{"model": object{"kind": "connection", "connection_id": "none"}}, 409, "model_unavailable"},
		{"unknown kind", object{"model": object{"kind": "comparison"}}, 422, "invalid_request"},
		{"route and connection", object{"model": object{"kind": "managed", "route_id": solver, "connection_id": "x"}}, 422, "invalid_request"},
		{"full with a count", object{"coverage": object{"mode": "full", "sample_count": 3}}, 422, "invalid_request"},
		{"cap below the minimum", object{"max_charge_microusd": "1"}, 422, "cap_below_minimum"},
		{"cap above the limit", object{"max_charge_microusd": "100000000001"}, 422, "budget_limit"},
		{"RUN-33 reasoning that the route does not offer", object{"reasoning": object{"mode": "effort", "effort": "high"}}, 422, "reasoning_unsupported"},
		{"output format", object{"output_format": "json_schema"}, 422, "output_format_unsupported"},
		{"concurrency of 101", object{"concurrency": 101}, 422, "invalid_request"},
		{"long name", object{"name": fmt.Sprintf("%0201d", 1)}, 422, "invalid_request"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h.send("POST", "/v1/quotes", newQuote(tt.change)).refused(t, tt.status, tt.code)
		})
	}
	t.Run("every spelling of a reference is the same benchmark", func(t *testing.T) {
		for _, ref := range []string{"arithmetic@1", "arithmetic", "eval://evalrouter/arithmetic/1"} {
			var q api.QuoteRecord
			h.send("POST", "/v1/quotes", newQuote(object{"selection": object{"eval": ref}})).want(t, 200).into(t, &q)
			if q.Plan.Profiles[0].ID != profil {
				t.Errorf("%s quotes %s", ref, q.Plan.Profiles[0].ID)
			}
		}
	})
}

func TestQuoteLife(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id := h.quote(nil)
	at := func(d time.Duration) (q api.QuoteRecord) {
		h.now.Store(began.Add(d).UnixMicro())
		h.send("GET", "/v1/quotes/"+id, nil).want(t, 200).into(t, &q)
		return q
	}
	if q := at(30*time.Minute - time.Microsecond); q.Status != "open" {
		t.Errorf("just before its end the quote is %s", q.Status)
	}
	if q := at(30 * time.Minute); q.Status != "expired" || q.ExpiresIn != 0 {
		t.Errorf("at its end the quote is %s with %d seconds left", q.Status, q.ExpiresIn)
	}
	h.send("POST", "/v1/runs", object{"quote_id": id}, keyed("late")).refused(t, 410, "quote_expired")
}

// TestReplay_QUO13 sends one request many ways: the same key and body are answered
// with the same bytes and start one run.
func TestReplay_QUO13(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	tests := []struct {
		name, path string
		body       func() object
	}{
		{"run", "/v1/runs", func() object { return object{"quote_id": h.quote(nil), "name": "once"} }},
		{"evaluation", "/v1/evaluations", func() object {
			return object{"model": solver, "eval": "arithmetic@1", "budget_usd": 1.25, "coverage": object{"mode": "sample", "sample_count": 3}}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := tt.body()
			h.send("POST", tt.path, body).refused(t, 400, "idempotency_key_required")
			h.send("POST", tt.path, body, keyed(string(bytes.Repeat([]byte("k"), 129)))).refused(t, 422, "invalid_request")
			h.send("POST", tt.path, body, keyed("ä")).refused(t, 422, "invalid_request")
			before := h.runs(t)
			const n = 20
			replies := make([]reply, n)
			var group sync.WaitGroup
			for i := range n {
				group.Add(1)
				go func() {
					defer group.Done()
					var err error
					if replies[i], err = h.try("POST", tt.path, body, keyed("key of "+tt.name)); err != nil {
						t.Error(err)
					}
				}()
			}
			group.Wait()
			first := 0
			for i, r := range replies {
				if r.status != 200 || !bytes.Equal(r.body, replies[0].body) {
					t.Errorf("answer %d has status %d and other bytes: %s", i, r.status, r.body)
				}
				switch v := r.header.Get("Idempotency-Replayed"); v {
				case "":
					first++
				case "true":
				default:
					t.Errorf("Idempotency-Replayed is %q", v)
				}
			}
			if first != 1 {
				t.Errorf("%d answers say that they are no replay", first)
			}
			if after := h.runs(t); after != before+1 {
				t.Errorf("%d runs became %d", before, after)
			}
			changed := tt.body()
			changed["name"] = "another"
			h.send("POST", tt.path, changed, keyed("key of "+tt.name)).refused(t, 409, "idempotency_conflict")
		})
	}
}

func (h *harness) runs(t *testing.T) int {
	t.Helper()
	var p api.Page[api.RunRecord]
	h.send("GET", "/v1/runs?limit=200", nil).want(t, 200).into(t, &p)
	return len(p.Data)
}

// TestReplayQuotesOnce repeats an evaluation under its key: no second quote is
// made.
func TestReplayQuotesOnce(t *testing.T) {
	t.Parallel()
	count := &countingAdmission{}
	h := newHarness(t, func(o *httpapi.Options) { count.Admission, o.Admission = o.Admission, count })
	body := object{"model": object{"kind": "managed", "route_id": solver}, "eval": "arithmetic@1", "max_charge_microusd": "1000000"}
	for range 3 {
		h.send("POST", "/v1/evaluations", body, keyed("again")).want(t, 200)
	}
	if n := count.quotes; n != 1 {
		t.Errorf("%d quotes were made", n)
	}
}

type countingAdmission struct {
	httpapi.Admission
	quotes int
}

func (c *countingAdmission) Quote(ctx context.Context, sc core.Scope, r admission.QuoteRequest) (core.Quote, error) {
	c.quotes++
	return c.Admission.Quote(ctx, sc, r)
}

// TestInProgress holds one request at work: another with its key waits, and
// is told so when its patience ends.
func TestInProgress(t *testing.T) {
	t.Parallel()
	slow := &slowAdmission{began: make(chan struct{}), goOn: make(chan struct{})}
	h := newHarness(t, func(o *httpapi.Options) { slow.Admission, o.Admission = o.Admission, slow })
	expired := make(chan time.Time)
	close(expired)
	body := object{"quote_id": h.quote(nil)}
	first := make(chan reply)
	go func() {
		r, err := h.try("POST", "/v1/runs", body, keyed("slow"))
		if err != nil {
			t.Error(err)
		}
		first <- r
	}()
	<-slow.began
	h.after.Store(&expired)
	r := h.send("POST", "/v1/runs", body, keyed("slow"))
	r.refused(t, 409, "operation_in_progress")
	if r.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q", r.header.Get("Retry-After"))
	}
	h.after.Store(nil)
	second := make(chan reply)
	go func() {
		r, err := h.try("POST", "/v1/runs", body, keyed("slow"))
		if err != nil {
			t.Error(err)
		}
		second <- r
	}()
	close(slow.goOn)
	a, b := (<-first).want(t, 200), (<-second).want(t, 200)
	if !bytes.Equal(a.body, b.body) {
		t.Errorf("the waiting request got other bytes:\n%s\n%s", a.body, b.body)
	}
}

type slowAdmission struct {
	httpapi.Admission
	once        sync.Once
	began, goOn chan struct{}
}

func (s *slowAdmission) Start(ctx context.Context, sc core.Scope, r admission.RunRequest) (core.Admitted, error) {
	s.once.Do(func() { close(s.began) })
	<-s.goOn
	return s.Admission.Start(ctx, sc, r)
}

func TestEvaluationBudget(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	tests := []struct {
		name, budget string
		want         usd.Micro
		status       int
		code         string
	}{
		{"whole number", `"budget_usd":5,`, 5 * usd.Dollar, 200, ""},
		{"a tenth and two tenths stay exact", `"budget_usd":0.3,`, 300_000, 200, ""},
		{"the smallest unit in text", `"budget_usd":"1.000001",`, 1_000_001, 200, ""},
		{"micro-dollars", `"max_charge_microusd":"250000",`, 250_000, 200, ""},
		{"null beside micro-dollars", `"budget_usd":null,"max_charge_microusd":"250000",`, 250_000, 200, ""},
		{"none", ``, 0, 422, "budget_required"},
		{"null", `"budget_usd":null,`, 0, 422, "budget_required"},
		{"twice", `"budget_usd":1,"max_charge_microusd":"250000",`, 0, 422, "invalid_request"},
		{"seven decimals", `"budget_usd":0.0000001,`, 0, 422, "invalid_request"},
		{"exponent", `"budget_usd":1e2,`, 0, 422, "invalid_request"},
		{"negative", `"budget_usd":-1,`, 0, 422, "invalid_request"},
		{"zero", `"budget_usd":0,`, 0, 422, "invalid_request"},
		{"words", `"budget_usd":"a lot",`, 0, 422, "invalid_request"},
		{"a switch", `"budget_usd":true,`, 0, 422, "invalid_request"},
		{"an object", `"budget_usd":{},`, 0, 422, "invalid_request"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := h.send("POST", "/v1/evaluations", `{`+tt.budget+`"model":"`+solver+`","eval":"arithmetic@1","coverage":{"sample_count":1}}`, keyed(tt.name))
			if tt.code != "" {
				r.refused(t, tt.status, tt.code)
				return
			}
			var run api.RunRecord
			if r.want(t, 200).into(t, &run); run.CapMicrousd != tt.want {
				t.Errorf("the cap is %s, want %s", run.CapMicrousd, tt.want)
			}
		})
	}
	for _, model := range []string{"checkpoint:x", "agent:x", "artifact:x"} {
		h.send("POST", "/v1/evaluations", object{"model": model, "eval": "arithmetic@1", "budget_usd": 1}, keyed(model)).refused(t, 404, "feature_unavailable")
	}
	h.send("POST", "/v1/evaluations", object{"model": "", "eval": "arithmetic@1", "budget_usd": 1}, keyed("empty")).refused(t, 422, "invalid_request")
}

// TestCredit_TRN16_QUO09_QUO11 quotes more than there is: admission checks the
// credit by itself, and the same quote works once there is enough. What was
// held and not charged comes back.
func TestCredit_TRN16_QUO09_QUO11(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id := h.quote(object{"max_charge_microusd": "100000001"})
	p := h.send("POST", "/v1/runs", object{"quote_id": id}, keyed("dear")).refused(t, 402, "insufficient_credit")
	if p.Error.Details["required_microusd"] != "100000001" || p.Error.Details["available_microusd"] != "100000000" {
		t.Errorf("the details are %v", p.Error.Details)
	}
	if err := h.store.Grant(t.Context(), "more", core.Local, core.PracticeBook, 1, "one more"); err != nil {
		t.Fatal(err)
	}
	var run api.RunRecord
	h.send("POST", "/v1/runs", object{"quote_id": id}, keyed("dear")).want(t, 200).into(t, &run)
	h.await(run.ID)
	var l api.Page[api.LedgerEntry]
	h.send("GET", "/v1/credits/ledger?limit=200&run_id="+run.ID, nil).want(t, 200).into(t, &l)
	sum, kinds := usd.Micro(0), map[string]int{}
	for _, e := range l.Data {
		kinds[e.Kind]++
		if e.Kind == "charge" {
			sum -= e.AmountMicrousd
		}
	}
	h.send("GET", "/v1/runs/"+run.ID, nil).want(t, 200).into(t, &run)
	if sum != run.SpendMicrousd || kinds["hold"] != 1 || kinds["release"] != 1 || kinds["charge"] != 3 {
		t.Errorf("the run spent %s; its entries are %v with charges of %s", run.SpendMicrousd, kinds, sum)
	}
	h.send("GET", "/v1/credits/ledger?limit=200", nil).want(t, 200).into(t, &l)
	var c api.CreditsRecord
	h.send("GET", "/v1/credits", nil).want(t, 200).into(t, &c)
	if newest := l.Data[0]; newest.BalanceAfterMicrousd != c.Practice.BalanceMicrousd || c.Practice.HeldMicrousd != 0 {
		t.Errorf("the newest entry leaves %s, the balance is %s with %s held", newest.BalanceAfterMicrousd, c.Practice.BalanceMicrousd, c.Practice.HeldMicrousd)
	}
	var paged []api.LedgerEntry
	for at := "/v1/credits/ledger?limit=2"; at != ""; {
		var page api.Page[api.LedgerEntry]
		h.send("GET", at, nil).want(t, 200).into(t, &page)
		paged, at = append(paged, page.Data...), ""
		if page.NextCursor != nil {
			at = "/v1/credits/ledger?limit=2&cursor=" + *page.NextCursor
		}
	}
	if diff := cmp.Diff(l.Data, paged); diff != "" {
		t.Errorf("the ledger reads otherwise page by page: %s", diff)
	}
}

func TestRunList(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	var ids []string
	for i := range 7 {
		h.now.Store(began.Add(time.Duration(i) * time.Minute).UnixMicro())
		ids = append(ids, h.finished(nil))
	}
	list := func(query string) (out []string, next *string) {
		var p api.Page[api.RunRecord]
		h.send("GET", "/v1/runs?"+query, nil).want(t, 200).into(t, &p)
		for _, r := range p.Data {
			out = append(out, r.ID)
		}
		return out, p.NextCursor
	}
	var paged []string
	for q := "limit=3"; ; {
		page, next := list(q)
		paged = append(paged, page...)
		if next == nil {
			break
		}
		q = "limit=3&cursor=" + *next
	}
	if len(paged) != 7 || paged[0] != ids[6] || paged[6] != ids[0] {
		t.Errorf("the pages list %v of %v", paged, ids)
	}
	prefix := ids[0][:8] // the ids of the harness share it
	if found, next := list("id_prefix=" + prefix); len(found) != 5 || next != nil {
		t.Errorf("an ambiguous prefix lists %d runs, next %v", len(found), next)
	}
	if found, _ := list("id_prefix=" + ids[2]); len(found) != 1 || found[0] != ids[2] {
		t.Errorf("a whole id lists %v", found)
	}
	middle := began.Add(3 * time.Minute).Format(time.RFC3339)
	for query, want := range map[string]int{
		"created_after=" + middle: 3, "created_before=" + middle: 3, "status=completed": 7, "status=running": 0, "route_id=" + solver: 7, "route_id=none": 0,
		"connection_id=none": 0, "profile_id=arithmetic%401": 7, "profile_id=none": 0, "group_id=none": 0,
	} {
		if found, _ := list(query); len(found) != want {
			t.Errorf("%s lists %d runs, want %d", query, len(found), want)
		}
	}
}

// TestQuote_CON09 quotes a connection: the provider's bill is outside the cap,
// and the quote says so, with declared rates and without.
func TestQuote_CON09(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	tests := []struct {
		name  string
		rates object
		says  string
	}{
		{"no rates", object{}, "the cap cannot bound"},
		{"declared rates", object{"price_in_microusd": "1000000", "price_out_microusd": "2000000"}, "at your declared rates"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := object{"name": tt.name, "base_url": "https://example.com/v1", "model_id": "m", "api_key": "k"}
			for k, v := range tt.rates {
				n[k] = v
			}
			var c struct{ ID string }
			h.send("POST", "/v1/connections", n).want(t, 200).into(t, &c)
			var q api.QuoteRecord
			h.send("POST", "/v1/quotes", newQuote(object{"model": object{"kind": "connection", "connection_id": c.ID}})).want(t, 200).into(t, &q)
			if q.ExternalCharges == nil || !strings.Contains(*q.ExternalCharges, tt.says) || *q.Plan.Model.Selected.ProviderCharges != "external" || q.Plan.Pricing.ProviderCharges != "external" {
				t.Errorf("the quote says %v", q.ExternalCharges)
			}
			if !strings.Contains(strings.Join(q.Plan.Warnings, "\n"), "provider bills you directly") {
				t.Errorf("the warnings are %q", q.Plan.Warnings)
			}
			if unpriced := len(tt.rates) == 0; unpriced != (q.MinimumCapMicrousd == nil) || unpriced != (q.Plan.Pricing.InputMicrousd == nil) {
				t.Errorf("the minimum cap is %v, the rate %v", q.MinimumCapMicrousd, q.Plan.Pricing.InputMicrousd)
			}
		})
	}
}

// TestQuote_QUO06_QUO08 makes quotes: they start nothing, hold nothing and
// hold no forecast.
func TestQuote_QUO06_QUO08(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	before := h.send("GET", "/v1/credits/ledger", nil).want(t, 200)
	for range 3 {
		r := h.send("POST", "/v1/quotes", newQuote(nil)).want(t, 200)
		for _, word := range []string{"estimate", "forecast", "worst", "expected"} {
			if bytes.Contains(r.body, []byte(word)) {
				t.Errorf("the quote holds %q: %s", word, r.body)
			}
		}
	}
	if after := h.send("GET", "/v1/credits/ledger", nil).want(t, 200); !bytes.Equal(before.body, after.body) {
		t.Errorf("quotes moved credit: %s", after.body)
	}
	if n := h.runs(t); n != 0 {
		t.Errorf("%d runs exist", n)
	}
}

// TestSubmit_QUO14 uses another key: with the same quote it starts nothing and
// names the run, with a fresh quote it starts separate work.
func TestSubmit_QUO14(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	quote := h.quote(nil)
	first := h.started(quote, "one")
	p := h.send("POST", "/v1/runs", object{"quote_id": quote}, keyed("two")).refused(t, 409, "quote_already_accepted")
	if p.Error.Details["run_id"] != first {
		t.Errorf("the details are %v, want run_id %s", p.Error.Details, first)
	}
	if second := h.started(h.quote(nil), "two"); second == first {
		t.Error("another key and quote give the same run")
	}
	h.await(first)
}
