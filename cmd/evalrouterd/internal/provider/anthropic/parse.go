package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/body"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/sse"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/usage"
)

// answer is a whole message, or what a stream adds up to.
type answer struct {
	ID      body.Text       `json:"id"`
	Type    body.Text       `json:"type"`
	Model   body.Text       `json:"model"`
	Error   json.RawMessage `json:"error"`
	Content []block         `json:"content"`
	stop
	Usage *usageBody `json:"usage"`
}

// stop is why the model stopped.
type stop struct {
	Reason  body.Text       `json:"stop_reason"`
	Details json.RawMessage `json:"stop_details"`
}

type block struct {
	Type body.Text `json:"type"`
	Text body.Text `json:"text"`
}

type usageBody struct {
	Input  body.Count `json:"input_tokens"`
	Output body.Count `json:"output_tokens"`
	Read   body.Count `json:"cache_read_input_tokens"`
	Write  body.Count `json:"cache_creation_input_tokens"`
	Writes struct {
		Short body.Count `json:"ephemeral_5m_input_tokens"`
		Hour  body.Count `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Details struct {
		Thinking body.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// over is u with what it leaves out taken from an earlier report.
func (u usageBody) over(earlier usageBody) usageBody {
	u.Input, u.Output = u.Input.Over(earlier.Input), u.Output.Over(earlier.Output)
	u.Read, u.Write = u.Read.Over(earlier.Read), u.Write.Over(earlier.Write)
	u.Writes.Short, u.Writes.Hour = u.Writes.Short.Over(earlier.Writes.Short), u.Writes.Hour.Over(earlier.Writes.Hour)
	u.Details.Thinking = u.Details.Thinking.Over(earlier.Details.Thinking)
	return u
}

func (u *usageBody) split() exchange.Usage {
	if u == nil {
		return exchange.NoUsage()
	}
	tokens, state := usage.Anthropic().Split(usage.Report{
		Input: u.Input, Output: u.Output, CacheRead: u.Read, CacheWrite: u.Write, CacheWriteShort: u.Writes.Short, CacheWriteHour: u.Writes.Hour,
		Reasoning: u.Details.Thinking,
	})
	return exchange.Usage{Tokens: tokens, State: state}
}

// Parse reads the body of an answer, in one piece or as a stream.
func (a *Adapter) Parse(raw []byte) provider.Outcome {
	if sse.Looks(raw) {
		var f fold
		if o, ok := exchange.Replay(raw, &f); !ok {
			o.Model, o.RequestID = exchange.ID(string(f.sum.Model)), exchange.ID(string(f.sum.ID))
			return o
		}
		return f.sum.outcome(raw)
	}
	var b answer
	if json.Unmarshal(raw, &b) != nil {
		return exchange.Unreadable(raw, exchange.NoUsage(), exchange.Malformed, "the answer is not JSON of the expected shape")
	}
	return b.outcome(raw)
}

func (b answer) outcome(raw []byte) provider.Outcome {
	o := b.read(raw, b.Usage.split())
	o.Model, o.RequestID = exchange.ID(string(b.Model)), exchange.ID(string(b.ID))
	return o
}

func (b answer) read(raw []byte, u exchange.Usage) provider.Outcome {
	if body.Present(b.Error) || b.Type == "error" {
		return exchange.Unreadable(raw, u, exchange.ErrorInAnswer, body.ReadFault(raw).Message)
	}
	if b.Reason == "" {
		return exchange.Unreadable(raw, u, exchange.Malformed, "the answer has no stop reason")
	}
	text := b.text()
	switch b.Reason {
	case "end_turn", "stop_sequence":
		return exchange.Answer(raw, text, bundle.FinishStop, u)
	case "max_tokens", "model_context_window_exceeded", "pause_turn": // the last is a turn that is not over
		return exchange.Answer(raw, text, bundle.FinishLength, u)
	case "refusal":
		var details struct {
			Explanation body.Text `json:"explanation"`
		}
		body.Loosely(b.Details, &details)
		return exchange.Refusal(raw, text, "content_policy", string(details.Explanation), bundle.FinishFilter, u)
	}
	return exchange.Answer(raw, text, exchange.Other(string(b.Reason)), u)
}

// text joins the text blocks. Thinking is no answer.
func (b answer) text() string {
	var t strings.Builder
	for _, c := range b.Content {
		if c.Type == "text" {
			t.WriteString(string(c.Text))
		}
	}
	return t.String()
}

// fold adds the events of a stream up to a message.
type fold struct {
	sum     answer
	failed  bool
	message string
}

type event struct {
	Type    body.Text       `json:"type"`
	Error   json.RawMessage `json:"error"`
	Message *answer         `json:"message"`
	Block   block           `json:"content_block"`
	Delta   struct {
		Type body.Text `json:"type"`
		Text body.Text `json:"text"`
		stop
	} `json:"delta"`
	Usage *usageBody `json:"usage"`
}

// Take reads one event; unknown ones are passed over, as the protocol asks.
func (f *fold) Take(e sse.Event) error {
	var v event
	if err := json.Unmarshal(e.Data, &v); err != nil {
		return err
	}
	switch {
	case v.Type == "error" || e.Name == "error" || body.Present(v.Error):
		f.failed, f.message = true, body.ReadFault(e.Data).Message
	case v.Type == "message_start" && v.Message != nil:
		f.sum.ID, f.sum.Model = v.Message.ID, v.Message.Model
		f.count(v.Message.Usage)
	case v.Type == "content_block_start":
		f.sum.Content = append(f.sum.Content, v.Block)
	case v.Type == "content_block_delta" && v.Delta.Type == "text_delta":
		f.sum.Content = append(f.sum.Content, block{Type: "text", Text: v.Delta.Text})
	case v.Type == "message_delta":
		if v.Delta.Reason != "" {
			f.sum.stop = v.Delta.stop
		}
		f.count(v.Usage)
	}
	return nil
}

func (f *fold) count(u *usageBody) {
	if u == nil {
		return
	}
	sum := *u
	if f.sum.Usage != nil {
		sum = u.over(*f.sum.Usage)
	}
	f.sum.Usage = &sum
}

// Fault is the error that the stream brought.
func (f *fold) Fault() (string, bool) { return f.message, f.failed }

// Complete says that a stop reason came.
func (f *fold) Complete() bool { return f.sum.Reason != "" }
