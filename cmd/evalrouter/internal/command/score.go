package command

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/stat"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// outcomeWords are the outcomes in the order and the words in which people read
// them. Every planned task is in exactly one.
func outcomeWords() [][2]string {
	return [][2]string{
		{"right", "right"}, {"wrong", "wrong"}, {"extraction_failed", "no answer found"}, {"truncated", "cut off"},
		{"empty", "empty"}, {"refused", "refused"}, {"provider_error", "provider error"}, {"judge_error", "judge error"},
		{"grader_error", "grader error"}, {"skipped_budget", "not run (cap)"}, {"cancelled", "cancelled"},
		{"pending", "pending"}, {"left_out", "left out"},
	}
}

// Outcomes is the list of outcomes with their counts, and its sum. Zero counts
// are left out; a word that is not known here is shown as it is.
func Outcomes(counts map[string]int) (string, int) {
	var parts []string
	sum, known := 0, map[string]bool{}
	for _, w := range outcomeWords() {
		known[w[0]] = true
		if n := counts[w[0]]; n != 0 {
			parts, sum = append(parts, fmt.Sprintf("%s %s", w[1], Thousands(n))), sum+n
		}
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[k]; !known[k] && n != 0 {
			parts, sum = append(parts, fmt.Sprintf("%s %s", k, Thousands(n))), sum+n
		}
	}
	if len(parts) == 0 {
		return "none", 0
	}
	return strings.Join(parts, "  "), sum
}

// Rate is a figure for people, with n and a 95 % interval: the given one, or
// Wilson's when the value is a share of whole tasks.
func Rate(value float64, n int, interval *api.Interval) string {
	return rate(value, n, interval, true)
}

// metric is Rate for a metric. Where the service says why there is no interval,
// the value is not known to be a share, though it may look like one: half
// scores add up to whole numbers too.
func metric(m *api.MetricRecord, f *api.ProfileResult, n int) string {
	return rate(m.Value, n, intervalOf(m, f), m.Uncertainty == nil || m.Uncertainty.Reason == nil)
}

func rate(value float64, n int, interval *api.Interval, share bool) string {
	k := value * float64(n)
	whole := share && math.Abs(k-math.Round(k)) < 1e-6
	switch {
	case n == 0:
		return "none: nothing was graded"
	case value < 0 || value > 1:
		return strings.TrimRight(fmt.Sprintf("%.4f   n %s   %s", value, Thousands(n), raw(interval)), " ")
	}
	s := fmt.Sprintf("%.1f %%", 100*value)
	if whole {
		s += fmt.Sprintf("   %s of %s", Thousands(int(math.Round(k))), Thousands(n))
	} else {
		s += fmt.Sprintf("   n %s", Thousands(n))
	}
	switch {
	case interval != nil:
		s += fmt.Sprintf("   %g %% interval %.1f to %.1f", 100*interval.Confidence, 100*interval.Lower, 100*interval.Upper)
	case whole:
		w := stat.Wilson(int(math.Round(k)), n, 0.95)
		s += fmt.Sprintf("   95 %% interval %.1f to %.1f", 100*w.Lower, 100*w.Upper)
	default:
		s += "   no interval"
	}
	return s
}

func raw(i *api.Interval) string {
	if i == nil {
		return "no interval"
	}
	return fmt.Sprintf("%g %% interval %.4f to %.4f", 100*i.Confidence, i.Lower, i.Upper)
}

// ShowResult prints what a finished run found. It never shows a number that can
// be taken for more than it is: a sample is called one, and simulated answers
// are called simulated, on the line of the score itself.
func ShowResult(p *term.Page, r api.ResultRecord, allMetrics bool) {
	for i := range r.Profiles {
		showProfile(p, r, &r.Profiles[i], allMetrics)
	}
	p.Line("Status   %s%s", r.Summary.Status, because(r.Summary))
	if r.TerminalDetail != nil && *r.TerminalDetail != "" {
		p.Line("Why      %s", *r.TerminalDetail)
	}
	if c := r.Continuation; c != nil && c.SourceRunID != nil {
		p.Line("Resumes  run %s, as number %d of its chain", *c.SourceRunID, c.ChainIndex+1)
	}
	out, sum := Outcomes(r.Summary.Outcomes)
	p.Line("Outcome  %s   (%s planned)", out, Thousands(r.Summary.Coverage.Planned))
	if sum != r.Summary.Coverage.Planned {
		p.Line("         these are %s, not %s: the service's counts do not agree", Thousands(sum), Thousands(r.Summary.Coverage.Planned))
	}
	showMoney(p, r)
	for _, w := range r.Warnings {
		p.Line("Warning  %s", w)
	}
	if r.Simulated && !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(strings.ToLower(w), "simulated") }) {
		p.Line("Practice The answers were made up on this machine from the tasks' own solutions:")
		p.Line("         the score says nothing about any model.")
	}
}

