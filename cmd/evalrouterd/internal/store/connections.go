package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

const connectionColumns = `id, workspace_id, name, base_url, model_id, protocol, revision, key_sealed, key_version, max_output_tokens, context_window,
	max_concurrency, price_in, price_out, check_doc, created_at, checked_at, disabled_at`

// InsertConnection keeps a new connection. Its key is already sealed.
func (s *Store) InsertConnection(ctx context.Context, c core.ConnectionInfo) error {
	return s.writer.ask(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO connections (id, workspace_id, name, base_url, model_id, protocol, revision, key_sealed, key_version, max_output_tokens,
			context_window, max_concurrency, price_in, price_out, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
			string(c.ID), string(c.Workspace), c.Name, c.BaseURL, c.ModelID, c.Protocol, c.Revision, c.SealedKey, c.KeyVersion, c.MaxOutputTokens,
			c.ContextWindow, c.MaxConcurrency, nullInt(c.PriceIn), nullInt(c.PriceOut), int64(t.now))
		return err
	})
}

func nullInt(n *int64) sql.NullInt64 {
	if n == nil {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: *n, Valid: true}
}

// UpdateConnection replaces what an owner may change and counts the revision
// up; the check of the old revision no longer counts.
func (s *Store) UpdateConnection(ctx context.Context, c core.ConnectionInfo) error {
	return s.writer.ask(ctx, func(t *tx) error {
		n, err := t.exec(`UPDATE connections SET name = $1, key_sealed = $2, key_version = $3, max_output_tokens = $4, context_window = $5, revision = revision + 1,
			checked_at = 0, check_doc = '{}' WHERE id = $6 AND workspace_id = $7 AND revision = $8 AND disabled_at = 0`,
			c.Name, c.SealedKey, c.KeyVersion, c.MaxOutputTokens, c.ContextWindow, string(c.ID), string(c.Workspace), c.Revision)
		if err == nil && n == 0 {
			return core.Missing("connection")
		}
		return err
	})
}

// RecordCheck keeps the outcome of a check of one revision.
func (s *Store) RecordCheck(ctx context.Context, c core.ConnectionInfo, r core.CheckResult) error {
	doc, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.writer.do(ctx, func(t *tx) error {
		_, err := t.exec(`UPDATE connections SET check_doc = $1, checked_at = $2 WHERE id = $3 AND workspace_id = $4 AND revision = $5`,
			string(doc), int64(t.now), string(c.ID), string(c.Workspace), c.Revision)
		return err
	})
}

// DisableConnection takes a connection out of use, for good.
func (s *Store) DisableConnection(ctx context.Context, sc core.Scope, id core.ConnectionID) error {
	return s.writer.ask(ctx, func(t *tx) error {
		var at core.Micros
		err := t.row(`SELECT disabled_at FROM connections WHERE id = $1 AND workspace_id = $2`, string(id), string(sc.Workspace)).Scan(&at)
		if errors.Is(err, sql.ErrNoRows) {
			return core.Missing("connection")
		}
		if err != nil || at != 0 {
			return err
		}
		return t.one(`UPDATE connections SET disabled_at = $1 WHERE id = $2`, int64(t.now), string(id))
	})
}

// Connection reads one connection of a workspace.
func (s *Store) Connection(ctx context.Context, sc core.Scope, id core.ConnectionID) (core.ConnectionInfo, error) {
	return scanConnection(s.read.QueryRowContext(ctx, `SELECT `+connectionColumns+` FROM connections WHERE id = $1 AND workspace_id = $2`, string(id), string(sc.Workspace)))
}

// Connections lists a workspace's connections, newest first; disabled ones
// are listed too.
func (s *Store) Connections(ctx context.Context, sc core.Scope) ([]core.ConnectionInfo, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT `+connectionColumns+` FROM connections WHERE workspace_id = $1 ORDER BY created_at DESC, id DESC`, string(sc.Workspace))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []core.ConnectionInfo
	for rows.Next() {
		c, err := scanConnection(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

func scanConnection(row scanner) (c core.ConnectionInfo, err error) {
	var in, out sql.NullInt64
	var check string
	err = row.Scan(&c.ID, &c.Workspace, &c.Name, &c.BaseURL, &c.ModelID, &c.Protocol, &c.Revision, &c.SealedKey, &c.KeyVersion, &c.MaxOutputTokens,
		&c.ContextWindow, &c.MaxConcurrency, &in, &out, &check, &c.CreatedAt, &c.CheckedAt, &c.DisabledAt)
	if errors.Is(err, sql.ErrNoRows) {
		return c, core.Missing("connection")
	}
	if err != nil {
		return c, err
	}
	if in.Valid && out.Valid {
		c.PriceIn, c.PriceOut = &in.Int64, &out.Int64
	}
	if err := json.Unmarshal([]byte(check), &c.Check); err != nil {
		return c, fmt.Errorf("decode check of %s: %w", c.ID, err)
	}
	return c, nil
}
