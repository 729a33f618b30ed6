package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// lines are a result. It never shows a number that can be taken for more than
// it is: a sample is called one, and simulated answers are called simulated.
func (s result) lines(w int) []kit.Line {
	r := s.got.result
	var out []kit.Line
	for i := range r.Profiles {
		out = append(out, profileLines(r, &r.Profiles[i], w)...)
	}
	for _, p := range s.paths {
		out = append(out, show.Pairs(w, [2]string{"Saved", p})...)
	}
	outcomes, sum := show.Outcomes(r.Summary.Outcomes)
	outcomes += fmt.Sprintf("   (%s planned)", show.Thousands(r.Summary.Coverage.Planned))
	if sum != r.Summary.Coverage.Planned {
		outcomes += fmt.Sprintf("; these are %s: the service's counts do not agree", show.Thousands(sum))
	}
	out = append(out, show.Pairs(w,
		[2]string{"Status", string(r.Summary.Status) + because(r.Summary)}, [2]string{"Why", show.Text(r.TerminalDetail)},
		[2]string{"Outcomes", outcomes}, [2]string{"Money", money(r)}, [2]string{"Reasoning", reasoning(s.got.run)})...)
	for _, warning := range r.Warnings {
		out = append(out, show.Pairs(w, [2]string{"Warning", warning})...)
	}
	said := slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(strings.ToLower(w), "simulated") })
	if r.Simulated && !said {
		out = append(out, show.Pairs(w, [2]string{"Simulated", "the answers were made up from the tasks' own solutions; the score says nothing about any model"})...)
	}
	for i := range r.Profiles {
		out = append(out, provenance(r, &r.Profiles[i], w)...)
	}
	return out
}

func reasoning(r api.RunRecord) string {
	if r.Reasoning == nil {
		return ""
	}
	return show.Reasoning(r.Reasoning)
}

func profileLines(r api.ResultRecord, f *api.ProfileResult, w int) []kit.Line {
	kind := ""
	if r.Simulated {
		kind = "   simulated"
	}
	out := []kit.Line{{Text: show.F(" %s   %s%s", f.ProfileID, r.Model.Name(), kind), Role: kit.Strong}}
	label := "Score"
	if f.Selection.SelectedCount < f.Selection.PopulationCount {
		label = "Sample"
	}
	head := headline(f)
	if head == nil {
		out = append(out, show.Pairs(w, [2]string{label, "none: nothing was graded"})...)
	} else {
		n := samples(head, f)
		share := head.Uncertainty == nil || head.Uncertainty.Reason == nil
		i := intervalOf(head, f)
		out = append(out, show.Pairs(w, [2]string{label, show.Rate(head.Value, n, i, share) + "   (" + head.Name + ")"})...)
		if lo, hi, ok := show.Bounds(head.Value, n, i, share); ok {
			scale, bar := show.Axis(w-2, head.Value, lo, hi)
			out = append(out, kit.Line{Text: " " + scale}, kit.Line{Text: " " + bar})
		}
	}
	out = append(out, show.Pairs(w, [2]string{"Coverage", show.CoverageText(f.Selection, r.Coverage)})...)
	if f.Selection.SelectedCount >= f.Selection.PopulationCount && f.Graded < f.Planned {
		out = append(out, show.Pairs(w, [2]string{"", fmt.Sprintf("%s of %s tasks were graded, so this is not a score of the full benchmark", show.Thousands(f.Graded), show.Thousands(f.Planned))})...)
	}
	for i := range f.Metrics {
		m := &f.Metrics[i]
		if m != head {
			share := m.Uncertainty == nil || m.Uncertainty.Reason == nil
			out = append(out, show.Pairs(w, [2]string{"Metric", m.Name + ": " + show.Rate(m.Value, samples(m, f), intervalOf(m, f), share)})...)
		}
	}
	return out
}

func headline(f *api.ProfileResult) *api.MetricRecord {
	for i := range f.Metrics {
		if f.HeadlineKey != nil && f.Metrics[i].Key == *f.HeadlineKey && f.Graded > 0 {
			return &f.Metrics[i]
		}
	}
	return nil
}

func samples(m *api.MetricRecord, f *api.ProfileResult) int {
	if m.SampleCount != nil {
		return *m.SampleCount
	}
	return f.Graded
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

func money(r api.ResultRecord) string {
	b := r.Summary.BillingSnapshot
	s := fmt.Sprintf("%s spent under a cap of %s", show.Money(b.SpendMicrousd), show.Money(b.CapMicrousd))
	if r.Simulated {
		s += ", for simulated answers"
	}
	if b.Pending {
		s += "; some charges are not settled yet"
	}
	for _, c := range r.Costs.Profiles {
		if c.TotalCostMicrousd == nil {
			return s + "; the provider bills its calls to you, and this cap does not bound them"
		}
		if *c.TotalCostMicrousd != c.ChargedMicrousd {
			s += fmt.Sprintf("; of it %s metered and billed by the provider", show.Money(*c.TotalCostMicrousd-c.ChargedMicrousd))
		}
	}
	return s
}

func provenance(r api.ResultRecord, f *api.ProfileResult, w int) []kit.Line {
	out := []kit.Line{{}, {Text: " Where it comes from", Role: kit.Strong}}
	return append(out, show.Pairs(w,
		[2]string{"Run", r.RunID}, [2]string{"Runner", f.Runner}, [2]string{"Interval", f.UncertaintyNote},
		[2]string{"Tasks", "sha256 " + f.Selection.TaskIDsHash}, [2]string{"Benchmark", "sha256 " + f.Selection.ManifestSHA256},
		[2]string{"Licence", show.Text(f.DataLicense)}, [2]string{"Source", strings.TrimSpace(show.Text(f.SourceURL) + " " + show.Text(f.SourceRevision))},
		[2]string{"Result", fmt.Sprintf("version %d of %s", r.Version, r.FinalizedAt.Local().Format("2 Jan 2006 15:04"))},
	)...)
}
