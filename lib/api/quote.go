package api

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// Coverage modes.
const (
	Sample = "sample"
	Full   = "full"
)

// Selection names what is evaluated: profiles, or one reference.
type Selection struct {
	ProfileIDs     []string `json:"profile_ids,omitempty"`
	Eval           string   `json:"eval,omitempty"`
	Provider       *string  `json:"provider,omitempty"`
	Split          *string  `json:"split,omitempty"`
	SuiteVersionID string   `json:"suite_version_id,omitempty"`
}

// Coverage is how much of a benchmark a run covers. In requests a missing
// sample count is 25 and a missing seed is 42.
type Coverage struct {
	Mode        string  `json:"mode"`
	SampleCount *int    `json:"sample_count,omitempty"`
	Seed        *uint32 `json:"seed,omitempty"`
}

// Concurrency is "auto", "max" or a number from 1 to 100; the zero value is auto.
type Concurrency struct {
	Max bool
	N   int
}

// ParseConcurrency reads the text form.
func ParseConcurrency(s string) (Concurrency, error) {
	switch s {
	case "", "auto":
		return Concurrency{}, nil
	case "max":
		return Concurrency{Max: true}, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 100 {
		return Concurrency{}, fmt.Errorf("concurrency is auto, max or a number from 1 to 100")
	}
	return Concurrency{N: n}, nil
}

// String is the text form.
func (c Concurrency) String() string {
	switch {
	case c.Max:
		return "max"
	case c.N > 0:
		return strconv.Itoa(c.N)
	}
	return "auto"
}

// MarshalJSON writes a number as a number and the words as strings.
func (c Concurrency) MarshalJSON() ([]byte, error) {
	if c.N > 0 {
		return strconv.AppendInt(nil, int64(c.N), 10), nil
	}
	return json.Marshal(c.String())
}

// UnmarshalJSON accepts "auto", "max" and an integer from 1 to 100.
func (c *Concurrency) UnmarshalJSON(b []byte) (err error) {
	s := string(b)
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		if s != "auto" && s != "max" {
			return fmt.Errorf("concurrency is auto, max or a number from 1 to 100")
		}
	}
	*c, err = ParseConcurrency(s)
	return err
}

// NewQuote asks what an evaluation may cost and whether it can run. It starts
// nothing. MaxChargeMicrousd may be left out only when Preview is true.
type NewQuote struct {
	Selection         Selection  `json:"selection"`
	Model             ModelRef   `json:"model"`
	Coverage          *Coverage  `json:"coverage,omitempty"`
	MaxChargeMicrousd *usd.Micro `json:"max_charge_microusd,omitempty"`

	Reasoning    *ReasoningChoice `json:"reasoning,omitempty"`
	Concurrency  *Concurrency     `json:"concurrency,omitempty"`
	OutputFormat *string          `json:"output_format,omitempty"`
	Name         *string          `json:"name,omitempty"`
	Preview      bool             `json:"preview,omitempty"`
}

// QuoteRecord is a reviewed offer: what would run, at which rates, under
// which cap, until when. It never holds a forecast.
type QuoteRecord struct {
	ID                string          `json:"id"`
	PriceVersion      string          `json:"price_version"`
	CreatedAt         time.Time       `json:"created_at"`
	ExpiresAt         time.Time       `json:"expires_at"`
	MaxChargeMicrousd *usd.Micro      `json:"max_charge_microusd"`
	Plan              QuotePlan       `json:"plan"`
	Retention         RetentionPolicy `json:"retention"`

	Status             string           `json:"status"` // open, accepted, expired or superseded
	RunID              *string          `json:"run_id"`
	MinimumCapMicrousd *usd.Micro       `json:"minimum_cap_microusd"`
	Reasoning          *ReasoningChoice `json:"reasoning"`
	OutputFormat       *string          `json:"output_format"`
	Concurrency        QuoteConcurrency `json:"concurrency"`
	Compatibility      Compatibility    `json:"compatibility"`
	ExternalCharges    *string          `json:"external_charges"`
	Preview            bool             `json:"preview"`
	// Continuation is set where the quote goes on with an ended run.
	Continuation *ContinuationPlan `json:"continuation"`
	// ExpiresIn is the life left in seconds by the service's clock.
	ExpiresIn int64 `json:"expires_in"`
}

