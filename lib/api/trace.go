package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// SourceLangSmith is the source of traces that were read from LangSmith.
const SourceLangSmith = "langsmith"

// Statuses of a trace or span.
const (
	TraceOK    = "ok"
	TraceError = "error"
	TraceOpen  = "open" // it has not ended
)

// Completeness of an imported trace. A partial one says why in Reasons.
const (
	TraceComplete = "complete"
	TracePartial  = "partial"
)

// Limits of one import: the service refuses more.
const (
	MaxImportTraces = 100
	MaxImportBytes  = 4 << 20
)

// Kinds of span.
const (
	SpanAgent     = "agent"
	SpanModel     = "model"
	SpanTool      = "tool"
	SpanRetrieval = "retrieval"
	SpanEmbedding = "embedding"
	SpanWorkflow  = "workflow"
	SpanOther     = "span"
)

// TraceImport is a batch of whole traces from another system. It is sent with
// the ingest key of its connection. A trace is unique by connection and
// source_trace_id: sent again with an equal digest it is a duplicate, with
// another digest it becomes the next revision.
type TraceImport struct {
	Source    string          `json:"source"`
	ProjectID string          `json:"project_id"`
	Traces    []ImportedTrace `json:"traces"`
}

// TraceImportResult is the fate of every trace of a batch: one that is not
// listed as rejected is stored. Accepted counts new traces and new revisions.
type TraceImportResult struct {
	Accepted   int              `json:"accepted"`
	Duplicates int              `json:"duplicates"`
	Rejected   []TraceRejection `json:"rejected"`
}

// TraceRejection is one trace that was not stored and why. Sending it again
// unchanged gives the same answer.
type TraceRejection struct {
	SourceTraceID string `json:"source_trace_id"`
	Code          Code   `json:"code"`
}

// ImportedTrace is one trace. Its texts and contents are redacted and bounded.
type ImportedTrace struct {
	SourceTraceID string `json:"source_trace_id"`
	// Digest is what ContentDigest says of the rest.
	Digest       string         `json:"digest,omitempty"`
	Name         string         `json:"name"`
	Status       string         `json:"status"`
	Completeness string         `json:"completeness"`
	Reasons      []string       `json:"reasons"`
	StartedAt    time.Time      `json:"started_at"`
	EndedAt      *time.Time     `json:"ended_at"`
	ThreadID     *string        `json:"conversation_id"`
	Labels       []string       `json:"labels"`
	SpanCount    int            `json:"span_count"`
	OmittedSpans int            `json:"omitted_spans"`
	Redaction    TraceRedaction `json:"redaction"`
	Spans        []ImportedSpan `json:"spans"`
}

// ContentDigest is the SHA-256, in hex, of the record as this package writes
// it, without its digest and without escaping for HTML. size is its length.
func (t ImportedTrace) ContentDigest() (digest string, size int, err error) {
	t.Digest = ""
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(t); err != nil {
		return "", 0, fmt.Errorf("write trace %s: %w", t.SourceTraceID, err)
	}
	sum := sha256.Sum256(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return hex.EncodeToString(sum[:]), b.Len(), nil
}

// TraceRedaction says by which rules content was redacted and how often each
// kind of rule fired.
type TraceRedaction struct {
	Version   string `json:"version"`
	Profile   string `json:"profile"`
	Fields    int    `json:"fields"`
	Values    int    `json:"values"`
	Truncated int    `json:"truncated"`
	Errors    int    `json:"errors"`
}

// ImportedSpan is one step of a trace. Spans stand in the source's order,
// parents before children.
type ImportedSpan struct {
	SourceSpanID string          `json:"source_span_id"`
	ParentSpanID *string         `json:"parent_span_id"`
	Kind         string          `json:"kind"`
	Name         string          `json:"name"`
	Status       string          `json:"status"`
	Error        *string         `json:"error"`
	StartedAt    time.Time       `json:"started_at"`
	EndedAt      *time.Time      `json:"ended_at"`
	FirstTokenAt *time.Time      `json:"first_token_at"`
	Provider     *string         `json:"provider"`
	Model        *string         `json:"model"`
	InputTokens  *int64          `json:"input_tokens"`
	OutputTokens *int64          `json:"output_tokens"`
	Cost         *usd.Micro      `json:"cost_microusd"`
	Input        json.RawMessage `json:"input"`
	Output       json.RawMessage `json:"output"`
	Attributes   json.RawMessage `json:"attributes"`
}
