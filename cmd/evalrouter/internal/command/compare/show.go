package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// show is a comparison for people: one row a run, then what was asked for.
func show(p *term.Page, a *command.App, c api.Comparison) {
	p.Line("%s, %s%s", c.Benchmark.ProfileID, tasks(c.Benchmark), variant(c))
	rows(p, a, c.Series, columns())
	for _, s := range c.Series {
		if s.Chain != nil {
			score, _ := report.ScoreWords(s.Headline)
			p.Line("%s is %s: %s, %s of %s graded", s.Label, s.Chain.Label, score, command.Thousands(s.Coverage.Graded), command.Count(s.Coverage.Planned, "task"))
		}
		if s.Partial {
			p.Line("%s is partial: %s", s.Label, strings.ReplaceAll(strings.Join(s.PartialReasons, ", "), "_", " "))
		}
		if w := report.UnscoredWords(s.Unscored); w != "" {
			if e := report.CodeWords(s.ErrorCounts); e != "" && !strings.Contains(w, e) {
				w += "; errors by code: " + e
			}
			p.Line("%s without a score, and in no figure: %s", s.Label, w)
		}
	}
	figures(p, a, c.Series)
	if e := c.Evidence; e != nil {
		p.Line("Graders %s, graded tasks %s", e.GraderVersions, e.TaskSets)
	}
	if st := c.Statistics; st != nil {
		pairs(p, a, st)
	}
	for _, w := range c.Warnings {
		p.Line("Warning  %s (%s): %s", w.Code, strings.Join(w.Series, ", "), w.Detail)
	}
}

func tasks(b api.ExportIdentities) string {
	if b.SelectedCount >= b.PopulationCount {
		return "all " + command.Count(b.PopulationCount, "task")
	}
	return fmt.Sprintf("the same %s of %s tasks", command.Thousands(b.SelectedCount), command.Thousands(b.PopulationCount))
}

func rows[T any](p *term.Page, a *command.App, data []T, cols []table.Column[T]) {
	lines, err := table.Render(data, cols, table.View{}, a.Term.Columns())
	if err != nil {
		p.Line("The table could not be laid out: %s", err) // it has no choices that could be wrong
		return
	}
	command.ShowTable(p, lines)
}

// variant is how SOB asked for answers, which all series share.
func variant(c api.Comparison) string {
	for _, s := range c.Series {
		if s.Model.Variant != "" {
			return ", generation variant " + s.Model.Variant
		}
	}
	return ""
}

// figures are what was kept of each chain, with its own counts.
func figures(p *term.Page, a *command.App, all []api.ComparisonSeries) {
	type row struct {
		label string
		m     api.MetricRecord
	}
	var list []row
	for _, s := range all {
		for _, m := range s.Metrics {
			list = append(list, row{s.Label, m})
		}
	}
	word := func(i int) func(row) string {
		return func(r row) string {
			value, of, interval := report.MetricWords(r.m)
			return [...]string{value, of, interval}[i]
		}
	}
	if len(list) > 0 {
		rows(p, a, list, []table.Column[row]{
			{Name: "series", Whole: true, Text: func(r row) string { return r.label }},
			{Name: "figure", Text: func(r row) string { return r.m.Name }},
			{Name: "value", Whole: true, Right: true, Text: word(0)},
			{Name: "of tasks", Whole: true, Right: true, Text: word(1)},
			{Name: "interval", Whole: true, Text: word(2)},
		})
	}
}

func columns() []table.Column[api.ComparisonSeries] {
	type row = api.ComparisonSeries
	return []table.Column[row]{
		{Name: "label", Whole: true, Text: func(s row) string { return s.Label }},
		{Name: "run", Whole: true, Text: func(s row) string { return command.Short(s.RunIDs[len(s.RunIDs)-1]) }},
		{Name: "model", Text: func(s row) string { return s.Model.Name }},
		{Name: "score", Whole: true, Right: true, Text: func(s row) string { v, _ := report.ScoreWords(s.Headline); return v }},
		{Name: "n", Whole: true, Right: true, Text: func(s row) string { return command.Thousands(s.Headline.Denominator) }},
		{Name: "graded", Whole: true, Right: true, Drop: 2, Text: func(s row) string {
			return command.Thousands(s.Coverage.Graded) + "/" + command.Thousands(s.Coverage.Planned)
		}},
		{Name: "errors", Right: true, Drop: 3, Text: func(s row) string { return command.Thousands(s.Coverage.Errors) }},
		{Name: "charged", Right: true, Drop: 1, Text: charge},
		{Name: "status", Whole: true, Text: func(s row) string {
			if s.Partial {
				return "partial"
			}
			return s.Status
		}},
		{Name: "kind", Whole: true, Text: func(s row) string { return map[bool]string{true: "simulated", false: "real"}[s.Model.Simulated] }},
	}
}

func charge(s api.ComparisonSeries) string {
	switch {
	case s.ChargeMicrousd != nil:
		return command.Money(*s.ChargeMicrousd)
	case s.BillingState != "settled":
		return s.BillingState
	}
	return "not known"
}

// maxNotes is for how many pairs their notes are shown; those of more stand in
// the document.
const maxNotes = 6

// pairs shows the tests. A difference is in points of the first less the second.
func pairs(p *term.Page, a *command.App, st *api.ComparedStatistics) {
	var words []report.PairWords
	for _, x := range st.Pairs {
		words = append(words, report.ComparedPairWords(x))
	}
	if len(words) == 0 {
		p.Line("One run alone has no pair to test.")
		return
	}
	type row = report.PairWords
	rows(p, a, words, []table.Column[row]{
		{Name: "pair", Whole: true, Text: func(w row) string { return w.Pair }},
		{Name: "gap", Whole: true, Right: true, Text: func(w row) string { return w.Difference }},
		{Name: "95 % interval", Drop: 1, Text: func(w row) string { return w.Interval }},
		{Name: "only left/right", Right: true, Drop: 2, Text: func(w row) string { return w.Flips }},
		{Name: "p (holm)", Whole: true, Right: true, Text: func(w row) string { return w.PHolm }},
		{Name: "verdict", Whole: true, Text: func(w row) string { return w.Verdict }},
		{Name: "method", Drop: 3, Text: func(w row) string { return w.Method }},
	})
	for _, w := range words {
		if w.Note != "" && len(words) <= maxNotes {
			p.Line("%s: %s", w.Pair, w.Note)
		}
	}
	p.Line("Verdicts hold for all %s together (Holm), intervals each for its own.", command.Count(len(words), "pair"))
	if slices.ContainsFunc(st.Pairs, func(x api.ComparedPair) bool { return x.Verdict == api.VerdictNotShown }) {
		p.Line("\"Not shown\" does not say that two models are alike.")
	}
}
