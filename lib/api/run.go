package api

import (
	"encoding/json"
	"time"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// RunStatus is one of eight words; clients fail on any other.
type RunStatus string

// Run statuses.
const (
	StatusQueued     RunStatus = "queued"
	StatusRunning    RunStatus = "running"
	StatusCancelling RunStatus = "cancelling"
	StatusFinalizing RunStatus = "finalizing"
	StatusCompleted  RunStatus = "completed"
	StatusPartial    RunStatus = "partial"
	StatusFailed     RunStatus = "failed"
	StatusCancelled  RunStatus = "cancelled"
)

// Terminal says that the status is final.
func (s RunStatus) Terminal() bool {
	return s == StatusCompleted || s == StatusPartial || s == StatusFailed || s == StatusCancelled
}

// Stoppable says that stopping changes anything: it goes on, nobody has stopped
// it, and it is not being finished.
func (s RunStatus) Stoppable() bool { return s == StatusQueued || s == StatusRunning }

// Known says that the status is one of the eight.
func (s RunStatus) Known() bool {
	return s.Terminal() || s == StatusQueued || s == StatusRunning || s == StatusCancelling || s == StatusFinalizing
}

// NewRun starts the run of an accepted quote. It needs an idempotency key:
// keep the quote id and the key before sending it.
type NewRun struct {
	QuoteID          string            `json:"quote_id"`
	Name             string            `json:"name,omitempty"`
	Metadata         map[string]string `json:"metadata,omitempty"`
	Acknowledgements *Acknowledgements `json:"acknowledgements,omitempty"`
}

// Acknowledgements are consents that a continuation may need.
type Acknowledgements struct {
	LeftOut                  bool `json:"left_out,omitempty"`
	RetryUnknown             bool `json:"retry_unknown,omitempty"`
	DuplicateProviderCharges bool `json:"duplicate_provider_charges,omitempty"`
}

// EvaluationModel is a route id, "connection:<uuid>" or a model object.
type EvaluationModel struct{ ModelRef }

// UnmarshalJSON accepts the string and the object form.
func (m *EvaluationModel) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '"' {
		return json.Unmarshal(b, &m.ModelRef)
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	const prefix = "connection:"
	if len(s) > len(prefix) && s[:len(prefix)] == prefix {
		m.ModelRef = ModelRef{Kind: ConnectionKind, ConnectionID: s[len(prefix):]}
		return nil
	}
	m.ModelRef = ModelRef{Kind: ManagedKind, RouteID: s}
	return nil
}

// MarshalJSON writes the object form.
func (m EvaluationModel) MarshalJSON() ([]byte, error) { return json.Marshal(m.ModelRef) }

// NewEvaluation quotes and starts in one step. A budget is required:
// BudgetUSD (a JSON number or string, read as decimal text) or
// MaxChargeMicrousd.
type NewEvaluation struct {
	Model             EvaluationModel   `json:"model"`
	Eval              string            `json:"eval"`
	BudgetUSD         json.RawMessage   `json:"budget_usd,omitempty"`
	MaxChargeMicrousd *usd.Micro        `json:"max_charge_microusd,omitempty"`
	Coverage          *Coverage         `json:"coverage,omitempty"`
	Provider          *string           `json:"provider,omitempty"`
	Split             *string           `json:"split,omitempty"`
	Name              string            `json:"name,omitempty"`
	Metadata          map[string]string `json:"metadata,omitempty"`
}

// RunRecord is a run as it stands.
type RunRecord struct {
	ID                string             `json:"id"`
	Name              string             `json:"name"`
	ManifestHash      string             `json:"manifest_hash"`
	Status            RunStatus          `json:"status"`
	BillingState      string             `json:"billing_state"` // pending, settled or reconciliation_required
	CapMicrousd       usd.Micro          `json:"cap_microusd"`
	ReservedMicrousd  usd.Micro          `json:"reserved_microusd"`
	SpendMicrousd     usd.Micro          `json:"spend_microusd"`
	PlannedCount      int                `json:"planned_count"`
	CompletedCount    int                `json:"completed_count"`
	ErrorCount        int                `json:"error_count"`
	Coverage          *Coverage          `json:"coverage"`
	Model             Model              `json:"model"`
	Profiles          []ProfileSelection `json:"profiles"`
	Metadata          map[string]string  `json:"metadata"`
	Retention         RunRetention       `json:"retention"`
	CreatedAt         time.Time          `json:"created_at"`
	StartedAt         *time.Time         `json:"started_at"`
	FinishedAt        *time.Time         `json:"finished_at"`
	CancelRequestedAt *time.Time         `json:"cancel_requested_at"`
	TerminalReason    *string            `json:"terminal_reason"`
	RetryAt           *time.Time         `json:"retry_at,omitempty"`
	WaitingReason     *string            `json:"waiting_reason,omitempty"`
	Route             map[string]any     `json:"route,omitempty"`
	Agent             map[string]any     `json:"agent,omitempty"`
	Agents            []map[string]any   `json:"agents,omitempty"`

	QuoteID               string           `json:"quote_id"`
	GroupID               *string          `json:"group_id"`
	ContinuedFromRunID    *string          `json:"continued_from_run_id"`
	ContinuedByRunID      *string          `json:"continued_by_run_id"`
	ChainIndex            int              `json:"chain_index"`
	ProcessedCount        int              `json:"processed_count"`
	GradedCount           int              `json:"graded_count"`
	ReusedCount           int              `json:"reused_count"`
	Outcomes              map[string]int   `json:"outcomes"`
	Headline              *Headline        `json:"headline"`
	Reasoning             *ReasoningChoice `json:"reasoning"`
	OutputFormat          *string          `json:"output_format"`
	Concurrency           QuoteConcurrency `json:"concurrency"`
	ExternalSpendMicrousd usd.Micro        `json:"external_spend_microusd"`
	Links                 RunLinks         `json:"links"`
	Resume                ResumeState      `json:"resume"`
	Simulated             bool             `json:"simulated"`
	// TerminalDetail is a sentence behind TerminalReason, at most 300
	// characters of one line: what the provider said, made safe to show.
	TerminalDetail *string `json:"terminal_detail"`
}

// Headline is the one figure a run is known by, with its own denominator and
// a 95 % interval.
type Headline struct {
	Key         string    `json:"key"`
	Name        string    `json:"name"`
	Value       float64   `json:"value"`
	Denominator int       `json:"denominator"`
	Interval    *Interval `json:"interval"`
}

// RunLinks are pages for people; null where the service has none.
type RunLinks struct {
	Report *string `json:"report"`
	Live   *string `json:"live"`
}

// ResumeState says whether a run can be continued.
type ResumeState struct {
	Status     string  `json:"status"` // available, unavailable or unknown
	ReasonCode *string `json:"reason_code"`
}

// RunRetention says until when a run's evidence and summary are kept.
type RunRetention struct {
	RawEvidenceExpired bool      `json:"raw_evidence_expired"`
	RawExpiresAt       time.Time `json:"raw_expires_at"`
	SummaryExpiresAt   time.Time `json:"summary_expires_at"`
}

// RunReceipt is what a run cost.
type RunReceipt struct {
	RunID            string    `json:"run_id"`
	BillingState     string    `json:"billing_state"`
	CapMicrousd      usd.Micro `json:"cap_microusd"`
	ReservedMicrousd usd.Micro `json:"reserved_microusd"`
	SpendMicrousd    usd.Micro `json:"spend_microusd"`
	Currency         string    `json:"currency"` // USD
	CreatedAt        time.Time `json:"created_at"`
	SummaryExpiresAt time.Time `json:"summary_expires_at"`
	ReportExpired    bool      `json:"report_expired"`

	ExternalSpendMicrousd usd.Micro `json:"external_spend_microusd"`
}

// RunEvent is one line of a run's log. Sequences start at 1 without gaps.
type RunEvent struct {
	Sequence  int64          `json:"sequence"`
	Type      string         `json:"type"`
	CreatedAt time.Time      `json:"created_at"`
	Data      map[string]any `json:"data"`
}

// EventPage is a piece of the log. Terminal means that nothing will follow.
type EventPage struct {
	Data         []RunEvent `json:"data"`
	HasMore      bool       `json:"has_more"`
	NextSequence int64      `json:"next_sequence"`
	Terminal     bool       `json:"terminal"`
}

// TaskRecord is one task of a run.
type TaskRecord struct {
	Index          int                `json:"index"`
	ProfileID      string             `json:"profile_id"`
	TaskID         string             `json:"task_id"`
	Attempt        int                `json:"attempt"`
	ModelIndex     int                `json:"model_index"`
	Status         string             `json:"status"`
	Outcome        *string            `json:"outcome"`
	ErrorCode      *string            `json:"error_code"`
	Scores         map[string]float64 `json:"scores"`
	Extracted      *string            `json:"extracted"`
	OriginRunID    string             `json:"origin_run_id"`
	Reused         bool               `json:"reused"`
	ChargeMicrousd usd.Micro          `json:"charge_microusd"`
	StartedAt      *time.Time         `json:"started_at"`
	FinishedAt     *time.Time         `json:"finished_at"`
}

// TaskDetail is one task with what was asked and what was answered. Withheld is
// null, policy or expired; Span is the place of Extracted in Answer, in code
// points.
type TaskDetail struct {
	TaskRecord
	Input        []TaskMessage `json:"input"`
	Target       []string      `json:"target"`
	Answer       *string       `json:"answer"`
	Span         *[2]int       `json:"span"`
	Rule         *string       `json:"rule"`
	Grader       GraderRecord  `json:"grader"`
	FinishReason *string       `json:"finish_reason"`
	Usage        *SampleUsage  `json:"usage"`
	Withheld     *string       `json:"withheld"`
	// AnswerSHA256 is of the whole answer; Judges are those of a benchmark whose
	// tasks models grade.
	AnswerSHA256 *string      `json:"answer_sha256"`
	Judges       []JudgeReply `json:"judges,omitempty"`
}

// TaskMessage is one message to a model.
type TaskMessage struct {
	Role string `json:"role"` // system, user or assistant
	Text string `json:"text"`
}

// NewLink asks for a signed address of a page.
type NewLink struct {
	Purpose string `json:"purpose"` // report, live or comparison
}

// Link is a signed address that opens one page for a short time in a browser
// that is not signed in, and no other page.
type Link struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// What a link may be for.
const (
	LinkReport     = "report"
	LinkLive       = "live"
	LinkComparison = "comparison"
)
