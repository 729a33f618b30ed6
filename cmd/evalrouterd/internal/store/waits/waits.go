// Package waits ends waits of runs for something that is there again.
package waits

import (
	"context"
	"database/sql"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/private"
)

// Store reads through db and writes through the one writer of the database.
type Store struct {
	db  *sql.DB
	ask func(context.Context, func(private.Tx) error) error
}

// New makes a store. ask runs a function in a transaction, more than once where
// the transaction must be made again.
func New(db *sql.DB, ask func(context.Context, func(private.Tx) error) error) *Store {
	return &Store{db: db, ask: ask}
}

// End ends the waits for one reason of a workspace's runs with a target, and
// gives those runs: their workers must be told.
func (s *Store) End(ctx context.Context, sc core.Scope, target, reason string) ([]core.RunID, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id FROM runs WHERE workspace_id = $1 AND target = $2 AND waiting_reason = $3 AND state = 'running' ORDER BY id`,
		string(sc.Workspace), target, reason)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all, ended []core.RunID
	for rows.Next() {
		var id core.RunID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		all = append(all, id)
	}
	if err := rows.Err(); err != nil || len(all) == 0 {
		return nil, err
	}
	err = s.ask(ctx, func(t private.Tx) error {
		ended = nil
		for _, id := range all {
			// A run that has stopped meanwhile, or waits for something else, is left alone.
			n, err := t.Exec(`UPDATE runs SET retry_at = 0, waiting_reason = '' WHERE id = $1 AND state = 'running' AND waiting_reason = $2`, string(id), reason)
			if err != nil {
				return err
			}
			if n > 0 {
				ended = append(ended, id)
			}
		}
		return nil
	})
	return ended, err
}
