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
	"github.com/evalrouter/evalrouter/tui/internal/route"
)

// toGroupCover chooses two models; toGroupReview asks for their quote.
func toGroupCover(x *kittest.Harness) {
	toModels(x)
	x.Press(kit.Enter, kit.Down, kit.Enter, kit.Tab)
}

func toGroupReview(x *kittest.Harness) {
	toGroupCover(x)
	x.Press(kit.Tab)
	x.Until("Enter another amount")
	x.Until("Start 2 runs, cap")
	x.Settle()
}

// toGroup starts a group and watches it to its end.
func toGroup(x *kittest.Harness) {
	toGroupReview(x)
	x.Press(kit.Enter, kit.Enter)
	x.Until("All members have ended")
	x.Rest()
}

// slow are runs that go on while they are looked at.
func slow() apitest.Options { return apitest.Options{TaskTime: 30 * time.Second} }

// grouped are the frames of one who runs several models, and of one who resumes.
func grouped() []shot {
	return []shot{
		{"run-models-several", thinking(), func(_ *world, x *kittest.Harness) {
			toModels(x)
			x.Press(kit.Enter, kit.Enter, kit.Down, kit.Enter, kit.Down, kit.Enter)
		}},
		{"run-coverage-several", apitest.Options{}, func(_ *world, x *kittest.Harness) { toGroupCover(x) }},
		{"group-review", apitest.Options{}, func(_ *world, x *kittest.Harness) { toGroupReview(x) }},
		{"group-review-short", apitest.Options{Credits: 2 * usd.Dollar}, func(_ *world, x *kittest.Harness) { toGroupReview(x) }},
		{"group-live", slow(), func(w *world, x *kittest.Harness) { watched(w, x) }},
		{"group-live-outage", slow(), func(w *world, x *kittest.Harness) {
			watched(w, x)
			w.fake.Fail("GET /v1/groups/{id}", 1, 503, api.Unavailable)
			w.step()
			x.Until("Not connected for")
		}},
		{"group-ended", apitest.Options{}, func(_ *world, x *kittest.Harness) { toGroup(x) }},
		{"group-error", apitest.Options{}, func(w *world, x *kittest.Harness) {
			toGroup(x)
			x.Press(kit.Esc, kit.CtrlU)
			w.fake.Fail("GET /v1/groups/{id}", 9, 503, api.Unavailable)
			pick(x, "run groups")
			x.Press(kit.Enter)
		}},
		{"groups", apitest.Options{}, func(_ *world, x *kittest.Harness) { toGroup(x); x.Press(kit.Esc, kit.CtrlU); pick(x, "run groups") }},
		{"groups-empty", apitest.Options{}, func(_ *world, x *kittest.Harness) { pick(x, "run groups") }},
		{"results", apitest.Options{}, func(_ *world, x *kittest.Harness) { pick(x, "results") }},
		{"results-runs", apitest.Options{}, func(_ *world, x *kittest.Harness) {
			toMarks(x)
			x.Press(kit.Esc, kit.Home, kit.Enter)
		}},
		{"results-groups", apitest.Options{}, func(_ *world, x *kittest.Harness) {
			toMarks(x)
			x.Press(kit.Esc, kit.Home, kit.Down, kit.Enter)
		}},
		{"compare-group", apitest.Options{}, func(_ *world, x *kittest.Harness) {
			toMarks(x)
			x.Press(kit.Esc, kit.Home, kit.Down, kit.Enter, kit.Enter)
		}},
		{"compare-choose", apitest.Options{}, func(_ *world, x *kittest.Harness) { toMarks(x); x.Type(" "); x.Press(kit.Down); x.Type(" ") }},
		{"compare", apitest.Options{}, func(_ *world, x *kittest.Harness) { toCompare(x) }},
		{"compare-statistics", apitest.Options{}, func(_ *world, x *kittest.Harness) { toCompare(x); x.Type("s") }},
		{"compare-error", apitest.Options{}, func(w *world, x *kittest.Harness) {
			w.fake.Fail("GET /v1/runs/{id}/export", 9, 503, api.Unavailable)
			toCompare(x)
		}},
		{"continue", stopping(), func(w *world, x *kittest.Harness) { toContinue(w, x) }},
		{"resume-review", stopping(), func(w *world, x *kittest.Harness) { toContinue(w, x); x.Press(kit.Tab); x.Until("Start resume, cap") }},
		{"resume-left-out", stopping(), func(w *world, x *kittest.Harness) {
			leavingOut(w)
			toContinue(w, x)
			x.Press(kit.Tab)
			x.Until("out, for good (nothing starts yet)")
		}},
	}
}

// watching is a group that is being watched, a little way in.
func watching(_ *world, x *kittest.Harness) {
	toGroupReview(x)
	x.Press(kit.Enter, kit.Enter)
	x.Until("12/50 done")
}

