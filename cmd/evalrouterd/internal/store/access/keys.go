package access

import (
	"context"
	"errors"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

const keyColumns = `id, workspace_id, name, prefix, mac, scopes, connection_id, created_by, lineage, ceiling, created_at, expires_at, revoked_at, last_used_at`

func scanKey(r Row) (k core.APIKey, err error) {
	var scopes string
	err = r.Scan(&k.ID, &k.Workspace, &k.Name, &k.Prefix, &k.MAC, &scopes, &k.Connection, &k.CreatedBy, &k.Lineage, &k.Ceiling, &k.CreatedAt, &k.ExpiresAt, &k.RevokedAt, &k.LastUsedAt)
	k.Scopes = strings.Fields(scopes)
	return k, missing(err, "key")
}

// AddKey keeps a new key.
func (s *Store) AddKey(ctx context.Context, k core.APIKey, by core.By) error {
	by.Workspace = k.Workspace
	return s.ask(ctx, func(t Tx) error {
		if err := insertKey(t, k); err != nil {
			return err
		}
		return log(t, by, "key.made", k.Prefix, words(k.Scopes))
	})
}

func insertKey(t adding, k core.APIKey) error {
	if k.Lineage == "" {
		k.Lineage = k.ID
	}
	_, err := t.Exec(`INSERT INTO api_keys (id, workspace_id, name, prefix, mac, scopes, connection_id, created_by, lineage, ceiling, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		k.ID, string(k.Workspace), k.Name, k.Prefix, k.MAC, words(k.Scopes), string(k.Connection), string(k.CreatedBy), k.Lineage, int64(k.Ceiling), int64(t.Now()), int64(k.ExpiresAt))
	return err
}

// KeyByPrefix finds a key; ok is false when there is none.
func (s *Store) KeyByPrefix(ctx context.Context, prefix string) (k core.APIKey, ok bool, err error) {
	k, err = scanKey(s.db.QueryRowContext(ctx, `SELECT `+keyColumns+` FROM api_keys WHERE prefix = $1`, prefix))
	if errors.Is(err, &core.Refusal{Code: core.NotFound}) {
		return core.APIKey{}, false, nil
	}
	return k, err == nil, err
}

// Key reads a key of a workspace.
func (s *Store) Key(ctx context.Context, w core.WorkspaceID, id string) (core.APIKey, error) {
	return scanKey(s.db.QueryRowContext(ctx, `SELECT `+keyColumns+` FROM api_keys WHERE workspace_id = $1 AND id = $2`, string(w), id))
}

// Keys lists the keys of a workspace, newest first.
func (s *Store) Keys(ctx context.Context, w core.WorkspaceID, after *core.Place, limit int) ([]core.APIKey, error) {
	if after == nil {
		return list(ctx, s.db, scanKey, `SELECT `+keyColumns+` FROM api_keys WHERE workspace_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2`, string(w), limit)
	}
	return list(ctx, s.db, scanKey, `SELECT `+keyColumns+` FROM api_keys WHERE workspace_id = $1 AND (created_at < $2 OR (created_at = $3 AND id < $4)) ORDER BY created_at DESC, id DESC LIMIT $5`,
		string(w), int64(after.At), int64(after.At), after.ID, limit)
}

// RotateKey makes a successor of a key that has not ended. The old one ends
// after overlap, or with its own expiry if that comes first; the successor
// keeps name, scopes, ceiling, expiry and what was spent.
func (s *Store) RotateKey(ctx context.Context, w core.WorkspaceID, id string, next core.APIKey, overlap core.Micros, by core.By) (out core.APIKey, err error) {
	by.Workspace = w
	err = s.ask(ctx, func(t Tx) error {
		old, err := scanKey(t.Row(`SELECT `+keyColumns+` FROM api_keys WHERE workspace_id = $1 AND id = $2`, string(w), id))
		if err != nil {
			return err
		}
		if old.RevokedAt != 0 || old.ExpiresAt != 0 && t.Now() >= old.ExpiresAt {
			return core.Refuse(core.InvalidRequest, "this key has ended already; nothing was made. Make a new one instead")
		}
		out = old
		if next.CreatedBy == "" {
			next.CreatedBy = old.CreatedBy // a successor ends with whoever its key ends with
		}
		out.ID, out.Prefix, out.MAC, out.CreatedBy, out.CreatedAt, out.LastUsedAt = next.ID, next.Prefix, next.MAC, next.CreatedBy, t.Now(), 0
		if err := insertKey(t, out); err != nil {
			return err
		}
		end := t.Now() + overlap
		if overlap == 0 {
			err = t.One(`UPDATE api_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at = 0`, int64(end), id)
		} else if old.ExpiresAt == 0 || end < old.ExpiresAt {
			err = t.One(`UPDATE api_keys SET expires_at = $1 WHERE id = $2 AND revoked_at = 0`, int64(end), id)
		}
		if err != nil {
			return err
		}
		return log(t, by, "key.rotated", old.Prefix, out.Prefix)
	})
	return out, err
}

// RevokeKey ends a key at once. One that was revoked already stays so.
func (s *Store) RevokeKey(ctx context.Context, w core.WorkspaceID, id string, by core.By) error {
	by.Workspace = w
	return s.ask(ctx, func(t Tx) error {
		var prefix string
		var revoked int64
		if err := t.Row(`SELECT prefix, revoked_at FROM api_keys WHERE id = $1 AND workspace_id = $2`, id, string(w)).Scan(&prefix, &revoked); err != nil || revoked != 0 {
			return missing(err, "key")
		}
		if err := t.One(`UPDATE api_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at = 0`, int64(t.Now()), id); err != nil {
			return err
		}
		return log(t, by, "key.revoked", prefix, "")
	})
}

// TouchKey notes that a key was used.
func (s *Store) TouchKey(ctx context.Context, id string) error {
	return s.ask(ctx, func(t Tx) error {
		_, err := t.Exec(`UPDATE api_keys SET last_used_at = $1 WHERE id = $2`, int64(t.Now()), id)
		return err
	})
}

// SpentByLineage sums what runs started with keys of a row of rotations cost, or
// still can: a run that goes on counts with its whole cap.
const SpentByLineage = `SELECT coalesce(sum(CASE WHEN r.hold_released = 1 THEN r.charged + r.metered ELSE r.cap END), 0)
	FROM api_keys k JOIN consents c ON c.actor = k.id AND c.kind = 'start' JOIN runs r ON r.quote_id = c.quote_id WHERE k.lineage = $1`

// Spent is what keys of a lineage have spent or may still spend.
func (s *Store) Spent(ctx context.Context, lineage string) (m usd.Micro, err error) {
	err = s.db.QueryRowContext(ctx, SpentByLineage, lineage).Scan(&m)
	return m, err
}
