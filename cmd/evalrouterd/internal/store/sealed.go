package store

import (
	"context"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// HasSealedKeys says whether anything is kept that only the present master key
// opens or recognises: a connection's key, or an API key.
func (s *Store) HasSealedKeys(ctx context.Context) (bool, error) {
	var n int
	err := s.read.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM connections WHERE key_sealed IS NOT NULL) + (SELECT count(*) FROM api_keys)`).Scan(&n)
	return n > 0, err
}

// WorkspaceIDs lists every workspace of the installation, by name.
func (s *Store) WorkspaceIDs(ctx context.Context) ([]core.WorkspaceID, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id FROM workspaces ORDER BY id`)
	return collect(rows, err, func(id *core.WorkspaceID) []any { return []any{id} })
}
