package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/report"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// rowsFrom is the row of the first run: what is compared and the names of the
// columns stand above.
const rowsFrom = 2

// View draws the runs, what is known about their differences, and the actions.
func (s page) View(c kit.Canvas) {
	w, h := c.Size()
	switch {
	case s.doc == nil && s.err != nil:
		kit.Scroll{}.View(c, show.Problem(" The runs were not compared.", s.err, true))
		c.Cursor(1, 0)
		return
	case s.doc == nil:
		what := show.F("%s", show.Plural(len(s.what.Runs), "run"))
		if s.what.Group != "" {
			what = show.F("group %s", show.Short(s.what.Group))
		}
		c.Text(1, 0, kit.Plain, show.F("Reading %s…", what))
		c.Cursor(1, 0)
		return
	}
	n := len(s.doc.Series)
	s.table().View(c.Sub(0, rowsFrom-2, w, n+2))
	c.Sub(0, 0, w, 1).Clear() // a list of eight needs no filter
	c.Text(1, 0, kit.Strong, plain.Cut(show.F("%s   %s", s.doc.Benchmark.ProfileID, tasks(s.doc.Benchmark)), w-2))
	s.scroll.View(c.Sub(0, rowsFrom+n, w, s.room()), s.below(w))
	s.actions.Resting(c, h-1)
}

// room is how many rows there are below the runs.
func (s page) room() int { return max(s.h-rowsFrom-len(s.doc.Series)-2, 1) }

func tasks(b api.ExportIdentities) string {
	if b.SelectedCount >= b.PopulationCount {
		return "all " + show.Plural(b.PopulationCount, "task")
	}
	return fmt.Sprintf("the same %s of %s tasks (a sample)", show.Thousands(b.SelectedCount), show.Thousands(b.PopulationCount))
}

func (s page) table() kit.Table {
	t := kit.NewTable(
		kit.Column{Name: "", Whole: true}, kit.Column{Name: "MODEL"}, kit.Column{Name: "SCORE", Right: true, Whole: true}, kit.Column{Name: "N", Right: true, Whole: true},
		kit.Column{Name: "GRADED", Right: true, Whole: true, Drop: 3}, kit.Column{Name: "ERRORS", Right: true, Whole: true, Drop: 4},
		kit.Column{Name: "CHARGED", Right: true, Whole: true, Drop: 2}, kit.Column{Name: "STATUS", Whole: true, Role: show.StatusRole, Drop: 1},
		kit.Column{Name: "KIND", Whole: true}, kit.Column{Name: "RUN", Whole: true, Drop: 5},
	)
	var rows []kit.Row
	var keys []string
	for _, x := range s.doc.Series {
		score, _ := report.ScoreWords(x.Headline)
		status := x.Status
		if x.Partial {
			status = string(api.StatusPartial)
		}
		rows = append(rows, kit.Row{
			plain.Line(x.Label), plain.Line(x.Model.Name), plain.Line(score), plain.Line(show.Thousands(x.Headline.Denominator)),
			plain.Line(show.Thousands(x.Coverage.Graded) + "/" + show.Thousands(x.Coverage.Planned)), plain.Line(show.Thousands(x.Coverage.Errors)),
			plain.Line(charge(x)), plain.Line(status), plain.Line(show.Kind(x.Model.Simulated)), plain.Line(show.Short(x.RunIDs[len(x.RunIDs)-1])),
		})
		keys = append(keys, x.Label)
	}
	return t.With(rows, keys).Sized(len(rows) + 2).At(s.at)
}

func charge(x api.ComparisonSeries) string {
	switch {
	case x.ChargeMicrousd != nil:
		return show.Money(*x.ChargeMicrousd)
	case x.BillingState != "settled":
		return x.BillingState
	}
	return "not known"
}

// below is what stands under the runs.
func (s page) below(w int) []kit.Line {
	out := []kit.Line{{}}
	for _, x := range s.doc.Series {
		if x.Partial {
			out = append(out, show.Pairs(w, [2]string{x.Label + " is partial", show.Words(strings.Join(x.PartialReasons, ", "))})...)
		}
	}
	if st := s.doc.Statistics; st != nil && s.stats {
		out = append(out, s.axes(w)...)
		out = append(out, pairs(st, w)...)
	}
	for _, x := range s.doc.Warnings {
		out = append(out, show.Pairs(w, [2]string{"Differs", fmt.Sprintf("%s (%s)", x.Detail, strings.Join(x.Series, ", "))})...)
	}
	out = append(out, show.Pairs(w, [2]string{"To keep it", s.line()})...)
	return out
}

// axes draw every run's interval on the same line from 0 to 100 %. They are
// Wilson's, where the score is a share of tasks that are right or wrong.
func (s page) axes(w int) []kit.Line {
	const ends = 14 // columns of the interval in figures
	var out []kit.Line
	for _, x := range s.doc.Series {
		if x.Headline.Value == nil {
			continue
		}
		lo, hi, ok := show.Bounds(*x.Headline.Value, x.Headline.Denominator, nil, true)
		if !ok {
			continue
		}
		scale, bar := show.Axis(w-5-ends, *x.Headline.Value, lo, hi)
		if out == nil {
			out = append(out, kit.Line{Text: "   " + plain.Pad(scale, w-3-ends) + "95 % interval"})
		}
		out = append(out, kit.Line{Text: plain.Pad(show.F(" %s ", x.Label)+bar, w-ends) + show.F("%.1f to %.1f", 100*lo, 100*hi)})
	}
	return append(out, kit.Line{})
}

// pairs are the tests as rows. A gap is in points of the first less the second.
func pairs(st *api.ComparedStatistics, w int) []kit.Line {
	if len(st.Pairs) == 0 {
		return []kit.Line{{Text: " One run alone has no pair to test."}}
	}
	t := kit.NewTable(
		kit.Column{Name: "PAIR", Whole: true}, kit.Column{Name: "GAP", Right: true, Whole: true}, kit.Column{Name: "95 % INTERVAL", Whole: true, Drop: 1},
		kit.Column{Name: "ONLY LEFT/RIGHT", Right: true, Whole: true, Drop: 2}, kit.Column{Name: "P (HOLM)", Right: true, Whole: true}, kit.Column{Name: "VERDICT", Whole: true},
		kit.Column{Name: "METHOD", Drop: 3},
	)
	var rows []kit.Row
	var keys []string
	var notes []kit.Line
	for _, x := range st.Pairs {
		p := report.ComparedPairWords(x)
		rows, keys = append(rows, kit.Row{plain.Line(p.Pair), plain.Line(p.Difference), plain.Line(p.Interval), plain.Line(p.Flips), plain.Line(p.PHolm), plain.Line(p.Verdict), plain.Line(p.Method)}), append(keys, p.Pair)
		if p.Note != "" {
			notes = append(notes, show.Pairs(w, [2]string{p.Pair, p.Note})...)
		}
	}
	out := t.With(rows, keys).Lines(w)
	out = append(out, notes...)
	if slices.ContainsFunc(st.Pairs, func(x api.ComparedPair) bool { return x.Verdict == api.VerdictNotShown }) {
		out = append(out, kit.Line{Text: ` "Not shown" does not say that two models are alike.`})
	}
	return append(out, kit.Line{})
}