// watched is a group that is being watched at one moment.
func watched(w *world, x *kittest.Harness) {
	w.hold()
	toGroupReview(x)
	x.Press(kit.Enter, kit.Enter)
	x.Until("0/50 done")
	w.clock.Advance(200 * time.Second)
	w.step()
	x.Until("10/50 done")
}

// toMarks is choosing runs to compare, after a group of two.
func toMarks(x *kittest.Harness) {
	toGroup(x)
	x.Press(kit.Esc, kit.CtrlU)
	pick(x, "results")
	x.Press(kit.End, kit.Enter)
}

func toCompare(x *kittest.Harness) {
	toMarks(x)
	x.Type(" ")
	x.Press(kit.Down)
	x.Type(" ")
	x.Press(kit.Tab)
}

func TestGroupModels(t *testing.T) {
	t.Parallel()
	t.Run("TRN-01 one flow serves one model and several", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, apitest.Options{})
		x := w.home(80, 24)
		toModels(x)
		x.Type(" ")
		x.Wants("[x]  practice.solver-80", "Tab continue")
		x.Press(kit.Down)
		x.Type(" ")
		x.Wants("continue with 2 models")
		x.Press(kit.Tab)
		x.Wants("3/4", "2 models: Practice solver 80 %, Practice echo", "for all together")
		x.Press(kit.Tab)
		x.Until("Start 2 runs, cap $5.00")
		x.Wants("4/4", "Review the group quote", "NOTHING HAS STARTED")
		x.Press(kit.Enter, kit.Enter)
		x.Until("All members have ended")
		if n, m := w.fake.Count("POST /v1/groups"), w.fake.Count("POST /v1/runs"); n != 1 || m != 0 || w.fake.Runs() != 2 {
			t.Errorf("%d groups and %d single runs were submitted, %d runs", n, m, w.fake.Runs())
		}
	})
	t.Run("TRN-08 a ninth model cannot be chosen", func(t *testing.T) {
		t.Parallel()
		x := newWorld(t, apitest.Options{Routes: 9}).home(80, 24)
		toModels(x)
		for range 8 {
			x.Type(" ")
			x.Press(kit.Down)
		}
		if n := strings.Count(x.Text(), "[x]"); n != 8 {
			t.Fatalf("%d are chosen:\n%s", n, x.Text())
		}
		x.Type(" ")
		x.Wants("8 models are the most")
		x.Press(kit.Enter)
		if n := strings.Count(x.Text(), "[x]"); n != 8 {
			t.Errorf("%d are chosen:\n%s", n, x.Text())
		}
		x.Press(kit.Tab)
		x.Wants("8 models: ")
	})
	t.Run("each model has its own reasoning", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, thinking())
		x := w.home(100, 30)
		toModels(x)
		x.Press(kit.Enter, kit.Down, kit.Enter, kit.Down, kit.Enter, kit.Down, kit.Enter)
		x.Press(kit.Tab, kit.Tab)
		x.Until("Start 2 runs, cap")
		x.Wants("reasoning: off", "reasoning: high")
	})
}

