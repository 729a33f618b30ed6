package report

import (
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
)

//go:embed assets/comparison.tmpl
var comparisonPage string

// comparedSeries is one row of the page.
type comparedSeries struct {
	Label, Run, Model, Status, Reasoning, Score, Of, Graded, Errors, Charge plain.Safe
	Partial                                                                 plain.Safe
	Facts                                                                   []Fact
}

// comparedPair is one tested pair.
type comparedPair struct {
	Pair, Difference, Interval, Flips, P, PHolm, Method, Verdict, Note plain.Safe
}

type comparedPage struct {
	Policy    string
	CSS       template.CSS
	Benchmark plain.Safe
	Made      string
	Tasks     string
	Simulated bool
	Series    []comparedSeries
	Warnings  []plain.Safe
	Identity  []Fact
	Evidence  []Fact
	Stats     bool
	Level     string
	Pairs     []comparedPair
}

// Comparison writes a comparison as one page that needs no network and no
// script. It shows what the comparison holds and computes nothing.
func Comparison(w io.Writer, c api.Comparison) error {
	t, err := template.New("").Parse(comparisonPage)
	if err != nil {
		return fmt.Errorf("read page: %w", err)
	}
	if err := t.ExecuteTemplate(w, "comparison", compared(c)); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

func compared(c api.Comparison) comparedPage {
	p := htmlPage{css: strings.TrimSpace(css)}
	out := comparedPage{
		Policy: p.policy(), CSS: template.CSS(p.css), Benchmark: line(c.Benchmark.ProfileID), Made: moment(c.GeneratedAt),
		Tasks: Count(c.Benchmark.SelectedCount) + " of " + Count(c.Benchmark.PopulationCount) + " tasks", Identity: comparedIdentity(c),
	}
	for _, s := range c.Series {
		out.Series = append(out.Series, comparedRow(s))
		out.Simulated = out.Simulated || s.Model.Simulated
	}
	for _, x := range c.Warnings {
		out.Warnings = append(out.Warnings, line(strings.ReplaceAll(x.Code, "_", " ")+" ("+strings.Join(x.Series, ", ")+"): "+x.Detail))
	}
	if e := c.Evidence; e != nil {
		out.Evidence = append(out.Evidence, Fact{"Graders", line(e.GraderVersions)}, Fact{"Graded tasks", line(e.TaskSets)})
		for _, s := range e.Series {
			out.Evidence = append(out.Evidence, Fact{"Series " + s.Label, line(fmt.Sprintf("%s graded, %s with their answer, ids %s", Count(s.Graded), Count(s.Answers), s.SHA256))})
		}
	}
	if st := c.Statistics; st != nil {
		out.Stats, out.Level = true, number(st.Level)
		for _, x := range st.Pairs {
			out.Pairs = append(out.Pairs, ComparedPairWords(x).safe())
		}
	}
	return out
}

// ScoreWords is a headline in the digits that people read, and of how many
// tasks it is.
func ScoreWords(h api.ExportHeadline) (score, of string) {
	if h.Value == nil {
		return "no score", "nothing was graded"
	}
	if *h.Value >= 0 && *h.Value <= 1 {
		return fmt.Sprintf("%.1f %%", 100**h.Value), "n " + Count(h.Denominator)
	}
	return fmt.Sprintf("%.4f", *h.Value), "n " + Count(h.Denominator)
}

func comparedRow(s api.ComparisonSeries) comparedSeries {
	score, of := ScoreWords(s.Headline)
	row := comparedSeries{
		Label: line(s.Label), Run: line(strings.Join(s.RunIDs, ", ")), Model: line(s.Model.Name), Status: line(s.Status), Reasoning: reasoning(s.Model.Reasoning),
		Score: line(score), Of: line(of), Graded: line(Count(s.Coverage.Graded) + " of " + Count(s.Coverage.Planned)), Errors: line(Count(s.Coverage.Errors)),
		Charge: line(s.BillingState), Partial: line(strings.ReplaceAll(strings.Join(s.PartialReasons, ", "), "_", " ")),
	}
	switch {
	case s.ChargeMicrousd != nil:
		row.Charge = line(Dollars(*s.ChargeMicrousd))
	case s.BillingState == "settled":
		row.Charge = "not known"
	}
	add := func(name, v string) {
		if v != "" && v != "null" && v != "{}" {
			row.Facts = append(row.Facts, Fact{name, line(v)})
		}
	}
	m := s.Model
	add("Route", value(m.RouteID))
	add("Connection", value(m.ConnectionID))
	add("Model", m.ModelID)
	add("Revision", fmt.Sprint(m.Revision))
	add("Protocol", m.Protocol)
	add("Limits", object(m.Limits))
	add("Generation", object(m.Generation))
	add("Routing", object(m.Routing))
	if len(s.ErrorCounts) > 0 {
		add("Errors by code", object(counted(s.ErrorCounts)))
	}
	add("Result of the benchmark's own", object(s.Native))
	add("Source", fmt.Sprintf("%s, %s bytes, SHA-256 %s", s.Source.Path, Count(int(s.Source.Bytes)), s.Source.SHA256))
	if s.Scores != nil {
		add("Scores", fmt.Sprintf("%s, %s bytes, SHA-256 %s", s.Scores.Path, Count(int(s.Scores.Bytes)), s.Scores.SHA256))
	}
	return row
}

func counted(m map[string]int) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

func comparedIdentity(c api.Comparison) []Fact {
	id := c.Benchmark
	return []Fact{
		{"Workspace", line(c.WorkspaceID)}, {"Benchmark", line(id.ProfileID)}, {"Manifest SHA-256", line(id.ManifestSHA256)}, {"Data SHA-256", line(id.DatasetAssetsSHA256)},
		{"Tasks of the benchmark SHA-256", line(id.PopulationSHA256)}, {"Selected tasks SHA-256", line(id.TaskIDsHash)}, {"Output format", line(id.OutputFormat)},
	}
}

// PairWords is a tested pair in the digits that people read.
type PairWords struct{ Pair, Difference, Interval, Flips, P, PHolm, Method, Verdict, Note string }

func (p PairWords) safe() comparedPair {
	return comparedPair{line(p.Pair), line(p.Difference), line(p.Interval), line(p.Flips), line(p.P), line(p.PHolm), line(p.Method), line(p.Verdict), line(p.Note)}
}

// ComparedPairWords words a pair. Differences of shares are in points.
func ComparedPairWords(x api.ComparedPair) PairWords {
	p := PairWords{
		Pair: x.First + "-" + x.Second, Difference: "-", Interval: "-", P: "-", PHolm: "-", Flips: Count(x.FirstHigher) + " / " + Count(x.SecondHigher),
		Method: strings.ReplaceAll(x.Method, "_", " "), Verdict: x.Verdict,
	}
	if x.Verdict != api.VerdictNotShown {
		p.Verdict = x.First + " " + x.Verdict
	}
	if x.Difference != nil {
		p.Difference = fmt.Sprintf("%+.1f", 100**x.Difference)
	}
	if x.Interval != nil {
		p.Interval = fmt.Sprintf("%+.1f to %+.1f", 100*x.Interval.Lower, 100*x.Interval.Upper)
	}
	if x.P != nil {
		p.P = chance(*x.P)
	}
	if x.PHolm != nil {
		p.PHolm = chance(*x.PHolm)
	}
	switch {
	case x.Reason != "":
		p.Note = "not tested: " + strings.ReplaceAll(x.Reason, "_", " ")
	case x.NeededTasks != nil:
		p.Note = "about " + Count(*x.NeededTasks) + " paired tasks would show this difference"
	}
	if x.LeftOut > 0 {
		p.Note = strings.TrimPrefix(p.Note+"; "+Count(x.LeftOut)+" left out, which only one of the two was graded on", "; ")
	}
	return p
}

// chance is a p-value to four places; what is smaller is not said to be zero.
func chance(p float64) string {
	if p < 0.00005 {
		return "<0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}
