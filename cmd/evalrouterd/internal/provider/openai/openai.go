// Package openai speaks the chat and completions protocols of OpenAI, which
// most local servers and many hosts speak too.
//
// The decisions:
//
//   - What differs between hosts, and what their errors mean, is in package
//     openaihost: by the host of the base URL, never by trying.
//   - A complete body is an answer, and a stream is one once it brought a
//     finish reason. Everything else that came with status 200 is unknown, or
//     malformed and paid for when it reports usage.
//   - Usage is taken only when its numbers add up. Which tokens contain which
//     is decided by the total, not by the provider's name.
package openai

import (
	"context"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openaihost"
)

// Config is what an adapter needs from outside.
type Config = exchange.Config

// Adapter speaks one of the two protocols.
type Adapter struct {
	api    api
	host   *openaihost.Locator
	config Config
}

var _ provider.Adapter = (*Adapter)(nil)

// api is what differs between the protocols.
type api struct {
	path   string
	render func(provider.Request, openaihost.Kind) any
	answer func(choice) (text, refusal string, ok bool)
	chat   bool // answers are messages, and Text reads them
}

// Chat makes the adapter of core.OpenAIChat.
func Chat(c Config) *Adapter {
	return adapter(api{path: "/chat/completions", render: chatRequest, answer: chatAnswer, chat: true}, c)
}

// Completions makes the adapter of core.OpenAICompletions.
func Completions(c Config) *Adapter {
	return adapter(api{path: "/completions", render: textRequest, answer: textAnswer}, c)
}

func adapter(spoken api, c Config) *Adapter {
	return &Adapter{api: spoken, host: openaihost.NewLocator(spoken.path), config: c}
}

// Call makes one request.
func (a *Adapter) Call(ctx context.Context, r provider.Request) provider.Outcome {
	at, err := a.host.Locate(r.Target.BaseURL)
	if err != nil {
		return exchange.Unaddressed(err)
	}
	body, err := r.Rendered(a.Render)
	if err != nil {
		return exchange.Unwritable()
	}
	parse := a.Parse
	if r.Likelihood {
		parse = a.parseLikelihood
	}
	return a.config.Make(ctx, r.Target, exchange.Call{
		URL: at.URL, Header: openaihost.Bearer(r.Key), Body: body, Key: r.Key, Parse: parse, Classify: at.Kind.Classify, IDHeaders: openaihost.IDHeaders(),
	})
}
