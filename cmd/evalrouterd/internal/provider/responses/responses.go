// Package responses speaks the Responses protocol of OpenAI.
//
// The decisions:
//
//   - Nothing is stored at the provider, and the standard tier is asked for.
//   - An answer is complete by its status: completed, or incomplete with a
//     reason. A stream is what its terminal event holds; the deltas before it
//     are only progress, and without a terminal event there is no answer.
//   - An error within an answer came after work was done: it is unknown, even
//     where its code is that of a rate limit.
package responses

import (
	"context"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openaihost"
)

const path = "/responses"

// Adapter is the adapter of core.OpenAIResponses.
type Adapter struct {
	host   *openaihost.Locator
	config exchange.Config
}

var _ provider.Adapter = (*Adapter)(nil)

// New makes the adapter.
func New(c exchange.Config) *Adapter { return &Adapter{host: openaihost.NewLocator(path), config: c} }

type request struct {
	Model       string     `json:"model"`
	Input       []item     `json:"input"`
	MaxOutput   int        `json:"max_output_tokens"`
	Reasoning   *reasoning `json:"reasoning,omitempty"`
	Temperature *float64   `json:"temperature,omitempty"`
	ServiceTier string     `json:"service_tier,omitempty"`
	Store       bool       `json:"store"`
	Stream      bool       `json:"stream,omitempty"`
}

type item struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type reasoning struct {
	Effort string `json:"effort"`
}

// Render is the body of the request.
func (a *Adapter) Render(r provider.Request) ([]byte, error) {
	at, err := a.host.Locate(r.Target.BaseURL)
	if err != nil {
		return nil, err
	}
	q := request{Model: r.Target.ModelID, Input: make([]item, len(r.Messages)), MaxOutput: max(r.MaxOutput, core.ResponsesMinOutput), Stream: r.Streams(), Temperature: r.Sampling.Temperature}
	for i, m := range r.Messages {
		q.Input[i] = item{string(m.Role), m.Text}
	}
	switch r.Reasoning.Mode {
	case core.ChooseEffort:
		q.Reasoning = &reasoning{r.Reasoning.Effort}
	case core.ChooseOff:
		q.Reasoning = &reasoning{"none"}
	}
	if at.Kind == openaihost.OpenAI {
		q.ServiceTier = "default"
	}
	b, err := exchange.Write(q)
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

// Call makes one request.
func (a *Adapter) Call(ctx context.Context, r provider.Request) provider.Outcome {
	at, err := a.host.Locate(r.Target.BaseURL)
	if err != nil {
		return exchange.Unaddressed(err)
	}
	b, err := r.Rendered(a.Render)
	if err != nil {
		return exchange.Unwritable()
	}
	return a.config.Make(ctx, r.Target, exchange.Call{
		URL: at.URL, Header: openaihost.Bearer(r.Key), Body: b, Key: r.Key, Parse: a.Parse, Classify: at.Kind.Classify, IDHeaders: openaihost.IDHeaders(),
	})
}
