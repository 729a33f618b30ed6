package openai

import (
	"encoding/json"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/body"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/sse"
)

// chunk is one event of a stream.
type chunk struct {
	ID       body.Text       `json:"id"`
	Model    body.Text       `json:"model"`
	Provider body.Text       `json:"provider"`
	Error    json.RawMessage `json:"error"`
	Usage    json.RawMessage `json:"usage"`
	Choices  []struct {
		Index  int       `json:"index"`
		Finish body.Text `json:"finish_reason"`
		Text   body.Text `json:"text"`
		Delta  struct {
			Content body.Text `json:"content"`
			Refusal body.Text `json:"refusal"`
		} `json:"delta"`
	} `json:"choices"`
}

// fold puts the chunks of the first choice together; one is all that is asked
// for. Usage is the last that came: servers that send it with every chunk
// send a running total.
type fold struct {
	id, model, provider string
	text, refusal       strings.Builder
	finish              string
	usage               json.RawMessage
	failed              bool
	message             string
}

// Take reads one event.
func (f *fold) Take(e sse.Event) error {
	if string(e.Data) == "[DONE]" { // sent after errors too
		return nil
	}
	var c chunk
	if err := json.Unmarshal(e.Data, &c); err != nil {
		return err
	}
	if body.Present(c.Error) || e.Name == "error" {
		f.failed, f.message = true, body.ReadFault(e.Data).Message
		return nil
	}
	keep(&f.id, c.ID)
	keep(&f.model, c.Model)
	keep(&f.provider, c.Provider)
	if body.Present(c.Usage) {
		f.usage = c.Usage
	}
	for _, part := range c.Choices {
		if part.Index != 0 {
			continue
		}
		f.text.WriteString(string(part.Delta.Content + part.Text))
		f.refusal.WriteString(string(part.Delta.Refusal))
		keep(&f.finish, part.Finish)
	}
	return nil
}

func keep(to *string, v body.Text) {
	if v != "" {
		*to = string(v)
	}
}

// Fault is the error that the stream brought.
func (f *fold) Fault() (string, bool) { return f.message, f.failed }

// Complete says that a finish reason came.
func (f *fold) Complete() bool { return f.finish != "" }

// parseStream reads a stream as the body that it adds up to.
func (a *Adapter) parseStream(raw []byte) provider.Outcome {
	var f fold
	if o, ok := exchange.Replay(raw, &f); !ok {
		o.Model, o.RequestID = exchange.ID(f.model), exchange.ID(f.id)
		return o
	}
	text := f.text.String()
	content, err := json.Marshal(text)
	if err != nil { // a string always marshals
		return exchange.Unreadable(raw, exchange.NoUsage(), exchange.Malformed, err.Error())
	}
	return a.parseBody(raw, answerBody{
		ID: body.Text(f.id), Model: body.Text(f.model), Provider: body.Text(f.provider), Usage: f.usage,
		Choices: []choice{{Finish: body.Text(f.finish), Text: &text, Message: &chatMessage{Content: content, Refusal: body.Text(f.refusal.String())}}},
	})
}
