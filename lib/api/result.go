package api

import (
	"time"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// ResultRecord is the frozen result of a finished run.
type ResultRecord struct {
	ID               string            `json:"id"`
	RunID            string            `json:"run_id"`
	ManifestHash     string            `json:"manifest_hash"`
	Checksum         string            `json:"checksum"`
	Version          int               `json:"version"`
	FinalizedAt      time.Time         `json:"finalized_at"`
	Model            Model             `json:"model"`
	Coverage         *Coverage         `json:"coverage"`
	Profiles         []ProfileResult   `json:"profiles"`
	Summary          ResultSummary     `json:"summary"`
	Costs            ResultCosts       `json:"costs"`
	Retention        RunRetention      `json:"retention"`
	BenchmarkNotices []BenchmarkNotice `json:"benchmark_notices"`
	Envelope         map[string]any    `json:"envelope,omitempty"`

	Simulated bool     `json:"simulated"`
	Warnings  []string `json:"warnings"`
	// TerminalDetail is RunRecord's, as it was when the result was frozen.
	TerminalDetail *string `json:"terminal_detail"`
	// Continuation says which run this one went on with, null for none.
	Continuation *ChainPosition `json:"continuation"`
}

// ResultSummary is the run's end in figures.
type ResultSummary struct {
	SchemaVersion   int             `json:"schema_version"`
	RunID           string          `json:"run_id"`
	Name            string          `json:"name"`
	ManifestHash    string          `json:"manifest_hash"`
	ResultVersion   int             `json:"result_version"`
	Status          RunStatus       `json:"status"`
	TerminalReason  *string         `json:"terminal_reason"`
	FinishedAt      time.Time       `json:"finished_at"`
	Coverage        CoverageCounts  `json:"coverage"`
	BillingSnapshot BillingSnapshot `json:"billing_snapshot"`

	// Outcomes holds every planned task exactly once; they add up to Planned.
	Outcomes map[string]int `json:"outcomes"`
}

// CoverageCounts says what became of the planned tasks.
type CoverageCounts struct {
	Planned       int `json:"planned"`
	Attempted     int `json:"attempted"`
	Graded        int `json:"graded"`
	Errors        int `json:"errors"`
	Cancelled     int `json:"cancelled"`
	SkippedBudget int `json:"skipped_budget"`
}

// BillingSnapshot is the money at one moment.
type BillingSnapshot struct {
	AsOf             time.Time `json:"as_of"`
	CapMicrousd      usd.Micro `json:"cap_microusd"`
	ReservedMicrousd usd.Micro `json:"reserved_microusd"`
	SpendMicrousd    usd.Micro `json:"spend_microusd"`
	Pending          bool      `json:"pending"`
	// ChargedMicrousd is the part of SpendMicrousd that EvalRouter charges;
	// what is left of it is billed by the owner's provider.
	ChargedMicrousd *usd.Micro `json:"charged_microusd,omitempty"`
}

// ResultCosts is what was charged for what.
type ResultCosts struct {
	AsOf     time.Time     `json:"as_of"`
	Basis    string        `json:"basis"` // managed_total, platform_fees_only or mixed
	Currency string        `json:"currency"`
	Note     string        `json:"note"`
	Profiles []ProfileCost `json:"profiles"`
}

// ProfileCost is the cost of one profile. TotalCostMicrousd is null when a
// provider bills outside and no rates were declared.
type ProfileCost struct {
	ProfileID         string     `json:"profile_id"`
	ChargedMicrousd   usd.Micro  `json:"charged_microusd"`
	TotalCostMicrousd *usd.Micro `json:"total_cost_microusd"`
	PendingOperations int        `json:"pending_operations"`
	ModelIndex        *int       `json:"model_index,omitempty"`
}

// ProfileResult is one benchmark's share of a result.
type ProfileResult struct {
	ProfileID       string                 `json:"profile_id"`
	UnitID          string                 `json:"unit_id"`
	Name            string                 `json:"name"`
	Runner          string                 `json:"runner"`
	Status          string                 `json:"status"`
	UncertaintyNote string                 `json:"uncertainty_note"`
	Selection       ProfileSelection       `json:"selection"`
	Planned         int                    `json:"planned"`
	Graded          int                    `json:"graded"`
	Errors          int                    `json:"errors"`
	Cancelled       int                    `json:"cancelled"`
	SkippedBudget   int                    `json:"skipped_budget"`
	Eligible        *int                   `json:"eligible"`
	Metrics         []MetricRecord         `json:"metrics"`
	HeadlineKey     *string                `json:"headline_key"`
	Native          map[string]any         `json:"native"`
	ErrorCode       *string                `json:"error_code"`
	DataLicense     *string                `json:"data_license"`
	LicenseURL      *string                `json:"license_url"`
	SourceRevision  *string                `json:"source_revision"`
	SourceURL       *string                `json:"source_url"`
	DisplayPolicy   *string                `json:"display_policy,omitempty"`
	ModelIndex      *int                   `json:"model_index,omitempty"`
	Uncertainty     map[string]Uncertainty `json:"uncertainty,omitempty"`
}

// MetricRecord is one figure with its sample count and uncertainty.
type MetricRecord struct {
	Key           string       `json:"key"`
	Name          string       `json:"name"`
	Task          string       `json:"task"`
	Source        string       `json:"source"`
	Value         float64      `json:"value"`
	Direction     *string      `json:"direction"` // higher_is_better, lower_is_better or null
	SampleCount   *int         `json:"sample_count"`
	StandardError *float64     `json:"standard_error"`
	Uncertainty   *Uncertainty `json:"uncertainty,omitempty"`
}

// Uncertainty is an interval, or the reason why there is none.
type Uncertainty struct {
	Interval *Interval `json:"interval"`
	Reason   *string   `json:"reason"`
}

// Interval is a confidence interval and how it was made.
type Interval struct {
	Method              string  `json:"method"`
	Target              string  `json:"target"`
	Weights             string  `json:"weights"`
	Lower               float64 `json:"lower"`
	Upper               float64 `json:"upper"`
	Confidence          float64 `json:"confidence"`
	Approximate         bool    `json:"approximate"`
	SampleCount         int     `json:"sample_count"`
	EligibleCount       int     `json:"eligible_count"`
	StrataCount         int     `json:"strata_count"`
	UnrepresentedStrata int     `json:"unrepresented_strata"`
	ClusterCount        *int    `json:"cluster_count,omitempty"`
	Gains               *int    `json:"gains,omitempty"`
	Losses              *int    `json:"losses,omitempty"`
	Resamples           *int    `json:"resamples,omitempty"`
	Seed                *int64  `json:"seed,omitempty"`
}

// BenchmarkNotice is what a benchmark's licence asks to be shown.
type BenchmarkNotice struct {
	ProfileID        string          `json:"profile_id"`
	AdaptationNotice string          `json:"adaptation_notice"`
	EvidenceSHA256   string          `json:"evidence_sha256"`
	ManifestSHA256   string          `json:"manifest_sha256"`
	Licenses         []LicenseNotice `json:"licenses"`
}

// LicenseNotice is one licence of one part.
type LicenseNotice struct {
	Identifier     string `json:"identifier"`
	Attribution    string `json:"attribution"`
	DocumentSHA256 string `json:"document_sha256"`
	SourceRevision string `json:"source_revision"`
	SourceURL      string `json:"source_url"`
	Text           string `json:"text"`
	Scope          string `json:"scope"` // code, data, tests or assets
}
