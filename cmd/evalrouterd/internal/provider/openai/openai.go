// Package openai speaks the chat and completions protocols of OpenAI, which
// most local servers and many hosts speak too.
//
// The decisions:
//
//   - What differs between hosts is decided by the host of the base URL, never
//     by trying: a second request could be billed.
//   - Class, reach and code of an error follow from the table in reject.go, by
//     status together with the provider's code or type.
//   - A complete body with a finish reason is an answer. Everything else that
//     came with status 200 is unknown, or malformed and paid for when it
//     reports usage.
//   - Usage is taken only when its numbers add up. Which tokens contain which
//     is decided by the total, not by the provider's name.
package openai

import (
	"context"
	"net/http"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
)

// Config is what an adapter needs from outside.
type Config struct {
	// Transport makes the requests to a target. Targets of different owners
	// must not share one.
	Transport func(core.Target) http.RoundTripper
	// Now is the clock, for hints that are dates without a Date beside them.
	Now func() time.Time
}

// Adapter speaks one of the two protocols.
type Adapter struct {
	api    api
	config Config
}

var _ provider.Adapter = (*Adapter)(nil)

// api is what differs between the protocols.
type api struct {
	path   string
	render func(provider.Request, host) any
	answer func(choice) (text, refusal string, ok bool)
}

// Chat makes the adapter of core.OpenAIChat.
func Chat(c Config) *Adapter {
	return &Adapter{api: api{path: "/chat/completions", render: chatRequest, answer: chatAnswer}, config: c}
}

// Completions makes the adapter of core.OpenAICompletions.
func Completions(c Config) *Adapter {
	return &Adapter{api: api{path: "/completions", render: textRequest, answer: textAnswer}, config: c}
}

// Call makes one request.
func (a *Adapter) Call(ctx context.Context, r provider.Request) provider.Outcome {
	at, err := locate(r.Target.BaseURL, a.api.path)
	if err != nil {
		return unsendable(provider.Route, core.CodeProviderError, "invalid_base_url", err.Error())
	}
	header := http.Header{}
	if !r.Key.Empty() {
		if !sendable(r.Key) {
			return unsendable(provider.Connection, core.CodeCredentialRejected, "auth", "the key holds characters that no header can carry")
		}
		header.Set("Authorization", "Bearer "+r.Key.Reveal())
	}
	body, err := a.Render(r)
	if err != nil {
		return unsendable(provider.ThisTask, core.CodeProviderError, "invalid_content", "the task cannot be written as JSON")
	}
	reply := exchange.Do(ctx, a.config.Transport(r.Target), exchange.Post{URL: at.url, Header: header, Body: body, Key: r.Key})
	return a.read(reply, at.host, r.Key)
}

func unsendable(reach provider.Reach, code, reason, message string) provider.Outcome {
	return provider.Outcome{Class: provider.Rejected, Reach: reach, Code: code, Reason: reason, Message: message}
}

func sendable(key provider.Secret) bool {
	for _, c := range []byte(key.Reveal()) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}

// read decides what a reply means. A status other than success counts even
// when its body broke off; a success counts when the body that came is whole.
func (a *Adapter) read(reply exchange.Reply, h host, key provider.Secret) provider.Outcome {
	var o provider.Outcome
	switch {
	case reply.Status == 0:
		return reply.Failure()
	case !reply.OK():
		o = classify(h, reply.Status, reply.Raw)
	case reply.Err == nil:
		o = a.Parse(reply.Raw)
	default:
		if o = a.Parse(reply.Raw); o.Class != provider.Answered {
			o = reply.Failure()
		}
	}
	o.Status, o.Raw = reply.Status, reply.Raw
	o.Message = exchange.Message(o.Message, key)
	if id := requestID(reply.Header); id != "" {
		o.RequestID = id
	}
	o.RetryAfter, o.HasRetryAfter = exchange.RetryAfter(reply.Header, a.config.Now())
	return o
}

func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "X-Generation-Id", "Apim-Request-Id"} {
		if v := h.Get(name); v != "" {
			return exchange.ID(v)
		}
	}
	return ""
}
