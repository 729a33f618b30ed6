package run

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/stat"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// showQuote prints what a quote offers: coverage, rates, cap, concurrency,
// compatibility, warnings and expiry. It holds no forecast, because there is
// none that could be kept.
func showQuote(p *term.Page, q api.QuoteRecord) {
	title := "Quote " + command.Short(q.ID)
	if q.Preview {
		title = "Preview, not yet a quote"
	}
	if !q.Preview { // a preview is computed, not kept: nothing of it can expire
		title += fmt.Sprintf("   expires %s (in %d min)", q.ExpiresAt.Local().Format("15:04"), (q.ExpiresIn+59)/60)
	}
	p.Line("%s", title)
	for _, r := range terms(q) {
		p.Line("  %-12s %s", r.label, r.text)
	}
}

// line is one line of what a quote offers. A line without a label belongs to the
// one above.
type line struct{ label, text string }

// terms is what a quote offers, line by line.
func terms(q api.QuoteRecord) (out []line) {
	add := func(label, text string) { out = append(out, line{label, text}) }
	for _, s := range q.Plan.Profiles {
		add("Benchmark", s.ID)
		add("Coverage", coverageText(s, q.Plan.Coverage))
		if d, ok := stat.Detectable(s.SelectedCount); ok {
			add("Can show", fmt.Sprintf("differences of about %s points between two models (paired, 80 %% power)", points(d)))
		}
	}
	add("Model", q.Plan.Model.Name()+simulated(q.Plan.Model))
	if q.Reasoning != nil {
		add("Reasoning", reasoningText(*q.Reasoning))
	}
	add("Rates", rates(q.Plan.Pricing))
	if q.Plan.Pricing != nil && q.Plan.Pricing.LongContext != nil {
		add("Long input", longRates(*q.Plan.Pricing.LongContext))
	}
	for _, s := range q.Plan.Profiles {
		out = append(out, judgeTerms(s.Judge)...)
	}
	switch {
	case q.MaxChargeMicrousd != nil:
		add("Cap", command.Money(*q.MaxChargeMicrousd)+", hard"+minimum(q.MinimumCapMicrousd))
	case q.MinimumCapMicrousd != nil:
		add("Cap", "at least "+command.Money(*q.MinimumCapMicrousd))
	}
	add("Concurrency", fmt.Sprintf("%s, at most %s%s", q.Concurrency.Requested, command.Count(q.Concurrency.RunCeiling, "call"), listed(q.Concurrency.Reasons)))
	add("Compatible", compatible(q.Compatibility))
	if q.ExternalCharges != nil {
		add("Outside", *q.ExternalCharges)
	}
	for _, w := range q.Plan.Warnings {
		add("Warning", w)
	}
	return out
}

// judgeTerms is who grades and at which rates: their calls count against the
// same cap.
func judgeTerms(j *api.JudgeSelection) (out []line) {
	if j == nil {
		return nil
	}
	for _, m := range judges(*j) {
		name := m.ModelID
		if m.RouteID != nil {
			name = *m.RouteID
		}
		out = append(out, line{"Judge", name + simulated(api.Model{Selected: &m})}, line{"", rates(m.Pricing)})
	}
	return out
}

// showChange prints in what a quote differs from the one that it replaces.
func showChange(p *term.Page, before, now api.QuoteRecord) {
	p.Line("Quote %s replaces %s. What changed:", command.Short(now.ID), command.Short(before.ID))
	was, is := byLabel(before), byLabel(now)
	for _, label := range labels(append(terms(before), terms(now)...)) {
		switch {
		case was[label] == is[label]:
		case was[label] == "":
			p.Line("  %-12s %s   (new)", label, is[label])
		case is[label] == "":
			p.Line("  %-12s %s   (no longer)", label, was[label])
		default:
			p.Line("  %-12s %s -> %s   (changed)", label, was[label], is[label])
		}
	}
	p.Line("  %-12s the same", "all else")
}

// byLabel joins the lines of each label.
func byLabel(q api.QuoteRecord) map[string]string {
	out, last := map[string]string{}, ""
	for _, l := range terms(q) {
		if l.label != "" {
			last = l.label
		}
		if out[last] != "" {
			out[last] += "; "
		}
		out[last] += l.text
	}
	return out
}

