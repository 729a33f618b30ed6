package core

// A workspace brings data of its own: a source is one file of it, an import
// fetches files from a public hub, and a benchmark is made of a source and a
// manifest.

// SourceID is a random UUID.
type SourceID string

// ImportID is a random UUID.
type ImportID string

// Formats of a source.
const (
	FormatJSONL   = "jsonl"
	FormatCSV     = "csv"
	FormatParquet = "parquet"
	FormatPackage = "package" // a bundle of evalrouter-bench
)

// States of a source. A pending one whose bytes are all there is being looked
// at.
const (
	SourcePending   = "pending"
	SourceCompleted = "completed"
	SourceFailed    = "failed"
	// UploadAbandoned is the error code of a source that was not whole in time.
	UploadAbandoned = "upload_abandoned"
	SourceArchived  = "archived"
)

// Limits of a workspace's own data.
const (
	MaxSourceBytes   = 64 << 20
	MaxPackageBytes  = 100 << 20
	MaxSourceRows    = 100_000
	MaxSourceColumns = 1_000
	// SourceChunk is how much of a source is kept as one piece, at most.
	SourceChunk      = 1 << 20
	MaxSources       = 1_000 // that are neither archived nor failed
	MaxOwnBenchmarks = 1_000 // that are not archived
)

// DataSource is one file of a workspace. Rows and Columns are known once it is
// completed.
type DataSource struct {
	ID        SourceID
	Workspace WorkspaceID
	FileName  string
	Format    string
	Bytes     int64
	SHA256    string
	// Received is how many bytes have come, from the start on.
	Received int64
	Rows     int
	Columns  []string
	Status   string
	// Error is the code of why it failed, Reason the sentence.
	Error, Reason string
	// URI names the source in a manifest.
	URI        string
	Actor      string
	CreatedAt  Micros
	ArchivedAt Micros // 0 = not archived
}

// WhatFound is what looking at a whole source came to: its rows and columns,
// or the code and the sentence of what is wrong.
type WhatFound struct {
	Rows          int
	Columns       []string
	Error, Reason string
}

// States of an import.
const (
	ImportRunning   = "running"
	ImportCompleted = "completed"
	ImportFailed    = "failed"
)

// DataImport fetches files from a hub at one commit.
type DataImport struct {
	ID     ImportID
	Source string // as it was asked for
	Paths  []string
	Commit string // 40 hex digits, "" until it is known
	Files  []ImportedFile
	Status string
	// Error is the code of why it failed, Reason the sentence.
	Error, Reason      string
	Actor              string
	CreatedAt, EndedAt Micros
}

// ImportedFile is the receipt of one file.
type ImportedFile struct {
	URI    string   `json:"uri"`
	SHA256 string   `json:"sha256"`
	Bytes  int64    `json:"bytes"`
	Source SourceID `json:"source"`
}

// OwnBenchmark is the record of a benchmark that a workspace made. What is
// asked and how it is graded is its profile.
type OwnBenchmark struct {
	Profile        ProfileID
	Name           string
	Task           string // the kind of its grader
	SourceURI      string
	ManifestSHA256 string
	TaskCount      int
	Actor          string
	CreatedAt      Micros
	ArchivedAt     Micros
}

// Once names one request of an operation: what was done for it is done once, and
// the same three values again are answered with what came of it.
type Once struct{ Op, Key, Hash string }

// Place is where a list goes on: behind what was made then, with that id.
type Place struct {
	At Micros
	ID string
}
