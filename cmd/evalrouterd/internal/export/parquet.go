package export

import (
	"context"
	"io"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export/columns"
)

// Parquet writes one row a planned task, in the run's order. The same run gives
// the same bytes. Score is that of the run's headline.
func (s Source) Parquet(ctx context.Context, r Run, metric string, out io.Writer) error {
	return columns.Write(out, string(r.ID), metric, func(yield func(columns.Row, error) bool) {
		reader := s.Reader(r)
		for row, err := range s.Rows(ctx, r, 0) {
			var line columns.Row
			if err == nil {
				var a Answer
				if a, err = reader.Answer(ctx, row); err == nil {
					line = columnsOf(r, row, a)
				}
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	})
}

func columnsOf(r Run, row Row, a Answer) columns.Row {
	id, version := graderOf(row)
	line := columns.Row{
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
