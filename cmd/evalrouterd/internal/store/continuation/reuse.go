package continuation

import (
	"context"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Keeper keeps what continuations find out about what they reuse. It is safe for
// concurrent use.
type Keeper struct {
	Reader
	do func(context.Context, func(Tx) error) error
}

// NewKeeper makes a keeper. do runs a function in a transaction, more than once
// where the transaction must be made again.
func NewKeeper(r Reader, do func(context.Context, func(Tx) error) error) Keeper {
	return Keeper{Reader: r, do: do}
}

// Reused lists up to limit reused tasks of a run with their scores, from a place
// on.
func (r Reader) Reused(ctx context.Context, run core.RunID, from, limit int) (out []core.Reused, err error) {
	found, err := r.db.QueryContext(ctx, `SELECT idx, score FROM samples WHERE run = (SELECT num FROM runs WHERE id = $1) AND idx >= $2 AND origin = 'reused' ORDER BY idx LIMIT $3`,
		string(run), from, limit)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var x core.Reused
		if err := found.Scan(&x.Idx, &x.Score); err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, found.Err()
}

// RecordMismatch keeps a reused answer that got another score.
func (k Keeper) RecordMismatch(ctx context.Context, run core.RunID, m core.Mismatch) error {
	return k.do(ctx, func(t Tx) error {
		var replayed any
		if m.Replayed != nil {
			replayed = *m.Replayed
		}
		_, err := t.Exec(`INSERT INTO reuse_mismatches (run, idx, original, replayed) SELECT num, CAST($2 AS BIGINT), CAST($3 AS DOUBLE PRECISION), CAST($4 AS DOUBLE PRECISION)
			FROM runs WHERE id = $1 ON CONFLICT (run, idx) DO NOTHING`, string(run), m.Idx, m.Original, replayed)
		if err != nil {
			return fmt.Errorf("keep mismatch of task %d: %w", m.Idx, err)
		}
		return nil
	})
}

// Mismatches lists what a chain's runs found so, in the order of the tasks, of
// each task the newest.
func (r Reader) Mismatches(ctx context.Context, sc core.Scope, run core.RunID) (out []core.Mismatch, err error) {
	found, err := r.db.QueryContext(ctx, `SELECT m.idx, s.task_id, m.original, m.replayed FROM reuse_mismatches m JOIN runs c ON c.num = m.run
		JOIN runs r ON r.chain_root = c.chain_root AND r.workspace_id = c.workspace_id JOIN samples s ON s.run = m.run AND s.idx = m.idx
		WHERE r.id = $1 AND r.workspace_id = $2 ORDER BY m.idx, c.chain_pos DESC`, string(run), string(sc.Workspace))
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var m core.Mismatch
		if err := found.Scan(&m.Idx, &m.TaskID, &m.Original, &m.Replayed); err != nil {
			return nil, err
		}
		if n := len(out); n == 0 || out[n-1].Idx != m.Idx {
			out = append(out, m)
		}
	}
	return out, found.Err()
}

// Decided counts the graded tasks of a run's chain by the run that graded them:
// the first one in which they are, for a grade is only ever taken over.
func (r Reader) Decided(ctx context.Context, sc core.Scope, run core.RunID) (map[core.RunID]int, error) {
	found, err := r.db.QueryContext(ctx, `SELECT o.id, count(*) FROM
		(SELECT c.chain_root, s.idx, min(c.chain_pos) AS pos FROM runs r JOIN runs c ON c.chain_root = r.chain_root AND c.chain_pos <= r.chain_pos JOIN samples s ON s.run = c.num
			WHERE r.id = $1 AND r.workspace_id = $2 AND s.state = 'graded' GROUP BY c.chain_root, s.idx) d
		JOIN runs o ON o.chain_root = d.chain_root AND o.chain_pos = d.pos GROUP BY o.id`, string(run), string(sc.Workspace))
	if err != nil {
		return nil, err
	}
	defer found.Close()
	out := map[core.RunID]int{}
	for found.Next() {
		var id core.RunID
		var n int
		if err := found.Scan(&id, &n); err != nil {
			return nil, err
		}
		out[id] = n
	}
	return out, found.Err()
}
