package access

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

const grantColumns = `id, user_id, client, device_name, flow, scopes, address, created_at, used_at, expires_at, revoked_at, reason`

func scanGrant(r Row) (g core.Grant, err error) {
	var scopes string
	err = r.Scan(&g.ID, &g.User, &g.Client, &g.Device, &g.Flow, &scopes, &g.Address, &g.CreatedAt, &g.UsedAt, &g.ExpiresAt, &g.RevokedAt, &g.Reason)
	g.Scopes = strings.Fields(scopes)
	return g, missing(err, "sign-in")
}

// addGrant begins a family of tokens with its first pair.
func addGrant(t Tx, g core.Grant, first core.Tokens, by core.By) (core.Grant, error) {
	g.CreatedAt, g.UsedAt, g.ExpiresAt = t.Now(), t.Now(), t.Now()+core.GrantLife
	if _, err := t.Exec(`INSERT INTO grants (id, user_id, client, device_name, flow, scopes, address, created_at, used_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		g.ID, string(g.User), g.Client, g.Device, g.Flow, words(g.Scopes), g.Address, int64(g.CreatedAt), int64(g.UsedAt), int64(g.ExpiresAt)); err != nil {
		return g, err
	}
	if err := addTokens(t, g, first, 1); err != nil {
		return g, err
	}
	return g, log(t, by, "signin.begun", g.ID, g.Flow)
}

// addTokens keeps a pair. Nothing outlives its family.
func addTokens(t Tx, g core.Grant, k core.Tokens, gen int64) error {
	if _, err := t.Exec(`INSERT INTO refresh_tokens (mac, grant_id, gen, expires_at) VALUES ($1, $2, $3, $4)`,
		k.RefreshMAC, g.ID, gen, int64(min(t.Now()+core.RefreshIdle, g.ExpiresAt))); err != nil {
		return err
	}
	_, err := t.Exec(`INSERT INTO access_tokens (prefix, mac, grant_id, expires_at) VALUES ($1, $2, $3, $4)`,
		k.AccessPrefix, k.AccessMAC, g.ID, int64(min(t.Now()+core.AccessLife, g.ExpiresAt)))
	return err
}

// Rotate uses a refresh token up and keeps its successor, which derive makes of
// a salt. The same token again gives the same salt within the grace, because
// the first answer may not have arrived; later it revokes the family.
func (s *Store) Rotate(ctx context.Context, mac, salt []byte, derive func(salt []byte) core.Tokens, by core.By) (out core.Rotated, err error) {
	var verdict error
	err = s.ask(ctx, func(t Tx) error {
		out, verdict = core.Rotated{}, nil
		var id string
		var gen int64
		var expires core.Micros
		// The condition on used_at makes one rotator of any number: others wait
		// for its commit and find no row.
		n, err := t.Exec(`UPDATE refresh_tokens SET used_at = $1, salt = $2 WHERE mac = $3 AND used_at = 0 AND expires_at > $4`, int64(t.Now()), salt, mac, int64(t.Now()))
		if err != nil {
			return err
		}
		err = t.Row(`SELECT grant_id, gen, expires_at, used_at, salt FROM refresh_tokens WHERE mac = $1`, mac).Scan(&id, &gen, &expires, &out.At, &out.Salt)
		if errors.Is(err, sql.ErrNoRows) {
			verdict = core.ErrGrant
			return nil
		}
		if err != nil {
			return err
		}
		if out.Grant, verdict, err = alive(t, id); err != nil || verdict != nil {
			return err
		}
		switch {
		case n == 1:
			if err := addTokens(t, out.Grant, derive(salt), gen+1); err != nil {
				return err
			}
			_, err = t.Exec(`UPDATE grants SET used_at = $1 WHERE id = $2`, int64(t.Now()), id)
			return err
		case out.At == 0: // idle for too long
			verdict = core.ErrGrant
		case t.Now() > out.At+core.RefreshGrace:
			verdict = core.ErrReplayed
			return revoke(t, id, "refresh_token_replayed", by)
		}
		return nil
	})
	if err == nil {
		err = verdict
	}
	return out, err
}

// alive reads a family that has not ended, and whose person may come in.
func alive(t Tx, id string) (g core.Grant, verdict, err error) {
	var state string
	if g, err = scanGrant(t.Row(`SELECT `+grantColumns+` FROM grants WHERE id = $1`, id)); err != nil {
		return g, nil, err
	}
	if err := t.Row(`SELECT state FROM users WHERE id = $1`, string(g.User)).Scan(&state); err != nil {
		return g, nil, err
	}
	if g.RevokedAt != 0 || t.Now() >= g.ExpiresAt || state != core.UserActive {
		return g, core.ErrGrant, nil
	}
	return g, nil, nil
}

// revoke ends a family. One that has ended keeps its reason.
func revoke(t Tx, id, reason string, by core.By) error {
	n, err := t.Exec(`UPDATE grants SET revoked_at = $1, reason = $2 WHERE id = $3 AND revoked_at = 0`, int64(t.Now()), reason, id)
	if err != nil || n == 0 {
		return err
	}
	return log(t, by, "signin.ended", id, reason)
}

// Leave ends the family of a refresh token, or of an access token's prefix and
// MAC: the person signed out. Unknown tokens are no error.
func (s *Store) Leave(ctx context.Context, refresh []byte, accessPrefix string, access []byte, by core.By) error {
	return s.ask(ctx, func(t Tx) error {
		var id, user string
		err := t.Row(`SELECT g.id, g.user_id FROM grants g WHERE g.id = (SELECT grant_id FROM refresh_tokens WHERE mac = $1)
			OR g.id = (SELECT grant_id FROM access_tokens WHERE prefix = $2 AND mac = $3)`, refresh, accessPrefix, access).Scan(&id, &user)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		by.Actor = user
		return revoke(t, id, "signed_out", by)
	})
}

// EndGrant ends a sign-in of a person.
func (s *Store) EndGrant(ctx context.Context, user core.UserID, id string, by core.By) error {
	return s.ask(ctx, func(t Tx) error {
		var n int
		if err := t.Row(`SELECT count(*) FROM grants WHERE id = $1 AND user_id = $2`, id, string(user)).Scan(&n); err != nil {
			return err
		}
		if n == 0 {
			return core.Missing("sign-in")
		}
		return revoke(t, id, "ended_by_owner", by)
	})
}

// Grants lists the sign-ins of a person that have not ended, newest first.
func (s *Store) Grants(ctx context.Context, user core.UserID) ([]core.Grant, error) {
	return list(ctx, s.db, scanGrant, `SELECT `+grantColumns+` FROM grants WHERE user_id = $1 AND revoked_at = 0 AND expires_at > $2 ORDER BY created_at DESC, id`, string(user), int64(s.now()))
}

// GoesOn says that a sign-in of a person has not ended.
func (s *Store) GoesOn(ctx context.Context, user core.UserID, id string) (bool, error) {
	var n int
	err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM grants WHERE id = $1 AND user_id = $2 AND revoked_at = 0 AND expires_at > $3`, id, string(user), int64(s.now())).Scan(&n)
	return n > 0, err
}

