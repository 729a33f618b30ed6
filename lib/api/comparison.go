package api

import (
	"time"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// ComparisonSchema is the schema of a Comparison.
const ComparisonSchema = "evalrouter.comparison.v1"

// Kinds of a comparison's source.
const (
	SourceSummary = "summary"
	SourceFull    = "full"
	SourceChain   = "chain"
	SourceScores  = "scores"
)

// Comparison is finished runs of the same tasks side by side, as they were
// exported. Nothing in it was graded again.
type Comparison struct {
	Schema      string              `json:"schema"`
	GeneratedAt time.Time           `json:"generated_at"`
	CLIVersion  string              `json:"cli_version"`
	WorkspaceID string              `json:"workspace_id"`
	GroupID     *string             `json:"group_id"`
	Benchmark   ExportIdentities    `json:"benchmark"`
	Series      []ComparisonSeries  `json:"series"`
	Warnings    []ComparisonWarning `json:"warnings"`
	Evidence    *ComparedEvidence   `json:"evidence"`
	// Statistics is there when it was asked for, and is the only place with
	// differences and tests.
	Statistics *ComparedStatistics `json:"statistics,omitempty"`
}

// ComparisonSeries is one run, or one chain of runs.
type ComparisonSeries struct {
	Label  string   `json:"label"` // A, B, ...
	RunIDs []string `json:"run_ids"`
	Status string   `json:"status"`
	// Partial says that the run did not complete, or graded fewer tasks than it
	// planned; PartialReasons are codes.
	Partial        bool           `json:"partial"`
	PartialReasons []string       `json:"partial_reasons"`
	Model          ComparedModel  `json:"model"`
	Coverage       CoverageCounts `json:"coverage"`
	ErrorCounts    map[string]int `json:"error_counts"`
	Native         map[string]any `json:"native"`
	Headline       ExportHeadline `json:"headline"`
	// Metrics are the figures of a chain as they were kept, each with its recorded
	// sample count; nothing that is missing in one was computed.
	Metrics []MetricRecord `json:"metrics,omitempty"`
	// Unscored counts the tasks without a score by why they have none. None of them
	// counts in a figure.
	Unscored       []PendingReason `json:"unscored,omitempty"`
	ChargeMicrousd *usd.Micro      `json:"charge_microusd"` // null until it is settled, and where it is not known
	BillingState   string          `json:"billing_state"`
	Chain          *ComparedChain  `json:"chain"`
	Source         ComparedSource  `json:"source"`
	Scores         *ComparedSource `json:"scores,omitempty"`
	// Members are the full exports of a chain's runs, in their order, where
	// evidence was asked for.
	Members        []ComparedSource `json:"members,omitempty"`
	ResultChecksum string           `json:"result_checksum"`
	RawAnswers     string           `json:"raw_answers"` // included, withheld or expired
}

// ComparedModel is what a series was answered by and how it was asked.
type ComparedModel struct {
	Kind         string           `json:"kind"`
	RouteID      *string          `json:"route_id"`
	ConnectionID *string          `json:"connection_id"`
	ModelID      string           `json:"model_id"`
	Name         string           `json:"name"`
	Revision     int              `json:"revision"`
	Protocol     string           `json:"protocol"`
	Limits       map[string]any   `json:"limits"`
	Generation   map[string]any   `json:"generation"`
	Routing      map[string]any   `json:"routing"`
	Reasoning    *ReasoningChoice `json:"reasoning"`
	Simulated    bool             `json:"simulated"`
	// Variant is the output format, which is the generation variant of SOB Text;
	// "" elsewhere.
	Variant string `json:"variant,omitempty"`
}

// ComparedChain says which chain of continuations a series is of. Version and the
// result versions of Runs say exactly which: a later resume makes another one.
type ComparedChain struct {
	Label    string     `json:"label"`
	Version  string     `json:"version"`
	Complete bool       `json:"complete"`
	Runs     []ChainRun `json:"runs,omitempty"`
	// Mismatches counts reused answers that got another score when they were graded
	// again.
	Mismatches int `json:"mismatches,omitempty"`
}

// ComparedSource is a saved export, byte for byte.
type ComparedSource struct {
	Path   string `json:"path"` // beside comparison.json
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Kind   string `json:"kind"`
}

// ComparisonWarning names what differs between series or is missing in some.
type ComparisonWarning struct {
	Code   string   `json:"code"`
	Series []string `json:"series"`
	Detail string   `json:"detail"`
}

// ComparedEvidence is what the tasks of full exports say about comparability.
type ComparedEvidence struct {
	Checked        bool            `json:"checked"`
	GraderVersions string          `json:"grader_versions"` // same or different
	TaskSets       string          `json:"task_sets"`       // same or different
	Series         []SeriesTaskSet `json:"series"`
}

// SeriesTaskSet is the tasks of a series that were graded, and by what.
type SeriesTaskSet struct {
	Label   string         `json:"label"`
	Graded  int            `json:"graded"`
	SHA256  string         `json:"sha256"` // of the sorted ids, one a line
	Graders []GraderRecord `json:"graders"`
	// Answers counts graded tasks with their answer in the export.
	Answers int `json:"answers"`
}

// Verdicts of a pair, about its first series.
const (
	VerdictBetter   = "better"
	VerdictWorse    = "worse"
	VerdictNotShown = "not shown"
)

// ComparedStatistics tests each pair of series on the tasks that both were
// graded on.
type ComparedStatistics struct {
	Level      float64        `json:"level"`      // of all pairs together
	Confidence float64        `json:"confidence"` // of each interval
	Correction string         `json:"correction"` // holm
	Pairs      []ComparedPair `json:"pairs"`
}

// ComparedPair is two series on the same tasks. Difference is the mean score of
// the first less that of the second, with an interval for this pair alone; P is
// two-sided, and PHolm is P for all pairs together, by which the verdict is.
type ComparedPair struct {
	First  string `json:"first"`
	Second string `json:"second"`
	Method string `json:"method"` // mcnemar_exact, paired_bootstrap, clustered_bootstrap or none
	// Tasks were graded in both; LeftOut only in one of the two.
	Tasks   int `json:"tasks"`
	LeftOut int `json:"left_out"`
	// FirstHigher and SecondHigher count the flips: tasks on which only that one
	// was right, or scored higher.
	FirstHigher  int       `json:"first_higher"`
	SecondHigher int       `json:"second_higher"`
	Equal        int       `json:"equal"`
	Difference   *float64  `json:"difference"`
	Interval     *Interval `json:"interval"`
	P            *float64  `json:"p"`
	PHolm        *float64  `json:"p_holm"`
	Clusters     int       `json:"clusters,omitempty"`
	Resamples    int       `json:"resamples,omitempty"`
	Verdict      string    `json:"verdict"`
	// Reason says why nothing was tested, "" where something was.
	Reason string `json:"reason,omitempty"`
	// NeededTasks is about how many paired tasks would show this difference, null
	// where it is shown already or there is none.
	NeededTasks *int `json:"needed_tasks"`
}
