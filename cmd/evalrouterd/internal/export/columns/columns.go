// Package columns writes the tasks of a run as Parquet. It only writes: files of
// strangers are read elsewhere, by a reader that does not believe them.
package columns

import (
	"fmt"
	"io"
	"iter"

	"github.com/parquet-go/parquet-go"
)

// Rows of a file stand together in groups, which are held in memory until they
// are written.
const (
	groupRows = 5000
	// groupBytes closes a group of long answers earlier.
	groupBytes = 8 << 20
)

// Row is a planned task: the columns of the CSV, with types in place of quotes.
// Texts are as they came, as in the JSON export: a column is no command for
// anybody.
type Row struct {
	ProfileID      string   `parquet:"profile_id,dict,zstd"`
	TaskID         string   `parquet:"task_id,zstd"`
	Attempt        int32    `parquet:"attempt,zstd"`
	Status         string   `parquet:"status,dict,zstd"`
	Outcome        string   `parquet:"outcome,dict,zstd"`
	ErrorCode      *string  `parquet:"error_code,optional,dict,zstd"`
	Score          *float64 `parquet:"score,optional,zstd"`
	Extracted      *string  `parquet:"extracted,optional,zstd"`
	Answer         *string  `parquet:"answer,optional,zstd"`
	AnswerWithheld *string  `parquet:"answer_withheld,optional,dict,zstd"`
	AnswerSHA256   *string  `parquet:"answer_sha256,optional,zstd"`
	InputTokens    *int64   `parquet:"input_tokens,optional,zstd"`
	OutputTokens   *int64   `parquet:"output_tokens,optional,zstd"`
	ChargeMicrousd int64    `parquet:"charge_microusd,zstd"`
	FinishReason   *string  `parquet:"finish_reason,optional,dict,zstd"`
	GraderID       *string  `parquet:"grader_id,optional,dict,zstd"`
	GraderVersion  *string  `parquet:"grader_version,optional,dict,zstd"`
	OriginRunID    string   `parquet:"origin_run_id,dict,zstd"`
	Reused         bool     `parquet:"reused,zstd"`
}

// Write writes rows in their order. The same rows give the same bytes. Score is
// that of the named metric.
func Write(out io.Writer, run, metric string, rows iter.Seq2[Row, error]) error {
	w := parquet.NewGenericWriter[Row](out, parquet.CreatedBy("evalrouter", "", ""), parquet.KeyValueMetadata("evalrouter.run_id", run), parquet.KeyValueMetadata("evalrouter.score", metric))
	n, held := 0, 0
	for row, err := range rows {
		if err != nil {
			return err
		}
		if _, err := w.Write([]Row{row}); err != nil {
			return fmt.Errorf("write task %s: %w", row.TaskID, err)
		}
		n++
		if row.Answer != nil {
			held += len(*row.Answer)
		}
		if n < groupRows && held < groupBytes {
			continue
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("write tasks up to %s: %w", row.TaskID, err)
		}
		n, held = 0, 0
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("end the file: %w", err)
	}
	return nil
}
