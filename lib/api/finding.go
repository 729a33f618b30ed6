package api

import (
	"encoding/json"
	"time"
)

// EvaluatorJudge is the kind of evaluator that asks a model. Its questions are a
// private benchmark, which is quoted and run under a cap like any other.
const EvaluatorJudge = "judge"

// EvaluatorRule is the kind of evaluator that is a rule: it calls no model and
// costs nothing.
const EvaluatorRule = "rule"

// Statuses of an evaluator.
const (
	EvaluatorActive   = "active"
	EvaluatorIsPaused = "paused"
)

// Statuses of a finding.
const (
	FindingOpen      = "open"
	FindingConfirmed = "confirmed"
	FindingDismissed = "dismissed"
	FindingFixed     = "fixed"
)

// TraceEvaluator looks at traces.
type TraceEvaluator struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Kind      string          `json:"kind"`
	Rule      string          `json:"rule"`
	Config    json.RawMessage `json:"config"`
	Severity  string          `json:"severity"`
	Revision  int             `json:"revision"`
	Status    string          `json:"status"`
	CreatedAt time.Time       `json:"created_at"`
}

// NewTraceEvaluator makes an evaluator of a rule: error, tool_error, tool_loop
// {times}, empty_output, truncated, slow {ms}, tokens {tokens}, cost {microusd}
// or phrase {phrase}. The kind judge has no rule and the settings {prompt,
// max_output_tokens, max_trace_bytes}.
type NewTraceEvaluator struct {
	Name     string          `json:"name"`
	Kind     string          `json:"kind,omitempty"`
	Rule     string          `json:"rule,omitempty"`
	Config   json.RawMessage `json:"config,omitempty"`
	Severity string          `json:"severity,omitempty"`
}

// UpdateTraceEvaluator changes what is set.
type UpdateTraceEvaluator struct {
	Config   json.RawMessage `json:"config,omitempty"`
	Severity *string         `json:"severity,omitempty"`
	Status   *string         `json:"status,omitempty"`
}

// NewEvaluatorRun asks for a look at so many of the newest traces.
type NewEvaluatorRun struct {
	Limit int `json:"limit,omitempty"`
}

// TraceEvaluatorRun is what a look came to. Findings counts new ones. A rule
// costs nothing and needs no quote.
type TraceEvaluatorRun struct {
	EvaluatorID string       `json:"evaluator_id"`
	Status      string       `json:"status"`
	QuoteID     *string      `json:"quote_id"`
	Evaluated   int          `json:"evaluated"`
	Matched     int          `json:"matched"`
	Findings    int          `json:"findings"`
	Hits        []FindingHit `json:"hits"`
}

// FindingHit is one thing that a look found.
type FindingHit struct {
	TraceID string `json:"trace_id"`
	SpanID  string `json:"span_id"`
	Title   string `json:"title"`
	Detail  string `json:"detail"`
}

// TraceFinding is the same thing found in one trace or many. Trace and span are
// where it was seen last.
type TraceFinding struct {
	ID          string    `json:"id"`
	EvaluatorID string    `json:"evaluator_id"`
	TraceID     string    `json:"trace_id"`
	SpanID      *string   `json:"span_id"`
	Fingerprint string    `json:"fingerprint"`
	Severity    string    `json:"severity"`
	Title       string    `json:"title"`
	Detail      string    `json:"detail"`
	Status      string    `json:"status"`
	Note        *string   `json:"note"`
	Occurrences int       `json:"occurrences"`
	Recurred    int       `json:"recurred"`
	FirstSeenAt time.Time `json:"first_seen_at"`
	LastSeenAt  time.Time `json:"last_seen_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// UpdateTraceFinding says what a person thinks of a finding.
type UpdateTraceFinding struct {
	Status *string `json:"status,omitempty"`
	Note   *string `json:"note,omitempty"`
}

// NewPromotion makes a dataset item of a finding: of the step where it was seen
// last, or of the whole run.
type NewPromotion struct {
	DatasetID string          `json:"dataset_id"`
	Expected  json.RawMessage `json:"expected,omitempty"`
	WholeRun  bool            `json:"whole_run,omitempty"`
}
