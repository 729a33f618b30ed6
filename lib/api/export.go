package api

import (
	"time"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// Schemas of exported documents.
const (
	ExportSchema        = "evalrouter.export.v1"
	ExportSummarySchema = "evalrouter.export_summary.v1"
	ProgressSchema      = "evalrouter.progress.v1"
	OperationSchema     = "evalrouter.operation.v1"
)

// ExportSummary is a finished run without its samples.
type ExportSummary struct {
	Schema          string           `json:"schema"`
	RunID           string           `json:"run_id"`
	ResultVersion   int              `json:"result_version"`
	WorkspaceID     string           `json:"workspace_id"`
	GeneratedAt     time.Time        `json:"generated_at"` // when the result was frozen
	TargetKind      string           `json:"target_kind"`  // managed or connection
	Identities      ExportIdentities `json:"identities"`
	Model           SelectedModel    `json:"model"`
	Reasoning       *ReasoningChoice `json:"reasoning"`
	Summary         ResultSummary    `json:"summary"`
	Profiles        []ExportProfile  `json:"profiles"`
	BillingSnapshot BillingSnapshot  `json:"billing_snapshot"`
	Continuation    *ChainPosition   `json:"continuation"`
	ExportPolicy    ExportPolicy     `json:"export_policy"`
	Checksum        string           `json:"checksum"`
}

// Export is a finished run with every planned task exactly once.
type Export struct {
	ExportSummary
	Result  ResultRecord   `json:"result"`
	Samples []ExportSample `json:"samples"`
}

// ExportIdentities is what two runs must share to be compared.
type ExportIdentities struct {
	ProfileID           string         `json:"profile_id"`
	Slug                string         `json:"slug"`
	Version             string         `json:"version"`
	ManifestSHA256      string         `json:"manifest_sha256"`
	DatasetAssetsSHA256 string         `json:"dataset_assets_sha256"`
	PopulationCount     int            `json:"population_count"`
	PopulationSHA256    string         `json:"population_sha256"`
	SelectedCount       int            `json:"selected_count"`
	TaskIDsHash         string         `json:"task_ids_hash"`
	SamplingAlgorithm   string         `json:"sampling_algorithm"`
	Coverage            Coverage       `json:"coverage"`
	OutputFormat        string         `json:"output_format"`
	Graders             []GraderRecord `json:"graders"`
}

// GraderRecord identifies a grader.
type GraderRecord struct {
	ID      string `json:"id"`
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
}

// ExportProfile is one profile's figures.
type ExportProfile struct {
	ProfileID   string         `json:"profile_id"`
	Native      map[string]any `json:"native"`
	Headline    ExportHeadline `json:"headline"`
	Metrics     []MetricRecord `json:"metrics"`
	Counts      CoverageCounts `json:"counts"`
	ErrorCounts map[string]int `json:"error_counts"`
}

// ExportHeadline is the headline with its own denominator. Value is null when
// nothing was graded.
type ExportHeadline struct {
	Key         string   `json:"key"`
	Name        string   `json:"name"`
	Value       *float64 `json:"value"`
	Denominator int      `json:"denominator"`
	Direction   string   `json:"direction"`
}

// ChainPosition says where a run stands in a chain of continuations.
type ChainPosition struct {
	ChainIndex  int     `json:"chain_index"`
	SourceRunID *string `json:"source_run_id"`
}

// ExportPolicy says whether answers are in the export.
type ExportPolicy struct {
	Answers      string    `json:"answers"` // included, withheld or expired
	Reason       *string   `json:"reason"`
	RawExpiresAt time.Time `json:"raw_expires_at"`
}

// ExportSample is one task of a run.
type ExportSample struct {
	ProfileID      string             `json:"profile_id"`
	TaskID         string             `json:"task_id"`
	Attempt        int                `json:"attempt"`
	Status         string             `json:"status"`
	Outcome        string             `json:"outcome"`
	ErrorCode      *string            `json:"error_code"`
	Scores         map[string]float64 `json:"scores"`
	Answer         *string            `json:"answer"`
	AnswerWithheld *string            `json:"answer_withheld"` // null, policy or expired
	AnswerSHA256   *string            `json:"answer_sha256"`
	Usage          *SampleUsage       `json:"usage"`
	ChargeMicrousd usd.Micro          `json:"charge_microusd"`
	FinishReason   *string            `json:"finish_reason"`
	Grader         GraderRecord       `json:"grader"`
	OriginRunID    string             `json:"origin_run_id"`
	Reused         bool               `json:"reused"`
	// Judges is what the models said that graded the answer, in the order of
	// the panel; absent where a program grades.
	Judges []JudgeReply `json:"judges,omitempty"`
}

// JudgeReply is the newest call to one judge about one answer. Nonce is what
// fenced the answer in the prompt: with it, the prompt can be made again.
type JudgeReply struct {
	RouteID        string       `json:"route_id"`
	Status         string       `json:"status"` // responded, rejected, voided, unknown or late
	Reply          *string      `json:"reply"`
	ReplyWithheld  *string      `json:"reply_withheld"` // null or expired
	Usage          *SampleUsage `json:"usage"`
	ChargeMicrousd usd.Micro    `json:"charge_microusd"`
	FinishReason   *string      `json:"finish_reason"`
	Nonce          string       `json:"nonce"`
}

// SampleUsage is the token count of the scored answer.
type SampleUsage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
}

// ScoreLine is one planned task of a scores export. Score is null where the
// task was not graded; Cluster names the tasks that are alike, "" for none.
type ScoreLine struct {
	TaskID  string   `json:"task_id"`
	Attempt int      `json:"attempt"`
	Score   *float64 `json:"score"`
	Outcome string   `json:"outcome"`
	Cluster string   `json:"cluster"`
}
