package stat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"github.com/evalrouter/evalrouter/lib/stat"
)

// A public fault of another tool, with the right figure.
type publicBug struct {
	Ref, Name, Rule       string
	Values, First, Second []float64
	K, N, Tasks, Right    int
	Want                  float64
	Reason                stat.Reason
	Interval              []float64
}

func TestPublicBugs(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/publicbugs/statistics.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(data) {
		var bug publicBug
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&bug); err != nil {
			t.Fatal(err)
		}
		seen[bug.Ref] = true
		t.Run(bug.Ref+" "+bug.Name, func(t *testing.T) {
			t.Parallel()
			bug.check(t)
		})
	}
	for _, ref := range []string{"E55", "E58", "E59", "E64"} {
		if !seen[ref] {
			t.Errorf("no row proves %s", ref)
		}
	}
}

func (b publicBug) check(t *testing.T) {
	t.Helper()
	switch b.Rule {
	case "bootstrap":
		// The standard error, of which resampling knows about three digits.
		r, err := stat.Bootstrap{Seed: 42, Resamples: 200_000}.Mean(b.Values, 0.95)
		b.compare(t, r.StdErr, err, 0.005)
	case "win_rate":
		tally, err := stat.Compare(b.First, b.Second)
		if err != nil {
			t.Fatal(err)
		}
		e, err := tally.WinRate()
		b.compare(t, e.Mean, err, tolerance)
	case "pass_at":
		tasks := make([]stat.Attempts, b.Tasks)
		for i := range tasks {
			tasks[i].Samples = 1
			if i < b.Right {
				tasks[i].Right = 1
			}
		}
		e, err := stat.PassAt(tasks, b.K)
		b.compare(t, e.Mean, err, tolerance)
	case "wilson":
		iv := stat.Wilson(b.K, b.N, 0.95)
		if len(b.Interval) != 2 || round(iv.Lower, 3) != b.Interval[0] || round(iv.Upper, 3) != b.Interval[1] {
			t.Errorf("got %v, want %v", iv, b.Interval)
		}
	default:
		t.Errorf("unknown rule %q", b.Rule)
	}
}

func (b publicBug) compare(t *testing.T, got float64, err error, within float64) {
	t.Helper()
	switch {
	case b.Reason != "":
		if !errors.Is(err, b.Reason) {
			t.Errorf("got %v, %v, want %v", got, err, b.Reason)
		}
	case err != nil || math.Abs(got-b.Want) > within*b.Want:
		t.Errorf("got %v, %v, want %v", got, err, b.Want)
	}
}
