package access

import (
	"bytes"
	"context"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

const userColumns = `id, email, name, password, state, verified_by, created_at`

func scanUser(r Row) (u core.User, err error) {
	err = r.Scan(&u.ID, &u.Email, &u.Name, &u.Password, &u.State, &u.VerifiedBy, &u.CreatedAt)
	return u, missing(err, "account")
}

// User reads a person.
func (s *Store) User(ctx context.Context, id core.UserID) (core.User, error) {
	return scanUser(s.db.QueryRowContext(ctx, `SELECT `+userColumns+` FROM users WHERE id = $1`, string(id)))
}

// UserByEmail reads the person with a verified address, in lower case.
func (s *Store) UserByEmail(ctx context.Context, email string) (core.User, error) {
	return scanUser(s.db.QueryRowContext(ctx, `SELECT `+userColumns+` FROM users WHERE email = $1`, email))
}

// Users lists everybody, in the order of their addresses.
func (s *Store) Users(ctx context.Context) ([]core.User, error) {
	return list(ctx, s.db, scanUser, `SELECT `+userColumns+` FROM users ORDER BY email`)
}

const registrationColumns = `id, browser_mac, email, name, password, code_mac, tries, address, created_at, expires_at`

func scanRegistration(r Row) (g core.Registration, err error) {
	err = r.Scan(&g.ID, &g.Browser, &g.Email, &g.Name, &g.Password, &g.Code, &g.Tries, &g.Address, &g.CreatedAt, &g.ExpiresAt)
	return g, missing(err, "registration")
}

// maxRegistrations is how many wait at most: whoever registers is a stranger.
const maxRegistrations = 10_000

// AddRegistration keeps what somebody registers with until it is verified. The
// same browser's earlier one is replaced.
func (s *Store) AddRegistration(ctx context.Context, g core.Registration) error {
	return s.ask(ctx, func(t Tx) error {
		if _, err := t.Exec(`DELETE FROM registrations WHERE browser_mac = $1`, g.Browser); err != nil {
			return err
		}
		var n int
		// Those past their time are dropped once an hour, and do not count meanwhile.
		if err := t.Row(`SELECT count(*) FROM registrations WHERE expires_at > $1`, int64(t.Now())).Scan(&n); err != nil {
			return err
		}
		if n >= maxRegistrations {
			return core.Refuse(core.StorageLow, "Too many registrations wait here. Try again in a day, or ask the operator.")
		}
		_, err := t.Exec(`INSERT INTO registrations (id, browser_mac, email, name, password, code_mac, address, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			g.ID, g.Browser, g.Email, g.Name, g.Password, g.Code, g.Address, int64(t.Now()), int64(g.ExpiresAt))
		return err
	})
}

// Registrations lists what waits to be verified, oldest first.
func (s *Store) Registrations(ctx context.Context) ([]core.Registration, error) {
	return list(ctx, s.db, scanRegistration, `SELECT `+registrationColumns+` FROM registrations WHERE expires_at > $1 ORDER BY created_at, id`, int64(s.now()))
}

// RegistrationOf reads the registration of a browser.
func (s *Store) RegistrationOf(ctx context.Context, browser []byte) (core.Registration, error) {
	return scanRegistration(s.db.QueryRowContext(ctx, `SELECT `+registrationColumns+` FROM registrations WHERE browser_mac = $1 AND expires_at > $2`, browser, int64(s.now())))
}

// Verify makes a browser's registration an account if the code is the one that
// was mailed; ok is false if it is not, or no longer counts. A wrong one is
// counted, and the fifth ends the registration.
func (s *Store) Verify(ctx context.Context, browser, code []byte, id core.UserID, by core.By) (u core.User, ok bool, err error) {
	err = s.ask(ctx, func(t Tx) error {
		u, ok = core.User{}, false
		g, err := scanRegistration(t.Row(`SELECT `+registrationColumns+` FROM registrations WHERE browser_mac = $1`, browser))
		if err != nil {
			return err
		}
		if g.Code == nil || t.Now() >= g.ExpiresAt || g.Tries >= core.MaxCodeTries {
			return nil
		}
		if err := t.One(`UPDATE registrations SET tries = tries + 1 WHERE id = $1 AND tries = $2`, g.ID, g.Tries); err != nil {
			return err
		}
		if !bytes.Equal(g.Code, code) { // MACs: comparing them tells nothing about codes
			return nil
		}
		if u, err = become(t, g, id, "mail", by); err != nil {
			return err
		}
		ok = true
		return nil
	})
	return u, ok, err
}

// Approve makes a registration an account on the operator's word.
func (s *Store) Approve(ctx context.Context, registration string, id core.UserID, by core.By) (u core.User, err error) {
	err = s.ask(ctx, func(t Tx) error {
		g, err := scanRegistration(t.Row(`SELECT `+registrationColumns+` FROM registrations WHERE id = $1`, registration))
		if err != nil {
			return err
		}
		u, err = become(t, g, id, "operator", by)
		return err
	})
	return u, err
}

// become turns a registration into an account. Others of the same address end:
// who has it was proven.
func become(t Tx, g core.Registration, id core.UserID, how string, by core.By) (core.User, error) {
	u := core.User{ID: id, Email: g.Email, Name: g.Name, Password: g.Password, State: core.UserActive, VerifiedBy: how, CreatedAt: t.Now()}
	var n int
	if err := t.Row(`SELECT count(*) FROM users WHERE email = $1`, g.Email).Scan(&n); err != nil {
		return u, err
	}
	if n > 0 {
		return u, core.Refuse(core.InvalidRequest, "there is an account with this address already; nothing was changed")
	}
	if _, err := t.Exec(`INSERT INTO users (id, email, name, password, state, verified_by, created_at) VALUES ($1, $2, $3, $4, 'active', $5, $6)`,
		string(u.ID), u.Email, u.Name, u.Password, how, int64(u.CreatedAt)); err != nil {
		return u, err
	}
	if _, err := t.Exec(`DELETE FROM registrations WHERE email = $1`, g.Email); err != nil {
		return u, err
	}
	return u, log(t, by, "account.verified", string(u.ID), how)
}

// SetName changes what a person is called.
func (s *Store) SetName(ctx context.Context, id core.UserID, name string) error {
	return s.ask(ctx, func(t Tx) error { return t.One(`UPDATE users SET name = $1 WHERE id = $2`, name, string(id)) })
}

// SetPassword changes a password hash and ends every other session and sign-in
// of the person: whoever knew the old one is out.
func (s *Store) SetPassword(ctx context.Context, id core.UserID, hash, keepSession string, by core.By) error {
	return s.ask(ctx, func(t Tx) error {
		if err := t.One(`UPDATE users SET password = $1 WHERE id = $2`, hash, string(id)); err != nil {
			return err
		}
		if err := endAll(t, id, keepSession, "password_changed"); err != nil {
			return err
		}
		return log(t, by, "account.password", string(id), "")
	})
}

// SetState lets an account in or keeps it out. One that is kept out loses its
// sessions and sign-ins, and the keys that it made end.
func (s *Store) SetState(ctx context.Context, id core.UserID, state string, by core.By) error {
	return s.ask(ctx, func(t Tx) error {
		if err := t.One(`UPDATE users SET state = $1 WHERE id = $2`, state, string(id)); err != nil {
			return err
		}
		if state == core.UserDisabled {
			if err := endAll(t, id, "", "account_disabled"); err != nil {
				return err
			}
			if _, err := t.Exec(`UPDATE api_keys SET revoked_at = $1 WHERE created_by = $2 AND revoked_at = 0`, int64(t.Now()), string(id)); err != nil {
				return err
			}
			if err := uninvited(t, id, ""); err != nil {
				return err
			}
		}
		return log(t, by, "account."+state, string(id), "")
	})
}

// endAll ends the sessions of a person, but one, and all sign-ins.
func endAll(t Tx, id core.UserID, keep, reason string) error {
	if _, err := t.Exec(`DELETE FROM web_sessions WHERE user_id = $1 AND id <> $2`, string(id), keep); err != nil {
		return err
	}
	if _, err := t.Exec(`UPDATE grants SET revoked_at = $1, reason = $2 WHERE user_id = $3 AND revoked_at = 0`, int64(t.Now()), reason, string(id)); err != nil {
		return err
	}
	// What was approved and not collected yet would be a sign-in of its own.
	if _, err := t.Exec(`UPDATE device_requests SET state = 'denied' WHERE user_id = $1 AND state IN ('pending', 'approved')`, string(id)); err != nil {
		return err
	}
	_, err := t.Exec(`UPDATE auth_codes SET expires_at = $1 WHERE user_id = $2 AND used_at = 0 AND expires_at > $3`, int64(t.Now()), string(id), int64(t.Now()))
	return err
}
