package api

import (
	"time"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// Protocols that a connection may speak.
const (
	OpenAIChat        = "openai_chat"
	OpenAICompletions = "openai_completions"
	OpenAIResponses   = "openai_responses"
	AnthropicMessages = "anthropic_messages"
	GoogleGenerate    = "google_generate"
)

// ConnectionRecord is a user's own endpoint. The key is never returned.
type ConnectionRecord struct {
	ID           string         `json:"id"`
	Name         string         `json:"name"`
	BaseURL      string         `json:"base_url"`
	ModelID      string         `json:"model_id"`
	Protocol     string         `json:"protocol"`
	Revision     int            `json:"revision"`
	Capabilities []string       `json:"capabilities"`
	CheckResult  CheckResult    `json:"check_result"`
	Config       map[string]any `json:"config"`
	CreatedAt    time.Time      `json:"created_at"`
	CheckedAt    *time.Time     `json:"checked_at"`
	DisabledAt   *time.Time     `json:"disabled_at"`

	// PriceInMicrousd and PriceOutMicrousd are the owner's declared rates for
	// a million tokens, null when none were declared.
	PriceInMicrousd  *usd.Micro `json:"price_in_microusd"`
	PriceOutMicrousd *usd.Micro `json:"price_out_microusd"`
}

// CheckResult is the outcome of the last check; empty before the first.
type CheckResult struct {
	Status       string     `json:"status,omitempty"` // ok or failed
	ErrorCode    *string    `json:"error_code,omitempty"`
	Message      string     `json:"message,omitempty"`
	LatencyMS    int64      `json:"latency_ms,omitempty"`
	ModelEcho    *string    `json:"model_echo,omitempty"`
	Capabilities []string   `json:"capabilities,omitempty"`
	SentRequest  bool       `json:"sent_request,omitempty"`
	CheckedAt    *time.Time `json:"checked_at,omitempty"`
}

// NewConnection registers an endpoint. APIKey may be empty for endpoints that
// need none.
type NewConnection struct {
	Name            string `json:"name"`
	BaseURL         string `json:"base_url"`
	ModelID         string `json:"model_id"`
	APIKey          string `json:"api_key"`
	Protocol        string `json:"protocol,omitempty"`          // openai_chat
	MaxOutputTokens int    `json:"max_output_tokens,omitempty"` // 4096
	ContextWindow   int    `json:"context_window,omitempty"`    // 32768

	// Declared rates, micro-dollars for a million tokens; both or neither.
	PriceInMicrousd  *usd.Micro `json:"price_in_microusd,omitempty"`
	PriceOutMicrousd *usd.Micro `json:"price_out_microusd,omitempty"`
	MaxConcurrency   int        `json:"max_concurrency,omitempty"`
}

// UpdateConnection changes what is not null. Sending APIKey rotates the key.
type UpdateConnection struct {
	Name            *string `json:"name,omitempty"`
	APIKey          *string `json:"api_key,omitempty"`
	MaxOutputTokens *int    `json:"max_output_tokens,omitempty"`
	ContextWindow   *int    `json:"context_window,omitempty"`
}

// DiscoveryRecord is what a local service found on its own machine: model
// servers on the ports that they usually have. Probed lists those ports.
type DiscoveryRecord struct {
	Servers []DiscoveredServer `json:"servers"`
	Probed  []string           `json:"probed"`
}

// DiscoveredServer is a model server. Its models are not started or asked for
// anything by looking.
type DiscoveredServer struct {
	Server   string            `json:"server"` // ollama, lmstudio, llama.cpp, vllm or openai_compatible
	BaseURL  string            `json:"base_url"`
	Protocol string            `json:"protocol"`
	Version  *string           `json:"version"`
	NeedsKey bool              `json:"needs_key"`
	Models   []DiscoveredModel `json:"models"`
	Note     *string           `json:"note"`
}

// DiscoveredModel is a model that a server offers. A remote one runs
// elsewhere, and its owner may bill for it.
type DiscoveredModel struct {
	ID            string `json:"id"`
	ContextWindow *int   `json:"context_window"`
	Remote        bool   `json:"remote"`
}
