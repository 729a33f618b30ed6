package api

import (
	"encoding/json"
	"time"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// Kinds of trace connection.
const (
	ConnectionSDK       = "sdk"
	ConnectionOTLP      = "otlp"
	ConnectionLangSmith = SourceLangSmith
)

// Statuses of a trace connection.
const (
	TraceConnectionActive   = "active"
	TraceConnectionDisabled = "disabled"
)

// More kinds of span, and states of completeness that the service finds out.
const (
	SpanGuardrail = "guardrail"
	SpanEvaluator = "evaluator"
	// TraceCollecting is a trace that may still grow, TraceStale one that was given
	// up: nothing has come for an hour, and its root has not ended.
	TraceCollecting = "collecting"
	TraceStale      = "stale"
)

// What of a trace's content was kept.
const (
	ContentCaptured = "captured"
	ContentPartial  = "partial"
	ContentNone     = "none"
)

// TraceCapture is what a connection keeps of content. It is redacted and
// bounded in any case.
type TraceCapture struct {
	Inputs        bool     `json:"inputs"`
	Outputs       bool     `json:"outputs"`
	MaxValueBytes int      `json:"max_value_bytes"`
	RedactFields  []string `json:"redact_fields"`
}

// IngestKeyView is an ingest key without its secret.
type IngestKeyView struct {
	ID        string    `json:"id"`
	Prefix    string    `json:"prefix"`
	CreatedAt time.Time `json:"created_at"`
}

// TraceConnection is a way for one sender to bring traces into a workspace.
type TraceConnection struct {
	ID             string        `json:"id"`
	Name           string        `json:"name"`
	Kind           string        `json:"kind"`
	Status         string        `json:"status"`
	Capture        TraceCapture  `json:"capture"`
	RetentionDays  int           `json:"retention_days"`
	IngestKey      IngestKeyView `json:"ingest_key"`
	LastReceivedAt *time.Time    `json:"last_received_at"`
	TraceCount     int64         `json:"trace_count"`
	CreatedAt      time.Time     `json:"created_at"`
	DisabledAt     *time.Time    `json:"disabled_at"`
}

// TraceConnectionCreated is a connection with its key, which is never shown
// again.
type TraceConnectionCreated struct {
	TraceConnection
	Secret string `json:"secret"`
}

// NewTraceCapture sets parts of what is captured; what is absent stays as it
// is, or as usual.
type NewTraceCapture struct {
	Inputs        *bool     `json:"inputs,omitempty"`
	Outputs       *bool     `json:"outputs,omitempty"`
	MaxValueBytes *int      `json:"max_value_bytes,omitempty"`
	RedactFields  *[]string `json:"redact_fields,omitempty"`
}

// NewTraceConnection makes a trace connection.
type NewTraceConnection struct {
	Name          string           `json:"name"`
	Kind          string           `json:"kind"`
	Capture       *NewTraceCapture `json:"capture,omitempty"`
	RetentionDays *int             `json:"retention_days,omitempty"`
}

// UpdateTraceConnection changes what is set.
type UpdateTraceConnection struct {
	Name          *string          `json:"name,omitempty"`
	Capture       *NewTraceCapture `json:"capture,omitempty"`
	RetentionDays *int             `json:"retention_days,omitempty"`
}

// TraceUsage counts tokens; null is unknown. Cached and reasoning tokens are
// parts of input and output.
type TraceUsage struct {
	InputTokens     *int64 `json:"input_tokens"`
	OutputTokens    *int64 `json:"output_tokens"`
	CachedTokens    *int64 `json:"cached_tokens"`
	ReasoningTokens *int64 `json:"reasoning_tokens"`
}

// TraceFailure is why something failed, as its sender said.
type TraceFailure struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// TraceRecord is a trace as it stands. Its tokens and its cost are those of
// model calls that have no model call inside.
type TraceRecord struct {
	ID             string        `json:"id"`
	ConnectionID   string        `json:"connection_id"`
	Source         string        `json:"source"`
	SourceTraceID  string        `json:"source_trace_id"`
	Revision       int           `json:"revision"`
	Name           string        `json:"name"`
	Status         string        `json:"status"`
	Completeness   string        `json:"completeness"`
	Reasons        []string      `json:"reasons"`
	StartedAt      time.Time     `json:"started_at"`
	EndedAt        *time.Time    `json:"ended_at"`
	DurationMS     *int64        `json:"duration_ms"`
	SpanCount      int           `json:"span_count"`
	ModelCalls     int           `json:"model_calls"`
	ToolCalls      int           `json:"tool_calls"`
	Agent          *string       `json:"agent"`
	ConversationID *string       `json:"conversation_id"`
	Models         []string      `json:"models"`
	Tools          []string      `json:"tools"`
	Labels         []string      `json:"labels"`
	Usage          TraceUsage    `json:"usage"`
	CostMicrousd   *usd.Micro    `json:"cost_microusd"`
	Error          *TraceFailure `json:"error"`
	Content        string        `json:"content"`
	Truncated      bool          `json:"truncated"`
	Redacted       bool          `json:"redacted"`
	FindingCount   int           `json:"finding_count"`
	ReceivedAt     time.Time     `json:"received_at"`
	ExpiresAt      time.Time     `json:"expires_at"`
}

// SpanRecord is one step of a trace. Ids are the sender's and unique in their
// trace. A parent that is named and not there has not come yet.
type SpanRecord struct {
	ID              string          `json:"id"`
	TraceID         string          `json:"trace_id"`
	ParentSpanID    *string         `json:"parent_span_id"`
	Kind            string          `json:"kind"`
	Name            string          `json:"name"`
	Status          string          `json:"status"`
	Error           *TraceFailure   `json:"error"`
	StartedAt       time.Time       `json:"started_at"`
	EndedAt         *time.Time      `json:"ended_at"`
	DurationMS      *int64          `json:"duration_ms"`
	Provider        *string         `json:"provider"`
	Model           *string         `json:"model"`
	Usage           TraceUsage      `json:"usage"`
	CostMicrousd    *usd.Micro      `json:"cost_microusd"`
	Input           json.RawMessage `json:"input"`
	Output          json.RawMessage `json:"output"`
	InputTruncated  bool            `json:"input_truncated"`
	OutputTruncated bool            `json:"output_truncated"`
	Attributes      json.RawMessage `json:"attributes"`
}
