package show

import (
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
)

// Rates are the prices of a route.
func Rates(p *api.Pricing) string {
	if p == nil {
		return "none published; the provider bills its calls to you"
	}
	var parts []string
	add := func(word string, m *usd.Micro) {
		if m != nil {
			parts = append(parts, word+" "+Money(*m))
		}
	}
	add("in", p.InputMicrousd)
	add("cached in", p.CachedInputMicrousd)
	add("cache write", p.CacheWriteMicrousd)
	add("out", p.OutputMicrousd)
	add("reasoning", p.ReasoningMicrousd)
	s := strings.Join(parts, "  ")
	if s != "" {
		s += "  for a million tokens"
	}
	for _, r := range []struct {
		word string
		m    *usd.Micro
	}{{"request", p.PerRequestMicrousd}, {"task", p.TaskFeeMicrousd}, {"run", p.ExecutionFeeMicrousd}} {
		if r.m != nil && *r.m != 0 {
			s += fmt.Sprintf("  %s a %s", Money(*r.m), r.word)
		}
	}
	if s == "" {
		return "none published"
	}
	return s
}

// Controls says what can be chosen about reasoning.
func Controls(c *api.ReasoningControls) string {
	switch {
	case c == nil:
		return "unknown"
	case c.Mode == "efforts":
		return strings.Join(c.Efforts, ", ")
	case c.Mode == "budget" && c.Budget != nil:
		return fmt.Sprintf("%s to %s tokens", Thousands(c.Budget.MinTokens), Thousands(c.Budget.MaxTokens))
	case c.Mode == "fixed":
		return "fixed"
	case c.Mode == "provider_default":
		return "the provider's default"
	case c.Mode == "none":
		return "none"
	}
	return c.Mode
}

// Reasoning is a choice in words.
func Reasoning(r *api.ReasoningChoice) string {
	switch {
	case r == nil:
		return "as the route has it"
	case r.Mode == "effort":
		return r.Effort
	case r.Mode == "budget":
		return fmt.Sprintf("up to %s thinking tokens", Thousands(r.BudgetTokens))
	case r.Mode == "provider_default":
		return "the provider's default"
	}
	return r.Mode
}

// Ready says whether a benchmark can be quoted.
func Ready(b api.BenchmarkRecord) string {
	switch {
	case b.QuoteAvailability == nil:
		return "unknown"
	case flow.Quotable(&b):
		return "yes"
	}
	return "no: " + Text(b.QuoteAvailability.ReasonCode)
}

// Kind says whether answers are real.
func Kind(simulated bool) string {
	if simulated {
		return "simulated"
	}
	return "real"
}

// Profile is the benchmark of a run.
func Profile(r api.RunRecord) string { return first(r.Profiles) }

// Benchmark is the benchmark of a group.
func Benchmark(g api.GroupRecord) string { return first(g.Profiles) }

func first(of []api.ProfileSelection) string {
	if len(of) == 0 {
		return "-"
	}
	return of[0].ID
}

// Headline is a run's score with its interval, as short as a table needs it;
// while it runs, how far it is.
func Headline(r api.RunRecord) string {
	h := r.Headline
	switch {
	case !r.Status.Terminal():
		return fmt.Sprintf("%s/%s", Thousands(flow.Processed(r)), Thousands(r.PlannedCount))
	case h == nil || h.Denominator == 0:
		return "-"
	case h.Interval == nil:
		return fmt.Sprintf("%.1f %% (n %s)", 100*h.Value, Thousands(h.Denominator))
	}
	return fmt.Sprintf("%.1f %% [%.1f, %.1f] n %s", 100*h.Value, 100*h.Interval.Lower, 100*h.Interval.Upper, Thousands(h.Denominator))
}

// Status is a run's status with its reason.
func Status(r api.RunRecord) string {
	s := string(r.Status)
	if r.TerminalReason != nil && *r.TerminalReason != "completed" {
		s += ": " + strings.ReplaceAll(*r.TerminalReason, "_", " ")
	}
	if r.WaitingReason != nil {
		s += ", waiting: " + strings.ReplaceAll(*r.WaitingReason, "_", " ")
	}
	return s
}

// StatusRole is the look of a status.
func StatusRole(word plain.Safe) kit.Role {
	switch api.RunStatus(word) {
	case api.StatusCompleted:
		return kit.Good
	case api.StatusFailed:
		return kit.Bad
	case api.StatusPartial, api.StatusCancelled:
		return kit.Warn
	case api.StatusRunning, api.StatusQueued, api.StatusFinalizing, api.StatusCancelling:
		return kit.Active
	}
	return kit.Plain
}

// CoverageText is how much of a benchmark a quote or a run covers.
func CoverageText(s api.ProfileSelection, c *api.Coverage) string {
	if s.SelectedCount >= s.PopulationCount {
		return fmt.Sprintf("all %s tasks", Thousands(s.PopulationCount))
	}
	seed := ""
	if c != nil && c.Seed != nil {
		seed = fmt.Sprintf(", seed %d", *c.Seed)
	}
	return fmt.Sprintf("%s of %s tasks%s (a sample, not a full score)", Thousands(s.SelectedCount), Thousands(s.PopulationCount), seed)
}

// Pairs are rows of a name and a text, the text wrapped.
func Pairs(width int, rows ...[2]string) (out []kit.Line) {
	const column = 13
	for _, r := range rows {
		if r[1] == "" {
			continue
		}
		for i, part := range kit.Wrap(plain.Line(r[1]), max(width-column-3, 10)) {
			name := plain.Safe("")
			if i == 0 {
				name = plain.Line(r[0])
			}
			out = append(out, kit.Line{Text: " " + plain.Pad(name, column) + part})
		}
	}
	return out
}

// Words is a code for people: "cap_reached" is "cap reached".
func Words(code string) string { return strings.ReplaceAll(code, "_", " ") }
