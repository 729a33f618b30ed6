package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Recall is the stored answer of an operation that already succeeded under an
// idempotency key; ok is false when there is none. Admit makes the same check
// again in its own transaction: this one only spares the work before it.
func (s *Store) Recall(ctx context.Context, sc core.Scope, op, key, requestHash string) (out core.Admitted, ok bool, err error) {
	var hash, body, run string
	err = s.read.QueryRowContext(ctx, `SELECT request_hash, status, body, coalesce(run_id, '') FROM idempotency WHERE workspace_id = $1 AND op = $2 AND key = $3`,
		string(sc.Workspace), op, key).Scan(&hash, &out.Status, &body, &run)
	if errors.Is(err, sql.ErrNoRows) {
		return out, false, nil
	}
	if err != nil {
		return out, false, err
	}
	if hash != requestHash {
		return out, false, core.Refuse(core.IdempotencyConflict, "this idempotency key was used for another request; nothing was started")
	}
	out.Run, out.Body, out.Replayed = core.RunID(run), []byte(body), true
	return out, true, nil
}
