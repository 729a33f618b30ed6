package api

import (
	"encoding/json"
	"errors"
	"time"
)

// Formats of a benchmark source. A package is a bundle that evalrouter-bench
// wrote.
const (
	SourceJSONL   = "jsonl"
	SourceCSV     = "csv"
	SourceParquet = "parquet"
	SourcePackage = "package"
)

// Statuses of a benchmark source, and of an import or a private benchmark.
const (
	SourcePending   = "pending"
	SourceVerifying = "verifying"
	SourceCompleted = "completed"
	SourceFailed    = "failed"
	SourceArchived  = "archived"

	ImportRunning   = "running"
	ImportCompleted = "completed"
	ImportFailed    = "failed"

	BenchmarkActive   = "active"
	BenchmarkArchived = "archived"
)

// Limits of a source.
const (
	MaxSourceBytes  = 64 << 20
	MaxPackageBytes = 100 << 20
	MaxSourceRows   = 100_000
)

// NewBenchmarkSource announces a file, whose bytes are uploaded afterwards.
type NewBenchmarkSource struct {
	FileName string `json:"file_name"`
	Format   string `json:"format"`
	Bytes    int64  `json:"bytes"`
	SHA256   string `json:"sha256"`
}

// BenchmarkSource is one file of a workspace. RowCount and Columns are null
// before it is completed; Columns is null for a package.
type BenchmarkSource struct {
	ID       string `json:"id"`
	FileName string `json:"file_name"`
	Format   string `json:"format"`
	Bytes    int64  `json:"bytes"`
	SHA256   string `json:"sha256"`
	// ReceivedBytes is how much of it is there, from the start on: where an
	// upload goes on.
	ReceivedBytes int64    `json:"received_bytes"`
	RowCount      *int     `json:"row_count"`
	Columns       []string `json:"columns"`
	Status        string   `json:"status"`
	// ErrorCode and ErrorMessage say why it failed.
	ErrorCode    *string    `json:"error_code"`
	ErrorMessage *string    `json:"error_message"`
	CreatedAt    time.Time  `json:"created_at"`
	ArchivedAt   *time.Time `json:"archived_at"`
	// URI names the source in a manifest.
	URI string `json:"uri"`
}

// NewBenchmarkImport asks for files of a public data set,
// hf://ORG/DATASET@REF, by their paths in it.
type NewBenchmarkImport struct {
	Source string   `json:"source"`
	Files  []string `json:"files"`
}

// BenchmarkImport is the receipt of an import. Commit is 40 hex digits, null
// until it is known.
type BenchmarkImport struct {
	ID           string         `json:"id"`
	Status       string         `json:"status"`
	Source       string         `json:"source"`
	Commit       *string        `json:"commit"`
	Files        []ImportedFile `json:"files"`
	ErrorCode    *string        `json:"error_code"`
	ErrorMessage *string        `json:"error_message"`
	CreatedAt    time.Time      `json:"created_at"`
	EndedAt      *time.Time     `json:"ended_at"`
}

// ImportedFile is one file of an import and the source that it became.
type ImportedFile struct {
	URI      string `json:"uri"`
	SHA256   string `json:"sha256"`
	Bytes    int64  `json:"bytes"`
	SourceID string `json:"source_id"`
}

// Names in a manifest's columns that do not stand in the prompt.
const (
	ColumnAnswer = "answer"
	ColumnID     = "id"
	ColumnGroup  = "group"
)

// ColumnChoices is the name of the options, which stand in the prompt as
// {{choices}}.
const ColumnChoices = "choices"

// BenchmarkManifest says what a source means. Columns maps names to columns:
// answer is required, id, group and choices have a meaning, and every other
// name stands in the template as {{name}}. For a package only name, source and
// rights_attestation are given: the rest is in the package.
type BenchmarkManifest struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	// SHA256 and Bytes pin the source, where they are given.
	SHA256         string                 `json:"sha256,omitempty"`
	Bytes          int64                  `json:"bytes,omitempty"`
	Task           string                 `json:"task,omitempty"`
	Columns        map[string]ColumnNames `json:"columns,omitempty"`
	PromptTemplate string                 `json:"prompt_template,omitempty"`
	GraderOptions  json.RawMessage        `json:"grader_options,omitempty"`
	// AnswerFormat is what the answer column holds: text, list or json, and with
	// choices letter, index (from 0) or choice (the words of an option). Without
	// it: json for json_field_match, else letter with choices and text without.
	AnswerFormat      string `json:"answer_format,omitempty"`
	MaxOutputTokens   int64  `json:"max_output_tokens,omitempty"`
	DataLicense       string `json:"data_license,omitempty"`
	RightsAttestation bool   `json:"rights_attestation"`
}

// ColumnNames is one column, or a list of them: choices may stand in a column
// that holds a list, or each in a column of its own.
type ColumnNames []string

// MarshalJSON writes one name as a string.
func (c ColumnNames) MarshalJSON() ([]byte, error) {
	if len(c) == 1 {
		return json.Marshal(c[0])
	}
	return json.Marshal([]string(c))
}

// UnmarshalJSON accepts a string and a list of strings.
func (c *ColumnNames) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*c = ColumnNames{one}
		return nil
	}
	var many []string
	if json.Unmarshal(b, &many) != nil || len(many) == 0 {
		return errors.New("a column is a name or a list of names")
	}
	*c = many
	return nil
}

// BenchmarkPreview is what a manifest would make of its source. Errors are the
// first hundred, ErrorCount counts all; Examples are up to five.
type BenchmarkPreview struct {
	OK         bool               `json:"ok"`
	RowCount   int                `json:"row_count"`
	Errors     []RowError         `json:"errors"`
	ErrorCount int                `json:"error_count"`
	Examples   []BenchmarkExample `json:"examples"`
	Warnings   []string           `json:"warnings"`
}

// RowError is one thing that is wrong with a row, counted from 1. It never
// holds a value of the data.
type RowError struct {
	Row     *int    `json:"row"`
	Column  *string `json:"column"`
	Code    string  `json:"code"`
	Message string  `json:"message"`
}

// BenchmarkExample is a task as a model is asked it, and what is right.
type BenchmarkExample struct {
	Prompt string `json:"prompt"`
	Answer string `json:"answer"`
}

// PrivateBenchmark is a benchmark that only its workspace sees.
type PrivateBenchmark struct {
	ProfileID         string                      `json:"profile_id"`
	Name              string                      `json:"name"`
	Task              string                      `json:"task"`
	Status            string                      `json:"status"`
	SourceURI         string                      `json:"source_uri"`
	ManifestSHA256    string                      `json:"manifest_sha256"`
	TaskCount         int                         `json:"task_count"`
	CreatedBy         string                      `json:"created_by"`
	CreatedAt         time.Time                   `json:"created_at"`
	ArchivedAt        *time.Time                  `json:"archived_at"`
	QuoteAvailability *BenchmarkQuoteAvailability `json:"quote_availability"`
}
