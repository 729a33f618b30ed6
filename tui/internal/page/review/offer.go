package review

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/stat"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// offer is a quote as the screen reviews it, whatever it is for.
type offer struct {
	id        string
	cap       *usd.Micro // nil for a preview
	expiresIn int64      // seconds
	// What the cap holds of each kind of credit. A connection holds none: its
	// provider bills its calls.
	practice, credit usd.Micro
	rates            []string // by member
	lines            func(w int, o offer, before *offer) []kit.Line
}

// ofRun is the quote of one run.
func ofRun(q api.QuoteRecord) offer {
	o := offer{id: q.ID, cap: q.MaxChargeMicrousd, expiresIn: q.ExpiresIn, rates: []string{show.Rates(q.Plan.Pricing)}}
	o.holds(q.Plan.Model.Selected, q.MaxChargeMicrousd)
	o.lines = func(w int, o offer, before *offer) []kit.Line { return runLines(q, o, before, w) }
	return o
}

// ofResume is the quote of a continuation.
func ofResume(q api.QuoteRecord) offer {
	o := ofRun(q)
	o.lines = func(w int, o offer, before *offer) []kit.Line {
		var out []kit.Line
		if q.Continuation != nil {
			out = planLines(*q.Continuation, w)
		}
		return append(out, runLines(q, o, before, w)...)
	}
	return o
}

// ofGroup is the quote of several runs.
func ofGroup(q api.GroupQuoteRecord) offer {
	o := offer{id: q.ID, cap: q.MaxChargeMicrousd, expiresIn: q.ExpiresIn}
	for _, m := range q.Members {
		o.rates = append(o.rates, show.Rates(m.Pricing))
		o.holds(&m.Model, m.MaxChargeMicrousd)
	}
	o.lines = func(w int, o offer, before *offer) []kit.Line { return groupLines(q, o, before, w) }
	return o
}

func (o *offer) holds(m *api.SelectedModel, spend *usd.Micro) {
	switch {
	case spend == nil || m != nil && m.Kind == api.ConnectionKind:
	case m != nil && m.Simulated:
		o.practice += *spend
	default:
		o.credit += *spend
	}
}

// rate is a member's prices; those that changed since the quote that was
// approved before say so.
func (o offer) rate(i int, before *offer) string {
	if before == nil || i >= len(before.rates) || before.rates[i] == o.rates[i] {
		return o.rates[i]
	}
	return o.rates[i] + "   CHANGED, was " + before.rates[i]
}

// selectionLines are what is evaluated, and what that can show.
func selectionLines(profiles []api.ProfileSelection, c *api.Coverage, each string, w int) (out []kit.Line) {
	for _, p := range profiles {
		can := ""
		if d, ok := stat.Detectable(p.SelectedCount); ok {
			can = fmt.Sprintf("differences of about %.0f points between two models (paired, 80 %% power)", 100*d)
		}
		out = append(out, show.Pairs(w, [2]string{"Benchmark", p.ID}, [2]string{"Coverage", show.CoverageText(p, c) + each}, [2]string{"Can show", can})...)
	}
	return out
}

// runLines are the quote of one run. It holds no forecast, because there is none
// that could be kept.
func runLines(q api.QuoteRecord, o offer, before *offer, w int) []kit.Line {
	out := selectionLines(q.Plan.Profiles, &q.Plan.Coverage, "", w)
	think := ""
	if q.Reasoning != nil {
		think = show.Reasoning(q.Reasoning)
	}
	out = append(out, show.Pairs(w, [2]string{"Model", q.Plan.Model.Name() + simulated(q.Plan.Model.Selected)}, [2]string{"Reasoning", think}, [2]string{"Rates", o.rate(0, before)})...)
	for _, p := range q.Plan.Profiles {
		out = append(out, judgeLines(p.Judge, w)...)
	}
	reasons := ""
	if len(q.Concurrency.Reasons) > 0 {
		reasons = " (" + q.Concurrency.Reasons[0] + ")"
	}
	out = append(out, show.Pairs(w,
		[2]string{"Cap", capText(q.MaxChargeMicrousd) + least(q.MinimumCapMicrousd)},
		[2]string{"Concurrency", fmt.Sprintf("%s, at most %s%s", q.Concurrency.Requested, show.Plural(q.Concurrency.RunCeiling, "call"), reasons)},
		[2]string{"Compatible", compatible(q.Compatibility)}, [2]string{"Outside", show.Text(q.ExternalCharges)},
	)...)
	return append(out, warnings(q.Plan.Warnings, w)...)
}

// groupLines are the quote of a group: what its members have in common, then
// each of them with its rates and its own cap.
func groupLines(q api.GroupQuoteRecord, o offer, before *offer, w int) []kit.Line {
	out := selectionLines(q.Profiles, &q.Coverage, fmt.Sprintf(" · %d models", len(q.Members)), w)
	if id := q.SourceGroupID; id != nil {
		out = append(show.Pairs(w, [2]string{"Goes on with", "group " + show.Short(*id)}), out...)
	}
	out = append(out, show.Pairs(w, [2]string{"Cap", capText(q.MaxChargeMicrousd) + " for all together" + least(q.MinimumCapMicrousd)})...)
	for i, m := range q.Members {
		out = append(out, memberLines(m, i, q.SourceGroupID != nil, o.rate(i, before), w)...)
		out = append(out, warnings(own(q, m), w)...)
	}
	for _, p := range q.Profiles {
		out = append(out, judgeLines(p.Judge, w)...)
	}
	return append(out, warnings(common(q), w)...)
}

