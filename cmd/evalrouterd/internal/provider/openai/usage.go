package openai

import (
	"encoding/json"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/body"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/usage"
	"github.com/evalrouter/evalrouter/lib/usd"
)

type usageBody struct {
	Prompt     body.Count `json:"prompt_tokens"`
	Completion body.Count `json:"completion_tokens"`
	Total      body.Count `json:"total_tokens"`
	// Hit and Miss are DeepSeek's split of the prompt.
	Hit    body.Count  `json:"prompt_cache_hit_tokens"`
	Miss   body.Count  `json:"prompt_cache_miss_tokens"`
	Input  parts       `json:"prompt_tokens_details"`
	Output parts       `json:"completion_tokens_details"`
	Cost   json.Number `json:"cost"`
}

type parts struct {
	Cached    body.Count `json:"cached_tokens"`
	Written   body.Count `json:"cache_write_tokens"`
	Reasoning body.Count `json:"reasoning_tokens"`
	Audio     body.Count `json:"audio_tokens"`
	Image     body.Count `json:"image_tokens"`
}

// readUsage splits reported usage into classes. At OpenRouter the cost that
// comes with it is what was charged; its answers alone name the upstream
// provider, and nobody else's cost is taken for a charge.
func readUsage(b answerBody) exchange.Usage {
	var u usageBody
	if !body.Present(b.Usage) {
		return exchange.NoUsage()
	}
	if json.Unmarshal(b.Usage, &u) != nil {
		var rest struct {
			usageBody
			Cost json.RawMessage `json:"cost"` // of whatever shape
		}
		if json.Unmarshal(b.Usage, &rest) != nil {
			return exchange.NoUsage()
		}
		u = rest.usageBody
		u.Cost = ""
	}
	r := usage.Report{
		Input: u.Prompt, Output: u.Completion, Total: u.Total, CacheRead: u.Input.Cached, CacheWrite: u.Input.Written, Reasoning: u.Output.Reasoning,
		Foreign: []body.Count{u.Input.Audio, u.Input.Image, u.Output.Audio, u.Output.Image},
	}
	if u.Hit.Set && !u.Input.Cached.Set {
		r.CacheRead, r.Miss = u.Hit, u.Miss
	}
	if b.Provider != "" && u.Cost != "" {
		if m, ok := charged(u.Cost.String()); ok {
			r.Billed = &m
		}
	}
	tokens, state := usage.OpenAI().Split(r)
	return exchange.Usage{Tokens: tokens, State: state}
}

// charged reads dollars as decimal digits, rounded up to a micro-dollar. The
// number never passes through a float.
func charged(text string) (usd.Micro, bool) {
	m, err := usd.ParseCeil(text)
	return m, err == nil
}
