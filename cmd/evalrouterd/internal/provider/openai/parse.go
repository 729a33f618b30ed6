package openai

import (
	"encoding/json"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/body"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openaihost"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/sse"
)

type answerBody struct {
	ID      body.Text       `json:"id"`
	Model   body.Text       `json:"model"`
	Error   json.RawMessage `json:"error"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	// Provider is sent by OpenRouter alone: the upstream that answered.
	Provider body.Text `json:"provider"`
}

type choice struct {
	Finish  body.Text    `json:"finish_reason"`
	Text    *string      `json:"text"`
	Message *chatMessage `json:"message"`
	// NativeFinish is sent by OpenRouter alone, null included, and thereby
	// tells its answers apart in the record.
	NativeFinish json.RawMessage `json:"native_finish_reason"`
}

// chatMessage leaves reasoning fields out: what a model thinks is no answer.
type chatMessage struct {
	Content json.RawMessage `json:"content"`
	Refusal body.Text       `json:"refusal"`
}

// Parse reads the body of an answer, in one piece or as a stream.
func (a *Adapter) Parse(raw []byte) provider.Outcome {
	if sse.Looks(raw) {
		return a.parseStream(raw)
	}
	var b answerBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return exchange.Unreadable(raw, exchange.NoUsage(), exchange.Malformed, "the answer is not JSON of the expected shape")
	}
	return a.parseBody(raw, b)
}

func (a *Adapter) parseBody(raw []byte, b answerBody) provider.Outcome {
	usage := readUsage(b)
	if body.Present(b.Error) {
		return named(b, exchange.Unreadable(raw, usage, exchange.ErrorInAnswer, body.ReadFault(raw).Message))
	}
	if len(b.Choices) == 0 {
		return named(b, exchange.Unreadable(raw, usage, exchange.Malformed, "the answer has no choices"))
	}
	return named(b, a.choose(raw, b.Choices[0], usage))
}

func (a *Adapter) choose(raw []byte, c choice, usage exchange.Usage) provider.Outcome {
	text, refusal, ok := a.api.answer(c)
	finish, whole := finishOf(string(c.Finish))
	switch {
	case !whole && c.Finish == "error" && len(c.NativeFinish) > 0:
		// OpenRouter bills nothing for an upstream that failed, whatever the
		// usage says.
		o := openaihost.Unbilled(exchange.Unreadable(raw, usage, exchange.Aborted, "the upstream provider failed"))
		o.Finish = finish
		return o
	case !whole:
		o := exchange.Unreadable(raw, usage, exchange.Aborted, "the server broke the answer off")
		o.Finish = finish
		return o
	case !ok:
		return exchange.Unreadable(raw, usage, exchange.Malformed, "the answer has no readable text")
	case finish == bundle.FinishUnknown && text == "" && refusal == "":
		return exchange.Unreadable(raw, usage, exchange.Malformed, "the answer has neither text nor a finish reason")
	case refusal != "":
		return exchange.Refusal(raw, "", "model_refusal", refusal, finish, usage)
	case finish == bundle.FinishFilter:
		return exchange.Refusal(raw, text, "content_filter", "", finish, usage)
	}
	return exchange.Answer(raw, text, finish, usage)
}

func named(b answerBody, o provider.Outcome) provider.Outcome {
	o.Model, o.RequestID = exchange.ID(string(b.Model)), exchange.ID(string(b.ID))
	return o
}

// finishOf maps a finish reason; whole is false for one that says that the
// answer was broken off.
func finishOf(raw string) (f bundle.Finish, whole bool) {
	switch raw {
	case "stop", "length", "content_filter", "":
		return bundle.Finish(raw), true
	case "repetition": // vLLM's own cut
		return bundle.FinishLength, true
	case "abort", "error", "load", "unload":
		return exchange.Other(raw), false
	}
	return exchange.Other(raw), true
}

func textAnswer(c choice) (text, refusal string, ok bool) {
	if c.Text == nil {
		return "", "", false
	}
	return *c.Text, "", true
}

// chatAnswer reads content: a string, null, or parts, whose texts are joined.
func chatAnswer(c choice) (text, refusal string, ok bool) {
	if c.Message == nil {
		return "", "", false
	}
	refusal = string(c.Message.Refusal)
	if !body.Present(c.Message.Content) {
		return "", refusal, true
	}
	if json.Unmarshal(c.Message.Content, &text) == nil {
		return text, refusal, true
	}
	var parts []struct {
		Type    body.Text `json:"type"`
		Text    body.Text `json:"text"`
		Refusal body.Text `json:"refusal"`
	}
	if json.Unmarshal(c.Message.Content, &parts) != nil {
		return "", refusal, false
	}
	var b strings.Builder
	for _, p := range parts {
		switch p.Type {
		case "text", "output_text":
			b.WriteString(string(p.Text))
		case "refusal":
			refusal += string(p.Refusal)
		}
	}
	return b.String(), refusal, true
}
