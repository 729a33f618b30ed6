package access

import (
	"context"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// touchEvery is how old the note of the last use may become: a page view is not
// worth a commit.
const touchEvery = 5 * 60 * 1_000_000

const sessionColumns = `id, mac, user_id, proved_at, created_at, used_at, expires_at, address`

func scanSession(r Row) (v core.Session, err error) {
	err = r.Scan(&v.ID, &v.MAC, &v.User, &v.ProvedAt, &v.CreatedAt, &v.UsedAt, &v.ExpiresAt, &v.Address)
	return v, missing(err, "session")
}

// AddSession begins a session in which the password was given just now, and
// ends the one that the browser had.
func (s *Store) AddSession(ctx context.Context, v core.Session, before string, by core.By) error {
	return s.ask(ctx, func(t Tx) error {
		if before != "" {
			if _, err := t.Exec(`DELETE FROM web_sessions WHERE id = $1`, before); err != nil {
				return err
			}
		}
		if _, err := t.Exec(`INSERT INTO web_sessions (id, mac, user_id, proved_at, created_at, used_at, expires_at, address) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			v.ID, v.MAC, string(v.User), int64(t.Now()), int64(t.Now()), int64(t.Now()), int64(t.Now()+core.SessionLife), v.Address); err != nil {
			return err
		}
		return log(t, by, "session.begun", v.ID, "")
	})
}

// Session finds the session of a cookie that is good now, and its person.
func (s *Store) Session(ctx context.Context, mac []byte) (v core.Session, u core.User, err error) {
	now := s.now()
	v, err = scanSession(s.db.QueryRowContext(ctx, `SELECT `+sessionColumns+` FROM web_sessions WHERE mac = $1 AND expires_at > $2 AND used_at > $3`,
		mac, int64(now), int64(now-core.SessionIdle)))
	if err != nil {
		return v, u, err
	}
	if u, err = s.User(ctx, v.User); err != nil {
		return v, u, err
	}
	if u.State != core.UserActive {
		return v, u, core.Missing("session")
	}
	if now-v.UsedAt < touchEvery {
		return v, u, nil
	}
	return v, u, s.ask(ctx, func(t Tx) error {
		_, err := t.Exec(`UPDATE web_sessions SET used_at = $1 WHERE id = $2`, int64(t.Now()), v.ID)
		return err
	})
}

// Sessions lists the sessions of a person that are good now, newest first.
func (s *Store) Sessions(ctx context.Context, user core.UserID) ([]core.Session, error) {
	now := s.now()
	return list(ctx, s.db, scanSession, `SELECT `+sessionColumns+` FROM web_sessions WHERE user_id = $1 AND expires_at > $2 AND used_at > $3 ORDER BY created_at DESC, id`,
		string(user), int64(now), int64(now-core.SessionIdle))
}

// EndSession ends a session of a person.
func (s *Store) EndSession(ctx context.Context, user core.UserID, id string, by core.By) error {
	return s.ask(ctx, func(t Tx) error {
		n, err := t.Exec(`DELETE FROM web_sessions WHERE id = $1 AND user_id = $2`, id, string(user))
		if err == nil && n == 0 {
			err = core.Missing("session")
		}
		if err != nil {
			return err
		}
		return log(t, by, "session.ended", id, "")
	})
}
