package api

import (
	"time"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// EvalRecord is a benchmark as a reference that can be evaluated.
type EvalRecord struct {
	Name                 string      `json:"name"`
	DisplayName          string      `json:"display_name"`
	Description          string      `json:"description"`
	Provider             string      `json:"provider"`
	Version              string      `json:"version"`
	Ref                  string      `json:"ref"`
	Runner               string      `json:"runner"`
	Status               string      `json:"status"`
	Kind                 string      `json:"kind"`           // benchmark, environment or remote
	Protocol             string      `json:"protocol"`       // batch, interactive or agentic
	ExecutionMode        string      `json:"execution_mode"` // router or provider
	RequiredCapabilities []string    `json:"required_capabilities"`
	TaskCount            *int        `json:"task_count"`
	ProfileID            *string     `json:"profile_id"`
	Pricing              EvalPricing `json:"pricing"`
	Availability         string      `json:"availability,omitempty"`
	AvailabilityReason   string      `json:"availability_reason,omitempty"`
	Category             string      `json:"category,omitempty"`
	Family               string      `json:"family,omitempty"`
	Publisher            string      `json:"publisher,omitempty"`
	Source               string      `json:"source,omitempty"`
	Behaviors            []string    `json:"behaviors,omitempty"`
	DetailHref           *string     `json:"detail_href,omitempty"`
	Visibility           string      `json:"visibility,omitempty"` // public or private
}

// EvalPricing is what running an evaluation costs beside the model.
type EvalPricing struct {
	PriceVersion         string     `json:"price_version"`
	ExecutionFeeMicrousd *usd.Micro `json:"execution_fee_microusd,omitempty"`
	TaskFeeMicrousd      *usd.Micro `json:"task_fee_microusd,omitempty"`
}

// BenchmarkDetail is every version of one benchmark, newest first.
type BenchmarkDetail struct {
	Slug     string            `json:"slug"`
	Versions []BenchmarkRecord `json:"versions"`
}

// BenchmarkRecord is one version of a benchmark. An active status does not
// mean that it can be run: QuoteAvailability says that.
type BenchmarkRecord struct {
	ID                   string                      `json:"id"`
	Slug                 string                      `json:"slug"`
	Version              string                      `json:"version"`
	Runner               string                      `json:"runner"`
	Status               string                      `json:"status"` // candidate, active, quarantined or retired
	ManifestSHA256       string                      `json:"manifest_sha256"`
	Name                 *string                     `json:"name,omitempty"`
	Description          *string                     `json:"description,omitempty"`
	Category             *string                     `json:"category,omitempty"`
	CodeLicense          *string                     `json:"code_license,omitempty"`
	DataLicense          *string                     `json:"data_license,omitempty"`
	LicenseURL           *string                     `json:"license_url,omitempty"`
	DisplayPolicy        *string                     `json:"display_policy,omitempty"`
	SamplingAlgorithm    *string                     `json:"sampling_algorithm,omitempty"`
	SourceRevision       *string                     `json:"source_revision,omitempty"`
	SourceURL            *string                     `json:"source_url,omitempty"`
	TaskCount            *int                        `json:"task_count,omitempty"`
	Metrics              []string                    `json:"metrics,omitempty"`
	RequiredCapabilities []string                    `json:"required_capabilities,omitempty"`
	FewshotConfig        map[string]any              `json:"fewshot_config,omitempty"`
	GenerationConfig     map[string]any              `json:"generation_config,omitempty"`
	Provenance           map[string]any              `json:"provenance,omitempty"`
	QuoteAvailability    *BenchmarkQuoteAvailability `json:"quote_availability,omitempty"`

	SuggestedSampleCount *int     `json:"suggested_sample_count"`
	OutputFormats        []string `json:"output_formats"`
	ResumeSupported      bool     `json:"resume_supported"`
	Family               string   `json:"family"`
	Visibility           string   `json:"visibility"`
}

// The states of a BenchmarkQuoteAvailability.
const (
	ReadyForQuote    = "ready_for_quote"
	QuoteUnavailable = "unavailable"
)

// BenchmarkQuoteAvailability says whether a quote can be made now, and if not, why.
type BenchmarkQuoteAvailability struct {
	Status     string  `json:"status"`
	ReasonCode *string `json:"reason_code,omitempty"`
	Message    *string `json:"message,omitempty"`
}

// ManagedRoute is one way to reach a model at published prices.
type ManagedRoute struct {
	ID              string         `json:"id"`
	ModelID         string         `json:"model_id"`
	DisplayName     string         `json:"display_name"`
	Provider        string         `json:"provider"`
	Status          string         `json:"status"`
	PriceVersion    string         `json:"price_version"`
	Revision        int            `json:"revision"`
	Capabilities    []string       `json:"capabilities"`
	Pricing         *Pricing       `json:"pricing"`
	HostingProvider *string        `json:"hosting_provider,omitempty"`
	Generation      map[string]any `json:"generation,omitempty"`
	Limits          map[string]any `json:"limits,omitempty"`

	Reasoning     *ReasoningControls `json:"reasoning"`
	Benchmarkable bool               `json:"benchmarkable"`
	Description   *string            `json:"description"`
	// Simulated routes never leave the machine: their answers are made from
	// the tasks and show nothing about a model.
	Simulated bool `json:"simulated"`
}

// CompatibleRoute is a route or connection with the answer to "can it run
// this benchmark".
type CompatibleRoute struct {
	ManagedRoute
	Compatible         bool       `json:"compatible"`
	Reasons            []Reason   `json:"reasons"`
	OutputFormats      []string   `json:"output_formats"`
	MinimumCapMicrousd *usd.Micro `json:"minimum_cap_microusd"`
	Kind               string     `json:"kind"` // managed or connection
	ConnectionID       *string    `json:"connection_id"`
}

// Reason is a code with its sentence.
type Reason struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Pricing is a route's price book: micro-dollars for a million tokens of each
// class, and fees. Null is a class that the route does not have.
type Pricing struct {
	Currency             string     `json:"currency"` // USD
	Unit                 string     `json:"unit"`     // per_million_tokens
	InputMicrousd        *usd.Micro `json:"input_microusd"`
	OutputMicrousd       *usd.Micro `json:"output_microusd"`
	CachedInputMicrousd  *usd.Micro `json:"cached_input_microusd"`
	ReasoningMicrousd    *usd.Micro `json:"reasoning_microusd"`
	PerRequestMicrousd   *usd.Micro `json:"per_request_microusd"`
	TaskFeeMicrousd      *usd.Micro `json:"task_fee_microusd"`
	ExecutionFeeMicrousd *usd.Micro `json:"execution_fee_microusd"`
	ProviderCharges      string     `json:"provider_charges"` // included or external
	EffectiveAt          *time.Time `json:"effective_at"`

	// Cache writes, where the provider bills them apart from other input.
	CacheWriteMicrousd     *usd.Micro          `json:"cache_write_microusd,omitempty"`
	CacheWriteHourMicrousd *usd.Micro          `json:"cache_write_1h_microusd,omitempty"`
	LongContext            *LongContextPricing `json:"long_context,omitempty"`
}

// LongContextPricing replaces every rate of a call with more than AboveTokens
// input tokens, cached ones included.
type LongContextPricing struct {
	AboveTokens            int64     `json:"above_tokens"`
	InputMicrousd          usd.Micro `json:"input_microusd"`
	OutputMicrousd         usd.Micro `json:"output_microusd"`
	CachedInputMicrousd    usd.Micro `json:"cached_input_microusd"`
	ReasoningMicrousd      usd.Micro `json:"reasoning_microusd"`
	CacheWriteMicrousd     usd.Micro `json:"cache_write_microusd"`
	CacheWriteHourMicrousd usd.Micro `json:"cache_write_1h_microusd"`
}

// ReasoningControls says what a route lets a caller choose about reasoning.
type ReasoningControls struct {
	Mode          string           `json:"mode"` // efforts, budget, fixed, provider_default or none
	Efforts       []string         `json:"efforts"`
	DefaultEffort *string          `json:"default_effort"`
	Budget        *ReasoningBudget `json:"budget"`
	Note          *string          `json:"note"`
}

// ReasoningBudget bounds a thinking budget, in tokens.
type ReasoningBudget struct {
	MinTokens     int  `json:"min_tokens"`
	MaxTokens     int  `json:"max_tokens"`
	Step          int  `json:"step"`
	DefaultTokens *int `json:"default_tokens"`
	CanDisable    bool `json:"can_disable"`
}

// ReasoningChoice is what a request asks for.
type ReasoningChoice struct {
	Mode         string `json:"mode"` // effort, budget, off or provider_default
	Effort       string `json:"effort,omitempty"`
	BudgetTokens int    `json:"budget_tokens,omitempty"`
}

// ExecutionOptions are the limits of one run.
type ExecutionOptions struct {
	MaxModelsPerRun int  `json:"max_models_per_run"`
	ChatEnabled     bool `json:"chat_enabled,omitempty"`
}
