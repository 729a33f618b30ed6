// Package sealed reaches the sealed keys of all workspaces, for the operator who
// gives the installation another master key. Nothing else reads across
// workspaces here, and what is read stays sealed.
package sealed

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

// Sealed reads at most limit connections that have a key, disabled ones too, in
// the order of their ids and behind one of them. Only what a seal is bound to is
// read of them.
func (s *Store) Sealed(ctx context.Context, after core.ConnectionID, limit int) ([]core.ConnectionInfo, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id, workspace_id, base_url, key_version, key_sealed FROM connections
		WHERE key_sealed IS NOT NULL AND id > $1 ORDER BY id LIMIT $2`, string(after), limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []core.ConnectionInfo
	for rows.Next() {
		var c core.ConnectionInfo
		if err := rows.Scan(&c.ID, &c.Workspace, &c.BaseURL, &c.KeyVersion, &c.SealedKey); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

// Replacement is a key sealed anew.
type Replacement struct {
	ID       core.ConnectionID
	Was, Now []byte
}

// Replace puts seals in the place of others, all or none, and only where the
// others still stand: a key that its owner has changed meanwhile stays.
func (s *Store) Replace(ctx context.Context, all []Replacement) error {
	if len(all) == 0 {
		return nil
	}
	return s.ask(ctx, func(t private.Tx) error {
		for _, r := range all {
			if _, err := t.Exec(`UPDATE connections SET key_sealed = $1 WHERE id = $2 AND key_sealed = $3`, r.Now, string(r.ID), r.Was); err != nil {
				return err
			}
		}
		return nil
	})
}

// Serving counts the sessions of services on a PostgreSQL that this role sees.
func (s *Store) Serving(ctx context.Context) (n int, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'evalrouterd wake'`).Scan(&n)
	return n, err
}
