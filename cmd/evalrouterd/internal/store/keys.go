package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/access"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// withinCeiling refuses a run whose cap could take the actor's key beyond what
// it may spend. The writer makes the sum and the run one step.
func (t *tx) withinCeiling(sc core.Scope, more usd.Micro) error {
	if sc.Ceiling == 0 {
		return nil
	}
	// The next admission of this key waits here, whichever process it is in.
	if err := t.one(`UPDATE api_keys SET ceiling = ceiling WHERE id = $1`, sc.Lineage); err != nil {
		return fmt.Errorf("lock the key's ceiling: %w", err)
	}
	var spent usd.Micro
	if err := t.row(access.SpentByLineage, sc.Lineage).Scan(&spent); err != nil {
		return fmt.Errorf("sum what the key spent: %w", err)
	}
	if spent+more <= sc.Ceiling {
		return nil
	}
	return core.Refuse(core.SpendCeilingReached, "this key may spend %s in all; %s of that is spent or set aside, and this cap is %s. Nothing was started", sc.Ceiling, spent, more).
		With("ceiling_microusd", sc.Ceiling.Wire()).With("spent_microusd", spent.Wire())
}

// Meta reads a setting of the installation; "" when it is not set.
func (s *Store) Meta(ctx context.Context, k string) (v string, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT v FROM meta WHERE k = $1`, k).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return v, err
}

// KeepMeta writes a setting that nobody has made yet, or that was unmade by setting
// it to "", and gives the one that stands.
func (s *Store) KeepMeta(ctx context.Context, k, v string) (stands string, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		if _, err := t.exec(`INSERT INTO meta (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = excluded.v WHERE meta.v = ''`, k, v); err != nil {
			return err
		}
		return t.row(`SELECT v FROM meta WHERE k = $1`, k).Scan(&stands)
	})
	return stands, err
}

// SetMeta writes a setting of the installation.
func (s *Store) SetMeta(ctx context.Context, k, v string) error {
	return s.writer.do(ctx, func(t *tx) error { return t.setMeta(k, v) })
}

// HasSealedKeys says whether anything is kept that only the present master key
// opens or recognises: a connection's key, an API key, a sign-in of a terminal or
// a browser.
func (s *Store) HasSealedKeys(ctx context.Context) (bool, error) {
	var n int
	err := s.read.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM connections WHERE key_sealed IS NOT NULL) + (SELECT count(*) FROM api_keys)
		+ (SELECT count(*) FROM grants WHERE revoked_at = 0) + (SELECT count(*) FROM web_sessions)`).Scan(&n)
	return n > 0, err
}

// WorkspaceIDs lists every workspace of the installation, by name.
func (s *Store) WorkspaceIDs(ctx context.Context) ([]core.WorkspaceID, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id FROM workspaces ORDER BY id`)
	return collect(rows, err, func(id *core.WorkspaceID) []any { return []any{id} })
}
