package report

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// Live is a run as it stands, in the words, the order and the digits of a
// finished one. What only a result knows, such as provenance, is not in it. The
// run is of one benchmark, as runs are that this package is made for.
func Live(run api.RunRecord) (Report, error) {
	if len(run.Profiles) != 1 {
		return Report{}, fmt.Errorf("read run %q: it has %d profiles, want 1", line(run.ID), len(run.Profiles))
	}
	p := run.Profiles[0]
	r := Report{
		Run: line(run.ID), Name: line(run.Name), Benchmark: line(p.ID), Model: line(run.Model.Name()), Reasoning: reasoning(run.Reasoning), Status: line(string(run.Status)),
		Simulated: run.Simulated, Live: !run.Status.Terminal(), Waiting: line(strings.ReplaceAll(value(run.WaitingReason), "_", " ")),
		Outcomes: outcomes(run.Outcomes, run.PlannedCount),
		Coverage: Coverage{
			Planned: run.PlannedCount, Graded: run.GradedCount, Errors: run.ErrorCount, NotRun: run.PlannedCount - run.GradedCount - run.ErrorCount,
			Population: p.PopulationCount, Sample: p.SelectedCount < p.PopulationCount,
		},
		Money: Money{Cap: run.CapMicrousd, Spend: run.SpendMicrousd, Reserved: run.ReservedMicrousd, Unspent: max(run.CapMicrousd-run.SpendMicrousd-run.ReservedMicrousd, 0)},
	}
	if run.Model.Selected != nil {
		r.ModelID = line(run.Model.Selected.ModelID)
	}
	if r.Money.Cap > 0 {
		r.Money.Share = int(min(float64(r.Money.Spend)/float64(r.Money.Cap), 1) * 1000)
	}
	if r.Coverage.Sample && run.Coverage != nil && run.Coverage.Seed != nil {
		r.Coverage.Seed = fmt.Sprint(*run.Coverage.Seed)
	}
	if rest := run.PlannedCount - tasksOf(run.Outcomes); rest > 0 {
		r.Outcomes = append(r.Outcomes, Outcome{"", "not decided yet", NotRun, rest, Count(rest), fmt.Sprintf("%.1f %%", 100*float64(rest)/float64(run.PlannedCount))})
	}
	if f := Shown(run.Headline); f != nil {
		r.Figures = []Figure{*f}
	}
	if run.StartedAt != nil && r.Live {
		r.StartedAt = moment(*run.StartedAt)
	}
	if run.FinishedAt != nil {
		r.FinishedAt = moment(*run.FinishedAt)
	}
	if reason := value(run.TerminalReason); reason != "" && reason != "completed" {
		r.Why = line(strings.TrimSuffix(strings.ReplaceAll(reason, "_", " ")+": "+value(run.TerminalDetail), ": "))
	}
	return r, nil
}

// Shown is the one figure that a run is known by, nil before anything is graded.
func Shown(h *api.Headline) *Figure {
	if h == nil || h.Denominator == 0 {
		return nil
	}
	m := api.MetricRecord{Key: h.Key, Name: h.Name, Value: h.Value, SampleCount: &h.Denominator}
	if h.Interval != nil {
		m.Uncertainty = &api.Uncertainty{Interval: h.Interval}
	}
	f := figure(m, api.ProfileResult{Graded: h.Denominator})
	return &f
}

func tasksOf(counts map[string]int) (n int) {
	for _, k := range counts {
		n += k
	}
	return n
}

// Parts are the parts of pages about runs, as templates for whoever has a frame
// of its own: verdict, figures, outcomes, money, coverage, provenance and limits
// of a value that embeds a Report, taskbody of a Task's View, comparedhead and
// compared of what Compared gives. They hold no style and no script.
func Parts() (*template.Template, error) {
	t, err := parts()
	if err != nil {
		return nil, err
	}
	if t, err = t.Parse(comparisonPage); err != nil {
		return nil, fmt.Errorf("read page: %w", err)
	}
	return t, nil
}

// View is a task as the part taskbody shows it.
func (t Task) View() any { return viewOf(t) }

// Compared is a comparison as the parts comparedhead and compared show it.
func Compared(c api.Comparison) any { return compared(c) }

// OutcomeWords are how an outcome reads and what it means for the score.
func OutcomeWords(key string) (plain.Safe, Kind) {
	w := wordOf(key)
	return line(w.label), w.kind
}
