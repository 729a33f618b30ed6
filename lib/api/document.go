package api

import (
	"time"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// Progress is one record of --progress json (evalrouter.progress.v1).
type Progress struct {
	Schema         string    `json:"schema"`
	At             time.Time `json:"at"`
	RunID          string    `json:"run_id"`
	GroupID        *string   `json:"group_id"`
	Phase          RunStatus `json:"phase"`
	Processed      int       `json:"processed"`
	Planned        *int      `json:"planned"`
	Errors         int       `json:"errors"`
	SpendMicrousd  usd.Micro `json:"spend_microusd"`
	ElapsedSeconds float64   `json:"elapsed_seconds"`
}

// Operation is the local record of an accepted quote
// (evalrouter.operation.v1), written before the run is submitted. It holds
// identifiers only, never a credential.
type Operation struct {
	Schema            string          `json:"schema"`
	Kind              string          `json:"kind"` // run, group or resume
	Fingerprint       string          `json:"fingerprint"`
	BaseURL           string          `json:"base_url"`
	WorkspaceID       string          `json:"workspace_id"`
	QuoteID           string          `json:"quote_id"`
	IdempotencyKey    string          `json:"idempotency_key"`
	MaxChargeMicrousd usd.Micro       `json:"max_charge_microusd"`
	SourceID          *string         `json:"source_id"`
	Options           map[string]bool `json:"options"`
	State             string          `json:"state"` // accepted, submitted or finished
	RunID             *string         `json:"run_id"`
	GroupID           *string         `json:"group_id"`
	CreatedAt         time.Time       `json:"created_at"`
	UpdatedAt         time.Time       `json:"updated_at"`
}
