package openai

import (
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openaihost"
)

type chatBody struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
	// MaxTokens is the older name of the output limit. Ollama and LM Studio
	// know no other; OpenAI's newer models reject it.
	MaxTokens           int    `json:"max_tokens,omitempty"`
	MaxCompletionTokens int    `json:"max_completion_tokens"`
	ReasoningEffort     string `json:"reasoning_effort,omitempty"`
	sampling
	ServiceTier string `json:"service_tier,omitempty"`
	Store       *bool  `json:"store,omitempty"`
	streaming
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type sampling struct {
	Temperature *float64 `json:"temperature,omitempty"`
	Stop        []string `json:"stop,omitempty"`
}

// streaming asks for a stream that says what it cost.
type streaming struct {
	Stream  bool           `json:"stream,omitempty"`
	Options *streamOptions `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
	// Obfuscation pads every event against listeners; only OpenAI knows it.
	Obfuscation *bool `json:"include_obfuscation,omitempty"`
}

func streamed(r provider.Request, h openaihost.Kind) streaming {
	if !r.Streams() {
		return streaming{}
	}
	o := &streamOptions{IncludeUsage: true}
	if h == openaihost.OpenAI {
		o.Obfuscation = new(bool)
	}
	return streaming{Stream: true, Options: o}
}

// chatRequest sets the output limit under each name that the host takes. To
// OpenAI it also says what would otherwise follow from a setting of the
// account: the standard tier, whose prices are the published ones, and that
// nothing is to be stored.
func chatRequest(r provider.Request, h openaihost.Kind) any {
	b := chatBody{Model: r.Target.ModelID, MaxCompletionTokens: r.MaxOutput, Messages: make([]message, len(r.Messages)), streaming: streamed(r, h), sampling: sampling(r.Sampling)}
	for i, m := range r.Messages {
		b.Messages[i] = message{string(m.Role), m.Text}
	}
	switch r.Reasoning.Mode {
	case core.ChooseEffort:
		b.ReasoningEffort = r.Reasoning.Effort
	case core.ChooseOff:
		b.ReasoningEffort = "none"
	}
	switch h {
	case openaihost.OpenAI:
		b.ServiceTier, b.Store = "default", new(bool)
	case openaihost.Azure:
	default:
		b.MaxTokens = r.MaxOutput
	}
	return b
}

type textBody struct {
	Model     string `json:"model"`
	Prompt    string `json:"prompt"`
	MaxTokens int    `json:"max_tokens"`
	Echo      bool   `json:"echo,omitempty"`
	LogProbs  int    `json:"logprobs,omitempty"`
	sampling
	streaming
}

// separator stands between the messages of a prompt.
const separator = "\n\n"

// textRequest asks for what follows the prompt, or for the likelihood of the
// prompt itself: then for one token more, since servers differ on whether none
// can be asked for.
func textRequest(r provider.Request, h openaihost.Kind) any {
	texts := make([]string, len(r.Messages))
	for i, m := range r.Messages {
		texts[i] = m.Text
	}
	b := textBody{Model: r.Target.ModelID, Prompt: strings.Join(texts, separator), MaxTokens: r.MaxOutput, sampling: sampling(r.Sampling), streaming: streamed(r, h)}
	if r.Likelihood {
		b.MaxTokens, b.Echo, b.LogProbs, b.streaming = 1, true, 1, streaming{}
	}
	return b
}

// Render is the body of the request.
func (a *Adapter) Render(r provider.Request) ([]byte, error) {
	at, err := a.host.Locate(r.Target.BaseURL)
	if err != nil {
		return nil, err
	}
	b, err := exchange.Write(a.api.render(r, at.Kind))
	if err != nil {
		return nil, fmt.Errorf("render request to %s: %w", at.Kind, err)
	}
	return b, nil
}

// Bound is the most input tokens that r can be billed for.
func (a *Adapter) Bound(r provider.Request) int64 {
	at, err := a.host.Locate(r.Target.BaseURL)
	if err != nil {
		return openaihost.Compatible.Bound(r)
	}
	return at.Kind.Bound(r)
}
