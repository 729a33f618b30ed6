package traces

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// judgedAtOnce bounds a transaction: what arrives meanwhile waits for it.
const judgedAtOnce = 50

// KeepJudged keeps what a judge said, and what it found in traces that failed. A
// trace that the same revision has judged keeps what was said first. It may be
// called again with the same, whatever became of the call before.
func (s *Store) KeepJudged(ctx context.Context, sc core.Scope, e core.Evaluator, all []core.Judged, newID func() string) (out core.JudgedFate, err error) {
	for len(all) > 0 {
		some := all[:min(len(all), judgedAtOnce)]
		all = all[len(some):]
		var fate core.JudgedFate
		err := s.ask(ctx, func(t Tx) error {
			fate = core.JudgedFate{}
			for _, j := range some {
				if err := s.keepJudged(t, sc, e, j, newID, &fate); err != nil {
					return fmt.Errorf("keep what was said of trace %s: %w", j.Trace, err)
				}
			}
			return nil
		})
		if err != nil {
			return out, err
		}
		out.Kept, out.Before, out.Gone, out.Findings = out.Kept+fate.Kept, out.Before+fate.Before, out.Gone+fate.Gone, out.Findings+fate.Findings
	}
	return out, nil
}

func (s *Store) keepJudged(t Tx, sc core.Scope, e core.Evaluator, j core.Judged, newID func() string, fate *core.JudgedFate) error {
	var num int64
	rows, err := t.Rows(`SELECT num FROM traces WHERE workspace_id = $1 AND id = $2`, string(sc.Workspace), string(j.Trace))
	there, err := single(rows, err, &num)
	if err != nil || !there {
		fate.Gone++
		return err
	}
	n, err := t.Exec(`INSERT INTO trace_evaluations (id, workspace_id, trace_id, evaluator_id, revision, label, why, run_id, cost, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (evaluator_id, revision, trace_id) DO NOTHING`,
		s.newID(), string(sc.Workspace), string(j.Trace), string(e.ID), j.Revision, j.Label, j.Why, string(j.Run), int64(j.Cost), int64(t.Now()))
	switch {
	case err != nil:
		return err
	case n == 0:
		fate.Before++
		return nil
	}
	fate.Kept++
	if j.Found == nil {
		return nil
	}
	fresh, err := found(t, sc, e, *j.Found, newID)
	if fresh {
		fate.Findings++
	}
	return err
}

// JudgedBy says which traces a revision of a judge has judged.
func (s *Store) JudgedBy(ctx context.Context, sc core.Scope, e core.EvaluatorID, revision int, traces []core.TraceID) (map[core.TraceID]bool, error) {
	out := map[core.TraceID]bool{}
	err := inChunks(len(traces), contentsAtOnce, func(from, to int) error {
		args := []any{string(sc.Workspace), string(e), revision}
		for _, id := range traces[from:to] {
			args = append(args, string(id))
		}
		rows, err := s.db.QueryContext(ctx, `SELECT trace_id FROM trace_evaluations WHERE workspace_id = $1 AND evaluator_id = $2 AND revision = $3 AND trace_id IN (VALUES `+marks(4, to-from, 1)+`)`, args...)
		_, err = gather(rows, err, func(rows *sql.Rows) (id core.TraceID, err error) {
			if err = rows.Scan(&id); err == nil {
				out[id] = true
			}
			return id, err
		})
		return err
	})
	return out, err
}

// Evaluations lists what was said of a trace, in that order.
func (s *Store) Evaluations(ctx context.Context, sc core.Scope, id core.TraceID, after *core.Place, limit int) ([]core.Judged, error) {
	if _, err := s.Trace(ctx, sc, id); err != nil {
		return nil, err
	}
	text, args := `SELECT id, trace_id, evaluator_id, revision, label, why, run_id, cost, at FROM trace_evaluations WHERE workspace_id = $1 AND trace_id = $2`, []any{string(sc.Workspace), string(id)}
	if after != nil {
		text += ` AND (at > $3 OR (at = $4 AND id > $5))`
		args = append(args, int64(after.At), int64(after.At), after.ID)
	}
	args = append(args, limit)
	rows, err := s.db.QueryContext(ctx, text+fmt.Sprintf(` ORDER BY at, id LIMIT $%d`, len(args)), args...)
	return gather(rows, err, func(rows *sql.Rows) (j core.Judged, err error) {
		return j, rows.Scan(&j.ID, &j.Trace, &j.Evaluator, &j.Revision, &j.Label, &j.Why, &j.Run, &j.Cost, &j.At)
	})
}