// QuoteConcurrency is what was asked for and what was granted, with reasons.
type QuoteConcurrency struct {
	Requested  Concurrency          `json:"requested"`
	RunCeiling int                  `json:"run_ceiling"`
	Reasons    []string             `json:"reasons"`
	Profiles   []ProfileConcurrency `json:"profiles"`
}

// ProfileConcurrency is the ceiling of one profile.
type ProfileConcurrency struct {
	ProfileID string   `json:"profile_id"`
	Ceiling   int      `json:"ceiling"`
	Reasons   []string `json:"reasons"`
}

// Compatibility says whether the model can run the profiles.
type Compatibility struct {
	OK      bool     `json:"ok"`
	Reasons []Reason `json:"reasons"`
}

// QuotePlan is the frozen content of a quote.
type QuotePlan struct {
	SchemaVersion   int                `json:"schema_version"`
	Model           Model              `json:"model"`
	Coverage        Coverage           `json:"coverage"`
	Profiles        []ProfileSelection `json:"profiles"`
	Pricing         *Pricing           `json:"pricing"`
	SelectionSource map[string]any     `json:"selection_source"`
	TotalTasks      int                `json:"total_tasks"`
	Warnings        []string           `json:"warnings"`
	Route           map[string]any     `json:"route,omitempty"`
	Recommendation  map[string]any     `json:"recommendation,omitempty"`
	Agent           map[string]any     `json:"agent,omitempty"`
	Agents          []map[string]any   `json:"agents,omitempty"`
}

// RetentionPolicy says how long evidence and summaries are kept.
type RetentionPolicy struct {
	RawDays     int    `json:"raw_days"`
	SummaryDays int    `json:"summary_days"`
	StartsAt    string `json:"starts_at"` // run_created_at
}

// ProfileSelection is one benchmark version with the tasks chosen from it.
type ProfileSelection struct {
	ID                  string             `json:"id"`
	ManifestSHA256      string             `json:"manifest_sha256"`
	DatasetAssetsSHA256 string             `json:"dataset_assets_sha256"`
	SamplingAlgorithm   string             `json:"sampling_algorithm"`
	TaskIDsHash         string             `json:"task_ids_hash"`
	PopulationCount     int                `json:"population_count"`
	SelectedCount       int                `json:"selected_count"`
	AttemptsPerTask     int                `json:"attempts_per_task,omitempty"`
	TaskIDs             []string           `json:"task_ids,omitempty"`
	Judge               *JudgeSelection    `json:"judge,omitempty"`
	Sandbox             *SandboxPolicyView `json:"sandbox,omitempty"`
	PrivateTest         *bool              `json:"private_test,omitempty"`
	Admission           map[string]any     `json:"admission,omitempty"`
	Environment         map[string]any     `json:"environment,omitempty"`
	Remote              map[string]any     `json:"remote,omitempty"`
}

// JudgeSelection is the model that grades.
type JudgeSelection struct {
	Model    SelectedModel  `json:"model"`
	Protocol map[string]any `json:"protocol"`
}

// SandboxPolicyView is the sandbox that a profile would use.
type SandboxPolicyView struct {
	ImageID                   string    `json:"image_id"`
	ImageSHA256               string    `json:"image_sha256"`
	PriceVersion              string    `json:"price_version"`
	ExecutionFeeMicrousd      usd.Micro `json:"execution_fee_microusd"`
	Backend                   string    `json:"backend,omitempty"`
	ExecutionClass            string    `json:"execution_class,omitempty"`
	Network                   string    `json:"network,omitempty"`
	CPUMillis                 int       `json:"cpu_millis,omitempty"`
	MemoryMiB                 int       `json:"memory_mib,omitempty"`
	TimeoutSeconds            int       `json:"timeout_seconds,omitempty"`
	MaxInfrastructureAttempts int       `json:"max_infrastructure_attempts,omitempty"`
	SchemaVersion             int       `json:"schema_version,omitempty"`
}
