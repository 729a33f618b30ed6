package tui_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/kit/kittest"
)

// browsing are the frames of one who looks around, and runs one model.
func browsing() []shot {
	return []shot{
		{"home", apitest.Options{InReview: true}, func(*world, *kittest.Harness) {}},
		{"home-help", apitest.Options{}, func(_ *world, x *kittest.Harness) { x.Press(kit.F1) }},
		{"home-outage", apitest.Options{}, func(w *world, x *kittest.Harness) { w.outage(); x.Press(kit.Refresh) }},
		{"benchmarks", apitest.Options{InReview: true}, func(_ *world, x *kittest.Harness) { pick(x, "browse bench") }},
		{"benchmarks-filter", apitest.Options{}, func(_ *world, x *kittest.Harness) { pick(x, "browse bench"); x.Type("dt") }},
		{"benchmarks-nothing-fits", apitest.Options{}, func(_ *world, x *kittest.Harness) { pick(x, "browse bench"); x.Type("zzz") }},
		{"benchmarks-error", apitest.Options{}, func(w *world, x *kittest.Harness) {
			w.fake.Fail("GET /v1/catalog/benchmarks", 9, 503, api.Unavailable)
			pick(x, "browse bench")
		}},
		{"benchmark", apitest.Options{}, func(_ *world, x *kittest.Harness) { pick(x, "browse bench"); x.Press(kit.Enter) }},
		{"benchmark-help", apitest.Options{}, func(_ *world, x *kittest.Harness) { pick(x, "browse bench"); x.Press(kit.Enter, kit.F1) }},
		{"models", apitest.Options{}, func(_ *world, x *kittest.Harness) { pick(x, "browse models") }},
		{"run-benchmark", apitest.Options{InReview: true}, func(_ *world, x *kittest.Harness) { pick(x, "run a bench") }},
		{"run-models", thinking(), func(_ *world, x *kittest.Harness) { toModels(x) }},
		{"run-reasoning-effort", thinking(), func(_ *world, x *kittest.Harness) { toModels(x); x.Press(kit.Down, kit.Enter) }},
		{"run-reasoning-budget", thinking(), func(_ *world, x *kittest.Harness) { toModels(x); x.Press(kit.Enter, kit.End) }},
		{"run-models-error", apitest.Options{}, func(w *world, x *kittest.Harness) {
			w.fake.Fail("GET /v1/catalog/compatibility", 9, 503, api.Unavailable)
			toModels(x)
		}},
		{"run-coverage", apitest.Options{}, func(_ *world, x *kittest.Harness) { toCover(x) }},
		{"run-coverage-refused", apitest.Options{}, func(_ *world, x *kittest.Harness) {
			toCover(x)
			x.Press(kit.Down)
			x.Type("9999")
			x.Press(kit.Tab)
		}},
		{"run-review", apitest.Options{}, func(_ *world, x *kittest.Harness) { toReview(x) }},
		{"run-review-amount", apitest.Options{}, func(_ *world, x *kittest.Harness) { toReview(x); x.Press(kit.Down, kit.Enter) }},
		{"run-review-short", apitest.Options{Credits: 2 * usd.Dollar}, func(_ *world, x *kittest.Harness) { toReview(x) }},
		{"run-review-expired", apitest.Options{}, func(w *world, x *kittest.Harness) {
			toReview(x)
			x.Send(kit.Tick{At: w.clock.Advance(31 * time.Minute)})
		}},
		{"run-review-outage", apitest.Options{}, func(w *world, x *kittest.Harness) {
			w.fake.Fail("POST /v1/quotes", 9, 503, api.Unavailable)
			toCover(x)
			x.Press(kit.Tab)
			x.Until("Ask for a quote again")
		}},
		{"run-review-help", apitest.Options{}, func(_ *world, x *kittest.Harness) { toReview(x); x.Press(kit.F1) }},
		{"live-ended", apitest.Options{}, func(_ *world, x *kittest.Harness) { finished(x) }},
		{"live-error", apitest.Options{}, func(w *world, x *kittest.Harness) {
			w.fake.Fail("GET /v1/runs/{id}", 9, 404, api.NotFound)
			toReview(x)
			x.Press(kit.Enter, kit.Enter)
			x.Until("could not be read")
		}},
		{"result", apitest.Options{}, func(_ *world, x *kittest.Harness) { toResult(x) }},
		{"result-error", apitest.Options{}, func(w *world, x *kittest.Harness) {
			w.fake.Fail("GET /v1/runs/{id}/results", 9, 503, api.Unavailable)
			toResult(x)
		}},
		{"samples", apitest.Options{}, func(_ *world, x *kittest.Harness) { toResult(x); x.Type("s") }},
		{"samples-filter", apitest.Options{}, func(_ *world, x *kittest.Harness) { toResult(x); x.Type("swrong") }},
		{"sample", apitest.Options{}, func(_ *world, x *kittest.Harness) { toResult(x); x.Type("s"); x.Press(kit.Enter) }},
		{"sample-error", apitest.Options{}, func(w *world, x *kittest.Harness) {
			w.fake.Fail("GET /v1/runs/{id}/export", 9, 503, api.Unavailable)
			toResult(x)
			x.Type("s")
			x.Press(kit.Enter)
		}},
		{"billing", apitest.Options{}, func(_ *world, x *kittest.Harness) { finished(x); x.Press(kit.Esc, kit.CtrlU); pick(x, "billing") }},
		{"billing-error", apitest.Options{}, func(w *world, x *kittest.Harness) { w.outage(); pick(x, "billing") }},
		{"account", apitest.Options{}, func(_ *world, x *kittest.Harness) { pick(x, "account") }},
		{"uploads", apitest.Options{}, func(_ *world, x *kittest.Harness) { pick(x, "uploads") }},
		{"history-empty", apitest.Options{}, func(_ *world, x *kittest.Harness) { pick(x, "run hist") }},
		{"history", apitest.Options{}, func(_ *world, x *kittest.Harness) { finished(x); x.Press(kit.Esc, kit.CtrlU); pick(x, "run hist") }},
		{"history-outage", apitest.Options{}, func(w *world, x *kittest.Harness) { w.outage(); pick(x, "run hist") }},
		{"home-runs", apitest.Options{}, func(_ *world, x *kittest.Harness) { finished(x); x.Press(kit.Esc, kit.CtrlU) }},
		{"model", apitest.Options{}, func(_ *world, x *kittest.Harness) { pick(x, "browse models"); x.Press(kit.Enter) }},
		{"model-error", apitest.Options{}, func(w *world, x *kittest.Harness) {
			w.fake.Fail("GET /v1/catalog/models/{id}", 9, 503, api.Unavailable)
			pick(x, "browse models")
			x.Press(kit.Enter)
		}},
	}
}

