package access

import (
	"bytes"
	"context"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

const resetColumns = `id, browser_mac, email, code_mac, tries, address, created_at, expires_at`

func scanReset(r Row) (v core.Reset, err error) {
	err = r.Scan(&v.ID, &v.Browser, &v.Email, &v.Code, &v.Tries, &v.Address, &v.CreatedAt, &v.ExpiresAt)
	return v, missing(err, "request for another password")
}

// AddReset keeps that somebody asks for another password, for an address with an
// account or without one. The same browser's earlier request is replaced.
func (s *Store) AddReset(ctx context.Context, v core.Reset) error {
	return s.ask(ctx, func(t Tx) error {
		if _, err := t.Exec(`DELETE FROM password_resets WHERE browser_mac = $1`, v.Browser); err != nil {
			return err
		}
		var n int
		if err := t.Row(`SELECT count(*) FROM password_resets WHERE expires_at > $1`, int64(t.Now())).Scan(&n); err != nil {
			return err
		}
		if n >= maxRegistrations {
			return core.Refuse(core.StorageLow, "Too many people ask for another password here. Try again in an hour, or ask the operator.")
		}
		_, err := t.Exec(`INSERT INTO password_resets (id, browser_mac, email, code_mac, address, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			v.ID, v.Browser, v.Email, v.Code, v.Address, int64(t.Now()), int64(v.ExpiresAt))
		return err
	})
}

// ResetOf reads the request of a browser.
func (s *Store) ResetOf(ctx context.Context, browser []byte) (core.Reset, error) {
	return scanReset(s.db.QueryRowContext(ctx, `SELECT `+resetColumns+` FROM password_resets WHERE browser_mac = $1 AND expires_at > $2`, browser, int64(s.now())))
}

// ResetPassword gives the person another password if the code is the one that
// was mailed; ok is false if it is not, or no longer counts. A wrong one is
// counted, and the fifth ends the request. Every session and sign-in of the
// person ends: who had the old password is out.
func (s *Store) ResetPassword(ctx context.Context, browser, code []byte, hash string, by core.By) (u core.User, ok bool, err error) {
	err = s.ask(ctx, func(t Tx) error {
		u, ok = core.User{}, false
		v, err := scanReset(t.Row(`SELECT `+resetColumns+` FROM password_resets WHERE browser_mac = $1`, browser))
		if err != nil {
			return err
		}
		if t.Now() >= v.ExpiresAt || v.Tries >= core.MaxCodeTries {
			return nil
		}
		if err := t.One(`UPDATE password_resets SET tries = tries + 1 WHERE id = $1 AND tries = $2`, v.ID, v.Tries); err != nil {
			return err
		}
		if !bytes.Equal(v.Code, code) { // MACs: comparing them tells nothing about codes
			return nil
		}
		if u, err = scanUser(t.Row(`SELECT `+userColumns+` FROM users WHERE email = $1 AND state = 'active'`, v.Email)); err != nil {
			return err
		}
		by.Actor = string(u.ID)
		if err := setPassword(t, u.ID, hash, "", "password_forgotten", by); err != nil {
			return err
		}
		u.Password, ok = hash, true
		return nil
	})
	return u, ok, err
}