func TestGroupReview(t *testing.T) {
	t.Parallel()
	submitted := func(w *world) int { return w.fake.Count("POST /v1/groups") }
	for _, tt := range []struct {
		name  string
		steps func(*testing.T, *world, *kittest.Harness)
	}{
		{"TGQ-01 the total cap and the approval are on one page", func(_ *testing.T, _ *world, x *kittest.Harness) {
			x.Wants("$5.00, hard for all together", "Start 2 runs, cap $5.00", "Enter another amount", "Cancel, start nothing", "Credit  $")
		}},
		{"TGQ-02 the first Enter starts nothing", func(t *testing.T, w *world, x *kittest.Harness) {
			x.Lacks("ENTER TO CONFIRM")
			x.Press(kit.Enter)
			x.Wants("ENTER TO CONFIRM", "NOTHING HAS STARTED")
			if n := submitted(w); n != 0 {
				t.Errorf("%d submissions", n)
			}
		}},
		{"TGQ-03 the second Enter starts the group", func(t *testing.T, w *world, x *kittest.Harness) {
			x.Press(kit.Enter, kit.Enter)
			x.Until("watching live")
			if n := submitted(w); n != 1 || w.fake.Runs() != 2 {
				t.Errorf("%d submissions, %d runs", n, w.fake.Runs())
			}
		}},
		{"TGQ-04 TGQ-05 another amount is another quote", func(t *testing.T, w *world, x *kittest.Harness) {
			x.Press(kit.Down, kit.Enter, kit.CtrlU)
			x.Type("7.5")
			x.Press(kit.Enter)
			x.Until("Start 2 runs, cap $7.50")
			x.Wants("cap $3.75, hard")
			if n := w.fake.Count("POST /v1/group-quotes"); n != 2 || submitted(w) != 0 {
				t.Errorf("%d quotes, %d submissions", n, submitted(w))
			}
		}},
		{"TGQ-06 the same amount keeps the quote", func(t *testing.T, w *world, x *kittest.Harness) {
			x.Press(kit.Down, kit.Enter, kit.Enter)
			x.Wants("The same amount", "Start 2 runs, cap $5.00")
			if n := w.fake.Count("POST /v1/group-quotes"); n != 1 {
				t.Errorf("%d quotes", n)
			}
		}},
		{"TGQ-07 cancel starts nothing", func(t *testing.T, w *world, x *kittest.Harness) {
			x.Press(kit.Enter, kit.End, kit.Down, kit.Down, kit.Enter)
			x.Wants("3/4")
			if n := submitted(w); n != 0 {
				t.Errorf("%d submissions", n)
			}
		}},
		{"TGQ-08 leaving the price row takes it back", disarms(kit.Press{Key: kit.Down}, kit.Press{Key: kit.Up})},
		{"TGQ-09 PgDn takes it back", disarms(kit.Press{Key: kit.PgDn})},
		{"TGQ-09 PgUp takes it back", disarms(kit.Press{Key: kit.PgUp})},
		{"TGQ-10 a resize takes it back", disarms(kit.Resize{W: 100, H: 30})},
		{"the same group again asks first", func(_ *testing.T, w *world, x *kittest.Harness) {
			x.Press(kit.Enter, kit.Enter)
			x.Until("All members have ended")
			x.Press(kit.Esc, kit.CtrlU)
			toGroupCover(x)
			x.Press(kit.Tab)
			x.Until("did the same and has just ended")
			x.Press(kit.Up, kit.Up, kit.Enter)
			x.Until("Start 2 runs, cap")
			x.Press(kit.Esc)
		}},
		{"a lost answer is found and starts nothing twice", func(t *testing.T, w *world, x *kittest.Harness) {
			w.fake.Drop("POST /v1/groups", 1)
			x.Press(kit.Enter, kit.Enter)
			x.Until("watching live")
			if w.fake.Runs() != 2 {
				t.Errorf("%d runs", w.fake.Runs())
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, apitest.Options{})
			x := w.home(80, 30)
			toGroupReview(x)
			tt.steps(t, w, x)
		})
	}
}

// disarms arms the price row and does something else: the next Enter only arms.
func disarms(events ...kit.Msg) func(*testing.T, *world, *kittest.Harness) {
	return func(t *testing.T, w *world, x *kittest.Harness) {
		x.Press(kit.Enter)
		x.Wants("ENTER TO CONFIRM")
		for _, e := range events {
			if p, ok := e.(kit.Press); ok {
				x.Press(p.Key)
			} else {
				x.Send(e)
			}
			x.Lacks("ENTER TO CONFIRM")
		}
		x.Press(kit.Enter)
		x.Wants("ENTER TO CONFIRM")
		if n := w.fake.Count("POST /v1/groups"); n != 0 {
			t.Errorf("%d submissions", n)
		}
	}
}

// A group that goes on: its steps build on each other.
func TestGroupStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t, slow())
	x := w.home(100, 24)
	watching(w, x)
	t.Run("TLV-07 TLV-08 Enter, B and a click open the live group", func(t *testing.T) {
		x.Press(kit.End)
		x.Wants("▸ Open live group in browser")
		x.Press(kit.Enter)
		x.Type("b")
		at := row(x, "Open live group in browser")
		x.Send(kit.Mouse{X: 6, Y: at, Kind: kit.Click, At: w.clock.Now()})
		x.Send(kit.Mouse{X: 6, Y: at, Kind: kit.Release, At: w.clock.Now()})
		if n := len(x.Opened()); n != 3 || !strings.HasSuffix(x.Opened()[2], "/live") || !strings.Contains(x.Opened()[0], "/g/") {
			t.Fatalf("opened %v", x.Opened())
		}
		x.Until("16/50 done") // and the terminal goes on
	})
	t.Run("leaving tells how to come back", func(t *testing.T) {
		x.Press(kit.Left, kit.CtrlU)
		x.Wants("Home", "1 group")
		if got := x.Loop().LeftBehind(); len(got) != 1 || !strings.Contains(got[0], "evalrouter group status ") {
			t.Errorf("the way back is %q", got)
		}
	})
	t.Run("TLV-02 the status shows each model's state", func(_ *testing.T) {
		pick(x, "run groups")
		x.Wants("running", "arithmetic@1", "/50")
		x.Press(kit.Enter)
		x.Wants("Practice solver 80 %", "Practice echo", "running", "/25", "75.0 % [40.9, 92.9] n 8", "Watch live")
		x.Lacks("watching live")
	})
	t.Run("TUI-19 it stays until it is left", func(_ *testing.T) {
		for range 30 {
			x.Send(kit.Tick{At: w.clock.Now()})
		}
		x.Wants("Watch live")
	})
	t.Run("TLV-03 TLV-04 a member opens, and leads back", func(_ *testing.T) {
		x.Press(kit.Down, kit.Enter)
		x.Until("Open live run in browser")
		x.Wants("Live run", "Practice echo")
		x.Press(kit.Esc)
		x.Wants("Group ", "▸ Practice echo", "Watch live")
	})
	t.Run("TLV-05 it can be watched from here", func(_ *testing.T) {
		x.Type("w")
		x.Until("watching live")
		x.Until("20/50 done")
		x.Until("All members have ended")
		x.Wants("Compare the members")
	})
	t.Run("an ended member shows its result", func(t *testing.T) {
		x.Press(kit.Home, kit.Enter)
		x.Wants("Results", "80.0 %")
		x.Press(kit.Esc)
		x.Wants("Compare the members")
		if n := w.fake.Count("POST /v1/groups/{id}/cancel"); n != 0 {
			t.Errorf("%d cancellations", n)
		}
	})
}

