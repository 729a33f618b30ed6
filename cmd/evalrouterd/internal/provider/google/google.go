// Package google speaks the generateContent protocol of Gemini.
//
// The decisions:
//
//   - The key travels in a header, never in the address: that lands in logs.
//   - Safety filters are set to block nothing, since their defaults differ by
//     model; what the provider blocks all the same is a refusal.
//   - Thoughts stand beside the candidates' tokens; numbers that are zero are
//     left out; the total must be the sum. Every chunk of a stream carries a
//     running total, so the last one counts.
//   - A bad key is a 400 here, and a daily quota a 429 with a delay of
//     seconds: both are told apart by what the details name.
package google

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
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/body"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/verdict"
)

// Adapter is the adapter of core.GoogleGenerate.
type Adapter struct{ config exchange.Config }

var _ provider.Adapter = (*Adapter)(nil)

// New makes the adapter.
func New(c exchange.Config) *Adapter { return &Adapter{config: c} }

type request struct {
	Contents []content  `json:"contents"`
	System   *content   `json:"systemInstruction,omitempty"`
	Config   generation `json:"generationConfig"`
	Safety   []safety   `json:"safetySettings"`
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

type part struct {
	Text string `json:"text"`
}

type generation struct {
	MaxOutput   int       `json:"maxOutputTokens"`
	Temperature *float64  `json:"temperature,omitempty"`
	Stop        []string  `json:"stopSequences,omitempty"`
	Thinking    *thinking `json:"thinkingConfig,omitempty"`
}

type thinking struct {
	Budget *int   `json:"thinkingBudget,omitempty"`
	Level  string `json:"thinkingLevel,omitempty"`
}

type safety struct {
	Category  string `json:"category"`
	Threshold string `json:"threshold"`
}

// unfiltered switches off every filter that can be switched off.
func unfiltered() []safety {
	var list []safety
	for _, c := range []string{"HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT"} {
		list = append(list, safety{"HARM_CATEGORY_" + c, "BLOCK_NONE"})
	}
	return list
}

// Render is the body of the request.
func (a *Adapter) Render(r provider.Request) ([]byte, error) {
	q := request{Contents: []content{}, Config: generation{MaxOutput: r.MaxOutput, Temperature: r.Sampling.Temperature, Stop: r.Sampling.Stop}, Safety: unfiltered()}
	for _, m := range r.Messages {
		switch m.Role {
		case bundle.System:
			if q.System == nil {
				q.System = &content{}
			}
			q.System.Parts = append(q.System.Parts, part{m.Text})
		case bundle.Assistant:
			q.Contents = append(q.Contents, content{"model", []part{{m.Text}}})
		default:
			q.Contents = append(q.Contents, content{"user", []part{{m.Text}}})
		}
	}
	switch r.Reasoning.Mode {
	case core.ChooseEffort:
		q.Config.Thinking = &thinking{Level: strings.ToUpper(r.Reasoning.Effort)}
	case core.ChooseBudget:
		q.Config.Thinking = &thinking{Budget: &r.Reasoning.Tokens}
	case core.ChooseOff:
		q.Config.Thinking = &thinking{Budget: new(int)}
	}
	b, err := exchange.Write(q)
	if err != nil {
		return nil, fmt.Errorf("render request to Gemini: %w", err)
	}
	return b, nil
}

// Bound is the most input tokens that r can be billed for.
func (a *Adapter) Bound(r provider.Request) int64 { return provider.InputBound(r.Messages, 16, 64) }

// Call makes one request.
func (a *Adapter) Call(ctx context.Context, r provider.Request) provider.Outcome {
	at, err := locate(r.Target, r.Streams())
	if err != nil {
		return exchange.Unaddressed(err)
	}
	b, err := r.Rendered(a.Render)
	if err != nil {
		return exchange.Unwritable()
	}
	h := http.Header{}
	if !r.Key.Empty() {
		h.Set("X-Goog-Api-Key", r.Key.Reveal())
	}
	return a.config.Make(ctx, r.Target, exchange.Call{URL: at, Header: h, Body: b, Key: r.Key, Parse: a.Parse, Classify: classify})
}

// locate forms the address, which names the model. A base URL without a path
// gets /v1beta.
func locate(t core.Target, stream bool) (string, error) {
	u, err := url.Parse(t.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("the base URL is not an http or https address")
	}
	root := strings.TrimRight(u.Path, "/")
	if root == "" {
		root = "/v1beta"
	}
	verb, query := ":generateContent", ""
	if stream {
		verb, query = ":streamGenerateContent", "alt=sse"
	}
	model := strings.TrimPrefix(t.ModelID, "models/")
	at := url.URL{Scheme: u.Scheme, Host: u.Host, Path: root + "/models/" + model + verb, RawPath: root + "/models/" + url.PathEscape(model) + verb, RawQuery: query}
	return at.String(), nil
}

func classify(status int, raw []byte) provider.Outcome {
	return verdict.Decide(rules(), "", status, raw)
}

// rules is the table of this protocol.
func rules() []verdict.Rule {
	return slices.Concat(verdict.First(), []verdict.Rule{
		{From: 402, To: 402, Verdict: verdict.Broke()},
		{From: 429, To: 429, When: daily, Verdict: verdict.Broke()}, // it resets at midnight; the delay beside it is wrong
		{From: 429, To: 429, Verdict: verdict.SlowDown()},

		{From: 400, To: 403, Words: []string{"API_KEY_INVALID", "API_KEY_EXPIRED"}, Verdict: verdict.Auth()},
		{From: 401, To: 401, Verdict: verdict.Auth()},
		{From: 400, To: 400, Words: []string{"FAILED_PRECONDITION"}, Verdict: verdict.Forbidden()},
		{From: 403, To: 403, Verdict: verdict.Forbidden()},
		{From: 404, To: 404, Verdict: verdict.NoModel()},

		{From: 400, To: 400, Phrases: []string{"input token count", "exceeds the maximum number of tokens"}, Verdict: verdict.TooLong()},
		{From: 413, To: 413, Verdict: verdict.OverLimit()},
		{From: 400, To: 400, When: aboutContents, Verdict: verdict.BadContent()},
		{From: 400, To: 400, Verdict: verdict.Parameter()},
		{From: 422, To: 422, Verdict: verdict.Parameter()},

		{From: 503, To: 503, Words: []string{"UNAVAILABLE"}, Verdict: verdict.Busy()},
	}, verdict.Last())
}

// daily says that a quota of the day was met.
func daily(f body.Fault) bool {
	return slices.ContainsFunc(f.Quotas, func(q string) bool { return strings.Contains(q, "PerDay") })
}

// aboutContents says that the provider objects to the task's text.
func aboutContents(f body.Fault) bool {
	return slices.ContainsFunc(f.Fields, func(s string) bool { return strings.HasPrefix(s, "contents") && !strings.HasSuffix(s, "role") })
}