// pick opens a row of Home by its name.
func pick(x *kittest.Harness, typed string) {
	x.Type(typed)
	x.Press(kit.Enter)
}

func TestBrowse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apitest.Options{Reasoning: map[string]api.ReasoningControls{"acme.model-x": {Mode: "efforts", Efforts: []string{"low", "high"}}}})
	x := w.home(80, 24)
	t.Run("TBM-01 Home opens the searchable list of models", func(t *testing.T) {
		pick(x, "browse models")
		x.Wants("practice.solver-80", "acme.model-x", "3 of 3")
		x.Type("acme")
		x.Wants("acme.model-x", "1 of 3")
		x.Lacks("practice.echo")
	})
	t.Run("TBM-03 Enter shows route, prices and reasoning", func(t *testing.T) {
		x.Press(kit.Enter)
		x.Wants("acme.model-x", "acme/model-x", "in $3.00", "out $15.00", "low, high")
	})
	t.Run("TUI-19 the page stays until it is left", func(t *testing.T) {
		x.Press(kit.Down, kit.Tab, kit.PgDn)
		x.Send(kit.Tick{At: w.clock.Now()})
		x.Wants("acme/model-x")
		x.Press(kit.Enter)
		x.Wants("Filter: acme")
	})
	t.Run("TBM-03 F5 reads the model again, and an outage says so", func(t *testing.T) {
		x.Press(kit.Enter)
		w.fake.Fail("GET /v1/catalog/models/{id}", 1, 503, api.Unavailable)
		x.Press(kit.Refresh)
		x.Wants("acme.model-x could not be read", "F5 tries again")
		x.Press(kit.Refresh)
		x.Wants("acme/model-x", "in $3.00")
		x.Lacks("could not be read")
		x.Press(kit.Esc)
		x.Wants("Filter: acme")
	})
	t.Run("TBM-04 back to the list, and to Home", func(t *testing.T) {
		x.Press(kit.Enter, kit.Left)
		x.Wants("Filter: acme")
		x.Press(kit.Esc)
		x.Wants("Home", "Run a benchmark")
		x.Press(kit.CtrlU)
		pick(x, "browse models")
		x.Press(kit.Left)
		x.Wants("Home")
	})
	t.Run("TBM-06 nothing was asked for", func(t *testing.T) {
		if m := w.fake.Mutations(); len(m) != 0 {
			t.Errorf("browsing sent %v", m)
		}
	})
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		steps func(*testing.T, *world, *kittest.Harness)
	}{
		{"TUI-05 typing on a list filters it", func(_ *testing.T, _ *world, x *kittest.Harness) {
			pick(x, "browse bench")
			x.Type("arithmetic@")
			x.Wants("arithmetic@1", "1 of 3")
			x.Lacks("dates@1")
			x.Press(kit.CtrlU)
			x.Wants("dates@1")
		}},
		{"TUI-06 Escape goes back", func(_ *testing.T, _ *world, x *kittest.Harness) {
			pick(x, "browse bench")
			x.Press(kit.Enter, kit.Esc)
			x.Wants("Filter: ")
			x.Press(kit.Esc)
			x.Wants("Home")
		}},
		{"TUI-07 Left moves the cursor in a text", func(_ *testing.T, _ *world, x *kittest.Harness) {
			pick(x, "browse bench")
			x.Type("ates")
			x.Press(kit.Left, kit.Left, kit.Left, kit.Left)
			x.Type("d")
			x.Wants("Filter: dates", "Benchmarks")
			x.Press(kit.CtrlU, kit.Left)
			x.Wants("Home")
		}},
		{"TUI-12 Ctrl+C goes back without a selection", func(t *testing.T, _ *world, x *kittest.Harness) {
			pick(x, "browse bench")
			x.Press(kit.CtrlC)
			x.Wants("Home")
			if x.Left() {
				t.Error("it left")
			}
			x.Press(kit.CtrlC, kit.CtrlC)
			if !x.Left() {
				t.Error("twice on Home does not leave")
			}
		}},
		{"TUI-11 the mouse selects and Ctrl+C copies", func(t *testing.T, _ *world, x *kittest.Harness) {
			at := row(x, "Run history")
			x.Send(kit.Mouse{X: 3, Y: at, Kind: kit.Click})
			x.Send(kit.Mouse{X: 13, Y: at, Kind: kit.Drag})
			x.Send(kit.Mouse{X: 13, Y: at, Kind: kit.Release})
			x.Press(kit.CtrlC)
			if got := x.Clipboard(); got != "Run history" {
				t.Errorf("copied %q", got)
			}
			x.Wants("Home", "11 characters")
		}},
		{"TBM-05 a loading screen can be left", func(t *testing.T, world *world, x *kittest.Harness) {
			x.Loop().Send(0, kit.Press{Key: kit.End})
			for range 4 {
				x.Loop().Send(0, kit.Press{Key: kit.Up})
			}
			x.Loop().Send(0, kit.Press{Key: kit.Enter}) // nothing is received: it stays reading
			x.Loop().Paint()
			x.Wants("Reading benchmarks…")
			x.Loop().Send(0, kit.Press{Key: kit.Left})
			x.Loop().Paint()
			x.Wants("Home")
			x.Settle()
			x.Wants("Home")
		}},
		{"TUI-23 resizing keeps what was typed", func(_ *testing.T, _ *world, x *kittest.Harness) {
			pick(x, "browse bench")
			x.Type("date")
			x.Send(kit.Resize{W: 40, H: 12})
			x.Wants("Please enlarge it")
			x.Type("x")
			x.Send(kit.Resize{W: 140, H: 40})
			x.Wants("Filter: date", "1 of 3", "dates@1")
		}},
		{"TUI-22 nothing about local copies", func(_ *testing.T, _ *world, x *kittest.Harness) { x.Lacks("local copy") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			world := newWorld(t, apitest.Options{})
			tt.steps(t, world, world.home(80, 24))
		})
	}
}

