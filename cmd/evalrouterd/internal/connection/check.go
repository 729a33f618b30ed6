package connection

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/lmeval/request"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// Bounds of the requests of a check. They fit into a client's patience.
const (
	checkTokens  = 16
	checkTimeout = 20 * time.Second
)

// Codes of a failed check beside those of tasks.
const (
	codeUnreachable = "endpoint_unreachable"
	codeRejected    = "request_rejected"
	codeAccount     = "account_exhausted"
	codeRedirect    = "redirect_rejected"
	codeUnopenable  = "key_unopenable"
)

// Check sends one small request, which the provider may bill, and keeps what
// came of it. A check that fails is a result, not an error. The request carries
// the settings that benchmarks ask for, and is sent again without those that
// the provider refuses. Where the protocol
// can say how likely a prompt is, a second one asks whether this endpoint does.
func (s *Service) Check(ctx context.Context, sc core.Scope, id core.ConnectionID) (core.ConnectionInfo, error) {
	c, err := s.Store.Connection(ctx, sc, id)
	if err != nil {
		return c, err
	}
	if c.DisabledAt != 0 {
		return c, core.Refuse(core.ModelUnavailable, "this connection is disabled; no request was sent")
	}
	adapter, ok := s.Adapters[c.Protocol]
	if !ok {
		return c, core.Refuse(core.ModelUnavailable, "this service does not speak %s; no request was sent", c.Protocol)
	}
	key, err := s.open(c)
	if errors.Is(err, seal.ErrUnopenable) {
		return s.recordCheck(ctx, sc, c, core.CheckResult{Status: "failed", ErrorCode: codeUnopenable, Message: unopenable + "; no request was sent"})
	}
	if err != nil {
		return c, err
	}
	// The request goes on if the caller leaves: it may be billed, so what came
	// of it is worth keeping.
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	start := s.Now()
	out, offers := sampled(call, adapter, c, key)
	r := judge(out, call.Err() != nil)
	r.LatencyMS = s.Now().Sub(start).Milliseconds()
	if r.Status == "ok" {
		r.Offers = offers
		if c.Protocol == core.OpenAICompletions && likely(call, adapter, c, key) {
			r.Offers = append(r.Offers, core.OffersLogprobs)
		}
	}
	if c, err = s.recordCheck(ctx, sc, c, r); err == nil && r.Status == "ok" && s.Reached != nil {
		s.Reached(context.WithoutCancel(ctx), sc, c.ID)
	}
	return c, err
}

// sampled sends the request of a check with a temperature and a stop text. Where
// a provider takes it for a fault of the request, it is sent with the
// temperature alone, and then without both: models that reason refuse them.
func sampled(ctx context.Context, adapter provider.Adapter, c core.ConnectionInfo, key provider.Secret) (out provider.Outcome, offers []string) {
	target := probe(c)
	for _, offers = range [][]string{{core.OffersTemperature, core.OffersStop}, {core.OffersTemperature}, nil} {
		target.Offers = offers
		out = adapter.Call(ctx, provider.Request{
			Target: target, Key: key, MaxOutput: checkTokens, Attempt: 1,
			Sampling: target.Sends(bundle.Sampling{Temperature: new(float64), Stop: []string{"\n###"}}, core.ReasoningChoice{}),
			Messages: []bundle.Message{{Role: bundle.User, Text: "Reply with the word ok."}},
		})
		if out.Class != provider.Rejected || out.Reach != provider.Route || out.Status != http.StatusBadRequest {
			break
		}
	}
	if c.Protocol == core.OpenAIResponses && len(offers) > 1 {
		offers = offers[:1] // it has no stop texts
	}
	return out, offers
}

// likely says whether an endpoint gives the likelihood of a prompt's tokens. Many
// take the request and give none, or those of what they wrote instead, so only
// an answer that holds what a benchmark would read counts.
func likely(ctx context.Context, adapter provider.Adapter, c core.ConnectionInfo, key provider.Secret) bool {
	ask := bundle.Ask{Context: "The sky is", Continuation: " blue"}
	r := provider.LikelyRequest(probe(c), ask)
	r.Key = key
	out := adapter.Call(ctx, r)
	if out.Class != provider.Answered || out.Malformed || out.Refused {
		return false
	}
	_, err := request.Echo(string(out.Raw), request.Pair(ask))
	return err == nil
}

func (s *Service) recordCheck(ctx context.Context, sc core.Scope, c core.ConnectionInfo, r core.CheckResult) (core.ConnectionInfo, error) {
	r.At = s.Store.Now()
	if err := s.Store.RecordCheck(context.WithoutCancel(ctx), c, r); err != nil {
		return c, fmt.Errorf("keep check: %w", err)
	}
	return s.Store.Connection(ctx, sc, c.ID)
}

func probe(c core.ConnectionInfo) core.Target {
	return core.Target{
		Kind: core.Connection, ConnectionID: c.ID, ModelID: c.ModelID, DisplayName: c.Name, Protocol: c.Protocol, Revision: c.Revision, BaseURL: c.BaseURL,
		ContextWindow: c.ContextWindow, MaxOutputTokens: c.MaxOutputTokens, Ceiling: 1, Auto: 1, Status: "active",
	}
}

// judge reads an outcome as the result of a check.
func judge(o provider.Outcome, late bool) core.CheckResult {
	r := core.CheckResult{Status: "failed", Message: string(plain.Line(o.Message)), ModelEcho: string(plain.Line(o.Model)), SentRequest: o.Class != provider.NotSent}
	switch o.Class {
	case provider.Answered:
		if o.Malformed {
			r.ErrorCode = core.CodeInvalidOutput
			return r
		}
		r.Status, r.Message = "ok", ""
	case provider.NotSent:
		r.ErrorCode = codeUnreachable
		if r.Message == "" {
			r.Message = "no connection to the endpoint could be made"
		}
	case provider.Rejected:
		r.ErrorCode = rejection(o)
	default:
		r.ErrorCode = core.CodeOutcomeUnknown
		if late {
			r.ErrorCode = core.CodeProviderTimeout
		}
	}
	return r
}

func rejection(o provider.Outcome) string {
	switch {
	case o.Reason == "provider_redirect":
		return codeRedirect
	case o.Reason == string(core.EndpointRefused):
		return string(core.EndpointRefused)
	case o.Code == core.CodeCredentialRejected:
		return core.CodeCredentialRejected
	}
	switch o.Reach {
	case provider.Account:
		return codeAccount
	case provider.Overload:
		return core.CodeRateLimited
	}
	return codeRejected
}
