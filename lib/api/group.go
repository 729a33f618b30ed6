package api

import (
	"slices"
	"time"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// NewGroupQuote asks what two to eight models on the same tasks may cost. The
// cap is the group's; members without one of their own share it equally, unless
// one needs more for its first task. It may be left out of a preview, which is
// computed, not kept, and cannot be accepted.
type NewGroupQuote struct {
	Selection         Selection     `json:"selection"`
	Coverage          *Coverage     `json:"coverage,omitempty"`
	Members           []GroupChoice `json:"members"`
	MaxChargeMicrousd *usd.Micro    `json:"max_charge_microusd,omitempty"`
	Concurrency       *Concurrency  `json:"concurrency,omitempty"`
	Name              *string       `json:"name,omitempty"`
	Preview           bool          `json:"preview,omitempty"`
}

// GroupChoice is one model of a group with its settings.
type GroupChoice struct {
	Model             ModelRef         `json:"model"`
	Reasoning         *ReasoningChoice `json:"reasoning,omitempty"`
	OutputFormat      *string          `json:"output_format,omitempty"`
	MaxChargeMicrousd *usd.Micro       `json:"max_charge_microusd,omitempty"`
}

// GroupQuoteRecord is the reviewed offer of a group. MinimumCapMicrousd is the
// least with which every member can start a task, null where rates are unknown.
type GroupQuoteRecord struct {
	ID                 string             `json:"id"`
	Name               string             `json:"name"`
	Status             string             `json:"status"` // open, accepted or expired
	CreatedAt          time.Time          `json:"created_at"`
	ExpiresAt          time.Time          `json:"expires_at"`
	ExpiresIn          int64              `json:"expires_in"`
	MaxChargeMicrousd  *usd.Micro         `json:"max_charge_microusd"`
	MinimumCapMicrousd *usd.Micro         `json:"minimum_cap_microusd"`
	PriceVersion       string             `json:"price_version"`
	SelectionSource    map[string]any     `json:"selection_source"`
	Coverage           Coverage           `json:"coverage"`
	Profiles           []ProfileSelection `json:"profiles"`
	TotalTasks         int                `json:"total_tasks"` // of each member
	Warnings           []string           `json:"warnings"`
	Retention          RetentionPolicy    `json:"retention"`
	Members            []GroupQuoteMember `json:"members"`
	SourceGroupID      *string            `json:"source_group_id"`
	GroupID            *string            `json:"group_id"`
	Preview            bool               `json:"preview"`
}

// GroupQuoteMember is one model of a group quote. A member that is not eligible
// is not started with the others. In a quote that goes on with a group, Index is
// the member's place in the first group of the chain.
type GroupQuoteMember struct {
	Index              int              `json:"index"`
	Model              SelectedModel    `json:"model"`
	Pricing            *Pricing         `json:"pricing"`
	Reasoning          *ReasoningChoice `json:"reasoning"`
	OutputFormat       *string          `json:"output_format"`
	Concurrency        QuoteConcurrency `json:"concurrency"`
	MaxChargeMicrousd  *usd.Micro       `json:"max_charge_microusd"`
	MinimumCapMicrousd *usd.Micro       `json:"minimum_cap_microusd"`
	ExternalCharges    *string          `json:"external_charges"`
	Warnings           []string         `json:"warnings"`
	// SourceRunID is the run that the member goes on with, and Continuation what
	// becomes of its tasks; both are null in the quote of a new group.
	SourceRunID      *string           `json:"source_run_id"`
	Continuation     *ContinuationPlan `json:"continuation"`
	Eligible         bool              `json:"eligible"`
	IneligibleReason *string           `json:"ineligible_reason"`
}

// NewGroup starts every run of an accepted group quote, or none. It needs an
// idempotency key: keep the quote id and the key before sending it.
type NewGroup struct {
	GroupQuoteID     string            `json:"group_quote_id"`
	Name             string            `json:"name,omitempty"`
	Metadata         map[string]string `json:"metadata,omitempty"`
	Acknowledgements *Acknowledgements `json:"acknowledgements,omitempty"`
}

// GroupRecord is a group as it stands. Its status and its figures follow from
// its members: running while any goes on, what all came to when that is the
// same, and partial otherwise.
type GroupRecord struct {
	ID                 string             `json:"id"`
	Name               string             `json:"name"`
	GroupQuoteID       string             `json:"group_quote_id"`
	Status             RunStatus          `json:"status"`
	BillingState       string             `json:"billing_state"`
	CreatedAt          time.Time          `json:"created_at"`
	StartedAt          *time.Time         `json:"started_at"`
	FinishedAt         *time.Time         `json:"finished_at"`
	CapMicrousd        usd.Micro          `json:"cap_microusd"`
	ReservedMicrousd   usd.Micro          `json:"reserved_microusd"`
	SpendMicrousd      usd.Micro          `json:"spend_microusd"`
	Coverage           *Coverage          `json:"coverage"`
	Profiles           []ProfileSelection `json:"profiles"`
	Metadata           map[string]string  `json:"metadata"`
	Members            []GroupMember      `json:"members"`
	SourceGroupID      *string            `json:"source_group_id"`
	ContinuedByGroupID *string            `json:"continued_by_group_id"`
	Links              RunLinks           `json:"links"`
}

// Resumable says that a member has something left to run and that no other group
// goes on with this one already.
func (g GroupRecord) Resumable() bool {
	return g.ContinuedByGroupID == nil && slices.ContainsFunc(g.Members, func(m GroupMember) bool { return m.Resume.Status == "available" })
}

// GroupMember is one run of a group.
type GroupMember struct {
	Index            int              `json:"index"`
	RunID            string           `json:"run_id"`
	Model            SelectedModel    `json:"model"`
	Reasoning        *ReasoningChoice `json:"reasoning"`
	Status           RunStatus        `json:"status"`
	TerminalReason   *string          `json:"terminal_reason"`
	PlannedCount     int              `json:"planned_count"`
	ProcessedCount   int              `json:"processed_count"`
	GradedCount      int              `json:"graded_count"`
	ErrorCount       int              `json:"error_count"`
	CapMicrousd      usd.Micro        `json:"cap_microusd"`
	ReservedMicrousd usd.Micro        `json:"reserved_microusd"`
	SpendMicrousd    usd.Micro        `json:"spend_microusd"`
	Headline         *Headline        `json:"headline"`
	Resume           ResumeState      `json:"resume"`
}