func because(s api.ResultSummary) string {
	if s.TerminalReason == nil || *s.TerminalReason == "completed" {
		if s.Status == api.StatusPartial && s.Coverage.Attempted >= s.Coverage.Planned {
			return ": every task was asked, and the outcome of some calls is not known"
		}
		return ""
	}
	return ": " + strings.ReplaceAll(*s.TerminalReason, "_", " ")
}

func showProfile(p *term.Page, r api.ResultRecord, f *api.ProfileResult, all bool) {
	kind := ""
	if r.Simulated {
		kind = "   simulated"
	}
	p.Line("%s   %s   run %s", f.ProfileID, r.Model.Name(), Short(r.RunID))
	label := "Score"
	if sample(f.Selection) {
		label = "Sample"
	}
	if head := headline(f); head != nil {
		n := f.Graded
		if head.SampleCount != nil {
			n = *head.SampleCount
		}
		p.Line("%-8s %s%s   (%s)", label, metric(head, f, n), kind, head.Name)
	} else {
		p.Line("%-8s none: nothing was graded", label)
	}
	if sample(f.Selection) {
		p.Line("         a sample of %s of %s tasks%s, not a score of the full benchmark", Thousands(f.Selection.SelectedCount), Thousands(f.Selection.PopulationCount), seed(r.Coverage))
	} else if f.Graded < f.Planned {
		p.Line("         %s of %s tasks were graded, so this is not a score of the full benchmark", Thousands(f.Graded), Thousands(f.Planned))
	}
	if !all {
		return
	}
	for i := range f.Metrics {
		m := &f.Metrics[i]
		n := f.Graded
		if m.SampleCount != nil {
			n = *m.SampleCount
		}
		p.Line("Metric   %s: %s", m.Name, metric(m, f, n))
	}
}

func sample(s api.ProfileSelection) bool { return s.SelectedCount < s.PopulationCount }

func seed(c *api.Coverage) string {
	if c == nil || c.Seed == nil {
		return ""
	}
	return fmt.Sprintf(" (seed %d)", *c.Seed)
}

func headline(f *api.ProfileResult) *api.MetricRecord {
	for i := range f.Metrics {
		if f.HeadlineKey != nil && f.Metrics[i].Key == *f.HeadlineKey && f.Graded > 0 {
			return &f.Metrics[i]
		}
	}
	return nil
}

func intervalOf(m *api.MetricRecord, f *api.ProfileResult) *api.Interval {
	if m.Uncertainty != nil && m.Uncertainty.Interval != nil {
		return m.Uncertainty.Interval
	}
	if u, ok := f.Uncertainty[m.Key]; ok {
		return u.Interval
	}
	return nil
}

func showMoney(p *term.Page, r api.ResultRecord) {
	b := r.Summary.BillingSnapshot
	word := ""
	if r.Simulated {
		word = ", for simulated answers"
	}
	p.Line("Money    %s spent under a cap of %s%s", Money(b.SpendMicrousd), Money(b.CapMicrousd), word)
	if b.Pending {
		p.Line("         some charges are not settled yet")
	}
	if m := metered(r.Costs); m > 0 {
		p.Line("         of it %s metered and billed by the provider, not by EvalRouter", Money(m))
	}
	for _, c := range r.Costs.Profiles {
		if c.TotalCostMicrousd == nil {
			p.Line("         the provider bills its calls to you; this cap does not bound them")
			return
		}
	}
}

// metered is the part of the costs that a provider bills by itself.
func metered(c api.ResultCosts) (sum usd.Micro) {
	for _, p := range c.Profiles {
		if p.TotalCostMicrousd != nil {
			sum += *p.TotalCostMicrousd - p.ChargedMicrousd
		}
	}
	return sum
}

// Short is the beginning of an id that people see; it resolves.
func Short(id string) string { return id[:min(8, len(id))] }
