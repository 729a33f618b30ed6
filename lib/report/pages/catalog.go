package pages

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/report"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Catalog is benchmarks or models: a list of them, or one with its facts.
type Catalog struct {
	Query string // what was searched for
	Items []Item
	Next  string
	// Bring is the page on which the reader brings a benchmark, "" for nowhere.
	Bring string
}

// Item is a benchmark version or a managed route.
type Item struct {
	Path        string
	ID, Name    plain.Safe
	Text        plain.Safe
	Tasks       string
	Status, Why plain.Safe
	Private     bool
	Simulated   bool
	Provider    plain.Safe
	Input       string // price for a million tokens
	Output      string
	Facts       []report.Fact
	Rates       []report.Fact
	// Command starts a run of it.
	Command plain.Safe
}

// BenchmarkItem is a version of a benchmark.
func BenchmarkItem(b api.BenchmarkRecord) Item {
	out := Item{Path: "/benchmarks/" + url.PathEscape(b.Slug), ID: line(b.ID), Name: line(value(b.Name)), Text: line(value(b.Description)), Status: line(b.Status), Private: b.Visibility == "private"}
	if b.TaskCount != nil {
		out.Tasks = report.Count(*b.TaskCount)
	}
	if out.Name == "" {
		out.Name = line(b.Slug)
	}
	if q := b.QuoteAvailability; q != nil && q.Status != api.ReadyForQuote {
		out.Why = line(strings.ReplaceAll(value(q.ReasonCode), "_", " "))
	}
	fact := facts(&out.Facts)
	fact("Version", b.ID)
	fact("Family", b.Family)
	fact("Category", value(b.Category))
	fact("Metrics", strings.Join(b.Metrics, ", "))
	fact("Needs", strings.Join(b.RequiredCapabilities, ", "))
	fact("Licence of the data", value(b.DataLicense))
	fact("Licence of the code", value(b.CodeLicense))
	fact("Source", value(b.SourceURL))
	fact("Source revision", value(b.SourceRevision))
	fact("Manifest SHA-256", b.ManifestSHA256)
	fact("Order of tasks", value(b.SamplingAlgorithm))
	fact("Settings", object(b.GenerationConfig))
	fact("Provenance", object(b.Provenance))
	out.Command = line("evalrouter run " + b.Slug + " --model MODEL --sample 100 --max-cost 1")
	return out
}

// ModelItem is a managed route.
func ModelItem(m api.ManagedRoute) Item {
	out := Item{
		Path: "/models/" + url.PathEscape(m.ID), ID: line(m.ID), Name: line(m.DisplayName), Text: line(value(m.Description)), Status: line(m.Status), Simulated: m.Simulated, Provider: line(m.Provider),
		Rates: report.Rates(m.Pricing),
	}
	if out.Name == "" {
		out.Name = line(m.ModelID)
	}
	if p := m.Pricing; p != nil {
		out.Input, out.Output = rate(p.InputMicrousd), rate(p.OutputMicrousd)
	}
	fact := facts(&out.Facts)
	fact("Route", m.ID)
	fact("Model", m.ModelID)
	fact("Provider", m.Provider)
	fact("Hosted by", value(m.HostingProvider))
	fact("Can", strings.Join(m.Capabilities, ", "))
	fact("Price version", m.PriceVersion)
	fact("Limits", object(m.Limits))
	fact("Generation", object(m.Generation))
	if r := m.Reasoning; r != nil {
		fact("Reasoning", strings.TrimSuffix(strings.ReplaceAll(r.Mode, "_", " ")+": "+strings.Join(r.Efforts, ", "), ": "))
	}
	out.Command = line("evalrouter run BENCHMARK --model " + m.ID + " --sample 100 --max-cost 1")
	return out
}

func facts(to *[]report.Fact) func(name, v string) {
	return func(name, v string) {
		if v != "" && v != "null" && v != "{}" {
			*to = append(*to, report.Fact{Name: name, Value: line(v)})
		}
	}
}

func rate(m *usd.Micro) string {
	if m == nil {
		return "–"
	}
	return report.Dollars(*m)
}

// object is JSON with its keys in order.
func object(m map[string]any) string {
	b, err := json.Marshal(m)
	if err != nil {
		return ""
	}
	return string(b)
}