// Whose results to look at: the three choices, in their order.
func TestResults(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apitest.Options{})
	x := w.home(100, 30)
	toGroup(x)
	x.Press(kit.Esc, kit.CtrlU)
	pick(x, "results")
	t.Run("TLV-01 single run, group run, compare runs", func(t *testing.T) {
		one, two, three := row(x, "Single run"), row(x, "Group run"), row(x, "Compare runs")
		if one < 0 || two != one+1 || three != two+1 {
			t.Errorf("rows %d, %d, %d:\n%s", one, two, three, x.Text())
		}
	})
	t.Run("a single run", func(*testing.T) {
		x.Press(kit.Enter)
		x.Wants("Results  Single run", "completed")
		x.Press(kit.Enter)
		x.Wants("View tasks")
		x.Press(kit.Esc, kit.Esc)
	})
	t.Run("a group run", func(*testing.T) {
		x.Press(kit.Down, kit.Enter)
		x.Wants("Results  Group run")
		x.Press(kit.Enter)
		x.Wants("Compare  group", "Practice solver 80 %", "80.0 %", "evalrouter group compare")
		x.Press(kit.Esc, kit.Esc)
	})
	t.Run("compare runs", func(*testing.T) {
		x.Press(kit.Down, kit.Enter)
		x.Press(kit.Tab)
		x.Wants("Mark 2 to 8 runs")
		x.Press(kit.Enter, kit.Tab)
		x.Wants("Mark 2 to 8 runs", "[A]")
		x.Press(kit.Down)
		x.Type(" ")
		x.Wants("2 of 8 marked", "[B]")
		x.Press(kit.Tab)
		x.Wants("What was measured", "80.0 %", "simulated")
		x.Lacks("PAIR", "interval", "better") // the seed's comparison has no winner
	})
	t.Run("statistics are behind a key", func(t *testing.T) {
		x.Type("s")
		x.Wants("PAIR", "VERDICT", "95 % interval", "P (HOLM)")
		x.Type("s")
		x.Lacks("PAIR")
		if m := w.fake.Mutations(); len(m) != 2 { // the quote and the start of the group
			t.Errorf("comparing sent %v", m)
		}
	})
	t.Run("a run opens from there", func(*testing.T) {
		x.Press(kit.Enter)
		x.Wants("View tasks")
		x.Press(kit.Esc)
		x.Wants("What was measured")
	})
}

// Home offers everything that the workspace is for.
func TestHome_TUI04_Offers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ row, place string }{
		{"Run a benchmark", "Run  1/4"}, {"Run history", "Run history"}, {"Run groups", "Run groups"}, {"Results", "Results"}, {"Browse models", "Models"},
		{"Browse benchmarks", "Benchmarks"}, {"Benchmark uploads", "Benchmark uploads"}, {"Billing", "Billing"}, {"Account and workspace", "Account and workspace"},
	} {
		t.Run(tt.row, func(t *testing.T) {
			t.Parallel()
			x := newWorld(t, apitest.Options{}).home(80, 24)
			x.Wants(tt.row)
			pick(x, tt.row)
			x.Wants("EvalRouter  " + tt.place)
			x.Lacks("Exit ") // the menu is not there any more
		})
	}
}

// The command line opens a group by its id.
func TestAtAGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apitest.Options{})
	x := w.home(100, 24)
	toGroup(x)
	groups, err := w.src.Groups(t.Context())
	if err != nil || len(groups) != 1 {
		t.Fatalf("%d groups, %v", len(groups), err)
	}
	w.open(100, 24, route.Group{ID: groups[0].ID}).Wants("Group "+groups[0].ID[:8], "Practice echo", "completed")
}
