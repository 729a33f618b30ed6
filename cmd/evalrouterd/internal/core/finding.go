package core

import (
	"encoding/json"

	"github.com/evalrouter/evalrouter/lib/usd"
)

type (
	// EvaluatorID and FindingID are random UUIDs.
	EvaluatorID string
	FindingID   string
)

// RuleJudge is the rule of an evaluator that asks a model. It looks at nothing by
// itself: its questions are a private benchmark, which is quoted and run under a
// cap.
const RuleJudge = "judge"

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

// Judged is what a model said of a trace, once for a revision of its evaluator.
type Judged struct {
	ID        string
	Trace     TraceID
	Evaluator EvaluatorID
	Revision  int
	// Label is pass or fail, Why what the model said of it.
	Label, Why string
	// Run is where it was said, and Cost what that call cost.
	Run  RunID
	Cost usd.Micro
	At   Micros
	// Found is what it is found to be; nil for one that passed.
	Found *Occurrence
}

// JudgedFate is what became of what a judge said: kept, known before, or of a
// trace that is gone. Findings counts new ones.
type JudgedFate struct{ Kept, Before, Gone, Findings int }
