package history

import (
	"context"
	"database/sql"
	"iter"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// SampleRow is a task of a run with the evidence of its scored answer.
type SampleRow struct {
	core.Sample
	Raw      []byte // nil when there is none or it expired
	SHA256   string
	Finish   string
	UsageDoc string
}

// madeIn is the run that made the calls of a task s: in a continuation it may be
// an earlier one of the chain.
const madeIn = `CASE WHEN s.origin = 'reused' OR s.origin = 'saved_response' THEN s.source_run ELSE s.run END`

const selectSamples = `SELECT s.idx, s.task_id, s.state, s.outcome, s.attempt, s.max_cost, s.charge, s.score, s.extracted, s.span_from, s.span_to, s.rule, s.grader, s.grader_compat, s.code, s.started_at, s.ended_at,
	s.origin, coalesce((SELECT o.id FROM runs o WHERE o.num = s.source_run), ''), b.data, coalesce(b.hash, ''), coalesce(c.finish, ''), coalesce(c.usage_doc, '')
	FROM samples s
	LEFT JOIN calls c ON c.run = ` + madeIn + ` AND c.idx = s.idx AND c.kind = 'target' AND c.part = 0 AND (c.attempt = s.attempt OR c.id = s.source_call_id) AND c.state IN ('responded', 'late')
	LEFT JOIN blobs b ON b.call_id = c.id
	WHERE s.run = (SELECT num FROM runs WHERE id = $1 AND workspace_id = $4) AND s.idx >= $2 ORDER BY s.idx LIMIT $3`

// samplePage is how many rows are read at once: a long export holds neither
// a whole run in memory nor one read transaction open.
const samplePage = 500

// Samples yields the tasks of a run that have left planned, in order, from a
// place on. The first read is of one row, so that a reader of one task reads no
// more.
func (r Reader) Samples(ctx context.Context, sc core.Scope, run core.RunID, from int) iter.Seq2[SampleRow, error] {
	return func(yield func(SampleRow, error) bool) {
		for size := 1; ; size = samplePage {
			page, err := r.samplePage(ctx, sc, run, from, size)
			if err != nil {
				yield(SampleRow{}, err)
				return
			}
			for _, row := range page {
				if !yield(row, nil) {
					return
				}
			}
			if len(page) < size {
				return
			}
			from = page[len(page)-1].Idx + 1
		}
	}
}

func (r Reader) samplePage(ctx context.Context, sc core.Scope, run core.RunID, from, size int) ([]SampleRow, error) {
	rows, err := r.db.QueryContext(ctx, selectSamples, string(run), from, size, string(sc.Workspace))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []SampleRow
	for rows.Next() {
		row := SampleRow{Sample: core.Sample{Run: run}}
		var score sql.NullFloat64
		var a, b sql.NullInt64
		if err := rows.Scan(&row.Idx, &row.TaskID, &row.State, &row.Outcome, &row.Attempt, &row.MaxCost, &row.Charge, &score, &row.Extracted, &a, &b, &row.Rule, &row.Grader, &row.Compat, &row.Code,
			&row.StartedAt, &row.EndedAt, &row.Origin, &row.OriginRun, &row.Raw, &row.SHA256, &row.Finish, &row.UsageDoc); err != nil {
			return nil, err
		}
		if score.Valid {
			row.Score = &score.Float64
		}
		if a.Valid && b.Valid {
			row.Span = &[2]int{int(a.Int64), int(b.Int64)}
		}
		out = append(out, row)
	}
	return out, rows.Err()
}
