package report

import (
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
)

//go:embed assets/comparison.tmpl
var comparisonPage string

// comparedSeries is one row of the page.
type comparedSeries struct {
	Label, Run, Model, Status, Reasoning, Score, Of, Graded, Errors, Charge plain.Safe
	// Variant and Runs are "" where a model has no variant and a series is one run.
	Partial, Variant, Runs plain.Safe
	Metrics                []comparedMetric
	Facts                  []Fact
}

// comparedMetric is one kept figure.
type comparedMetric struct{ Name, Value, Of, Interval plain.Safe }

// Unknown stands for what a record does not say: no figure is computed for it.
const Unknown = "unknown"

// MetricWords is a kept figure in the digits that people read. A sample count or an
// interval that was not recorded stays unknown.
func MetricWords(m api.MetricRecord) (value, of, interval string) {
	share := m.Value >= 0 && m.Value <= 1
	value, of, interval = fmt.Sprintf("%.4f", m.Value), Unknown, Unknown
	if share {
		value = fmt.Sprintf("%.1f %%", 100*m.Value)
	}
	if m.SampleCount != nil {
		of = Count(*m.SampleCount)
	}
	if u := m.Uncertainty; u != nil && u.Interval != nil {
		i := u.Interval
		interval = fmt.Sprintf("%.4f to %.4f", i.Lower, i.Upper)
		if share {
			interval = fmt.Sprintf("%.1f to %.1f", 100*i.Lower, 100*i.Upper)
		}
		interval += fmt.Sprintf(" (%g %%)", 100*i.Confidence)
	}
	return value, of, interval
}

// nativeFigures are the figures of a family's own as it kept them: each with its
// mean, its interval and the tasks that it is of. What is shaped otherwise stands
// in the document alone.
func nativeFigures(native map[string]any) (out []api.MetricRecord) {
	var of *int
	if n, ok := native["n"].(float64); ok {
		of = new(int(n))
	}
	for _, part := range []string{"metrics", "categories"} {
		figures, _ := native[part].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(figures)) {
			f, _ := figures[key].(map[string]any)
			mean, ok := f["mean"].(float64)
			if !ok {
				continue
			}
			m := api.MetricRecord{Name: key, Value: mean, SampleCount: of}
			if name, ok := f["metric_name"].(string); ok {
				m.Name = name
			}
			low, from := f["ci95_low"].(float64)
			high, to := f["ci95_high"].(float64)
			if from && to {
				m.Uncertainty = &api.Uncertainty{Interval: &api.Interval{Lower: low, Upper: high, Confidence: 0.95}}
			}
			out = append(out, m)
		}
	}
	return out
}

// CodeWords are counts by code, the codes in order, "" for none.
func CodeWords(counts map[string]int) string {
	var out []string
	for _, code := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, strings.ReplaceAll(code, "_", " ")+" "+Count(counts[code]))
	}
	return strings.Join(out, ", ")
}

// UnscoredWords are the tasks without a score by why they have none.
func UnscoredWords(list []api.PendingReason) string {
	by := map[string]int{}
	for _, r := range list {
		by[r.Code] += r.Cells
	}
	return CodeWords(by)
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
	row.Variant = line(s.Model.Variant)
	if s.Chain != nil {
		row.Runs = line(s.Chain.Label)
	}
	kept := s.Metrics
	if s.Chain != nil {
		kept = append(slices.Clone(kept), nativeFigures(s.Native)...)
	}
	for _, m := range kept {
		value, of, interval := MetricWords(m)
		row.Metrics = append(row.Metrics, comparedMetric{line(m.Name), line(value), line(of), line(interval)})
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
	if c := s.Chain; c != nil {
		add("Chain", c.Label+map[bool]string{true: ", complete", false: ", not complete"}[c.Complete])
		add("Version of the chain", c.Version)
		for _, r := range c.Runs {
			add("Run of the chain", fmt.Sprintf("%s, %s, decided %s, result %d", r.RunID, r.Status, Count(r.DecidedCells), r.ResultVersion))
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
	add("Generation variant", m.Variant)
	add("Errors by code", CodeWords(s.ErrorCounts))
	if not := UnscoredWords(s.Unscored); not != "" {
		add("Without a score", not+"; they count in no figure")
	}
	add("Result of the benchmark's own", object(s.Native))
	add("Source", fmt.Sprintf("%s, %s bytes, SHA-256 %s", s.Source.Path, Count(int(s.Source.Bytes)), s.Source.SHA256))
	for _, x := range s.Members {
		add("Member export", fmt.Sprintf("%s, %s bytes, SHA-256 %s", x.Path, Count(int(x.Bytes)), x.SHA256))
	}
	if s.Scores != nil {
		add("Scores", fmt.Sprintf("%s, %s bytes, SHA-256 %s", s.Scores.Path, Count(int(s.Scores.Bytes)), s.Scores.SHA256))
	}
	return row
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