// labels are the labels of lines in their order, each once.
func labels(lines []line) (out []string) {
	for _, l := range lines {
		if l.label != "" && !slices.Contains(out, l.label) {
			out = append(out, l.label)
		}
	}
	return out
}

// judges is the whole panel where the service says who is in it, and otherwise
// the one judge of the record.
func judges(j api.JudgeSelection) []api.SelectedModel {
	raw, err := json.Marshal(j.Protocol["judges"])
	var panel []api.SelectedModel
	if err != nil || json.Unmarshal(raw, &panel) != nil || len(panel) == 0 {
		return []api.SelectedModel{j.Model}
	}
	return panel
}

func coverageText(s api.ProfileSelection, c api.Coverage) string {
	if s.SelectedCount >= s.PopulationCount {
		return "all " + command.Count(s.PopulationCount, "task")
	}
	seed := ""
	if c.Seed != nil {
		seed = fmt.Sprintf(", seed %d", *c.Seed)
	}
	return fmt.Sprintf("%s of %s tasks%s (a sample, not a full score)", command.Thousands(s.SelectedCount), command.Thousands(s.PopulationCount), seed)
}

func simulated(m api.Model) string {
	if m.Selected != nil && m.Selected.Simulated {
		return "   practice route: simulated, no real model"
	}
	return ""
}

func reasoningText(r api.ReasoningChoice) string {
	switch r.Mode {
	case "effort":
		return r.Effort
	case "budget":
		return fmt.Sprintf("up to %s thinking tokens", command.Thousands(r.BudgetTokens))
	case "provider_default":
		return "the provider's default"
	}
	return r.Mode
}

func rates(p *api.Pricing) string {
	if p == nil {
		return "none published; the provider bills its calls to you"
	}
	s := ""
	for _, r := range []struct {
		word string
		m    *usd.Micro
	}{{"in", p.InputMicrousd}, {"cached in", p.CachedInputMicrousd}, {"cache write", p.CacheWriteMicrousd}, {"cache write for an hour", p.CacheWriteHourMicrousd}, {"out", p.OutputMicrousd}, {"reasoning", p.ReasoningMicrousd}} {
		if r.m != nil {
			s += fmt.Sprintf("%s %s  ", r.word, command.Money(*r.m))
		}
	}
	if s != "" {
		s += "for a million tokens"
	}
	for _, r := range []struct {
		word string
		m    *usd.Micro
	}{{"request", p.PerRequestMicrousd}, {"task", p.TaskFeeMicrousd}, {"run", p.ExecutionFeeMicrousd}} {
		if r.m != nil && *r.m != 0 {
			s += fmt.Sprintf("  %s a %s", command.Money(*r.m), r.word)
		}
	}
	if s == "" {
		return "none published"
	}
	return s
}

// longRates are the rates of a call whose input is long: they replace all of
// the others.
func longRates(l api.LongContextPricing) string {
	r := rates(&api.Pricing{
		InputMicrousd: &l.InputMicrousd, CachedInputMicrousd: &l.CachedInputMicrousd, OutputMicrousd: &l.OutputMicrousd, ReasoningMicrousd: &l.ReasoningMicrousd,
		CacheWriteMicrousd: &l.CacheWriteMicrousd, CacheWriteHourMicrousd: &l.CacheWriteHourMicrousd,
	})
	return fmt.Sprintf("above %s input tokens: %s", command.Thousands(int(l.AboveTokens)), r)
}

func minimum(m *usd.Micro) string {
	if m == nil {
		return ""
	}
	return fmt.Sprintf(" (the least that pays for one task is %s)", command.Money(*m))
}

func listed(reasons []string) string {
	if len(reasons) == 0 {
		return ""
	}
	return " (" + string(plain.Line(fmt.Sprint(reasons[0]))) + ")"
}

func compatible(c api.Compatibility) string {
	if c.OK {
		return "yes"
	}
	s := "no"
	for _, r := range c.Reasons {
		s += ": " + r.Message
	}
	return s
}

// points is a share in percentage points: whole ones from ten on, and never
// rounded to nothing.
func points(share float64) string {
	switch p := 100 * share; {
	case p >= 9.95:
		return fmt.Sprintf("%.0f", p)
	case p >= 0.05:
		return fmt.Sprintf("%.1f", p)
	default:
		return "less than 0.1"
	}
}
