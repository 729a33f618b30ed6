// Package anthropic speaks the Messages protocol of Anthropic.
//
// The decisions:
//
//   - No cache is asked for, and the standard tier is: prices are then the
//     published ones.
//   - An answer is complete once a stop reason came. A stream's usage is a
//     running total: the last value of each number counts, and null means as
//     before. An error within a stream came after work was done.
//   - Cached tokens stand beside the input, thinking within the output.
//   - A refusal is the provider's, not the model's; text before it is kept.
//     Where the route says so, one before any output is not billed, although
//     usage comes with it.
package anthropic

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/verdict"
)

// version is the revision of the protocol that is asked for.
const version = "2023-06-01"

// Adapter is the adapter of core.AnthropicMessages.
type Adapter struct{ config exchange.Config }

var _ provider.Adapter = (*Adapter)(nil)

// New makes the adapter.
func New(c exchange.Config) *Adapter { return &Adapter{config: c} }

type request struct {
	Model       string    `json:"model"`
	MaxTokens   int       `json:"max_tokens"`
	System      string    `json:"system,omitempty"`
	Messages    []message `json:"messages"`
	Thinking    *thinking `json:"thinking,omitempty"`
	Output      *output   `json:"output_config,omitempty"`
	Temperature *float64  `json:"temperature,omitempty"`
	Stop        []string  `json:"stop_sequences,omitempty"`
	ServiceTier string    `json:"service_tier"`
	Stream      bool      `json:"stream,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type thinking struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens,omitempty"`
}

type output struct {
	Effort string `json:"effort"`
}

// Render is the body of the request. System messages stand outside the
// conversation here, joined in their order.
func (a *Adapter) Render(r provider.Request) ([]byte, error) {
	q := request{Model: r.Target.ModelID, MaxTokens: r.MaxOutput, Messages: []message{}, ServiceTier: "standard_only", Stream: r.Streams(), Temperature: r.Sampling.Temperature, Stop: r.Sampling.Stop}
	var system []string
	for _, m := range r.Messages {
		if m.Role == bundle.System {
			system = append(system, m.Text)
			continue
		}
		q.Messages = append(q.Messages, message{string(m.Role), m.Text})
	}
	q.System = strings.Join(system, "\n\n")
	switch r.Reasoning.Mode {
	case core.ChooseEffort:
		q.Output, q.Thinking = &output{r.Reasoning.Effort}, &thinking{Type: "adaptive"}
	case core.ChooseBudget:
		q.Thinking = &thinking{Type: "enabled", Budget: r.Reasoning.Tokens}
	case core.ChooseOff:
		q.Thinking = &thinking{Type: "disabled"}
	}
	b, err := exchange.Write(q)
	if err != nil {
		return nil, fmt.Errorf("render request to Anthropic: %w", err)
	}
	return b, nil
}

// Bound is the most input tokens that r can be billed for. Thinking brings
// instructions of the provider's own with it.
func (a *Adapter) Bound(r provider.Request) int64 {
	if r.Reasoning.Mode == core.ChooseOff {
		return provider.InputBound(r.Messages, 16, 64)
	}
	return provider.InputBound(r.Messages, 16, 128)
}

// Call makes one request.
func (a *Adapter) Call(ctx context.Context, r provider.Request) provider.Outcome {
	at, err := locate(r.Target.BaseURL)
	if err != nil {
		return exchange.Unaddressed(err)
	}
	b, err := r.Rendered(a.Render)
	if err != nil {
		return exchange.Unwritable()
	}
	h := http.Header{"Anthropic-Version": {version}}
	if !r.Key.Empty() {
		h.Set("X-Api-Key", r.Key.Reveal())
	}
	o := a.config.Make(ctx, r.Target, exchange.Call{URL: at, Header: h, Body: b, Key: r.Key, Parse: a.Parse, Classify: classify, IDHeaders: []string{"Request-Id"}})
	o.Unbilled = o.Class == provider.Answered && o.Refused && o.Text == "" && r.Target.UnbilledRefusals
	return o
}

// locate forms the address. A base URL without a path gets /v1.
func locate(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("the base URL is not an http or https address")
	}
	root := strings.TrimRight(u.Path, "/")
	if root == "" {
		root = "/v1"
	}
	if !strings.HasSuffix(root, "/messages") {
		root += "/messages"
	}
	at := url.URL{Scheme: u.Scheme, Host: u.Host, Path: root}
	return at.String(), nil
}

func classify(status int, raw []byte) provider.Outcome {
	return verdict.Decide(rules(), "", status, raw)
}

// rules is the table of this protocol. Its 400s have one type, so what they
// mean is in the wording.
func rules() []verdict.Rule {
	return slices.Concat(verdict.First(), []verdict.Rule{
		{From: 400, To: 499, Words: []string{"billing_error", "enforced_spend_limit_reached"}, Verdict: verdict.Broke()},
		{From: 402, To: 402, Verdict: verdict.Broke()},
		{From: 400, To: 400, Phrases: []string{"usage limits", "spend limit", "credit balance is too low"}, Verdict: verdict.Broke()},
		{From: 429, To: 429, Verdict: verdict.SlowDown()},

		{From: 401, To: 401, Verdict: verdict.Auth()},
		{From: 400, To: 403, Words: []string{"authentication_error"}, Verdict: verdict.Auth()},
		{From: 403, To: 403, Verdict: verdict.Forbidden()},
		{From: 404, To: 404, Verdict: verdict.NoModel()},

		{From: 400, To: 400, Phrases: []string{"prompt is too long", "exceed context limit"}, Verdict: verdict.TooLong()},
		{From: 413, To: 413, Verdict: verdict.OverLimit()},
		{From: 400, To: 400, Phrases: []string{"messages.", "messages:", "text content blocks must"}, Verdict: verdict.BadContent()},
		{From: 400, To: 400, Verdict: verdict.Parameter()},
		{From: 422, To: 422, Verdict: verdict.Parameter()},

		{From: 503, To: 529, Words: []string{"overloaded_error"}, Verdict: verdict.Busy()},
	}, verdict.Last())
}
