package report

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// saidOfSamples is what services warn of with every sample.
const saidOfSamples = "A sample is not a full-benchmark score."

// From reads a report out of a run's export without samples. e.Result must be
// of one profile, as results are that this package is made for. chain is that of a
// run that stands for its chain, nil for a run by itself.
func From(e api.Export, chain *api.ChainExport) (Report, error) {
	if chain != nil {
		e.BillingSnapshot = chain.BillingSnapshot
	}
	if len(e.Result.Profiles) != 1 {
		return Report{}, fmt.Errorf("read result of run %q: it has %d profiles, want 1", line(e.RunID), len(e.Result.Profiles))
	}
	res, p := e.Result, e.Result.Profiles[0]
	r := Report{
		Run: line(e.RunID), Name: line(res.Summary.Name), Version: e.ResultVersion, FinishedAt: moment(res.FinalizedAt),
		Benchmark: line(e.Identities.ProfileID), Title: line(p.Name), Model: line(res.Model.Name()), ModelID: line(e.Model.ModelID),
		Reasoning: reasoning(e.Reasoning), Status: line(string(res.Summary.Status)), Why: why(res), Simulated: res.Simulated,
		Figures: figures(p), Outcomes: outcomes(res.Summary.Outcomes, tasksOf(res.Summary.Outcomes)), Coverage: covered(res, p), Money: money(e),
		Provenance: provenance(e), Licences: licences(res), Note: line(p.UncertaintyNote), Answers: line(e.ExportPolicy.Answers),
	}
	for i, w := range res.Warnings {
		if i == maxList {
			r.Warnings = append(r.Warnings, line("And "+Count(len(res.Warnings)-i)+" more warnings, which are in the JSON export."))
			break
		}
		if w == saidOfSamples && r.Coverage.Sample {
			continue // the line about the coverage says it, with the figures
		}
		r.Warnings = append(r.Warnings, line(w))
	}
	r.Bounds = bounds(res.Summary.Outcomes["right"], p)
	if chain != nil {
		r.chain(*chain)
	}
	return r, nil
}

// moment is a time as people read it, in UTC to the second.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func reasoning(c *api.ReasoningChoice) plain.Safe {
	switch {
	case c == nil:
		return ""
	case c.Effort != "":
		return line(c.Effort)
	case c.BudgetTokens > 0:
		return line(Count(c.BudgetTokens) + " tokens")
	}
	return line(strings.ReplaceAll(c.Mode, "_", " "))
}

func why(r api.ResultRecord) plain.Safe {
	s := ""
	if reason := r.Summary.TerminalReason; reason != nil && *reason != "completed" {
		s = strings.ReplaceAll(*reason, "_", " ")
	} else if r.Summary.Status == api.StatusPartial {
		s = "the outcome of some calls is not known"
	}
	if d := r.TerminalDetail; d != nil && *d != "" {
		s = strings.TrimPrefix(s+": "+*d, ": ")
	}
	return line(s)
}

func covered(res api.ResultRecord, p api.ProfileResult) Coverage {
	c := Coverage{
		Planned: p.Planned, Graded: p.Graded, Errors: p.Errors, NotRun: p.Planned - p.Graded - p.Errors,
		Population: p.Selection.PopulationCount, Sample: p.Selection.SelectedCount < p.Selection.PopulationCount,
	}
	if c.Sample && res.Coverage != nil && res.Coverage.Seed != nil {
		c.Seed = strconv.FormatUint(uint64(*res.Coverage.Seed), 10)
	}
	return c
}

func money(e api.Export) Money {
	b := e.BillingSnapshot
	m := Money{Cap: b.CapMicrousd, Spend: b.SpendMicrousd, Unspent: max(b.CapMicrousd-b.SpendMicrousd, 0), Pending: b.Pending, Note: line(e.Result.Costs.Note)}
	if m.Cap > 0 {
		m.Share = int(min(float64(m.Spend)/float64(m.Cap), 1) * 1000)
	}
	for _, p := range e.Result.Costs.Profiles {
		if p.TotalCostMicrousd == nil {
			m.Outside = true
		} else {
			m.Metered += *p.TotalCostMicrousd - p.ChargedMicrousd
		}
	}
	m.Rates = Rates(e.Model.Pricing)
	return m
}

