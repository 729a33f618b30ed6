package history

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/phrase"
	"github.com/evalrouter/evalrouter/lib/usd"
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

const (
	briefly = `s.idx, s.task_id, s.state, s.outcome, s.attempt, s.charge, s.score, s.grader, s.code, s.origin,
	CASE WHEN s.source_run IS NULL THEN '' ELSE coalesce((SELECT o.id FROM runs o WHERE o.num = s.source_run), '') END, b.data, coalesce(c.finish, ''), coalesce(c.usage_doc, '')`
	wholly = briefly + `, s.max_cost, s.extracted, s.span_from, s.span_to, s.rule, s.grader_compat, s.started_at, s.ended_at, coalesce(b.hash, '')`

	fromSamples = ` FROM samples s
	LEFT JOIN calls c ON c.run = ` + madeIn + ` AND c.idx = s.idx AND c.kind = 'target' AND c.part = 0 AND (c.attempt = s.attempt OR c.id = s.source_call_id) AND c.state IN ('responded', 'late')
	LEFT JOIN blobs b ON b.call_id = c.id
	WHERE s.run = (SELECT num FROM runs WHERE id = $1 AND workspace_id = $2) AND s.idx `
)

// samplePage is how many rows are read at once: a long export holds neither
// a whole run in memory nor one read transaction open.
const samplePage = 500

// Samples yields the tasks of a run that have left planned, in order, from a
// place on. The first read is of one row, so that a reader of one task reads no
// more; for the others the statement is compiled once.
func (r Reader) Samples(ctx context.Context, sc core.Scope, run core.RunID, from int) iter.Seq2[SampleRow, error] {
	return r.samples(ctx, sc, run, from, wholly)
}

// Brief is Samples without how and when a task was graded, and without the hash
// of its answer: for files of very many tasks, where each column counts.
func (r Reader) Brief(ctx context.Context, sc core.Scope, run core.RunID, from int) iter.Seq2[SampleRow, error] {
	return r.samples(ctx, sc, run, from, briefly)
}

func (r Reader) samples(ctx context.Context, sc core.Scope, run core.RunID, from int, columns string) iter.Seq2[SampleRow, error] {
	text := "SELECT " + columns + fromSamples + `>= $3 ORDER BY s.idx LIMIT $4`
	return func(yield func(SampleRow, error) bool) {
		query := func(ctx context.Context, args ...any) (*sql.Rows, error) {
			return r.db.QueryContext(ctx, text, args...)
		}
		var page []SampleRow
		for size := 1; ; size = samplePage {
			rows, err := query(ctx, string(run), string(sc.Workspace), from, size)
			if err == nil {
				page, err = scanSamples(rows, run, columns == briefly, slices.Grow(page[:0], size))
			}
			if err != nil {
				yield(SampleRow{}, err)
				return
			}
			for i := range page {
				if !yield(page[i], nil) {
					return
				}
			}
			if len(page) < size {
				return
			}
			from = page[len(page)-1].Idx + 1
			if size == 1 {
				again, err := r.db.PrepareContext(ctx, text)
				if err != nil {
					yield(SampleRow{}, err)
					return
				}
				defer again.Close()
				query = again.QueryContext
			}
		}
	}
}

// samplesAtOnce bounds how many rows SamplesAt reads.
const samplesAtOnce = 64

// SamplesAt reads the tasks of a run at some places, at most 64 of them. A place
// that nobody opened is not in the result.
func (r Reader) SamplesAt(ctx context.Context, sc core.Scope, run core.RunID, at []int) (map[int]SampleRow, error) {
	if len(at) == 0 || len(at) > samplesAtOnce {
		return nil, fmt.Errorf("read %d tasks of a run at once: at most %d, and at least one", len(at), samplesAtOnce)
	}
	args := []any{string(run), string(sc.Workspace)}
	for i := range samplesAtOnce { // its text is always the same
		args = append(args, at[min(i, len(at)-1)])
	}
	rows, err := r.db.QueryContext(ctx, phrase.In("SELECT "+wholly+fromSamples, 3, samplesAtOnce), args...)
	if err != nil {
		return nil, err
	}
	list, err := scanSamples(rows, run, false, nil)
	if err != nil {
		return nil, err
	}
	out := make(map[int]SampleRow, len(list))
	for _, row := range list {
		out[row.Idx] = row
	}
	return out, nil
}

// scanSamples reads rows to their end, behind those of out. What the driver gives
// is taken as it gives it and converted here: database/sql would convert by way of
// reflection and texts.
func scanSamples(rows *sql.Rows, run core.RunID, brief bool, out []SampleRow) ([]SampleRow, error) {
	defer rows.Close()
	var idx, attempt, maxCost, charge, started, ended int64
	var state, outcome, origin, originRun string
	var score sql.NullFloat64
	var a, b sql.NullInt64
	var row SampleRow
	into := []any{&idx, &row.TaskID, &state, &outcome, &attempt, &charge, &score, &row.Grader, &row.Code, &origin, &originRun, &row.Raw, &row.Finish, &row.UsageDoc}
	if !brief {
		into = append(into, &maxCost, &row.Extracted, &a, &b, &row.Rule, &row.Compat, &started, &ended, &row.SHA256)
	}
	for rows.Next() {
		row.Raw, row.Score, row.Span = nil, nil, nil
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row.Run, row.Idx, row.Attempt, row.MaxCost, row.Charge, row.StartedAt, row.EndedAt = run, int(idx), int(attempt), usd.Micro(maxCost), usd.Micro(charge), core.Micros(started), core.Micros(ended)
		row.State, row.Outcome, row.Origin, row.OriginRun = core.SampleState(state), bundle.Outcome(outcome), core.Origin(origin), core.RunID(originRun)
		if score.Valid {
			row.Score = new(score.Float64)
		}
		if a.Valid && b.Valid {
			row.Span = &[2]int{int(a.Int64), int(b.Int64)}
		}
		out = append(out, row)
	}
	return out, rows.Err()
}
