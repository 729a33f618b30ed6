package apitest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/apitest/contract"
	"github.com/evalrouter/evalrouter/lib/apitest/exercise"
	"github.com/evalrouter/evalrouter/lib/usd"
)

func TestFakeKeepsTheContract(t *testing.T) {
	t.Parallel()
	f := apitest.NewFake(apitest.Options{TaskTime: 5 * time.Millisecond})
	defer f.Close()
	exercise.Run(t, f.Target())
}

func TestFakeWithASteppingClock(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	f := apitest.NewFake(apitest.Options{Now: apitest.Stepping(start, 10*time.Millisecond), TaskTime: 40 * time.Millisecond})
	defer f.Close()
	exercise.Run(t, f.Target())
}

// What the suite looks for it must also find: every kind of damage to a
// record is one complaint.
func TestCheckFindsDamage(t *testing.T) {
	t.Parallel()
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	const good = `{"run_id":"r","billing_state":"settled","cap_microusd":"5","reserved_microusd":"0","spend_microusd":"5","currency":"USD",` +
		`"created_at":"2026-01-01T00:00:00Z","summary_expires_at":"2027-01-01T00:00:00.5Z","report_expired":false,"external_spend_microusd":"0"}`
	tests := []struct{ name, old, new, want string }{
		{"none", "", "", ""},
		{"missing member", `"run_id":"r",`, ``, "RunReceipt.run_id is missing"},
		{"unknown member", `"run_id":"r",`, `"run_id":"r","extra":1,`, "RunReceipt.extra is not in the contract"},
		{"null", `"run_id":"r"`, `"run_id":null`, "RunReceipt.run_id is null"},
		{"money as a number", `"cap_microusd":"5"`, `"cap_microusd":5`, "RunReceipt.cap_microusd: want money, got the number 5"},
		{"money with a fraction", `"cap_microusd":"5"`, `"cap_microusd":"5.0"`, `RunReceipt.cap_microusd: want money, got "5.0"`},
		{"negative money", `"cap_microusd":"5"`, `"cap_microusd":"-5"`, `RunReceipt.cap_microusd: want money, got "-5"`},
		{"unknown word", `"settled"`, `"paid"`, "RunReceipt.billing_state: paid is none of pending, settled, reconciliation_required"},
		{"local time", `01-01T00:00:00Z"`, `01-01T00:00:00+02:00"`, `RunReceipt.created_at: want ts, got "2026-01-01T00:00:00+02:00"`},
		{"text for a truth value", `"report_expired":false`, `"report_expired":"no"`, `RunReceipt.report_expired: want bool, got "no"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(c.Check("RunReceipt", []byte(strings.Replace(good, tt.old, tt.new, 1))), "; ")
			if got != tt.want {
				t.Errorf("complaint %q, want %q", got, tt.want)
			}
		})
	}
	page := `{"data":[{"ok":true},{"ok":1}],"next":null}`
	want := []string{"page: next_cursor is missing", "page: unknown member next", "data[1].ok: want bool, got the number 1"}
	if d := cmp.Diff(want, c.CheckPage("OKResponse", []byte(page))); d != "" {
		t.Errorf("page (-want +got):\n%s", d)
	}
}

// A run that its cap cannot carry ends early, and says so everywhere.
func TestFakeStopsAtTheCap(t *testing.T) {
	t.Parallel()
	f := apitest.NewFake(apitest.Options{Now: apitest.Stepping(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Second), TaskTime: time.Second})
	defer f.Close()
	c, err := evalrouter.New(evalrouter.Config{BaseURL: f.URL, APIKey: f.Token, WorkspaceID: f.WorkspaceID, AllowHTTP: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	limit := usd.Micro(1_500)
	q, err := c.Quotes.Create(t.Context(), api.NewQuote{
		Selection: api.Selection{Eval: "dates@1"}, Model: api.ModelRef{Kind: api.ManagedKind, RouteID: "practice.solver-80"}, MaxChargeMicrousd: &limit,
	})
	if err != nil {
		t.Fatal(err)
	}
	run, err := c.Runs.Submit(t.Context(), api.NewRun{QuoteID: q.ID}, "k")
	if err != nil {
		t.Fatal(err)
	}
	run, err = c.Runs.Wait(t.Context(), run.ID, evalrouter.WaitOptions{Every: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if run.Status != api.StatusPartial || *run.TerminalReason != "spending_cap" || run.SpendMicrousd > limit || run.SpendMicrousd+*q.MinimumCapMicrousd <= limit {
		t.Errorf("under a cap of %s the run ends %s, %s, having spent %s", limit, run.Status, *run.TerminalReason, run.SpendMicrousd)
	}
	if n := run.Outcomes["skipped_budget"]; n == 0 || n+run.GradedCount != 25 {
		t.Errorf("outcomes %v", run.Outcomes)
	}
}

func TestFakeFaults(t *testing.T) {
	t.Parallel()
	f := apitest.NewFake(apitest.Options{})
	defer f.Close()
	c, err := evalrouter.New(evalrouter.Config{BaseURL: f.URL, APIKey: f.Token, AllowHTTP: true, Retries: new(0)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	f.FailAfter("GET /v1/credits", 1, 503, api.Unavailable, "9")
	_, err = c.Credits.Get(t.Context())
	var e *evalrouter.Error
	if !errors.As(err, &e) || e.Code != api.Unavailable || e.Status != 503 || e.RetryAfter != 9*time.Second {
		t.Errorf("a scripted failure reads %+v", err)
	}
	if _, err := c.Credits.Get(t.Context()); err != nil {
		t.Errorf("the failure stays: %v", err)
	}
	f.Grant(-200 * usd.Dollar)
	credits, err := c.Credits.Get(t.Context())
	if err != nil || credits.AvailableMicrousd != -100*usd.Dollar || f.Count("GET /v1/credits") != 3 || len(f.Mutations()) != 0 {
		t.Errorf("credits %+v (%v) after %d reads and %d changes", credits, err, f.Count("GET /v1/credits"), len(f.Mutations()))
	}
}
