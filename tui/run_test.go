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

// toModels, toCover and toReview are the beginning of every run.
func toModels(x *kittest.Harness) {
	pick(x, "run a bench")
	x.Type("arithmetic@")
	x.Press(kit.Enter)
}

func toCover(x *kittest.Harness) {
	toModels(x)
	x.Press(kit.Enter, kit.Tab)
}

func toReview(x *kittest.Harness) {
	toCover(x)
	x.Press(kit.Tab)
	x.Until("Enter another amount")
	x.Until("Start run, cap")
	x.Settle()
}

func TestRunSteps(t *testing.T) {
	t.Parallel()
	efforts := apitest.Options{Unfit: "acme.model-x", Reasoning: map[string]api.ReasoningControls{
		"practice.echo": {Mode: "efforts", Efforts: []string{"low", "high"}},
	}}
	for _, tt := range []struct {
		name  string
		steps func(*testing.T, *world, *kittest.Harness)
	}{
		{"TRN-02 the order of the steps", func(_ *testing.T, _ *world, x *kittest.Harness) {
			pick(x, "run a bench")
			x.Wants("1/4", "Benchmark")
			x.Press(kit.Enter)
			x.Wants("2/4", "Models for arithmetic@1")
			x.Press(kit.Down, kit.Enter)
			x.Wants("Reasoning of Practice echo")
			x.Press(kit.Enter, kit.Tab)
			x.Wants("3/4", "Coverage", "Spending cap")
			x.Press(kit.Tab)
			x.Until("Start run, cap $5.00")
			x.Wants("4/4", "Review the quote", "NOTHING HAS STARTED")
		}},
		{"TRN-03 incompatible routes cannot be chosen", func(_ *testing.T, _ *world, x *kittest.Harness) {
			toModels(x)
			x.Wants("not runnable here: its context")
			x.Press(kit.End, kit.Enter)
			x.Lacks("[x]")
			x.Wants("cannot run arithmetic@1")
			x.Press(kit.Tab)
			x.Wants("Choose a model first", "2/4")
		}},
		{"TRN-04 Space toggles", func(_ *testing.T, _ *world, x *kittest.Harness) {
			toModels(x)
			x.Type(" ")
			x.Wants("[x]  practice.solver-80")
			x.Type(" ")
			x.Lacks("[x]")
		}},
		{"TRN-05 Enter toggles", func(_ *testing.T, _ *world, x *kittest.Harness) {
			toModels(x)
			x.Press(kit.Enter)
			x.Wants("[x]  practice.solver-80")
			x.Press(kit.Enter)
			x.Lacks("[x]")
		}},
		{"TRN-06 Tab continues from any row", func(_ *testing.T, _ *world, x *kittest.Harness) {
			toModels(x)
			x.Press(kit.Enter, kit.End, kit.Tab)
			x.Wants("3/4", "Practice solver 80 %")
		}},
		{"TRN-07 choosing asks for the reasoning at once", func(_ *testing.T, _ *world, x *kittest.Harness) {
			toModels(x)
			x.Press(kit.Down, kit.Enter)
			x.Wants("Reasoning of Practice echo", "low", "high")
			x.Press(kit.Tab)
			x.Wants("Choose the reasoning first")
			x.Press(kit.Down, kit.Enter)
			x.Lacks("Reasoning of")
			x.Press(kit.Tab)
			x.Wants("reasoning: high")
		}},
		{"TRN-09 the three coverages", func(_ *testing.T, _ *world, x *kittest.Harness) {
			toCover(x)
			x.Wants("(•) Suggested sample       25", "( ) Custom sample size", "( ) Full benchmark         40")
		}},
		{"TRN-20 leaving the review starts nothing", func(t *testing.T, w *world, x *kittest.Harness) {
			toReview(x)
			x.Press(kit.Enter)
			x.Wants("ENTER TO CONFIRM")
			x.Press(kit.Esc)
			x.Wants("3/4")
			x.Press(kit.Tab)
			x.Until("Start run, cap")
			x.Press(kit.Down, kit.Down, kit.Enter)
			x.Wants("3/4")
			if n := w.fake.Count("POST /v1/runs"); n != 0 {
				t.Errorf("%d submissions", n)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, efforts)
			tt.steps(t, w, w.home(80, 24))
		})
	}
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		tasks int
		typed string
		want  string // of the quote, or of the refusal
	}{
		{"TRN-10 one", 2000, "1", "1 of 2,000 tasks"},
		{"TRN-10 a thousand", 2000, "1000", "1,000 of 2,000 tasks"},
		{"TRN-10 nothing", 2000, "0", "whole number from 1 to 1,000"},
		{"TRN-10 too many", 2000, "1001", "whole number from 1 to 1,000"},
		{"TRN-10 no integer", 2000, "2.5", "whole number from 1 to 1,000"},
		{"TRN-10 empty", 2000, "", "whole number from 1 to 1,000"},
		{"TRN-11 as many as there are", 40, "39", "39 of 40 tasks"},
		{"TRN-11 more than there are", 40, "41", "whole number from 1 to 40"},
		{"TRN-12 full", 40, "full", "all 40 tasks"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, apitest.Options{Tasks: tt.tasks})
			x := w.home(80, 24)
			toCover(x)
			if tt.typed == "full" {
				x.Press(kit.Down, kit.Down)
				x.Type(" ")
			} else {
				x.Press(kit.Enter, kit.Down)
				x.Type(tt.typed)
				if tt.typed == "" {
					x.Type("1")
					x.Press(kit.Backspace)
				}
			}
			x.Press(kit.Tab)
			x.Until(tt.want)
		})
	}
}

