package replay

import (
	"encoding/json"
	"errors"
)

// query is the union of both request forms, as far as this endpoint reads them.
type query struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	Stream              bool            `json:"stream"`
	MaxTokens           int             `json:"max_tokens"`
	MaxCompletionTokens int             `json:"max_completion_tokens"`
}

// limit is the output limit in tokens, 0 for none.
func (q query) limit() int {
	if q.MaxCompletionTokens > 0 {
		return q.MaxCompletionTokens
	}
	return q.MaxTokens
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a string, or a list of parts
}

// text joins the text parts of a message.
func (m message) text() string {
	var plain string
	if json.Unmarshal(m.Content, &plain) == nil {
		return plain
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(m.Content, &parts) != nil {
		return ""
	}
	for _, p := range parts {
		if p.Type == "text" {
			plain += p.Text
		}
	}
	return plain
}

type prompt struct {
	question string // the text that is searched
	tokens   int    // of everything that was sent
}

// form is one of the two request forms.
type form int

const (
	chatForm form = iota
	textForm
)

func (f form) prompt(q query) (prompt, error) {
	if f == textForm {
		return textPrompt(q)
	}
	question, err := lastUser(q.Messages)
	if err != nil {
		return prompt{}, err
	}
	bytes := 0
	for _, m := range q.Messages {
		bytes += len(m.text())
	}
	return prompt{question, Tokens(bytes)}, nil
}

func textPrompt(q query) (prompt, error) {
	var one string
	if json.Unmarshal(q.Prompt, &one) != nil {
		var list []string
		if json.Unmarshal(q.Prompt, &list) != nil || len(list) != 1 {
			return prompt{}, errors.New("prompt must be one text")
		}
		one = list[0]
	}
	return prompt{one, Tokens(len(one))}, nil
}

type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

type answerMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type choice struct {
	Index        int            `json:"index"`
	Message      *answerMessage `json:"message,omitempty"`
	Text         *string        `json:"text,omitempty"`
	FinishReason string         `json:"finish_reason"`
}

type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   usage    `json:"usage"`
}

// record is the answer's body. It is a pure function of question, answer and limit: the same question gets the same
// bytes, so "created" is fixed and the id is the question's digest.
func (f form) record(model string, promptTokens int, e entry, limit int) completion {
	content, cut := clip(e.answer, limit)
	c := choice{FinishReason: "stop"}
	if cut {
		c.FinishReason = "length"
	}
	object, prefix := "chat.completion", "chatcmpl-"
	if f == textForm {
		object, prefix = "text_completion", "cmpl-"
		c.Text = &content
	} else {
		c.Message = &answerMessage{"assistant", content}
	}
	out := Tokens(len(content))
	return completion{
		ID: prefix + digest(e.question), Object: object, Created: 1700000000, Model: model, Choices: []choice{c},
		Usage: usage{promptTokens, out, promptTokens + out},
	}
}