// row is the row of a text on the terminal.
func row(x *kittest.Harness, text string) int {
	for y, row := range strings.Split(x.Text(), "\n") {
		if strings.Contains(row, text) {
			return y
		}
	}
	return -1
}

// Home reads both lists by itself, once, and asks for no change.
func TestHome_TUI21_ReadsTheLists(t *testing.T) {
	t.Parallel()
	world := newWorld(t, apitest.Options{InReview: true})
	x := world.home(80, 24)
	x.Wants("3 routes", "3 ready", "0 runs · 0 going on")
	for _, r := range []string{"GET /v1/catalog/benchmarks", "GET /v1/catalog/models"} {
		if n := world.fake.Count(r); n != 1 {
			t.Errorf("%s was read %d times", r, n)
		}
	}
}

// Help and the exit are one key away from every screen.
func TestEverywhere(t *testing.T) {
	t.Parallel()
	for name, make := range (hostile{"plain"}).places() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stack := &kit.Stack{Make: func(any) (kit.Screen, []kit.Effect) { return make() }}
			x := kittest.Start(t, 80, 24, kit.Mono, stack, kittest.NewClock(start()), nil)
			t.Run("TUI-09 F1 opens help with this screen's keys", func(t *testing.T) {
				x.Press(kit.F1)
				x.Wants("Keys here: ", "Keys everywhere", "Ctrl+Q")
				x.Press(kit.F1)
				x.Lacks("Keys here")
			})
			t.Run("TUI-08 Ctrl+Q leaves", func(t *testing.T) {
				x.Press(kit.CtrlQ)
				if !x.Left() {
					t.Error("it goes on")
				}
			})
		})
	}
}

