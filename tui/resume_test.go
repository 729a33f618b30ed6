package tui_test

import (
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/kit/kittest"
)

// stopping are runs that somebody stops.
func stopping() apitest.Options { return apitest.Options{TaskTime: 30 * time.Second} }

func leavingOut(w *world) {
	if err := w.fake.ShapePlans(`{"left_out":{"cells":2,"acknowledgement_required":true,"reasons":[{"code":"refused","cells":2,"permanent":true}]}}`); err != nil {
		w.t.Fatal(err)
	}
}

// toContinue stops a run elsewhere and opens how to go on with it.
func toContinue(w *world, x *kittest.Harness) {
	w.t.Helper()
	c, ctx, spend, n := w.client(), w.t.Context(), 5*usd.Dollar, 25
	q, err := c.Quotes.Create(ctx, api.NewQuote{
		Selection: api.Selection{ProfileIDs: []string{"arithmetic@1"}}, Model: api.ModelRef{Kind: api.ManagedKind, RouteID: "practice.solver-80"},
		Coverage: &api.Coverage{Mode: api.Sample, SampleCount: &n}, MaxChargeMicrousd: &spend,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	run, err := c.Runs.Submit(ctx, api.NewRun{QuoteID: q.ID}, "stopped")
	if err != nil {
		w.t.Fatal(err)
	}
	w.clock.Advance(100 * time.Second)
	if _, err := c.Runs.Cancel(ctx, run.ID); err != nil {
		w.t.Fatal(err)
	}
	w.clock.Advance(time.Minute)
	pick(x, "run hist")
	x.Press(kit.Enter)
	x.Wants("Resume")
	x.Type("r")
}

func TestResume(t *testing.T) {
	t.Parallel()
	body := func(w *world) string {
		for _, m := range w.fake.Mutations() {
			if m.Path == "/v1/runs" && strings.Contains(m.Body, "acknowledgements") {
				return m.Body
			}
		}
		return ""
	}
	for _, tt := range []struct {
		name  string
		steps func(*testing.T, *world, *kittest.Harness)
	}{
		{"two Enters start the rest", func(t *testing.T, w *world, x *kittest.Harness) {
			toContinue(w, x)
			x.Wants("[ ] what a person", "No consent is given beforehand")
			x.Press(kit.Tab)
			x.Until("Start resume, cap $5.00")
			x.Wants("Goes on with", "already graded, at $0.00", "Run now", "NOTHING HAS STARTED")
			x.Press(kit.Enter)
			x.Wants("ENTER TO CONFIRM")
			if w.fake.Runs() != 1 {
				t.Errorf("%d runs after the first Enter", w.fake.Runs())
			}
			x.Press(kit.Enter)
			x.Until("Live run")
			x.Until("The run has ended")
			if w.fake.Runs() != 2 {
				t.Errorf("%d runs", w.fake.Runs())
			}
		}},
		{"what stays out for good is asked first, and no is no", func(t *testing.T, w *world, x *kittest.Harness) {
			leavingOut(w)
			toContinue(w, x)
			x.Press(kit.Tab)
			x.Until("Leave 2 tasks out, for good")
			x.Wants("2 refused by the model", "▸ Cancel, start nothing")
			x.Press(kit.Enter)
			x.Wants("Resume  run")
			if w.fake.Runs() != 1 {
				t.Errorf("%d runs", w.fake.Runs())
			}
		}},
		{"yes to it is no start", func(t *testing.T, w *world, x *kittest.Harness) {
			leavingOut(w)
			toContinue(w, x)
			x.Press(kit.Tab)
			x.Until("Leave 2 tasks out, for good")
			x.Press(kit.Up, kit.Up, kit.Enter)
			x.Until("Start resume, cap")
			x.Wants("NOTHING HAS STARTED")
			x.Press(kit.Enter, kit.Enter)
			x.Until("Live run")
			if got := body(w); !strings.Contains(got, `"left_out":true`) {
				t.Errorf("submitted %s", got)
			}
		}},
		{"a new attempt needs its own consents", func(t *testing.T, w *world, x *kittest.Harness) {
			if err := w.fake.ShapePlans(`{"unknown_retry":{"cells":3,"provider_may_bill_again":true,"consent_required":true}}`); err != nil {
				t.Fatal(err)
			}
			toContinue(w, x)
			x.Press(kit.Up, kit.Up, kit.Up)
			x.Type(" ")
			x.Wants("[x] tasks of unknown outcome", "[ ] … and my own provider")
			x.Press(kit.Tab)
			x.Until("may bill 3 tasks twice")
			x.Wants("There is no quote to start")
			x.Press(kit.Esc, kit.Down)
			x.Type(" ")
			x.Wants("[x] … and my own provider")
			x.Press(kit.Tab)
			x.Until("Start resume, cap")
			x.Wants("asked and paid for again")
			x.Press(kit.Enter, kit.Enter)
			x.Until("Live run")
			if got := body(w); !strings.Contains(got, `"retry_unknown":true`) || !strings.Contains(got, `"duplicate_provider_charges":true`) {
				t.Errorf("submitted %s", got)
			}
		}},
		{"a lost answer is found and starts nothing twice", func(t *testing.T, w *world, x *kittest.Harness) {
			toContinue(w, x)
			w.fake.Drop("POST /v1/runs", 1)
			x.Press(kit.Tab)
			x.Until("Start resume, cap")
			x.Press(kit.Enter, kit.Enter)
			x.Until("Live run")
			if w.fake.Runs() != 2 {
				t.Errorf("%d runs", w.fake.Runs())
			}
		}},
		{"a service that resumes nothing says so", func(_ *testing.T, w *world, x *kittest.Harness) {
			toContinue(w, x)
			w.fake.Fail("GET /v1/runs/{id}/continuation", 9, 404, api.NotFound)
			x.Press(kit.Tab)
			x.Until("does not resume runs")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, stopping())
			tt.steps(t, w, w.home(90, 30))
		})
	}
}