// SignedIn finds whom an access token stands for; ok is false when there is
// none. One that has expired or was revoked is found.
func (s *Store) SignedIn(ctx context.Context, prefix string) (v core.SignedIn, ok bool, err error) {
	var scopes string
	u := &v.User
	err = s.db.QueryRowContext(ctx, `SELECT a.mac, a.expires_at, g.id, g.scopes, g.revoked_at, u.id, u.email, u.name, u.state, u.verified_by, u.created_at
		FROM access_tokens a JOIN grants g ON g.id = a.grant_id JOIN users u ON u.id = g.user_id WHERE a.prefix = $1`, prefix).
		Scan(&v.MAC, &v.ExpiresAt, &v.Grant, &scopes, &v.RevokedAt, &u.ID, &u.Email, &u.Name, &u.State, &u.VerifiedBy, &u.CreatedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return v, false, nil
	}
	v.Scopes = strings.Fields(scopes)
	return v, err == nil, err
}

// keepExpired is how long what can no longer be used is known as expired.
const keepExpired = 7 * 24 * 3600 * 1_000_000

// Sweep forgets what cannot be used any more. Sign-ins stay for the record;
// their tokens go.
func (s *Store) Sweep(ctx context.Context) error {
	return s.ask(ctx, func(t Tx) error {
		old := int64(t.Now() - keepExpired)
		for _, q := range []string{
			`DELETE FROM access_tokens WHERE expires_at < $1`, `DELETE FROM refresh_tokens WHERE expires_at < $1`, `DELETE FROM auth_codes WHERE expires_at < $1`,
			`DELETE FROM device_requests WHERE expires_at < $1`, `DELETE FROM registrations WHERE expires_at < $1`, `DELETE FROM web_sessions WHERE expires_at < $1`,
			`DELETE FROM password_resets WHERE expires_at < $1`,
		} {
			if _, err := t.Exec(q, old); err != nil {
				return err
			}
		}
		return nil
	})
}
