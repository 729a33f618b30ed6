package gate_test

import (
	"context"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/gate"
	"github.com/evalrouter/evalrouter/lib/api"
)

const earlier = "3f2a9c00-0000-4000-8000-000000000001"

func run(id string, right, n int, lower float64, tasks string) api.RunRecord {
	r := api.RunRecord{ID: id, Status: api.StatusCompleted, Profiles: []api.ProfileSelection{{ID: "sums@1", ManifestSHA256: "m", TaskIDsHash: tasks}}}
	if n > 0 {
		r.Headline = &api.Headline{Value: float64(right) / float64(n), Denominator: n, Interval: &api.Interval{Lower: lower, Upper: 1}}
	}
	return r
}

// runs are those of a service.
type runs map[string]api.RunRecord

// Get reads one.
func (r runs) Get(_ context.Context, id string) (api.RunRecord, error) { return r[id], nil }

func TestGates(t *testing.T) {
	t.Parallel()
	same := run(earlier, 8, 10, 0.5, "t")
	for _, tt := range []struct {
		name   string
		flags  []string
		r      api.RunRecord
		before api.RunRecord
		passes bool
		says   string
	}{
		{"above", []string{"--min-score", "0.8"}, run("r", 9, 10, 0.6, "t"), same, true, "the score, 90.0 %, is at least 80.0 %"},
		{"exactly", []string{"--min-score", "0.8"}, run("r", 8, 10, 0.6, "t"), same, true, "80.0 %, is at least 80.0 %"},
		{"exactly, in percent", []string{"--min-score", "70%"}, run("r", 7, 10, 0.6, "t"), same, true, "is at least 70.0 %"},
		{"below by less than a digit", []string{"--min-score", "0.8"}, run("r", 79999, 100000, 0.6, "t"), same, false, "the score, 79.999 %, is below 80.000 %"},
		{"nothing graded", []string{"--min-score", "0"}, run("r", 0, 0, 0, "t"), same, false, "too little was graded"},
		{"the interval's end above", []string{"--min-lower-bound", "0.75"}, run("r", 9, 10, 0.76, "t"), same, true, "lower end of the interval, 76.0 %"},
		{"the point is above, the interval's end is not", []string{"--min-lower-bound", "0.75"}, run("r", 9, 10, 0.7, "t"), same, false, "70.0 %, is below 75.0 %"},
		{"as good as before", []string{"--max-regression", earlier}, run("r", 8, 10, 0.6, "t"), same, true, "did not fall"},
		{"worse than before", []string{"--max-regression", earlier}, run("r", 7, 10, 0.6, "t"), same, false, "the score fell: 70.0 % after 80.0 %"},
		{"worse by what is allowed", []string{"--max-regression", earlier + "=0.1"}, run("r", 7, 10, 0.6, "t"), same, true, "did not fall further"},
		{"worse by more", []string{"--max-regression", earlier + "=10%"}, run("r", 6, 10, 0.6, "t"), same, false, "the score fell"},
		{"of other tasks", []string{"--max-regression", earlier}, run("r", 9, 10, 0.6, "others"), same, false, "do not compare"},
		{"one of two", []string{"--min-score", "0.5", "--min-lower-bound", "0.9"}, run("r", 9, 10, 0.6, "t"), same, false, "--min-lower-bound: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, err := parse(tt.flags)
			if err != nil {
				t.Fatal(err)
			}
			if err := g.Prepare(t.Context(), func(_ context.Context, a []string) (string, error) { return a[0], nil }, runs{earlier: tt.before}); err != nil {
				t.Fatal(err)
			}
			checks := g.Judge(tt.r)
			all := ""
			for _, c := range checks {
				all += "--" + strings.ReplaceAll(c.Gate, "_", "-") + ": " + c.Reason
			}
			if err := gate.Failed(checks, tt.r.ID); (err == nil) != tt.passes || err != nil && !strings.Contains(err.Error(), tt.says) || !strings.Contains(all, tt.says) {
				t.Errorf("the gates say %v, %v; want %q", all, err, tt.says)
			}
		})
	}
}

func parse(flags []string) (*gate.Gates, error) {
	g := &gate.Gates{}
	fs := argv.NewFlags("run")
	g.Declare(fs)
	root := &argv.Command{Name: "evalrouter", Sub: []*argv.Command{{Name: "run", Flags: fs, Exec: func(context.Context, []string) error { return nil }}}}
	_, err := argv.Parse(root, append([]string{"run"}, flags...))
	return g, err
}

func TestGates_Refuse(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{{"--min-score", "80"}, {"--min-score", "-0.1"}, {"--min-score", "NaN"}, {"--min-lower-bound", "120%"}, {"--max-regression", "x y"}, {"--max-regression", earlier + "=2"}} {
		if _, err := parse(flags); err == nil {
			t.Errorf("%v is taken", flags)
		}
	}
	g, err := parse([]string{"--max-regression", earlier})
	if err != nil {
		t.Fatal(err)
	}
	live := run(earlier, 1, 2, 0, "t")
	live.Status = api.StatusRunning
	for name, r := range map[string]api.RunRecord{"one that goes on": live, "one without a score": run(earlier, 0, 0, 0, "t")} {
		if err := g.Prepare(t.Context(), func(_ context.Context, a []string) (string, error) { return a[0], nil }, runs{earlier: r}); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
