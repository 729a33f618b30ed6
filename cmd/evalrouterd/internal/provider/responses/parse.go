package responses

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

type response struct {
	ID         body.Text       `json:"id"`
	Model      body.Text       `json:"model"`
	Status     body.Text       `json:"status"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason body.Text `json:"reason"`
	} `json:"incomplete_details"`
	Output []output        `json:"output"`
	Usage  json.RawMessage `json:"usage"`
}

// output leaves reasoning items out: what a model thinks is no answer.
type output struct {
	Type    body.Text `json:"type"`
	Content []struct {
		Type    body.Text `json:"type"`
		Text    body.Text `json:"text"`
		Refusal body.Text `json:"refusal"`
	} `json:"content"`
}

// Parse reads the body of an answer, in one piece or as a stream.
func (a *Adapter) Parse(raw []byte) provider.Outcome {
	if sse.Looks(raw) {
		var f fold
		if o, ok := exchange.Replay(raw, &f); !ok {
			return o
		}
		return f.last.outcome(raw)
	}
	var r response
	if json.Unmarshal(raw, &r) != nil {
		return exchange.Unreadable(raw, exchange.NoUsage(), exchange.Malformed, "the answer is not JSON of the expected shape")
	}
	return r.outcome(raw)
}

func (r response) outcome(raw []byte) provider.Outcome {
	o := r.read(raw, readUsage(r.Usage))
	o.Model, o.RequestID = exchange.ID(string(r.Model)), exchange.ID(string(r.ID))
	return o
}

func (r response) read(raw []byte, u exchange.Usage) provider.Outcome {
	if body.Present(r.Error) || r.Status == "failed" {
		reason := exchange.ErrorInAnswer
		if r.Status == "failed" {
			reason = "server_error"
		}
		return exchange.Unreadable(raw, u, reason, body.ReadFault(underError(r.Error)).Message)
	}
	finish, ok := r.finish()
	if !ok {
		return exchange.Unreadable(raw, u, exchange.Aborted, "the answer is not complete: its status is "+exchange.ID(string(r.Status)))
	}
	text, refusal := r.text()
	switch {
	case refusal != "":
		return exchange.Refusal(raw, "", "model_refusal", refusal, finish, u)
	case finish == bundle.FinishFilter:
		return exchange.Refusal(raw, text, "content_filter", "", finish, u)
	}
	return exchange.Answer(raw, text, finish, u)
}

// underError puts an error where ReadFault looks for it.
func underError(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return nil
	}
	return append(append([]byte(`{"error":`), raw...), '}')
}

// finish says why the model stopped; ok is false when it has not.
func (r response) finish() (f bundle.Finish, ok bool) {
	switch r.Status {
	case "completed":
		return bundle.FinishStop, true
	case "incomplete":
		switch r.Incomplete.Reason {
		case "max_output_tokens":
			return bundle.FinishLength, true
		case "content_filter":
			return bundle.FinishFilter, true
		}
		return exchange.Other("incomplete:" + string(r.Incomplete.Reason)), true
	}
	return "", false // queued, in_progress, cancelled, and what nobody knows
}

func (r response) text() (text, refusal string) {
	var t, no strings.Builder
	for _, out := range r.Output {
		if out.Type != "message" {
			continue
		}
		for _, part := range out.Content {
			switch part.Type {
			case "output_text":
				t.WriteString(string(part.Text))
			case "refusal":
				no.WriteString(string(part.Refusal))
			}
		}
	}
	return t.String(), no.String()
}

// fold keeps the terminal event of a stream.
type fold struct {
	last    response
	ended   bool
	failed  bool
	message string
}

// Take reads one event. Errors come as events of their own, flat, or within
// a failed response.
func (f *fold) Take(e sse.Event) error {
	var event struct {
		Type     body.Text       `json:"type"`
		Error    json.RawMessage `json:"error"`
		Response json.RawMessage `json:"response"`
	}
	if string(e.Data) == "[DONE]" {
		return nil
	}
	if err := json.Unmarshal(e.Data, &event); err != nil {
		return err
	}
	switch {
	case event.Type == "response.failed":
		var r response
		if err := json.Unmarshal(event.Response, &r); err != nil {
			return err
		}
		f.failed, f.message = true, body.ReadFault(underError(r.Error)).Message
	case event.Type == "error", e.Name == "error", body.Present(event.Error):
		f.failed, f.message = true, body.ReadFault(e.Data).Message
	case event.Type == "response.completed", event.Type == "response.incomplete":
		if err := json.Unmarshal(event.Response, &f.last); err != nil {
			return err
		}
		f.ended = true
	}
	return nil
}

// Fault is the error that the stream brought.
func (f *fold) Fault() (string, bool) { return f.message, f.failed }

// Complete says that a terminal event came.
func (f *fold) Complete() bool { return f.ended }

type usageBody struct {
	Input   body.Count `json:"input_tokens"`
	Output  body.Count `json:"output_tokens"`
	Total   body.Count `json:"total_tokens"`
	Details struct {
		Cached  body.Count `json:"cached_tokens"`
		Written body.Count `json:"cache_write_tokens"`
		Audio   body.Count `json:"audio_tokens"`
		Image   body.Count `json:"image_tokens"`
	} `json:"input_tokens_details"`
	Thinking struct {
		Reasoning body.Count `json:"reasoning_tokens"`
		Audio     body.Count `json:"audio_tokens"`
	} `json:"output_tokens_details"`
}

func readUsage(raw json.RawMessage) exchange.Usage {
	var u usageBody
	if !body.Present(raw) || json.Unmarshal(raw, &u) != nil {
		return exchange.NoUsage()
	}
	tokens, state := usage.OpenAI().Split(usage.Report{
		Input: u.Input, Output: u.Output, Total: u.Total, CacheRead: u.Details.Cached, CacheWrite: u.Details.Written, Reasoning: u.Thinking.Reasoning,
		Foreign: []body.Count{u.Details.Audio, u.Details.Image, u.Thinking.Audio},
	})
	return exchange.Usage{Tokens: tokens, State: state}
}
