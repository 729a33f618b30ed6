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

// ended lets a group elsewhere come to its end and opens it. Its first two members
// were stopped by their caps; nothing is left of the third.
func ended(w *world, x *kittest.Harness) {
	w.t.Helper()
	c, ctx, spend, n := w.client(), w.t.Context(), usd.Micro(3600), 20
	in := api.NewGroupQuote{
		Selection: api.Selection{ProfileIDs: []string{"arithmetic@1"}}, Coverage: &api.Coverage{Mode: api.Sample, SampleCount: &n}, MaxChargeMicrousd: &spend,
	}
	for _, id := range []string{"practice.solver-80", "acme.model-x", "practice.echo"} {
		in.Members = append(in.Members, api.GroupChoice{Model: api.ModelRef{Kind: api.ManagedKind, RouteID: id}})
	}
	q, err := c.Groups.Quote(ctx, in)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := c.Groups.Submit(ctx, api.NewGroup{GroupQuoteID: q.ID}, "ended"); err != nil {
		w.t.Fatal(err)
	}
	w.clock.Advance(time.Hour)
	pick(x, "run groups")
	x.Press(kit.Enter)
	x.Wants("Something is left to run. R resumes it, after a quote.")
}

// toRegroup opens how to go on with that group.
func toRegroup(w *world, x *kittest.Harness) {
	w.t.Helper()
	ended(w, x)
	x.Type("r")
	x.Wants("Resume  group", "3 models", "hard, of all new runs together")
}

func toRegroupReview(w *world, x *kittest.Harness) {
	w.t.Helper()
	toRegroup(w, x)
	x.Press(kit.Tab)
	x.Until("Start resume, cap $5.00")
	x.Settle()
}

// regrouped ends with the new group, whose members have run.
func regrouped(x *kittest.Harness) {
	x.Until("watching live")
	x.Until("All members have ended")
	x.Rest()
}

// regrouping are the frames of one who resumes a group.
func regrouping() []shot {
	return []shot{
		{"group-resumable", apitest.Options{}, ended},
		{"group-resumable-help", apitest.Options{}, func(w *world, x *kittest.Harness) { ended(w, x); x.Press(kit.F1) }},
		{"group-continue", apitest.Options{}, toRegroup},
		{"group-resume-review", apitest.Options{}, toRegroupReview},
		{"group-resume-left-out", apitest.Options{}, func(w *world, x *kittest.Harness) {
			leavingOut(w)
			toRegroup(w, x)
			x.Press(kit.Tab)
			x.Until("out, for good (nothing starts yet)")
		}},
		{"group-resumed", apitest.Options{}, func(w *world, x *kittest.Harness) {
			toRegroupReview(w, x)
			x.Press(kit.Enter, kit.Enter)
			regrouped(x)
			x.Press(kit.Esc, kit.CtrlU)
			pick(x, "run groups")
			x.Press(kit.End, kit.Enter)
			x.Wants("It was resumed")
		}},
	}
}