func TestReview(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		options apitest.Options
		steps   func(*testing.T, *world, *kittest.Harness)
	}{
		{"two Enters start one run", apitest.Options{}, func(t *testing.T, w *world, x *kittest.Harness) {
			toReview(x)
			x.Press(kit.Enter)
			x.Wants("ENTER TO CONFIRM", "Pending")
			if n := w.fake.Count("POST /v1/runs"); n != 0 {
				t.Errorf("the first Enter sent %d submissions", n)
			}
			x.Press(kit.Enter)
			x.Until("Live run")
			x.Until("The run has ended")
			if n := w.fake.Runs(); n != 1 {
				t.Errorf("%d runs", n)
			}
		}},
		{"TRN-13 quote and credit stand beside the choice", apitest.Options{}, func(_ *testing.T, w *world, x *kittest.Harness) {
			w.fake.Grant(-40 * usd.Dollar)
			toReview(x)
			x.Wants("Coverage", "25 of 40 tasks", "Rates", "$60.00 free", "$55.00 after this cap", "Start run, cap $5.00", "Cancel, start nothing")
		}},
		{"TRN-14 a known shortfall blocks", apitest.Options{Credits: 2 * usd.Dollar}, func(t *testing.T, w *world, x *kittest.Harness) {
			toReview(x)
			x.Wants("short by $3.00", "not possible")
			x.Press(kit.Enter, kit.Enter, kit.Enter)
			x.Lacks("ENTER TO CONFIRM")
			if n := w.fake.Count("POST /v1/runs"); n != 0 {
				t.Errorf("%d submissions", n)
			}
		}},
		{"TRN-15 an unreadable balance is no shortfall", apitest.Options{}, func(t *testing.T, w *world, x *kittest.Harness) {
			w.fake.Fail("GET /v1/credits", 100, 503, api.Unavailable)
			toReview(x)
			x.Wants("unavailable: it could not be read")
			x.Lacks("$0.00 free", "short by")
			x.Press(kit.Enter, kit.Enter)
			x.Until("Live run")
		}},
		{"TRN-17 a resize never approves", apitest.Options{}, func(t *testing.T, w *world, x *kittest.Harness) {
			toReview(x)
			x.Press(kit.Enter)
			x.Send(kit.Resize{W: 100, H: 30})
			x.Lacks("ENTER TO CONFIRM")
			x.Press(kit.Enter)
			x.Wants("ENTER TO CONFIRM")
			if n := w.fake.Count("POST /v1/runs"); n != 0 {
				t.Errorf("%d submissions", n)
			}
		}},
		{"TRN-18 an expired quote cannot be approved", apitest.Options{}, func(t *testing.T, w *world, x *kittest.Harness) {
			toReview(x)
			w.clock.Advance(31 * time.Minute)
			x.Press(kit.Enter, kit.Enter)
			x.Until("Start run, cap")
			x.Wants("NOTHING HAS STARTED")
			if n := w.fake.Count("POST /v1/quotes"); n != 2 {
				t.Errorf("%d quotes, want a fresh one", n)
			}
			if n := w.fake.Count("POST /v1/runs"); n != 0 {
				t.Errorf("%d submissions", n)
			}
			x.Press(kit.Enter, kit.Enter)
			x.Until("Live run")
		}},
		{"another amount asks for a fresh quote, the same one does not", apitest.Options{}, func(t *testing.T, w *world, x *kittest.Harness) {
			toReview(x)
			x.Press(kit.Down, kit.Enter, kit.Enter)
			x.Wants("The same amount")
			if n := w.fake.Count("POST /v1/quotes"); n != 1 {
				t.Errorf("%d quotes", n)
			}
			x.Press(kit.Down, kit.Enter, kit.CtrlU)
			x.Type("7.5")
			x.Press(kit.Enter)
			x.Until("Start run, cap $7.50")
			if n := w.fake.Count("POST /v1/quotes"); n != 2 {
				t.Errorf("%d quotes", n)
			}
		}},
		{"a cap that pays for no task", apitest.Options{}, func(t *testing.T, w *world, x *kittest.Harness) {
			toCover(x)
			x.Press(kit.Down, kit.Down, kit.Down, kit.CtrlU)
			x.Type("0.000001")
			x.Press(kit.Tab)
			x.Until("cap_below_minimum")
			x.Press(kit.Down, kit.Enter, kit.CtrlU)
			x.Type("5")
			x.Press(kit.Enter)
			x.Until("Start run, cap $5.00")
		}},
		{"a lost answer is found and starts nothing twice", apitest.Options{}, func(t *testing.T, w *world, x *kittest.Harness) {
			w.fake.Drop("POST /v1/runs", 1)
			toReview(x)
			x.Press(kit.Enter, kit.Enter)
			x.Until("Live run")
			if n := w.fake.Runs(); n != 1 {
				t.Errorf("%d runs", n)
			}
		}},
		{"the same run again asks first", apitest.Options{}, func(t *testing.T, w *world, x *kittest.Harness) {
			toReview(x)
			x.Press(kit.Enter, kit.Enter)
			x.Until("The run has ended")
			x.Press(kit.Esc, kit.CtrlU)
			toCover(x)
			x.Press(kit.Tab)
			x.Until("did the same and has just ended")
			x.Press(kit.Enter)
			x.Wants("3/4")
			if n := w.fake.Runs(); n != 1 {
				t.Errorf("%d runs", n)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tt.options)
			tt.steps(t, w, w.home(80, 24))
		})
	}
}

