package dialect

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// usage reads the tokens of a span. Langfuse has them in one attribute of JSON.
func usage(a attributes) core.SpanUsage {
	details := attributes{}
	if text := a.text("langfuse.observation.usage_details"); text != "" {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var m map[string]any
		if d.Decode(&m) == nil {
			details = m
		}
	}
	first := func(langfuse []string, names ...string) *int64 {
		if n := details.number(langfuse...); n != nil {
			return n
		}
		return a.number(names...)
	}
	return core.SpanUsage{
		Input: first([]string{"input", "prompt_tokens", "input_tokens"}, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "llm.usage.prompt_tokens",
			"ai.usage.inputTokens", "ai.usage.promptTokens", "ai.usage.tokens"),
		Output: first([]string{"output", "completion_tokens", "output_tokens"}, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion", "llm.usage.completion_tokens",
			"ai.usage.outputTokens", "ai.usage.completionTokens"),
		Cached: first([]string{"input_cached_tokens", "cache_read_input_tokens"}, "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "llm.token_count.prompt_details.cache_read", "ai.usage.cachedInputTokens"),
		Reasoning: first([]string{"output_reasoning_tokens", "reasoning_tokens"}, "gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "llm.token_count.completion_details.reasoning", "llm.usage.reasoning_tokens",
			"ai.usage.reasoningTokens"),
	}
}

// number is the first of these attributes that is a count.
func (a attributes) number(names ...string) *int64 {
	for _, name := range names {
		var n int64
		switch v := a[name].(type) {
		case int64:
			n = v
		case float64:
			if v != float64(int64(v)) {
				continue
			}
			n = int64(v)
		case json.Number:
			i, err := v.Int64()
			if err != nil {
				continue
			}
			n = i
		default:
			continue
		}
		if n >= 0 && n < 1<<50 {
			return &n
		}
	}
	return nil
}

// cost reads what the sender says that a span cost, in US dollars.
func cost(a attributes) *usd.Micro {
	if text := a.text("langfuse.observation.cost_details"); text != "" {
		var m struct {
			Total json.Number `json:"total"`
		}
		if json.Unmarshal([]byte(text), &m) == nil && m.Total != "" {
			return micros(m.Total.String())
		}
	}
	for _, name := range []string{"llm.cost.total", "gen_ai.usage.cost", "gen_ai.usage.total_cost"} {
		switch v := a[name].(type) {
		case float64:
			return micros(strconv.FormatFloat(v, 'f', -1, 64))
		case int64:
			return micros(strconv.FormatInt(v, 10))
		case string:
			return micros(v)
		}
	}
	return nil
}

// micros rounds half a micro-dollar up. What is no amount is unknown.
func micros(dollars string) *usd.Micro {
	if len(dollars) > 40 {
		return nil
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(dollars), "e"); ok && len(exponent) > 3 {
		return nil
	}
	r, ok := new(big.Rat).SetString(dollars)
	if !ok || r.Sign() < 0 {
		return nil
	}
	r.Mul(r, big.NewRat(1_000_000, 1)).Add(r, big.NewRat(1, 2))
	n := new(big.Int).Quo(r.Num(), r.Denom())
	if !n.IsInt64() {
		return nil
	}
	m := usd.Micro(n.Int64())
	return &m
}
