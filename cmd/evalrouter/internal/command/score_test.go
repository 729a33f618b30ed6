package command_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

func TestOutcomes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		counts map[string]int
		want   string
		sum    int
	}{
		{"nothing", nil, "none", 0},
		{"in reading order", map[string]int{"wrong": 2, "right": 1319, "truncated": 3}, "right 1,319  wrong 2  cut off 3", 1324},
		{"not run", map[string]int{"right": 1, "skipped_budget": 9}, "right 1  not run (cap) 9", 10},
		{"a word of a later version", map[string]int{"right": 1, "disputed": 2}, "right 1  disputed 2", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, sum := command.Outcomes(tt.counts)
			if got != tt.want || sum != tt.sum {
				t.Errorf("Outcomes = %q, %d; want %q, %d", got, sum, tt.want, tt.sum)
			}
		})
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	given := &api.Interval{Lower: 0.1, Upper: 0.2, Confidence: 0.95}
	tests := []struct {
		name     string
		value    float64
		n        int
		interval *api.Interval
		want     string
	}{
		{"a proportion with Wilson's interval", 0.8, 25, nil, "80.0 %   20 of 25   95 % interval 60.9 to 91.1"},
		{"the given interval counts", 0.8, 25, given, "80.0 %   20 of 25   95 % interval 10.0 to 20.0"},
		{"all right is not certain", 1, 10, nil, "100.0 %   10 of 10   95 % interval 72.2 to 100.0"},
		{"thousands", 742. / 1319, 1319, nil, "56.3 %   742 of 1,319   95 % interval 53.6 to 58.9"},
		{"a mean is no proportion", 0.333, 10, nil, "33.3 %   n 10   no interval"},
		{"nothing graded", 0, 0, nil, "none: nothing was graded"},
		{"a value beyond one", 12.5, 10, nil, "12.5000   n 10   no interval"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := command.Rate(tt.value, tt.n, tt.interval); got != tt.want {
				t.Errorf("Rate = %q, want %q", got, tt.want)
			}
		})
	}
}

func result(selected, population, graded int, outcomes map[string]int, simulated bool) api.ResultRecord {
	key, n, seed, reason := "accuracy", graded, uint32(42), "spending_cap"
	m := "m"
	return api.ResultRecord{
		RunID: "0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c11", Simulated: simulated, Coverage: &api.Coverage{Mode: api.Sample, Seed: &seed},
		Model: api.Model{Selected: &api.SelectedModel{ModelID: m}},
		Profiles: []api.ProfileResult{{
			ProfileID: "gsm8k@2", HeadlineKey: &key, Planned: selected, Graded: graded,
			Selection: api.ProfileSelection{SelectedCount: selected, PopulationCount: population},
			Metrics:   []api.MetricRecord{{Key: key, Name: "Accuracy", Value: 0.8, SampleCount: &n}, {Key: "f1", Name: "F1", Value: 0.5, SampleCount: &n}},
		}},
		Summary: api.ResultSummary{
			Status: api.StatusPartial, TerminalReason: &reason, Coverage: api.CoverageCounts{Planned: selected}, Outcomes: outcomes,
			BillingSnapshot: api.BillingSnapshot{SpendMicrousd: 42, CapMicrousd: 1_000_000},
		},
	}
}

// halves is graded by judges that gave half scores, for which the service has
// no interval. Their sum is a whole number all the same.
func halves() api.ResultRecord {
	r := result(25, 25, 25, map[string]int{"right": 5, "wrong": 20}, false)
	n, why := 20, "there are too few scores, or they do not differ"
	r.Profiles[0].Metrics[1] = api.MetricRecord{Key: "mean_score", Name: "Mean score", Value: 0.5, SampleCount: &n, Uncertainty: &api.Uncertainty{Reason: &why}}
	return r
}

func failed() api.ResultRecord {
	r := result(25, 25, 0, map[string]int{"pending": 25}, false)
	reason, why := "provider_unavailable", "the key was refused: Incorrect API key"
	r.Summary.Status, r.Summary.TerminalReason, r.TerminalDetail = api.StatusFailed, &reason, &why
	return r
}

func unresolved() api.ResultRecord {
	r := result(25, 25, 23, map[string]int{"right": 23, "provider_error": 2}, false)
	r.Summary.TerminalReason, r.Summary.Coverage.Attempted = nil, 25
	return r
}

func metered() api.ResultRecord {
	r := result(25, 25, 25, map[string]int{"right": 25}, false)
	total := 1_500 * usd.Dollar
	r.Summary.BillingSnapshot.SpendMicrousd = total
	r.Costs.Profiles = []api.ProfileCost{{ProfileID: "gsm8k@2", ChargedMicrousd: usd.Dollar, TotalCostMicrousd: &total}}
	return r
}

func show(r api.ResultRecord, all bool) string {
	var b bytes.Buffer
	command.ShowResult(&term.Page{W: &b}, r, all)
	return b.String()
}

