package api

import (
	"time"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// ContinuationStatus says whether a run can be continued, and where its chain
// stands.
type ContinuationStatus struct {
	Supported         bool       `json:"supported"`
	ReasonCode        *string    `json:"reason_code"`
	NewestRunID       string     `json:"newest_run_id"`
	NewestStatus      RunStatus  `json:"newest_status"`
	NewestResumable   bool       `json:"newest_resumable"`
	EvidenceExpiresAt *time.Time `json:"evidence_expires_at"`
}

// NewContinuationQuote asks what is left of an ended run and what it may cost.
// Without a cap the answer is a preview.
type NewContinuationQuote struct {
	MaxChargeMicrousd *usd.Micro `json:"max_charge_microusd,omitempty"`
	// IncludeCancelled runs what a person or the time limit stopped.
	IncludeCancelled bool `json:"include_cancelled,omitempty"`
	// RetryUnknown asks tasks again whose outcome is uncertain, at the caller's
	// cost; RetryUnknownMax refuses a quote with more of them.
	RetryUnknown    bool `json:"retry_unknown,omitempty"`
	RetryUnknownMax *int `json:"retry_unknown_max,omitempty"`
}

// ContinuationPlan is what a continuation does with each task of its source:
// planned = reused + saved responses + rerun + left out + pending. Tasks of
// unknown outcome are among the pending ones, or, once selected, among those to
// rerun.
type ContinuationPlan struct {
	SourceRunID        string                    `json:"source_run_id"`
	RootRunID          string                    `json:"root_run_id"`
	ChainIndex         int                       `json:"chain_index"`
	ChainRunIDs        []string                  `json:"chain_run_ids"`
	PlannedCells       int                       `json:"planned_cells"`
	ReusedCells        int                       `json:"reused_cells"`
	SavedResponseCells int                       `json:"saved_response_cells"`
	RerunCells         int                       `json:"rerun_cells"`
	LeftOut            ContinuationLeftOut       `json:"left_out"`
	Pending            ContinuationPending       `json:"pending"`
	UnknownRetry       ContinuationRetry         `json:"unknown_retry"`
	IncludeCancelled   bool                      `json:"include_cancelled"`
	CancelledCells     int                       `json:"cancelled_cells"`
	TimeLimitCells     int                       `json:"time_limit_cells"`
	Charges            ContinuationCharges       `json:"charges"`
	EvidenceExpiresAt  time.Time                 `json:"evidence_expires_at"`
	Compatibility      ContinuationCompatibility `json:"compatibility"`
}

// ContinuationLeftOut is what stays excluded, from this continuation and every
// later one.
type ContinuationLeftOut struct {
	Cells                   int             `json:"cells"`
	Reasons                 []LeftOutReason `json:"reasons"`
	AcknowledgementRequired bool            `json:"acknowledgement_required"`
}

// LeftOutReason counts the tasks that are left out for one reason.
type LeftOutReason struct {
	Code      string `json:"code"`
	Cells     int    `json:"cells"`
	Permanent bool   `json:"permanent"`
}

// ContinuationPending is what a later continuation looks at again. Older services
// say in RecheckAfter when their reconciliation ends.
type ContinuationPending struct {
	Cells        int             `json:"cells"`
	Reasons      []PendingReason `json:"reasons"`
	RecheckAfter *time.Time      `json:"recheck_after"`
}

// PendingReason counts the tasks that are pending for one reason.
type PendingReason struct {
	Code  string `json:"code"`
	Cells int    `json:"cells"`
}

// ContinuationRetry is the tasks whose outcome nobody knows: they are asked
// again with consent only, and the earlier attempt is never charged.
type ContinuationRetry struct {
	Cells                  int  `json:"cells"`
	Selected               bool `json:"selected"`
	UncertainCells         int  `json:"uncertain_cells"`
	UnbilledTransientCells int  `json:"unbilled_transient_cells"`
	Max                    *int `json:"max"`
	EarlierAttemptsMax     int  `json:"earlier_attempts_max"`
	ProviderMayBillAgain   bool `json:"provider_may_bill_again"`
	ConsentRequired        bool `json:"consent_required"`
}

// ContinuationCharges is what tasks cost that nobody is asked about: nothing.
type ContinuationCharges struct {
	ReusedMicrousd        usd.Micro `json:"reused_microusd"`
	SavedResponseMicrousd usd.Micro `json:"saved_response_microusd"`
}

// ContinuationCompatibility says that old and new answers belong together.
type ContinuationCompatibility struct {
	OK               bool     `json:"ok"`
	RuntimeSHA256    string   `json:"runtime_sha256"`
	EvaluationSHA256 string   `json:"evaluation_sha256"`
	Reasons          []string `json:"reasons"`
}

// ChainRecord is a run with its continuations. Version changes with every run
// and result of the chain.
type ChainRecord struct {
	RootRunID   string    `json:"root_run_id"`
	NewestRunID string    `json:"newest_run_id"`
	RunIDs      []string  `json:"run_ids"`
	Version     string    `json:"version"`
	Supported   bool      `json:"supported"`
	ReasonCode  *string   `json:"reason_code"`
	Complete    bool      `json:"complete"`
	Status      RunStatus `json:"status"`
}

// ChainFamily is the family whose chains are one result: its native summary is
// derived again from the answers themselves. The source of its metrics names it.
const ChainFamily = "sob-text"

// ChainExportSchema is the schema of a chain's export.
const ChainExportSchema = "evalrouter.chain_export.v1"

// ChainExport is the result of a chain: every task decided from the one run that
// graded it.
type ChainExport struct {
	Schema      string           `json:"schema"`
	Chain       ChainRecord      `json:"chain"`
	Label       string           `json:"label"` // such as: original + 1 resume
	Runs        []ChainRun       `json:"runs"`
	WorkspaceID string           `json:"workspace_id"`
	GeneratedAt time.Time        `json:"generated_at"` // when the newest result was frozen
	TargetKind  string           `json:"target_kind"`  // managed or connection
	Identities  ExportIdentities `json:"identities"`
	Model       SelectedModel    `json:"model"`
	Reasoning   *ReasoningChoice `json:"reasoning"`
	Profiles    []ExportProfile  `json:"profiles"`
	Planned     int              `json:"planned"`
	Graded      int              `json:"graded"`
	ErrorCounts map[string]int   `json:"error_counts"`
	// Unscored is why the tasks without a score have none; none of them counts
	// in a figure.
	Unscored           []PendingReason `json:"unscored"`
	ReuseScoreMismatch []ReuseMismatch `json:"reuse_score_mismatch"`
	Warnings           []ChainWarning  `json:"warnings"`
	Complete           bool            `json:"complete"`
	// TerminalReason is why the newest run ended.
	TerminalReason *string `json:"terminal_reason"`
	// BillingSnapshot adds up the runs: what is reused was paid for once.
	BillingSnapshot BillingSnapshot `json:"billing_snapshot"`
	ExportPolicy    ExportPolicy    `json:"export_policy"`
	Checksum        string          `json:"checksum"`
	// Samples is there in the full export only.
	Samples []ExportSample `json:"samples,omitempty"`
}

// ChainRun is one run of a chain, with the tasks that it decided and what it cost.
type ChainRun struct {
	RunID          string    `json:"run_id"`
	ResultVersion  int       `json:"result_version"`
	ManifestHash   string    `json:"manifest_hash"`
	Status         RunStatus `json:"status"`
	TerminalReason *string   `json:"terminal_reason"`
	DecidedCells   int       `json:"decided_cells"`
	SpendMicrousd  usd.Micro `json:"spend_microusd"`
}

// ReuseMismatch is a reused answer that was graded again and got another score;
// Replayed is null where it got none. TaskID is there in the full export only.
type ReuseMismatch struct {
	TaskID   *string  `json:"task_id,omitempty"`
	Original float64  `json:"original"`
	Replayed *float64 `json:"replayed"`
}

// ChainWarning is a reason not to take a chain for a whole run.
type ChainWarning struct {
	Code string `json:"code"`
}

// ReuseScoreMismatch is the warning of a chain with such answers.
const ReuseScoreMismatch = "reuse_score_mismatch"
