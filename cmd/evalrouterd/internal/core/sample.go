package core

import (
	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// SampleState is where a task of a run stands. A task without a row is
// planned, or skipped once its run has ended.
type SampleState string

// Sample states.
const (
	SamplePlanned SampleState = "planned"
	SampleInCall  SampleState = "in_call"
	// SampleJudging is answered in part: judges, or the model about further
	// parts, are still to reply.
	SampleJudging    SampleState = "judging"
	SampleAnswered   SampleState = "answered"
	SampleGraded     SampleState = "graded"
	SampleUnresolved SampleState = "unresolved"
	SampleRefused    SampleState = "refused"
	SampleFailed     SampleState = "failed"
	SampleCancelled  SampleState = "cancelled"
	SamplePending    SampleState = "pending"
	// SampleLeftOut is excluded for good from a chain of continuations.
	SampleLeftOut SampleState = "left_out"
)

// Origin is where a task of a run has its answer from.
type Origin string

// Origins. All but the first occur in continuations only.
const (
	OriginNew     Origin = "new"
	OriginReused  Origin = "reused"
	OriginSaved   Origin = "saved_response"
	OriginRetried Origin = "unknown_retry"
)

// CallState is where one provider call stands.
type CallState string

// Call states.
const (
	CallIntent    CallState = "intent"    // reserved, provably not sent
	CallSent      CallState = "sent"      // may have reached the provider
	CallResponded CallState = "responded" // answered and recorded
	CallRejected  CallState = "rejected"  // the provider said no and did no work
	CallVoided    CallState = "voided"    // never sent
	CallUnknown   CallState = "unknown"   // sent, and no answer was recorded
	CallLate      CallState = "late"      // the answer came after the call was unknown
)

// callSteps lists every legal step of a call. The store's updates are made
// from it, so no other step can be written.
var callSteps = []struct{ from, to CallState }{
	{CallIntent, CallSent}, {CallIntent, CallVoided},
	{CallSent, CallResponded}, {CallSent, CallRejected}, {CallSent, CallUnknown},
	// Only the worker that made the call may void it once it was sent, and
	// only with the proof that no connection was obtained.
	{CallSent, CallVoided},
	{CallUnknown, CallLate},
}

// Before lists the states from which a call may go to another.
func Before(to CallState) []CallState {
	var out []CallState
	for _, s := range callSteps {
		if s.to == to {
			out = append(out, s.from)
		}
	}
	return out
}

// Outcome labels beside those of a graded answer (bundle.Outcome).
const (
	ProviderError bundle.Outcome = "provider_error"
	JudgeError    bundle.Outcome = "judge_error"
	GraderError   bundle.Outcome = "grader_error"
	SkippedBudget bundle.Outcome = "skipped_budget"
	// CancelledTask and TimedOut were stopped by a person and by the time limit.
	CancelledTask bundle.Outcome = "cancelled"
	PendingTask   bundle.Outcome = "pending"
	LeftOut       bundle.Outcome = "left_out"
)

// Sample is a task of a run.
type Sample struct {
	Run       RunID
	Idx       int    // place in the run's order, from 0
	TaskID    string // the benchmark's id of the task
	State     SampleState
	Outcome   bundle.Outcome // "" until settled
	Attempt   int            // calls made so far, without those to judges and about later parts
	MaxCost   usd.Micro      // worst case of one call of each part and the judges
	Charge    usd.Micro      // what counted against the cap
	Score     *float64
	Extracted string // at most MaxExtracted code points of it
	Span      *[2]int
	Rule      string
	Grader    string // id@version
	Compat    string // the grader's compatibility class: grades of one class may be mixed
	Code      string // error code, "" when graded
	StartedAt Micros
	EndedAt   Micros
	Origin    Origin
	// OriginRun is the run whose answer was taken over, "" for one of its own.
	OriginRun RunID
}

// Call is one request to a provider.
type Call struct {
	ID       CallID
	Run      RunID
	Idx      int
	Kind     string // target or judge
	Part     int
	Attempt  int
	State    CallState
	Worker   string
	Fence    int64
	Reserved usd.Micro
	// Hash is the SHA-256 of the rendered request.
	Hash string
}

// Error codes of tasks.
const (
	CodeProviderError      = "provider_error"
	CodeProviderTimeout    = "provider_timeout"
	CodeRateLimited        = "provider_rate_limited"
	CodeOutcomeUnknown     = "provider_outcome_unknown"
	CodeTransientUnbilled  = "provider_transient_unbilled"
	CodeRefused            = "refused"
	CodeInvalidOutput      = "invalid_output"
	CodeGraderError        = "grader_error"
	CodeCredentialRejected = "credential_rejected"
	CodeInternal           = "internal_error"
)

// MaxExtracted bounds the extracted answer that is kept beside a score, in code
// points. The whole of it can be derived from the answer again.
const MaxExtracted = 200
