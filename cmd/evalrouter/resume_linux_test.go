package main

import (
	"testing"
	"time"

	lib "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// stoppedRun is a run of 40 tasks on the fake that its cap stopped.
func stoppedRun(t *testing.T, f *apitest.Fake) string {
	t.Helper()
	run := startedRun(t, f, "practice.solver-80", 40, usd.Micro(1200))
	if run.Status != api.StatusPartial {
		t.Fatalf("the run is %s", run.Status)
	}
	return run.ID
}

// startedRun is a run of n tasks that has ended.
func startedRun(t *testing.T, f *apitest.Fake, route string, n int, limit usd.Micro) api.RunRecord {
	t.Helper()
	c, err := lib.New(lib.Config{BaseURL: f.URL, APIKey: f.Token, AllowHTTP: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	q, err := c.Quotes.Create(t.Context(), api.NewQuote{
		Selection: api.Selection{ProfileIDs: []string{"arithmetic@1"}}, Model: api.ModelRef{Kind: api.ManagedKind, RouteID: route},
		Coverage: &api.Coverage{Mode: api.Sample, SampleCount: &n}, MaxChargeMicrousd: &limit,
	})
	if err != nil {
		t.Fatal(err)
	}
	run, err := c.Runs.Submit(t.Context(), api.NewRun{QuoteID: q.ID}, lib.NewIdempotencyKey())
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for err == nil && !run.Status.Terminal() {
		<-tick.C
		run, err = c.Runs.Get(t.Context(), run.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	return run
}

const resumeQuestion = "Start resume with a $1.00 cap?"

// Only a yes starts the paid work of a resume, and a no, wherever it is said,
// starts nothing.
func TestResumeApproval_RES13_RES34(t *testing.T) {
	t.Parallel()
	const up, leftOut = "\x1b[A", `{"left_out":{"cells":2,"reasons":[{"code":"refused","cells":2,"permanent":true}],"acknowledgement_required":true}}`
	tests := []struct {
		name, plan string
		args       []string
		steps      []string // what is expected, then what is typed
		code, runs int
	}{
		{"yes", "", nil, []string{resumeQuestion, up, "> Start resume", "\r"}, 0, 2},
		{"Enter alone: the cursor is on Cancel", "", nil, []string{resumeQuestion, "\r"}, 5, 1},
		{"Escape", "", nil, []string{resumeQuestion, "\x1b"}, 5, 1},
		{"--yes", "", []string{"--yes"}, nil, 0, 2},
		{"left out for good, and a no", leftOut, nil, []string{"Leave 2 tasks out, for good?", "\r"}, 5, 1},
		{"left out for good, asked about in spite of --yes", leftOut, []string{"--yes"}, []string{"Leave 2 tasks out, for good?", "\x1b"}, 5, 1},
		{"left out for good, and two times yes", leftOut, nil, []string{"Leave 2 tasks out, for good?", up, "> Leave out", "\r", resumeQuestion, up, "> Start resume", "\r"}, 0, 2},
		{"left out for good, accepted before", leftOut, []string{"--accept-left-out", "--yes"}, nil, 0, 2},
		{"a dry run asks nothing", "", []string{"--dry-run", "--yes"}, nil, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := fakeService(t)
			id := stoppedRun(t, f)
			if tt.plan != "" {
				if err := f.ShapePlans(tt.plan); err != nil {
					t.Fatal(err)
				}
			}
			x := watchedInTerminal(t, f, t.TempDir(), "", nil, append([]string{"resume", id, "--max-cost", "1"}, tt.args...)...)
			for i := 0; i+1 < len(tt.steps); i += 2 {
				x.expect(tt.steps[i])
				x.expect("Cancel")
				x.send(tt.steps[i+1])
			}
			x.exit(tt.code)
			if f.Runs() != tt.runs {
				t.Errorf("%d runs, want %d", f.Runs(), tt.runs)
			}
		})
	}
}

// The newest run of a chain, once it has ended, is quoted and asked about again,
// whatever was said on the command line about another run.
func TestResumeNewest_RES28(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	id, home := stoppedRun(t, f), t.TempDir()
	inTerminal(t, f, home, "", nil, "resume", id, "--max-cost", "0.0012", "--yes").exit(4)
	x := watchedInTerminal(t, f, home, "", nil, "resume", id, "--max-cost", "1", "--yes")
	x.expect("was resumed before")
	x.expect(f.RunID(1))
	x.expect(resumeQuestion)
	x.send("\r")
	x.exit(5)
	if f.Runs() != 2 {
		t.Errorf("%d runs, want 2", f.Runs())
	}
}