func TestShowResult(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		r     api.ResultRecord
		all   bool
		parts []string
		not   []string
	}{
		{"QUO-17 a sample is called one", result(25, 1319, 25, map[string]int{"right": 20, "wrong": 5}, false), false,
			[]string{"Sample   80.0 %   20 of 25   95 % interval 60.9 to 91.1", "a sample of 25 of 1,319 tasks (seed 42), not a score of the full benchmark",
				"Outcome  right 20  wrong 5   (25 planned)", "Money    $0.000042 spent under a cap of $1.00", "Status   partial: spending cap"},
			[]string{"Score", "simulated", "F1", "do not agree"}},
		{"a full run", result(25, 25, 25, map[string]int{"right": 20, "wrong": 5}, false), false, []string{"Score    80.0 %"}, []string{"Sample", "not a score"}},
		{"a full run that stopped", result(25, 25, 10, map[string]int{"right": 8, "wrong": 2, "skipped_budget": 15}, false), false,
			[]string{"10 of 25 tasks were graded, so this is not a score of the full benchmark", "not run (cap) 15"}, nil},
		{"nothing graded", result(25, 25, 0, map[string]int{"provider_error": 25}, false), false, []string{"Score    none: nothing was graded"}, []string{"80.0"}},
		{"counts that do not add up", result(25, 25, 25, map[string]int{"right": 20}, false), false, []string{"these are 20, not 25"}, nil},
		{"simulated answers", result(25, 25, 25, map[string]int{"right": 20, "wrong": 5}, true), false,
			[]string{"interval 60.9 to 91.1   simulated", "says nothing about any model", "for simulated answers"}, nil},
		{"a failed run says why", failed(), false, []string{"Status   failed: provider unavailable", "Why      the key was refused: Incorrect API key"}, nil},
		{"a partial run with unknown outcomes says so", unresolved(), false, []string{"Status   partial: every task was asked, and the outcome of some calls is not known"}, nil},
		{"what a provider bills is named", metered(), false, []string{"Money    $1,500.00 spent", "of it $1,499.00 metered and billed by the provider, not by EvalRouter"}, []string{"do not bound"}},
		{"half scores are no share", halves(), true, []string{"Metric   Mean score: 50.0 %   n 20   no interval"}, []string{"10 of 20"}},
		{"RUN-44 every metric", result(25, 25, 25, map[string]int{"right": 20, "wrong": 5}, false), true, []string{"Metric   F1: 50.0 %"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := show(tt.r, tt.all)
			for _, p := range tt.parts {
				if !strings.Contains(got, p) {
					t.Errorf("no %q in:\n%s", p, got)
				}
			}
			for _, p := range tt.not {
				if strings.Contains(got, p) {
					t.Errorf("%q in:\n%s", p, got)
				}
			}
		})
	}
}

// Nothing that a service says can move the cursor or hide a line.
func TestShowResultIsSafe(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		evil := rapid.SampledFrom([]string{"\x1b[2J", "\r\n", "\u202e", "\x9b31m", "a\x00b", "\x1b]52;c;x\x07"}).Draw(t, "evil") + rapid.String().Draw(t, "text")
		r := result(25, 1319, 25, map[string]int{"right": 20, evil: 5}, true)
		r.Profiles[0].ProfileID, r.Profiles[0].Metrics[0].Name, r.Model.Selected.DisplayName = evil, evil, evil
		r.Warnings, r.Summary.TerminalReason = []string{evil}, &evil
		got := show(r, true)
		lines := strings.Count(got, "\n")
		if want := strings.Count(show(result(25, 1319, 25, map[string]int{"right": 25}, true), true), "\n"); lines > want+1 {
			t.Fatalf("%d lines, want at most %d", lines, want+1)
		}
		for _, c := range got {
			if c != '\n' && (c < 0x20 || c >= 0x7f && c < 0xa0 || c == '\u202e') {
				t.Fatalf("character %q in %q", c, got)
			}
		}
	})
}

func TestAgain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		edit command.Edit
		want string
	}{
		{"as it was", []string{"run", "a", "--model", "m"}, command.Edit{}, "evalrouter run a --model m"},
		{"more flags", []string{"run", "a"}, command.Edit{Add: []string{"--yes"}}, "evalrouter run a --yes"},
		{"before the operands behind dashes", []string{"run", "--", "-a"}, command.Edit{Add: []string{"--yes"}}, "evalrouter run --yes -- -a"},
		{"another name", []string{"run", "aa"}, command.Edit{Replace: map[string]string{"aa": "a"}}, "evalrouter run a"},
		{"another cap", []string{"run", "--max-cost", "1", "a"}, command.Edit{Drop: []string{"max-cost"}, Add: []string{"--max-cost", "2"}}, "evalrouter run a --max-cost 2"},
		{"another cap, joined", []string{"run", "--max-cost=1", "a"}, command.Edit{Drop: []string{"max-cost"}, Add: []string{"--max-cost", "2"}}, "evalrouter run a --max-cost 2"},
		{"spaces", []string{"run", "two words"}, command.Edit{}, "evalrouter run 'two words'"},
		{"a quote", []string{"run", "it's"}, command.Edit{}, `evalrouter run 'it'\''s'`},
		{"a secret", []string{"run", "sk-abcDEF1234567890abcDEF"}, command.Edit{}, "evalrouter run VALUE"},
		{"a dollar", []string{"run", "$(rm -rf x)"}, command.Edit{}, "evalrouter run '$(rm -rf x)'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := &command.App{Args: tt.args}
			if diff := cmp.Diff(tt.want, a.Again(tt.edit)); diff != "" {
				t.Errorf("command (-want +got):\n%s", diff)
			}
		})
	}
}
