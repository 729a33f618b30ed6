package export

import (
	"context"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// groupRows is how many rows of a Parquet file stand together. They are held in
// memory until their group is written.
const groupRows = 5000

// groupBytes closes a group of long answers earlier.
const groupBytes = 8 << 20

// sampleColumns is a planned task in a Parquet file: the columns of the CSV,
// with types in place of quotes. Texts are as they came, as in the JSON export:
// a column is no command for anybody.
type sampleColumns struct {
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

// Parquet writes one row a planned task, in the run's order. The same run gives
// the same bytes. Score is that of the run's headline.
func (s Source) Parquet(ctx context.Context, r Run, metric string, out io.Writer) error {
	w := parquet.NewGenericWriter[sampleColumns](out, parquet.CreatedBy("evalrouter", "", ""), parquet.Compression(&zstd.Codec{}), parquet.KeyValueMetadata("evalrouter.run_id", string(r.ID)), parquet.KeyValueMetadata("evalrouter.score", metric))
	rows, held := 0, 0
	for row, err := range s.Rows(ctx, r, 0) {
		if err != nil {
			return err
		}
		a, err := s.Answer(ctx, r, row)
		if err != nil {
			return err
		}
		line := columnsOf(r, row, a)
		if _, err := w.Write([]sampleColumns{line}); err != nil {
			return fmt.Errorf("write task %d: %w", row.Idx, err)
		}
		rows++
		if a.Text != nil {
			held += len(*a.Text)
		}
		if rows < groupRows && held < groupBytes {
			continue
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("write tasks up to %d: %w", row.Idx, err)
		}
		rows, held = 0, 0
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("end the file: %w", err)
	}
	return nil
}

func columnsOf(r Run, row Row, a Answer) sampleColumns {
	id, version := graderOf(row)
	line := sampleColumns{
		ProfileID: string(r.Quote.Profile.ID), TaskID: row.TaskID, Attempt: int32(row.Attempt), Status: row.Status, Outcome: string(row.Outcome), ErrorCode: some(row.Code), Score: row.Score,
		Extracted: some(row.Extracted), Answer: a.Text, AnswerSHA256: some(a.SHA256), ChargeMicrousd: int64(row.Charge), FinishReason: some(a.Finish), GraderID: some(id), GraderVersion: some(version),
		OriginRunID: string(originOf(r, row)), Reused: reused(row),
	}
	if a.Expired {
		line.AnswerWithheld = some("expired")
	}
	if a.Usage != nil {
		line.InputTokens, line.OutputTokens = new(a.Usage.InputTokens()), new(a.Usage.OutputTokens())
	}
	return line
}

// some is a text, nil for none.
func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
