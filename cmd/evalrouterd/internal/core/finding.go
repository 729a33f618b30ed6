package core

import "encoding/json"

type (
	// EvaluatorID and FindingID are random UUIDs.
	EvaluatorID string
	FindingID   string
)

// Evaluator is a rule that looks at traces. It spends nothing.
type Evaluator struct {
	ID        EvaluatorID
	Workspace WorkspaceID
	Name      string
	// Rule is one of package rule, Config its settings.
	Rule      string
	Config    json.RawMessage
	Severity  string
	Paused    bool
	Revision  int
	CreatedAt Micros
}

// States of a finding.
const (
	FindingOpen      = "open"
	FindingConfirmed = "confirmed"
	FindingDismissed = "dismissed"
	FindingFixed     = "fixed"
)

// Hit is what a rule found in a trace: one step, and what makes it the same
// finding as another one.
type Hit struct {
	Span, Signature string
	Title, Detail   string
}

// Occurrence is a hit in its trace.
type Occurrence struct {
	Hit
	Fingerprint string
	Trace       TraceID
}

// Finding is what rules found again and again. Trace and Span are where it was
// seen last.
type Finding struct {
	ID            FindingID
	Evaluator     EvaluatorID
	Fingerprint   string
	Title, Detail string
	Severity      string
	Status        string
	// Seen counts traces, Recurred how often it came back after it was fixed.
	Seen, Recurred int
	Trace          TraceID
	Span           string
	Note           string
	FirstAt        Micros
	LastAt         Micros
	ChangedAt      Micros
}

// Evaluated is what an evaluator's look at traces came to.
type Evaluated struct {
	Looked, Matched int // traces
	Findings        int // new ones
}
