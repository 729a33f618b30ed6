package api

import (
	"time"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// EnvironmentFamily is every version of one environment. This service has
// none; the record exists so that clients can read other services.
type EnvironmentFamily struct {
	Family   string              `json:"family"`
	Versions []EnvironmentRecord `json:"versions"`
}

// EnvironmentRecord is one version of an interactive environment.
type EnvironmentRecord struct {
	ID                    string                      `json:"id"`
	Ref                   string                      `json:"ref"`
	Name                  string                      `json:"name"`
	Description           string                      `json:"description"`
	Adapter               string                      `json:"adapter"`
	Status                string                      `json:"status"`
	Visibility            string                      `json:"visibility"`
	ManifestSHA256        string                      `json:"manifest_sha256"`
	PackageSHA256         string                      `json:"package_sha256"`
	PriceVersion          string                      `json:"price_version"`
	CreatedAt             time.Time                   `json:"created_at"`
	SupplierFeeMicrousd   usd.Micro                   `json:"supplier_fee_microusd"`
	Limitations           []string                    `json:"limitations"`
	RequiredCapabilities  []string                    `json:"required_capabilities"`
	TaskCounts            map[string]int              `json:"task_counts"`
	Validation            map[string]any              `json:"validation"`
	Limits                EnvironmentLimits           `json:"limits"`
	Rights                EnvironmentRights           `json:"rights"`
	CommissionBasisPoints int                         `json:"commission_basis_points,omitempty"`
	QuoteAvailability     *BenchmarkQuoteAvailability `json:"quote_availability,omitempty"`
}

// EnvironmentLimits bounds one episode. Network is "blocked" or absent.
type EnvironmentLimits struct {
	CPUMillis           int    `json:"cpu_millis,omitempty"`
	DurationSeconds     int    `json:"duration_seconds,omitempty"`
	MaxObservationBytes int    `json:"max_observation_bytes,omitempty"`
	MaxOutputTokens     int    `json:"max_output_tokens,omitempty"`
	MaxSteps            int    `json:"max_steps,omitempty"`
	MemoryMiB           int    `json:"memory_mib,omitempty"`
	Network             string `json:"network,omitempty"`
}

// EnvironmentRights says what may be done with an environment.
type EnvironmentRights struct {
	Attribution         string   `json:"attribution"`
	License             string   `json:"license"`
	SourceURL           string   `json:"source_url"`
	CommercialExecution bool     `json:"commercial_execution"`
	Display             bool     `json:"display"`
	Export              bool     `json:"export"`
	Training            bool     `json:"training"`
	UnderlyingLicenses  []string `json:"underlying_licenses,omitempty"`
}

// SandboxExecutionPage is a page of executions with totals.
type SandboxExecutionPage struct {
	Data       []SandboxExecutionRecord `json:"data"`
	NextCursor *string                  `json:"next_cursor"`
	Summary    SandboxExecutionSummary  `json:"summary"`
}

// SandboxExecutionSummary counts executions by what they still hold.
type SandboxExecutionSummary struct {
	ActiveCount         int `json:"active_count"`
	AllocatedCount      int `json:"allocated_count"`
	CleanupPendingCount int `json:"cleanup_pending_count"`
	StoppedCount        int `json:"stopped_count"`
}

// SandboxExecutionRecord is one sandbox of one sample.
type SandboxExecutionRecord struct {
	ID                     string     `json:"id"`
	ProfileID              string     `json:"profile_id"`
	SampleID               string     `json:"sample_id"`
	TaskID                 string     `json:"task_id"`
	AttemptNo              int        `json:"attempt_no"`
	ModelIndex             int        `json:"model_index"`
	CPUMillis              int        `json:"cpu_millis"`
	MemoryMiB              int        `json:"memory_mib"`
	TimeoutSeconds         int        `json:"timeout_seconds"`
	Status                 string     `json:"status"`
	CleanupStatus          string     `json:"cleanup_status"`
	ErrorCode              *string    `json:"error_code"`
	CreatedAt              time.Time  `json:"created_at"`
	ExecutionStartedAt     *time.Time `json:"execution_started_at"`
	StoppedAt              *time.Time `json:"stopped_at"`
	VerifierResultRecorded bool       `json:"verifier_result_recorded"`
}
