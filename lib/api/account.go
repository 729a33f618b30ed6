package api

import (
	"time"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// CreditsRecord is a workspace's money. Available is balance minus held.
type CreditsRecord struct {
	WorkspaceID       string    `json:"workspace_id"`
	Currency          string    `json:"currency"` // USD
	BalanceMicrousd   usd.Micro `json:"balance_microusd"`
	HeldMicrousd      usd.Micro `json:"held_microusd"`
	AvailableMicrousd usd.Micro `json:"available_microusd"`
	AsOf              time.Time `json:"as_of"`
	BillingURL        *string   `json:"billing_url"`

	// Practice is credit that pays practice routes only; null where there is none.
	Practice *PracticeCredit `json:"practice"`
}

// PracticeCredit is play money of the local service.
type PracticeCredit struct {
	BalanceMicrousd   usd.Micro `json:"balance_microusd"`
	HeldMicrousd      usd.Micro `json:"held_microusd"`
	AvailableMicrousd usd.Micro `json:"available_microusd"`
}

// LedgerEntry is one movement of a workspace's money. Amounts are signed.
type LedgerEntry struct {
	ID                   string    `json:"id"`
	Kind                 string    `json:"kind"` // grant, hold, release, charge, waiver or adjustment
	AmountMicrousd       usd.Micro `json:"amount_microusd"`
	BalanceAfterMicrousd usd.Micro `json:"balance_after_microusd"`
	RunID                *string   `json:"run_id"`
	OperationID          *string   `json:"operation_id"`
	Note                 string    `json:"note"`
	CreatedAt            time.Time `json:"created_at"`
}

// AccountRecord is a person.
type AccountRecord struct {
	ID            string    `json:"id"`
	Email         string    `json:"email"`
	Name          *string   `json:"name"`
	EmailVerified bool      `json:"email_verified"`
	CreatedAt     time.Time `json:"created_at"`
}

// WorkspaceRecord is where runs, money and data belong.
type WorkspaceRecord struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Slug      string          `json:"slug"`
	Role      string          `json:"role"`
	Status    string          `json:"status"` // active or suspended
	CreatedAt time.Time       `json:"created_at"`
	Features  map[string]bool `json:"features"`
	WebURL    string          `json:"web_url"`
}

// WhoamiRecord is who a request acts as.
type WhoamiRecord struct {
	Kind          string           `json:"kind"` // session, api_key, ingest_key or local_owner
	Account       *AccountRecord   `json:"account"`
	APIKey        *KeyView         `json:"api_key"`
	Workspace     *WorkspaceRecord `json:"workspace"`
	Scopes        []string         `json:"scopes"`
	ExpiresAt     *time.Time       `json:"expires_at"`
	SetupRequired bool             `json:"setup_required"`
	SetupURL      *string          `json:"setup_url"`
}

// KeyView names a key without its secret.
type KeyView struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Prefix string `json:"prefix"`
}

// APIKeyRecord is an API key without its secret. SpentMicrousd is what runs
// that were started with it, and with the keys that it was rotated from, cost or
// may still cost.
type APIKeyRecord struct {
	ID                   string     `json:"id"`
	Name                 string     `json:"name"`
	Prefix               string     `json:"prefix"`
	Scopes               []string   `json:"scopes"`
	CreatedBy            *string    `json:"created_by"` // an account id; null for the operator and for another key
	CreatedAt            time.Time  `json:"created_at"`
	LastUsedAt           *time.Time `json:"last_used_at"` // to about a minute
	ExpiresAt            *time.Time `json:"expires_at"`
	RevokedAt            *time.Time `json:"revoked_at"`
	SpendCeilingMicrousd *usd.Micro `json:"spend_ceiling_microusd"`
	SpentMicrousd        usd.Micro  `json:"spent_microusd"`
}

// NewAPIKey asks for a key. Scopes are among those of whoever asks.
type NewAPIKey struct {
	Name                 string     `json:"name"`
	Scopes               []string   `json:"scopes"`
	ExpiresAt            *time.Time `json:"expires_at,omitempty"`
	SpendCeilingMicrousd *usd.Micro `json:"spend_ceiling_microusd,omitempty"`
}

// RotateAPIKey asks for a key's successor. Both are good for the overlap, which
// is a day at most.
type RotateAPIKey struct {
	OverlapSeconds int64 `json:"overlap_seconds,omitempty"`
}

// APIKeyCreated is a new key with its secret, which is shown this once.
type APIKeyCreated struct {
	APIKeyRecord
	Secret string `json:"secret"`
}

// AuthConfig says how to sign in at a service. A service with one owner has
// neither flow.
type AuthConfig struct {
	Device       bool     `json:"device"`
	Browser      bool     `json:"browser"`
	AuthorizeURL *string  `json:"authorize_url"`
	WebOrigin    string   `json:"web_origin"`
	ClientID     string   `json:"client_id"`
	Scopes       []string `json:"scopes"`
}

// MetaRecord describes the service.
type MetaRecord struct {
	Service          string          `json:"service"` // evalrouterd
	Version          string          `json:"version"`
	APIVersion       string          `json:"api_version"` // v1
	StartedAt        time.Time       `json:"started_at"`
	Features         map[string]bool `json:"features"`
	Limits           MetaLimits      `json:"limits"`
	MinClientVersion *string         `json:"min_client_version"`
	LatestClient     *LatestClient   `json:"latest_client"`
	WebOrigin        string          `json:"web_origin"`
	DocsURL          string          `json:"docs_url"`
}

// MetaLimits are limits a client can show before it asks.
type MetaLimits struct {
	MaxModelsPerRun   int       `json:"max_models_per_run"`
	MaxChargeMicrousd usd.Micro `json:"max_charge_microusd"`
	SampleCountMax    int       `json:"sample_count_max"`
	SourceMaxBytes    int64     `json:"source_max_bytes"`
	SourceMaxRows     int64     `json:"source_max_rows"`
}

// LatestClient is the newest released client.
type LatestClient struct {
	Version     string    `json:"version"`
	URL         string    `json:"url"`
	PublishedAt time.Time `json:"published_at"`
}
