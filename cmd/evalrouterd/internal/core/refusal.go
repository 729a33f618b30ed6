package core

import "fmt"

// Code names a refusal in the vocabulary of the HTTP contract.
type Code string

// Codes that the service gives. The HTTP layer holds each to the registry.
const (
	BudgetLimit            Code = "budget_limit"
	CapBelowMinimum        Code = "cap_below_minimum"
	ConcurrencyUnsupported Code = "concurrency_unsupported"
	ConnectionUnverified   Code = "connection_unverified"
	ContinuationExists     Code = "continuation_exists"
	DatasetArchived        Code = "dataset_archived"
	DuplicateItem          Code = "duplicate_item"
	DuplicatesUnaccepted   Code = "duplicate_provider_charges_unacknowledged"
	EndpointRefused        Code = "endpoint_refused"
	EvidenceGone           Code = "evidence_expired"
	EvidenceUnfit          Code = "evidence_incompatible"
	EvaluatorPaused        Code = "evaluator_paused"
	FeatureUnavailable     Code = "feature_unavailable"
	IdempotencyConflict    Code = "idempotency_conflict"
	InsufficientCredit     Code = "insufficient_credit"
	InsufficientScope      Code = "insufficient_scope"
	ItemChanged            Code = "item_changed"
	JudgeOnlyRoute         Code = "judge_only_route"
	InvalidRequest         Code = "invalid_request"
	LeftOutUnaccepted      Code = "left_out_unacknowledged"
	ManifestInvalid        Code = "manifest_invalid"
	ModelUnavailable       Code = "model_unavailable"
	NameTaken              Code = "name_taken"
	NotFound               Code = "not_found"
	NothingApproved        Code = "nothing_approved"
	NothingChanged         Code = "nothing_changed"
	NothingToResume        Code = "nothing_to_resume"
	OutputFormat           Code = "output_format_unsupported"
	QuoteAlreadyAccepted   Code = "quote_already_accepted"
	QuoteExpired           Code = "quote_expired"
	QuoteStale             Code = "quote_stale"
	RateLimited            Code = "rate_limited"
	ReasoningUnsupported   Code = "reasoning_unsupported"
	ResultExpired          Code = "result_expired"
	ResumeUnsupported      Code = "resume_unsupported"
	RetryUnknownLimit      Code = "retry_unknown_limit"
	RunNotFinished         Code = "run_not_finished"
	SelfReview             Code = "self_review"
	SourceNotReady         Code = "source_not_ready"
	SourceOffset           Code = "source_offset"
	SourceQuota            Code = "source_quota"
	SourceTooLarge         Code = "source_too_large"
	SpendCeilingReached    Code = "spend_ceiling_reached"
	StorageLow             Code = "storage_low"
	TooManyQuotes          Code = "too_many_quotes"
	TooManyRuns            Code = "too_many_runs"
	TraceHeld              Code = "trace_held"
	TraceTooLarge          Code = "trace_too_large"
	UnboundedModelCost     Code = "unbounded_model_cost"
	VersionRetracted       Code = "version_retracted"
)

// Refusal is an expected no: the request cannot be done, nothing was done,
// and the caller is told why. Details hold figures and ids, never secrets.
type Refusal struct {
	Code    Code
	Message string
	Details map[string]any
}

// Error is the sentence.
func (r *Refusal) Error() string { return r.Message }

// Is compares codes, so errors.Is(err, &Refusal{Code: c}) works.
func (r *Refusal) Is(target error) bool {
	t, ok := target.(*Refusal)
	return ok && t.Code == r.Code
}

// Refuse makes a refusal.
func Refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

// With adds a detail.
func (r *Refusal) With(key string, value any) *Refusal {
	if r.Details == nil {
		r.Details = map[string]any{}
	}
	r.Details[key] = value
	return r
}

// Missing is the one answer for what does not exist and for what belongs to
// another workspace.
func Missing(what string) *Refusal { return Refuse(NotFound, "there is no such %s here", what) }
