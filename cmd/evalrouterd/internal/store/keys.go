package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Key is an API key as it is kept: a keyed hash, never the secret.
type Key struct {
	ID        string
	Workspace core.WorkspaceID
	Name      string
	Prefix    string // the public part, by which a key is found
	MAC       []byte
	Scopes    []string
	// Connection is the trace connection that an ingest key belongs to, "" for
	// every other key.
	Connection core.TraceConnectionID
	CreatedAt  core.Micros
	ExpiresAt  core.Micros // 0 = never
	RevokedAt  core.Micros // 0 = not revoked
}

// InsertKey keeps a new key.
func (s *Store) InsertKey(ctx context.Context, k Key) error {
	return s.writer.ask(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO api_keys (id, workspace_id, name, prefix, mac, scopes, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			k.ID, string(k.Workspace), k.Name, k.Prefix, k.MAC, strings.Join(k.Scopes, " "), int64(t.now), int64(k.ExpiresAt))
		return err
	})
}

// KeyByPrefix finds a key; ok is false when there is none.
func (s *Store) KeyByPrefix(ctx context.Context, prefix string) (k Key, ok bool, err error) {
	var scopes string
	err = s.read.QueryRowContext(ctx, `SELECT id, workspace_id, name, prefix, mac, scopes, coalesce(connection_id, ''), created_at, expires_at, revoked_at FROM api_keys WHERE prefix = $1`, prefix).
		Scan(&k.ID, &k.Workspace, &k.Name, &k.Prefix, &k.MAC, &scopes, &k.Connection, &k.CreatedAt, &k.ExpiresAt, &k.RevokedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return k, false, nil
	}
	k.Scopes = strings.Fields(scopes)
	return k, err == nil, err
}

// RevokeKey ends a key at once.
func (s *Store) RevokeKey(ctx context.Context, w core.WorkspaceID, id string) error {
	return s.writer.ask(ctx, func(t *tx) error {
		n, err := t.exec(`UPDATE api_keys SET revoked_at = $1 WHERE id = $2 AND workspace_id = $3 AND revoked_at = 0`, int64(t.now), id, string(w))
		if err == nil && n == 0 {
			return core.Missing("key")
		}
		return err
	})
}

// Meta reads a setting of the installation; "" when it is not set.
func (s *Store) Meta(ctx context.Context, k string) (v string, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT v FROM meta WHERE k = $1`, k).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return v, err
}

// KeepMeta writes a setting that nobody has made yet, and gives the one that
// stands.
func (s *Store) KeepMeta(ctx context.Context, k, v string) (stands string, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		if _, err := t.exec(`INSERT INTO meta (k, v) VALUES ($1, $2) ON CONFLICT (k) DO NOTHING`, k, v); err != nil {
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
