package openai

import (
	"encoding/json"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
)

type answerBody struct {
	ID      loose           `json:"id"`
	Model   loose           `json:"model"`
	Error   json.RawMessage `json:"error"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
}

type choice struct {
	Finish  loose        `json:"finish_reason"`
	Text    *string      `json:"text"`
	Message *chatMessage `json:"message"`
	// NativeFinish is sent by OpenRouter alone, null included, and thereby
	// tells its answers apart in the record.
	NativeFinish json.RawMessage `json:"native_finish_reason"`
}

// chatMessage leaves reasoning fields out: what a model thinks is no answer.
type chatMessage struct {
	Content json.RawMessage `json:"content"`
	Refusal loose           `json:"refusal"`
}

// loose reads a string, and anything else as "": a field that is not needed
// must not make an answer unreadable.
type loose string

// UnmarshalJSON never fails.
func (l *loose) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*l = loose(s)
	}
	return nil
}

// Reasons of an unknown outcome.
const (
	malformed     = "malformed"
	aborted       = "aborted"
	errorInAnswer = "error_in_answer"
)

// Parse reads the body of an answer.
func (a *Adapter) Parse(raw []byte) provider.Outcome {
	var b answerBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return unreadable(raw, nil, malformed, "the answer is not JSON of the expected shape")
	}
	usage := readUsage(b.Usage)
	if present(b.Error) {
		f := readFault(raw)
		return named(b, unreadable(raw, usage, errorInAnswer, f.message))
	}
	if len(b.Choices) == 0 {
		return named(b, unreadable(raw, usage, malformed, "the answer has no choices"))
	}
	return named(b, a.choose(raw, b.Choices[0], usage))
}

func (a *Adapter) choose(raw []byte, c choice, usage *core.Usage) provider.Outcome {
	text, refusal, ok := a.api.answer(c)
	finish, whole := finishOf(string(c.Finish))
	switch {
	case !whole && c.Finish == "error" && len(c.NativeFinish) > 0:
		// OpenRouter bills nothing for an upstream that failed, whatever the
		// usage says.
		o := unreadable(raw, nil, "server_error", "the upstream provider failed")
		o.Code, o.Finish = core.CodeTransientUnbilled, finish
		return o
	case !whole:
		o := unreadable(raw, usage, aborted, "the server broke the answer off")
		o.Finish = finish
		return o
	case !ok:
		return unreadable(raw, usage, malformed, "the answer has no readable text")
	case finish == bundle.FinishUnknown && text == "" && refusal == "":
		return unreadable(raw, usage, malformed, "the answer has neither text nor a finish reason")
	}
	o := provider.Outcome{Class: provider.Answered, Raw: raw, Text: text, Finish: finish, Usage: usage}
	switch {
	case refusal != "":
		o.Refused, o.Text, o.Code, o.Reason, o.Message = true, "", core.CodeRefused, "model_refusal", exchange.Message(refusal, provider.Secret{})
	case finish == bundle.FinishFilter:
		o.Refused, o.Code, o.Reason = true, core.CodeRefused, "content_filter"
	}
	return o
}

// unreadable is a body that holds no answer. With usage it is paid for;
// without, nobody knows what was done.
func unreadable(raw []byte, usage *core.Usage, reason, message string) provider.Outcome {
	o := provider.Outcome{
		Class: provider.Unknown, Raw: raw, Usage: usage, Malformed: usage != nil,
		Code: core.CodeOutcomeUnknown, Reason: reason, Message: exchange.Message(message, provider.Secret{}),
	}
	if o.Malformed {
		o.Class, o.Code = provider.Answered, core.CodeInvalidOutput
	}
	return o
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
		return bundle.Finish("other:" + raw), false
	}
	return bundle.Finish("other:" + exchange.ID(raw)), true
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
	if !present(c.Message.Content) {
		return "", refusal, true
	}
	if json.Unmarshal(c.Message.Content, &text) == nil {
		return text, refusal, true
	}
	var parts []struct {
		Type    loose `json:"type"`
		Text    loose `json:"text"`
		Refusal loose `json:"refusal"`
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

// present says that a field is there and neither null nor empty.
func present(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", `""`, "{}", "[]", "false":
		return false
	}
	return true
}
