package core

import (
	"encoding/json"

	"github.com/evalrouter/evalrouter/lib/usd"
)

type (
	// TraceConnectionID is a random UUID.
	TraceConnectionID string
	// TraceID is a time-ordered UUID, ours; the sender has one of its own.
	TraceID string
)

// Kinds of trace connection: who sends.
const (
	TraceSDK       = "sdk"
	TraceOTLP      = "otlp"
	TraceLangSmith = "langsmith"
)

// Bounds of traces.
const (
	MaxTraceConnections = 100
	// MaxTraceSpans is the most spans of one trace; later ones are refused.
	MaxTraceSpans = 25_000
	// TraceDays is how long traces are kept unless their connection says
	// otherwise, and MaxTraceDays the most that it may say.
	TraceDays    = 30
	MaxTraceDays = 400
	// QuietMicros is how long a trace whose root has ended must be quiet to count
	// as complete, StaleMicros how long one without an ended root may be quiet
	// before it counts as given up.
	QuietMicros = 30 * 1_000_000
	StaleMicros = 3600 * 1_000_000
)

// Capture is what a connection keeps of content. Content is redacted and
// bounded in any case.
type Capture struct {
	Inputs  bool `json:"inputs"`
	Outputs bool `json:"outputs"`
	// MaxValue is the most bytes of one input or output.
	MaxValue int `json:"max_value_bytes"`
	// Fields are names of fields that are redacted beside the usual ones.
	Fields []string `json:"redact_fields"`
}

// TraceConnection is a way for one sender to bring traces into a workspace.
type TraceConnection struct {
	ID        TraceConnectionID
	Workspace WorkspaceID
	Name      string
	Kind      string
	Capture   Capture
	// Days is how long its traces are kept.
	Days int
	// KeyID, KeyPrefix and KeyAt say which ingest key it has.
	KeyID, KeyPrefix string
	KeyAt            Micros
	Actor            string
	CreatedAt        Micros
	DisabledAt       Micros // 0 = active
	LastReceivedAt   Micros // 0 = never
	Traces           int64
}

// Statuses of a trace or span.
const (
	TraceOK      = "ok"
	TraceError   = "error"
	TraceRunning = "open" // it has not ended
)

// Kinds of span.
const (
	SpanAgent     = "agent"
	SpanModel     = "model"
	SpanTool      = "tool"
	SpanRetrieval = "retrieval"
	SpanEmbedding = "embedding"
	SpanGuardrail = "guardrail"
	SpanEvaluator = "evaluator"
	SpanWorkflow  = "workflow"
	SpanOther     = "span"
)

// SpanUsage counts the tokens of a span; nil is unknown. Cached and Reasoning
// are parts of Input and Output.
type SpanUsage struct{ Input, Output, Cached, Reasoning *int64 }

// Span is one step of a trace, whatever its sender calls things.
type Span struct {
	// ID and ParentID are the sender's; ParentID is "" for a root.
	ID, ParentID string
	Kind, Name   string
	Status       string
	// ErrorType and ErrorText are "" without an error.
	ErrorType, ErrorText string
	// Start and End are unix nanoseconds; End is 0 while the span goes on.
	Start, End      int64
	Provider, Model string
	Usage           SpanUsage
	Cost            *usd.Micro
	// Agent and Conversation are what the span says about its whole trace.
	Agent, Conversation string
	// Input, Output and Attributes are JSON, nil without any. In the store they
	// are redacted and bounded.
	Input, Output, Attributes json.RawMessage
	InputCut, OutputCut       bool
	// Packed is set once a store has packed the content. Then Input and Output
	// only say whether there is any.
	Packed *Packed `json:"-"`
}

// Packed is the content of a span as a store keeps it, made before its
// transaction begins.
type Packed struct {
	// Body is the content of a span that came alone. Otherwise it is the one at
	// Place in Share.
	Body   []byte
	Share  *PackedShare
	Place  int
	Parts  []PackedPart // what its trace keeps once
	Weight int          // how much the span says
}

// PackedShare is the content of spans that came together, in one piece.
type PackedShare struct{ Data []byte }

// Keep adds a part, once.
func (p *Packed) Keep(hash [16]byte, data []byte) {
	for _, one := range p.Parts {
		if one.Hash == hash {
			return
		}
	}
	p.Parts = append(p.Parts, PackedPart{hash, data})
}

// PackedPart is a part of content with the hash that it is known by.
type PackedPart struct {
	Hash [16]byte
	Data []byte
}

// Arrival is what came of one trace at once. Its spans may be all of the trace
// or a few; they may have come before.
type Arrival struct {
	Connection TraceConnectionID
	Workspace  WorkspaceID
	Days       int
	Source     string
	// TraceID is the sender's.
	TraceID  string
	Spans    []Span
	Redacted bool
}

// ImportedTrace is a whole trace of another system, which replaces what is kept
// of it under another digest.
type ImportedTrace struct {
	TraceID, Digest, Name, Status string
	Partial                       bool
	Reasons, Labels               []string
	Start, End                    int64 // unix nanoseconds; End 0 = open
	Conversation                  string
	// SpanCount counts the spans that were left out too.
	SpanCount int
	Spans     []Span
	Redacted  bool
}

// ImportFate is what became of one imported trace.
type ImportFate struct {
	TraceID   string
	Accepted  bool // new, or a new revision
	Duplicate bool
	Refused   Code // "" unless it was refused
}

// TraceSummary is what its spans say about a trace.
type TraceSummary struct {
	Name, Status, Agent, Conversation string
	ErrorType, ErrorText              string
	Start, End                        int64 // unix nanoseconds; End 0 = open
	// RootEnded says that a root is there and has ended.
	RootEnded             bool
	Orphans               int // spans whose parent has not come
	Spans, Models, Tools  int
	ModelNames, ToolNames []string // at most MaxNames of each, sorted
	Usage                 SpanUsage
	Cost                  *usd.Micro
	Inputs, Outputs       int // spans that have one
	InputsCut, OutputsCut int
}

// Trace is a trace as it is kept.
type Trace struct {
	TraceSummary
	ID         TraceID
	Workspace  WorkspaceID
	Connection TraceConnectionID
	Source     string
	SourceID   string
	Revision   int
	Digest     string // of an imported trace
	Partial    bool
	Reasons    []string
	Labels     []string
	Redacted   bool
	Findings   int
	Held       int // dataset items that were made of it
	CreatedAt  Micros
	UpdatedAt  Micros
	ExpiresAt  Micros
}

// Completeness of a trace.
const (
	TraceComplete   = "complete"
	TracePartial    = "partial"
	TraceStale      = "stale"
	TraceCollecting = "collecting"
)

// Completeness says how much of a trace is there. A source that knows says so;
// otherwise a trace is complete once its root has ended and nothing has come
// for a while.
func (t Trace) Completeness(now Micros) string {
	quiet := now - t.UpdatedAt
	switch {
	case t.Partial:
		return TracePartial
	case t.Digest != "":
		return TraceComplete
	case t.RootEnded && quiet >= QuietMicros && t.Orphans == 0:
		return TraceComplete
	case t.RootEnded && quiet >= StaleMicros:
		return TracePartial
	case quiet >= StaleMicros:
		return TraceStale
	}
	return TraceCollecting
}

// MaxNames bounds the models and tools that a trace lists.
const MaxNames = 20
