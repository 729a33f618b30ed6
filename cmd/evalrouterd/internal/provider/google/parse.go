package google

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

// answer is a whole body, one chunk of a stream, or what its chunks add up to.
type answer struct {
	Candidates []candidate     `json:"candidates"`
	Feedback   feedback        `json:"promptFeedback"`
	Error      json.RawMessage `json:"error"`
	Usage      *usageBody      `json:"usageMetadata"`
	Model      body.Text       `json:"modelVersion"`
	ID         body.Text       `json:"responseId"`
}

type feedback struct {
	Reason  body.Text `json:"blockReason"`
	Message body.Text `json:"blockReasonMessage"`
}

type candidate struct {
	Index   int       `json:"index"`
	Finish  body.Text `json:"finishReason"`
	Message body.Text `json:"finishMessage"`
	Content struct {
		Parts []struct {
			Text    body.Text `json:"text"`
			Thought bool      `json:"thought"`
		} `json:"parts"`
	} `json:"content"`
}

// text joins the parts. Thoughts are no answer.
func (c candidate) text() string {
	var t strings.Builder
	for _, p := range c.Content.Parts {
		if !p.Thought {
			t.WriteString(string(p.Text))
		}
	}
	return t.String()
}

type usageBody struct {
	Prompt     body.Count `json:"promptTokenCount"`
	Candidates body.Count `json:"candidatesTokenCount"`
	Thoughts   body.Count `json:"thoughtsTokenCount"`
	Cached     body.Count `json:"cachedContentTokenCount"`
	Tools      body.Count `json:"toolUsePromptTokenCount"`
	Total      body.Count `json:"totalTokenCount"`
	Details    []modality `json:"promptTokensDetails"`
	Answer     []modality `json:"candidatesTokensDetails"`
}

type modality struct {
	Name  body.Text  `json:"modality"`
	Count body.Count `json:"tokenCount"`
}

func (u *usageBody) split() exchange.Usage {
	if u == nil {
		return exchange.NoUsage()
	}
	r := usage.Report{
		Input: u.Prompt, Output: u.Candidates, Total: u.Total, CacheRead: u.Cached, Reasoning: u.Thoughts, Tools: u.Tools,
	}
	for _, list := range [][]modality{u.Details, u.Answer} {
		for _, m := range list {
			if m.Name != "TEXT" && m.Name != "MODALITY_UNSPECIFIED" {
				r.Foreign = append(r.Foreign, m.Count)
			}
		}
	}
	tokens, state := usage.Google().Split(r)
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
		return f.answer().outcome(raw)
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
	switch {
	case body.Present(b.Error):
		return exchange.Unreadable(raw, u, exchange.ErrorInAnswer, body.ReadFault(raw).Message)
	case len(b.Candidates) == 0 && b.Feedback.Reason != "":
		return exchange.Refusal(raw, "", "content_policy", string(b.Feedback.Message), bundle.FinishFilter, u)
	case len(b.Candidates) == 0:
		return exchange.Unreadable(raw, u, exchange.Malformed, "the answer has no candidates")
	}
	c := b.Candidates[0]
	text := c.text()
	switch k := kindOf(string(c.Finish)); k {
	case stopped:
		return exchange.Answer(raw, text, bundle.FinishStop, u)
	case truncated:
		return exchange.Answer(raw, text, bundle.FinishLength, u)
	case filtered:
		return exchange.Refusal(raw, text, "content_filter", string(c.Message), bundle.FinishFilter, u)
	case failed:
		return exchange.Failed(raw, exchange.FinishOther, string(c.Message), exchange.Other(string(c.Finish)), u)
	case unsaid:
		return exchange.Unreadable(raw, u, exchange.Malformed, "the answer has no finish reason")
	}
	return exchange.Answer(raw, text, exchange.Other(string(c.Finish)), u)
}

// kind sorts finish reasons by what they say about the answer.
type kind int

const (
	unnamed   kind = iota // new to us: the answer counts
	unsaid                // none came
	stopped               // the model was done
	truncated             // the limit was met
	filtered              // a filter for content
	failed                // the provider could not answer, for no reason of content
)

func kindOf(finish string) kind {
	switch finish {
	case "":
		return unsaid
	case "STOP":
		return stopped
	case "MAX_TOKENS":
		return truncated
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return filtered
	case "OTHER", "LANGUAGE", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "NO_IMAGE", "IMAGE_OTHER", "FINISH_REASON_UNSPECIFIED":
		return failed
	}
	return unnamed
}

// fold adds the chunks of a stream up to an answer.
type fold struct {
	sum     answer
	text    strings.Builder
	last    candidate
	failed  bool
	message string
}

// Take reads one chunk. An error can come without a field name.
func (f *fold) Take(e sse.Event) error {
	var b answer
	if err := json.Unmarshal(e.Data, &b); err != nil {
		return err
	}
	if body.Present(b.Error) || e.Name == "error" {
		f.failed, f.message = true, body.ReadFault(e.Data).Message
		return nil
	}
	if b.Model != "" {
		f.sum.Model = b.Model
	}
	if b.ID != "" {
		f.sum.ID = b.ID
	}
	if b.Usage != nil {
		f.sum.Usage = b.Usage
	}
	if b.Feedback.Reason != "" {
		f.sum.Feedback = b.Feedback
	}
	for _, c := range b.Candidates {
		if c.Index != 0 {
			continue
		}
		f.text.WriteString(c.text())
		if c.Finish != "" {
			f.last = c
		}
	}
	return nil
}

// Fault is the error that the stream brought.
func (f *fold) Fault() (string, bool) { return f.message, f.failed }

// Complete says that a finish reason came, or that the prompt was blocked.
func (f *fold) Complete() bool { return f.last.Finish != "" || f.sum.Feedback.Reason != "" }

// answer is the sum of the chunks.
func (f *fold) answer() answer {
	sum, c := f.sum, f.last
	if c.Finish != "" || f.text.Len() > 0 {
		whole := candidate{Finish: c.Finish, Message: c.Message}
		whole.Content.Parts = append(whole.Content.Parts, struct {
			Text    body.Text `json:"text"`
			Thought bool      `json:"thought"`
		}{Text: body.Text(f.text.String())})
		sum.Candidates = []candidate{whole}
	}
	return sum
}
