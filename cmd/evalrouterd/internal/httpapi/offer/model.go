package offer

import (
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/optional"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Who bills the provider's part of a call.
const (
	chargesIncluded = "included"
	ChargesExternal = "external"
)

func chargesOf(t core.Target) string {
	if t.Metered() {
		return ChargesExternal
	}
	return chargesIncluded
}

// Pricing is a target's rates; null rates are unknown ones, as of a connection
// whose owner declared none.
func Pricing(t core.Target) *api.Pricing {
	p := &api.Pricing{Currency: "USD", Unit: "per_million_tokens", ProviderCharges: chargesOf(t), TaskFeeMicrousd: new(usd.Micro(0)), ExecutionFeeMicrousd: new(usd.Micro(0))}
	if !t.Priced {
		return p
	}
	rate := func(v usd.PerMillion) *usd.Micro { return new(usd.Micro(v)) }
	p.InputMicrousd, p.OutputMicrousd = rate(t.Prices.Input), rate(t.Prices.Output)
	p.CachedInputMicrousd, p.ReasoningMicrousd = rate(t.Prices.CacheRead), rate(t.Prices.Reasoning)
	p.PerRequestMicrousd = new(t.Prices.Request)
	p.EffectiveAt = optional.Time(t.Prices.Effective)
	if v := t.Prices.CacheWrite; v != t.Prices.Input {
		p.CacheWriteMicrousd = rate(v)
	}
	if v := t.Prices.CacheWriteHour; v != t.Prices.Input && v != 0 {
		p.CacheWriteHourMicrousd = rate(v)
	}
	if l := t.Prices.Long; l.Above > 0 {
		p.LongContext = &api.LongContextPricing{
			AboveTokens: l.Above, InputMicrousd: usd.Micro(l.Input), OutputMicrousd: usd.Micro(l.Output), CachedInputMicrousd: usd.Micro(l.CacheRead),
			ReasoningMicrousd: usd.Micro(l.Reasoning), CacheWriteMicrousd: usd.Micro(l.CacheWrite), CacheWriteHourMicrousd: usd.Micro(l.CacheWriteHour),
		}
	}
	return p
}

// reasoningControls are what a route lets its caller choose.
func reasoningControls(r core.Reasoning) *api.ReasoningControls {
	if r.IsZero() {
		return &api.ReasoningControls{Mode: core.ReasoningNone}
	}
	c := &api.ReasoningControls{Mode: r.Mode, Efforts: r.Efforts, DefaultEffort: optional.Text(r.DefaultEffort), Note: optional.Text(r.Note)}
	if r.Mode == core.ReasoningBudget {
		c.Budget = &api.ReasoningBudget{MinTokens: r.MinTokens, MaxTokens: r.MaxTokens, Step: max(r.Step, 1), CanDisable: r.CanDisable}
		if r.DefaultTokens > 0 {
			c.Budget.DefaultTokens = new(r.DefaultTokens)
		}
	}
	return c
}

func ReasoningChoice(c core.ReasoningChoice) *api.ReasoningChoice {
	if c.Mode == "" {
		return nil
	}
	return &api.ReasoningChoice{Mode: c.Mode, Effort: c.Effort, BudgetTokens: c.Tokens}
}

func limitsOf(t core.Target) map[string]any {
	return map[string]any{"context_window": t.ContextWindow, "max_output_tokens": t.MaxOutputTokens, "max_concurrency": t.Ceiling}
}

func ManagedRoute(t core.Target) api.ManagedRoute {
	r := api.ManagedRoute{
		ID: string(t.RouteID), ModelID: t.ModelID, DisplayName: t.DisplayName, Provider: t.Provider, Status: t.Status, PriceVersion: t.Prices.Version,
		Revision: t.Revision, Capabilities: Capabilities(t.Offers), Pricing: Pricing(t), Limits: limitsOf(t), Reasoning: reasoningControls(t.Reasoning),
		Benchmarkable: t.Status == "active" && !t.JudgeOnly, Simulated: t.Simulated,
	}
	if t.Simulated {
		r.Description = new("Answers are made on this machine from the tasks themselves and show nothing about a model.")
	}
	if t.JudgeOnly {
		r.Description = new("Grades answers on this machine by comparing texts, for learning and testing. It cannot be evaluated and shows nothing about a model.")
	}
	return r
}

// ConnectionRoute shows a connection as a route that only its owner has.
func ConnectionRoute(t core.Target) api.ManagedRoute {
	r := ManagedRoute(t)
	r.ID, r.PriceVersion = t.Name(), PriceVersion(t)
	r.Reasoning = &api.ReasoningControls{Mode: "provider_default"}
	return r
}

func PriceVersion(t core.Target) string {
	if t.Prices.Version == "" {
		return "none"
	}
	return t.Prices.Version
}

func SelectedModel(q core.Quote) api.SelectedModel {
	m := TargetModel(q.Target, q.OutputBound())
	if c := ReasoningChoice(q.Reasoning); c != nil {
		m.Generation["reasoning"] = c
	}
	return m
}

func TargetModel(t core.Target, maxOutput int) api.SelectedModel {
	limits := limitsOf(t)
	limits["output_tokens_per_task"] = maxOutput
	return api.SelectedModel{
		Kind: t.Kind, ModelID: t.ModelID, Protocol: t.Protocol, Revision: t.Revision, Capabilities: Capabilities(t.Offers), Limits: limits,
		RouteID: optional.Text(t.RouteID), ConnectionID: optional.Text(t.ConnectionID), PriceVersion: new(PriceVersion(t)), ProviderCharges: new(chargesOf(t)),
		Generation: map[string]any{"max_output_tokens": maxOutput}, Pricing: Pricing(t), DisplayName: t.DisplayName, Simulated: t.Simulated,
	}
}

func Model(q core.Quote) api.Model {
	m := SelectedModel(q)
	return api.Model{Selected: &m}
}

// ConnectionRecord shows a connection. Whether a key is kept is told; the key
// never is.
func ConnectionRecord(c core.ConnectionInfo) api.ConnectionRecord {
	r := api.ConnectionRecord{
		ID: string(c.ID), Name: c.Name, BaseURL: c.BaseURL, ModelID: c.ModelID, Protocol: c.Protocol, Revision: c.Revision, Capabilities: Capabilities(c.Check.Offers),
		CheckResult: checkResult(c.Check), CreatedAt: optional.At(c.CreatedAt), CheckedAt: optional.Time(c.CheckedAt), DisabledAt: optional.Time(c.DisabledAt),
		Config: map[string]any{
			"max_output_tokens": c.MaxOutputTokens, "context_window": c.ContextWindow, "max_concurrency": c.MaxConcurrency, "has_key": len(c.SealedKey) > 0,
		},
	}
	if c.PriceIn != nil && c.PriceOut != nil {
		r.PriceInMicrousd, r.PriceOutMicrousd = new(usd.Micro(*c.PriceIn)), new(usd.Micro(*c.PriceOut))
	}
	return r
}

func checkResult(c core.CheckResult) api.CheckResult {
	out := api.CheckResult{
		Status: c.Status, ErrorCode: optional.Text(c.ErrorCode), Message: c.Message, LatencyMS: c.LatencyMS, ModelEcho: optional.Text(c.ModelEcho),
		SentRequest: c.SentRequest, CheckedAt: optional.Time(c.At),
	}
	if c.Status == "ok" {
		out.Capabilities = Capabilities(c.Offers)
	}
	return out
}