// memberLines are one member: what it starts with, or why it does not start with
// the others. One that is gone on with says what becomes of its tasks.
func memberLines(m api.GroupQuoteMember, i int, resumed bool, rate string, w int) []kit.Line {
	head := api.Model{Selected: &m.Model}.Name() + simulated(&m.Model)
	if m.Reasoning != nil {
		head += "   reasoning: " + show.Reasoning(m.Reasoning)
	}
	figures := fmt.Sprintf("cap %s · %s · at most %s", capText(m.MaxChargeMicrousd), rate, show.Plural(m.Concurrency.RunCeiling, "call"))
	no := ""
	switch {
	case m.Eligible:
	case resumed:
		figures, no = "", "not resumed: "+flow.Aside(show.Text(m.IneligibleReason))+run(m.SourceRunID)
	default:
		no = "not started with the others: " + strings.ReplaceAll(show.Text(m.IneligibleReason), "_", " ")
	}
	rows := [][2]string{{fmt.Sprintf("Model %d", i+1), head}, {"", figures}, {"", show.Text(m.ExternalCharges)}, {"", no}}
	out := show.Pairs(w, rows...)
	if m.Eligible && m.Continuation != nil {
		out = append(out, planLines(*m.Continuation, w)...)
	}
	return out
}

// run names a run in brackets, where there is one.
func run(id *string) string {
	if id == nil {
		return ""
	}
	return " (run " + show.Short(*id) + ")"
}

// own are the warnings of a member that not all of them have: those stand once,
// below. The group's list has everybody's.
func own(q api.GroupQuoteRecord, m api.GroupQuoteMember) []string {
	return slices.DeleteFunc(slices.Clone(m.Warnings), func(s string) bool { return warned(q, s) == len(q.Members) })
}

// common are the warnings that stand at no single member.
func common(q api.GroupQuoteRecord) []string {
	return slices.DeleteFunc(slices.Clone(q.Warnings), func(s string) bool { n := warned(q, s); return n > 0 && n < len(q.Members) })
}

// warned is how many members a warning is about.
func warned(q api.GroupQuoteRecord, s string) (n int) {
	for _, m := range q.Members {
		if slices.Contains(m.Warnings, s) {
			n++
		}
	}
	return n
}

// planLines are what becomes of the tasks of the run that a quote goes on with.
func planLines(c api.ContinuationPlan, w int) []kit.Line {
	from := "run " + show.Short(c.SourceRunID)
	if n := len(c.ChainRunIDs); n > 1 {
		from += fmt.Sprintf(", number %d of its chain", n)
	}
	rows := [][2]string{{"Goes on with", from}, {"Reused", show.Plural(c.ReusedCells, "task") + " already graded, at $0.00"}}
	if c.SavedResponseCells > 0 {
		rows = append(rows, [2]string{"Saved", show.Plural(c.SavedResponseCells, "recorded answer") + ", graded at $0.00 without a request"})
	}
	now := show.Plural(c.RerunCells, "task")
	if n := c.CancelledCells + c.TimeLimitCells; c.IncludeCancelled && n > 0 {
		now += fmt.Sprintf(", %s of them stopped by a person or the time limit before", show.Thousands(n))
	}
	rows = append(rows, [2]string{"Run now", now})
	if c.Pending.Cells > 0 {
		rows = append(rows, [2]string{"Pending", show.Plural(c.Pending.Cells, "task") + ", looked at again by a later resume: " + flow.PendingReasons(c.Pending)})
	}
	if u := c.UnknownRetry; u.Cells > 0 {
		text := show.Plural(u.Cells, "task") + " of unknown outcome stay as they are"
		if u.Selected {
			text = show.Plural(u.Cells, "task") + " of unknown outcome, asked and paid for again; the earlier attempt is never charged"
		}
		if u.ProviderMayBillAgain {
			text += ". Your provider may bill both attempts"
		}
		rows = append(rows, [2]string{"Unknown", text})
	}
	if c.LeftOut.Cells > 0 {
		rows = append(rows, [2]string{"Left out", show.Plural(c.LeftOut.Cells, "task") + ", for good, in this and every later resume: " + flow.LeftOutReasons(c.LeftOut)})
	}
	rows = append(rows, [2]string{"Evidence", "kept until " + c.EvidenceExpiresAt.Local().Format("2 Jan 2006 15:04")})
	return show.Pairs(w, rows...)
}

func capText(m *usd.Micro) string {
	if m == nil {
		return "none yet"
	}
	return show.Money(*m) + ", hard"
}

func least(m *usd.Micro) string {
	if m == nil {
		return ""
	}
	return fmt.Sprintf(" (the least that pays for one task is %s)", show.Money(*m))
}

func simulated(m *api.SelectedModel) string {
	if m == nil || !m.Simulated {
		return ""
	}
	return "   practice route: simulated, no real model"
}

func warnings(all []string, w int) (out []kit.Line) {
	for _, s := range all {
		out = append(out, show.Pairs(w, [2]string{"Warning", s})...)
	}
	return out
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

// judgeLines are who grades, at which rates: their calls count against the same
// cap.
func judgeLines(j *api.JudgeSelection, w int) (out []kit.Line) {
	if j == nil {
		return nil
	}
	raw, err := json.Marshal(j.Protocol["judges"])
	var panel []api.SelectedModel
	if err != nil || json.Unmarshal(raw, &panel) != nil || len(panel) == 0 {
		panel = []api.SelectedModel{j.Model}
	}
	for _, m := range panel {
		name := m.ModelID
		if m.RouteID != nil {
			name = *m.RouteID
		}
		out = append(out, show.Pairs(w, [2]string{"Judge", name + "   " + show.Rates(m.Pricing)})...)
	}
	return out
}
