package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// chat speaks OpenAI's chat completions, as far as this agent needs them.
type chat struct{ base, key, model string }

type message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type completion struct {
	ID      string `json:"id"`
	Model   string `json:"model"`
	Choices []struct {
		Message      message `json:"message"`
		FinishReason string  `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     int64 `json:"prompt_tokens"`
		CompletionTokens int64 `json:"completion_tokens"`
	} `json:"usage"`
}

const addTool = `[{"type":"function","function":{"name":"add","description":"adds two numbers","parameters":` +
	`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}}}]`

func (c chat) complete(ctx context.Context, messages []message) (completion, error) {
	body, err := json.Marshal(map[string]any{"model": c.model, "messages": messages, "tools": json.RawMessage(addTool)})
	if err != nil {
		return completion{}, fmt.Errorf("write a request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return completion{}, fmt.Errorf("ask the model: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return completion{}, fmt.Errorf("ask the model: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return completion{}, fmt.Errorf("ask the model: it answered %s", resp.Status)
	}
	var out completion
	if err := json.NewDecoder(io.LimitReader(resp.Body, 4<<20)).Decode(&out); err != nil {
		return completion{}, fmt.Errorf("read the model's answer: %w", err)
	}
	if len(out.Choices) == 0 {
		return completion{}, fmt.Errorf("the model's answer holds no choice")
	}
	return out, nil
}