// What stands there stays until the person does something.
func TestStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apitest.Options{})
	x := w.home(80, 16)
	idle := func() {
		for range 30 {
			x.Send(kit.Tick{At: w.clock.Advance(time.Second)})
		}
		x.Send(kit.FocusChange{In: false})
	}
	toResult(x)
	t.Run("TUI-14 a result stays", func(t *testing.T) {
		idle()
		x.Wants("Sample       80.0 %")
	})
	t.Run("TUI-10 PgDn and PgUp scroll it", func(t *testing.T) {
		x.Lacks("Where it comes from")
		x.Press(kit.PgDn)
		x.Wants("Where it comes from")
		x.Press(kit.PgUp, kit.PgUp)
		x.Wants("Sample       80.0 %")
	})
	t.Run("TUI-14 an error stays", func(t *testing.T) {
		x.Press(kit.Esc, kit.CtrlU)
		w.outage()
		pick(x, "run hist")
		idle()
		x.Wants("The runs could not be read", "unavailable")
	})
}

func TestHistory_TUI15_Refresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apitest.Options{TaskTime: time.Minute})
	x := w.home(100, 24)
	toReview(x)
	x.Press(kit.Enter, kit.Enter)
	x.Until("running")
	x.Press(kit.Esc, kit.CtrlU)
	pick(x, "run hist")
	x.Wants("running", "/25")
	w.clock.Advance(time.Hour)
	x.Wants("running")
	x.Press(kit.Refresh)
	x.Wants("completed", "80.0 %")
}

// Long quotes scroll, and the row that spends stays in sight.
func TestReview_TUI10_Scrolls(t *testing.T) {
	t.Parallel()
	x := newWorld(t, apitest.Options{}).home(60, 16)
	toReview(x)
	x.Lacks("Compatible")
	x.Press(kit.PgDn, kit.PgDn)
	x.Wants("Compatible", "Credit  $100.00", "Start run, cap $5.00")
	x.Press(kit.PgUp, kit.PgUp)
	x.Wants("NOTHING HAS STARTED")
}

func TestSave(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apitest.Options{})
	x := w.home(140, 40)
	toResult(x)
	x.Type("w")
	t.Run("TUI-16 the paths stand on the page", func(t *testing.T) {
		for _, format := range []string{"json", "html"} {
			found := false
			for _, path := range x.Loop().Saved() {
				if _, err := os.Stat(path); err == nil && strings.HasSuffix(path, "."+format) {
					found = true
					x.Wants(path)
				}
			}
			if !found {
				t.Errorf("no %s among %q", format, x.Loop().Saved())
			}
		}
	})
	x.Type("w")
	x.Wants("Not saved as json: evalrouter-", "exists already; nothing was written (destination_exists)")
}

// A rate keeps its interval and its n at every width, and a full benchmark that
// was not graded in full says so.
func TestRatesAreWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apitest.Options{})
	x := w.home(60, 16)
	pick(x, "run a bench")
	x.Type("arithmetic@")
	x.Press(kit.Enter, kit.End, kit.Enter, kit.Tab, kit.Down, kit.Down) // Model X, which fails at some tasks
	x.Type(" ")
	x.Press(kit.Tab)
	x.Until("Start run, cap")
	x.Press(kit.Enter, kit.Enter)
	x.Until("The run has ended")
	x.Rest()
	for !strings.Contains(x.Text(), "▸ Result") {
		x.Press(kit.Tab)
	}
	x.Press(kit.Enter)
	if joined := strings.Join(strings.Fields(x.Text()), " "); !strings.Contains(joined, "36 of 40 tasks were graded, so this is not a score of the full benchmark") {
		t.Errorf("a full score is claimed:\n%s", x.Text())
	}
	x.Press(kit.Esc, kit.CtrlU)
	x.Wants("100.0 % [90.4, 100.0] n 36")
	pick(x, "run hist")
	x.Wants("100.0 % [90.4, 100.0] n 36")
}