// Rates are the prices of a route for a million tokens, nil where none are known.
func Rates(p *api.Pricing) []Fact {
	if p == nil {
		return nil
	}
	var out []Fact
	add := func(name string, v *usd.Micro) {
		if v != nil {
			out = append(out, Fact{name, line(Dollars(*v))})
		}
	}
	add("Input", p.InputMicrousd)
	add("Cached input", p.CachedInputMicrousd)
	add("Cache write", p.CacheWriteMicrousd)
	add("Cache write, one hour", p.CacheWriteHourMicrousd)
	add("Output", p.OutputMicrousd)
	add("Reasoning", p.ReasoningMicrousd)
	if l := p.LongContext; l != nil {
		tier := " above " + Count(int(l.AboveTokens)) + " input tokens"
		add("Input"+tier, &l.InputMicrousd)
		add("Cached input"+tier, &l.CachedInputMicrousd)
		add("Output"+tier, &l.OutputMicrousd)
		add("Reasoning"+tier, &l.ReasoningMicrousd)
	}
	if p.PerRequestMicrousd != nil && *p.PerRequestMicrousd > 0 {
		add("Each request", p.PerRequestMicrousd)
	}
	return out
}

func provenance(e api.Export) []Fact {
	var out []Fact
	add := func(name, value string) {
		if value != "" && value != "null" && value != "{}" {
			out = append(out, Fact{name, line(value)})
		}
	}
	id, m := e.Identities, e.Model
	add("Run", e.RunID)
	add("Result version", strconv.Itoa(e.ResultVersion))
	add("Result SHA-256", e.Checksum)
	add("Scope SHA-256", e.Result.ManifestHash)
	add("Benchmark", id.ProfileID)
	add("Manifest SHA-256", id.ManifestSHA256)
	add("Data SHA-256", id.DatasetAssetsSHA256)
	add("Tasks of the benchmark SHA-256", id.PopulationSHA256)
	add("Tasks of this run SHA-256", id.TaskIDsHash)
	add("Order of tasks", id.SamplingAlgorithm)
	add("Output format", id.OutputFormat)
	for _, p := range e.Result.Profiles {
		add("Source", value(p.SourceURL))
		add("Source revision", value(p.SourceRevision))
	}
	for _, g := range id.Graders {
		add("Grader", g.ID+" "+g.Version)
		add("Grader configuration SHA-256", g.SHA256)
	}
	add("Model", m.ModelID)
	add("Route", value(m.RouteID))
	add("Connection", value(m.ConnectionID))
	add("Protocol", m.Protocol)
	add("Revision", strconv.Itoa(m.Revision))
	add("Generation", object(m.Generation))
	add("Limits", object(m.Limits))
	add("Price version", value(m.PriceVersion))
	if m.Pricing != nil && m.Pricing.EffectiveAt != nil {
		add("Prices since", moment(*m.Pricing.EffectiveAt))
	}
	return out
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// object is JSON with its keys in order; nothing that cannot be written is in a
// record that was read from JSON.
func object(m map[string]any) string {
	b, err := json.Marshal(m)
	if err != nil {
		return ""
	}
	return string(b)
}

func licences(r api.ResultRecord) (out []Licence) {
	for _, n := range r.BenchmarkNotices {
		for _, l := range n.Licenses {
			if len(out) == maxList {
				return out
			}
			out = append(out, Licence{
				Scope: line(l.Scope), Identifier: line(l.Identifier), Attribution: line(l.Attribution),
				Revision: line(l.SourceRevision), URL: line(l.SourceURL), Text: line(l.Text),
			})
		}
	}
	return out
}