func TestGroupResume(t *testing.T) {
	t.Parallel()
	submitted := func(w *world) int { return w.fake.Count("POST /v1/groups") }
	body := func(w *world) (last string) {
		for _, m := range w.fake.Mutations() {
			if m.Path == "/v1/groups" {
				last = m.Body
			}
		}
		return last
	}
	for _, tt := range []struct {
		name  string
		steps func(*testing.T, *world, *kittest.Harness)
	}{
		{"two Enters start what is left of every member", func(t *testing.T, w *world, x *kittest.Harness) {
			toRegroup(w, x)
			x.Wants("[ ] what a person", "No consent is given beforehand", "Finished members stay as they are")
			x.Press(kit.Tab)
			x.Until("Start resume, cap $5.00")
			x.Settle()
			x.Wants("NOTHING HAS STARTED", "$5.00, hard for all together", "11 tasks already graded, at $0.00", "9 tasks", "cap $2.50, hard", "not resumed: nothing is left to run (run ")
			x.Press(kit.Enter)
			x.Wants("ENTER TO CONFIRM")
			if n := submitted(w); n != 1 {
				t.Errorf("%d groups after the first Enter", n)
			}
			x.Press(kit.Enter)
			regrouped(x)
			x.Wants("Group "+w.fake.GroupID(1)[:8], "20/20", "completed")
			x.Lacks("R resumes it", "Resume")
			if w.fake.Runs() != 5 || submitted(w) != 2 {
				t.Errorf("%d runs, %d submissions", w.fake.Runs(), submitted(w))
			}
		}},
		{"leaving the review starts nothing", func(t *testing.T, w *world, x *kittest.Harness) {
			toRegroupReview(w, x)
			x.Press(kit.Enter, kit.Esc, kit.Esc)
			x.Wants("Something is left to run")
			if n := submitted(w); n != 1 {
				t.Errorf("%d submissions", n)
			}
		}},
		{"leaving the price row takes it back", func(t *testing.T, w *world, x *kittest.Harness) {
			toRegroupReview(w, x)
			x.Press(kit.Enter, kit.Down, kit.Up, kit.Enter)
			x.Wants("ENTER TO CONFIRM")
			if n := submitted(w); n != 1 {
				t.Errorf("%d submissions", n)
			}
		}},
		{"what stays out of all members is asked once, and no is no", func(t *testing.T, w *world, x *kittest.Harness) {
			leavingOut(w)
			toRegroup(w, x)
			x.Press(kit.Tab)
			x.Until("Leave 4 tasks out, for good")
			x.Wants("4 refused by the model", "▸ Cancel, start nothing")
			x.Press(kit.Enter)
			x.Wants("Resume  group")
			if n := submitted(w); n != 1 {
				t.Errorf("%d submissions", n)
			}
		}},
		{"yes to it is no start", func(t *testing.T, w *world, x *kittest.Harness) {
			leavingOut(w)
			toRegroup(w, x)
			x.Press(kit.Tab)
			x.Until("Leave 4 tasks out, for good")
			x.Press(kit.Up, kit.Up, kit.Enter)
			x.Until("Start resume, cap")
			x.Wants("NOTHING HAS STARTED")
			x.Press(kit.Enter, kit.Enter)
			regrouped(x)
			if got := body(w); !strings.Contains(got, `"left_out":true`) {
				t.Errorf("submitted %s", got)
			}
		}},
		{"a new attempt needs its own consents", func(t *testing.T, w *world, x *kittest.Harness) {
			if err := w.fake.ShapePlans(`{"unknown_retry":{"cells":3,"provider_may_bill_again":true,"consent_required":true}}`); err != nil {
				t.Fatal(err)
			}
			toRegroup(w, x)
			x.Press(kit.Up, kit.Up, kit.Up)
			x.Type(" ")
			x.Press(kit.Tab)
			x.Until("may bill 6 tasks twice")
			x.Press(kit.Esc, kit.Down)
			x.Type(" ")
			x.Press(kit.Tab)
			x.Until("Start resume, cap")
			x.Press(kit.Enter, kit.Enter)
			regrouped(x)
			if got := body(w); !strings.Contains(got, `"retry_unknown":true`) || !strings.Contains(got, `"duplicate_provider_charges":true`) {
				t.Errorf("submitted %s", got)
			}
		}},
		{"a lost answer is found and starts nothing twice", func(t *testing.T, w *world, x *kittest.Harness) {
			toRegroupReview(w, x)
			w.fake.Drop("POST /v1/groups", 1)
			x.Press(kit.Enter, kit.Enter)
			regrouped(x)
			if w.fake.Runs() != 5 {
				t.Errorf("%d runs", w.fake.Runs())
			}
		}},
		{"a group resumed elsewhere meanwhile leads to its newest", func(t *testing.T, w *world, x *kittest.Harness) {
			toRegroup(w, x)
			c, spend := w.client(), usd.Micro(2000)
			q, err := c.Groups.ContinuationQuote(t.Context(), w.fake.GroupID(0), api.NewContinuationQuote{MaxChargeMicrousd: &spend})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Groups.Submit(t.Context(), api.NewGroup{GroupQuoteID: q.ID}, "elsewhere"); err != nil {
				t.Fatal(err)
			}
			w.clock.Advance(time.Hour)
			x.Press(kit.Tab)
			x.Until("Start resume, cap $5.00")
			newest := w.fake.GroupID(1)[:8]
			x.Wants("This is about the newest group of its chain", newest+" (partial)", "Goes on with group "+newest, "number 2 of its chain")
		}},
		{"a service that resumes no groups says so", func(_ *testing.T, w *world, x *kittest.Harness) {
			toRegroup(w, x)
			w.fake.Fail("POST /v1/groups/{id}/continuation-quotes", 9, 404, api.NotFound)
			x.Press(kit.Tab)
			x.Until("does not resume groups")
			x.Wants("There is no quote to start")
		}},
		{"a group with nothing left offers none", func(_ *testing.T, w *world, x *kittest.Harness) {
			toGroup(x)
			x.Lacks("Resume", "R resumes")
			x.Type("r")
			x.Wants("All members have ended")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, apitest.Options{})
			tt.steps(t, w, w.home(100, 40))
		})
	}
}