// A finished run: its live page, result, samples and one sample.
func finished(x *kittest.Harness) {
	toReview(x)
	x.Press(kit.Enter, kit.Enter)
	x.Until("The run has ended")
	x.Rest()
}

func TestAfterwards(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apitest.Options{})
	x := w.home(100, 30)
	finished(x)
	x.Wants("Result", "Open live run in browser")
	x.Type("s")
	x.Wants("Tasks", "arithmetic-", "25 of 25")
	x.Type("wrong")
	x.Lacks("  right ")
	x.Press(kit.Enter)
	x.Wants("wrong", "Answer")
	x.Press(kit.Esc, kit.Esc)
	x.Wants("Live run")
}

// toResult opens the result of a finished run.
func toResult(x *kittest.Harness) {
	finished(x)
	for !strings.Contains(x.Text(), "▸ Result") {
		x.Press(kit.Tab)
	}
	x.Press(kit.Enter)
}

// thinking are routes whose reasoning can be chosen, and one that is unfit.
func thinking() apitest.Options {
	usual := "low"
	return apitest.Options{Unfit: "acme.model-x", Reasoning: map[string]api.ReasoningControls{
		"practice.echo":      {Mode: "efforts", Efforts: []string{"low", "high"}, DefaultEffort: &usual},
		"practice.solver-80": {Mode: "budget", Budget: &api.ReasoningBudget{MinTokens: 1024, MaxTokens: 32000, Step: 1, CanDisable: true}},
	}}
}

// A run that is watched: its steps build on each other.
func TestLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apitest.Options{TaskTime: 30 * time.Second})
	x := w.home(80, 24)
	toReview(x)
	x.Press(kit.Enter, kit.Enter)
	x.Until("Open live run in browser")
	x.Until("running")
	t.Run("TLV-06 there is a live page to open", func(t *testing.T) {
		x.Wants("▸ Open live run in browser  B", "Leaving this page does not stop the run", "no score yet")
	})
	t.Run("TLV-08 Enter, B and a click open it", func(t *testing.T) {
		x.Press(kit.Enter)
		x.Type("b")
		at := row(x, "Open live run in browser")
		x.Send(kit.Mouse{X: 6, Y: at, Kind: kit.Click, At: w.clock.Now()})
		x.Send(kit.Mouse{X: 6, Y: at, Kind: kit.Release, At: w.clock.Now()})
		if n := len(x.Opened()); n != 3 || !strings.HasSuffix(x.Opened()[2], "/live") {
			t.Fatalf("opened %v", x.Opened())
		}
	})
	t.Run("TLV-09 it goes on being updated", func(t *testing.T) {
		x.Until("3 of 25")
		x.Until("6 of 25")
		x.Wants("running")
	})
	t.Run("an outage is told and survived", func(t *testing.T) {
		w.fake.Fail("GET /v1/runs/{id}", 3, 503, api.Unavailable)
		x.Until("Not connected for")
		x.Wants("The last figures read")
		x.Until("9 of 25")
		x.Lacks("Not connected")
	})
	t.Run("TRN-19 leaving stops watching only", func(t *testing.T) {
		x.Press(kit.Left)
		x.Wants("Home")
		before := w.fake.Count("GET /v1/runs/{id}")
		if got := x.Loop().LeftBehind(); len(got) != 1 || !strings.Contains(got[0], "evalrouter wait ") {
			t.Errorf("the way back is %q", got)
		}
		w.clock.Advance(time.Hour)
		x.Press(kit.Refresh)
		x.Wants(" n 25", "Ended last")
		if n := w.fake.Count("POST /v1/runs/{id}/cancel"); n != 0 {
			t.Errorf("%d cancellations", n)
		}
		if n := w.fake.Count("GET /v1/runs/{id}"); n > before+1 {
			t.Errorf("it was still watched: %d reads after %d", n, before)
		}
	})
}
