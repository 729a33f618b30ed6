package access

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// AddCode keeps an authorization code.
func (s *Store) AddCode(ctx context.Context, c core.AuthCode) error {
	return s.ask(ctx, func(t Tx) error {
		_, err := t.Exec(`INSERT INTO auth_codes (mac, user_id, client, redirect, challenge, scopes, address, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			c.MAC, string(c.User), c.Client, c.Redirect, c.Challenge, words(c.Scopes), c.Address, int64(t.Now()+core.CodeLife))
		return err
	})
}

// RedeemCode makes a sign-in of a code, once. fits compares what the client
// says with what the code was given for; a code that was asked for wrongly is
// used up too. A second attempt ends the sign-in that the first one made.
func (s *Store) RedeemCode(ctx context.Context, mac []byte, fits func(core.AuthCode) bool, g core.Grant, first core.Tokens, by core.By) (out core.Grant, err error) {
	var verdict error
	err = s.ask(ctx, func(t Tx) error {
		out, verdict = core.Grant{}, nil
		n, err := t.Exec(`UPDATE auth_codes SET used_at = $1, grant_id = $2 WHERE mac = $3 AND used_at = 0`, int64(t.Now()), g.ID, mac)
		if err != nil {
			return err
		}
		var c core.AuthCode
		var scopes, made string
		err = t.Row(`SELECT user_id, client, redirect, challenge, scopes, address, expires_at, grant_id FROM auth_codes WHERE mac = $1`, mac).
			Scan(&c.User, &c.Client, &c.Redirect, &c.Challenge, &scopes, &c.Address, &c.ExpiresAt, &made)
		if errors.Is(err, sql.ErrNoRows) {
			verdict = core.ErrGrant
			return nil
		}
		if err != nil {
			return err
		}
		c.Scopes = strings.Fields(scopes)
		by.Actor = string(c.User)
		switch {
		case n == 0:
			verdict = core.ErrReplayed
			return revoke(t, made, "code_replayed", by)
		case t.Now() >= c.ExpiresAt || !fits(c):
			verdict = core.ErrGrant
			return nil
		}
		g.User, g.Client, g.Scopes, g.Flow = c.User, c.Client, c.Scopes, core.FlowBrowser
		if verdict, err = mayEnter(t, c.User); err != nil || verdict != nil {
			return err
		}
		out, err = addGrant(t, g, first, by)
		return err
	})
	if err == nil {
		err = verdict
	}
	return out, err
}

func mayEnter(t Tx, user core.UserID) (verdict, err error) {
	var state string
	if err := t.Row(`SELECT state FROM users WHERE id = $1`, string(user)).Scan(&state); err != nil {
		return nil, err
	}
	if state != core.UserActive {
		return core.ErrGrant, nil
	}
	return nil, nil
}

const deviceColumns = `id, device_mac, user_mac, client, version, name, scopes, address, state, stage, user_id, poll_every, polled_at, created_at, expires_at`

func scanDevice(r Row) (d core.DeviceRequest, err error) {
	var scopes string
	err = r.Scan(&d.ID, &d.Device, &d.UserCode, &d.Client, &d.Version, &d.Name, &scopes, &d.Address, &d.State, &d.Stage, &d.User, &d.Interval, &d.PolledAt, &d.CreatedAt, &d.ExpiresAt)
	d.Scopes = strings.Fields(scopes)
	return d, missing(err, "code")
}

// AddDevice keeps the question of a device.
func (s *Store) AddDevice(ctx context.Context, d core.DeviceRequest) error {
	return s.ask(ctx, func(t Tx) error {
		_, err := t.Exec(`INSERT INTO device_requests (id, device_mac, user_mac, client, version, name, scopes, address, state, stage, poll_every, created_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'pending', 'sign_in', $9, $10, $11)`,
			d.ID, d.Device, d.UserCode, d.Client, d.Version, d.Name, words(d.Scopes), d.Address, int64(core.DevicePoll), int64(t.Now()), int64(t.Now()+core.DeviceLife))
		return err
	})
}

// DeviceOf reads the question behind a code that a person typed, while it can
// be answered.
func (s *Store) DeviceOf(ctx context.Context, userCode []byte) (core.DeviceRequest, error) {
	return scanDevice(s.db.QueryRowContext(ctx, `SELECT `+deviceColumns+` FROM device_requests WHERE user_mac = $1 AND state = 'pending' AND expires_at > $2`, userCode, int64(s.now())))
}

// DeviceAt notes how far the person with a code has come, and who it is where
// that is known. A code that no longer counts is no error.
func (s *Store) DeviceAt(ctx context.Context, userCode []byte, stage string, user core.UserID) error {
	return s.ask(ctx, func(t Tx) error {
		_, err := t.Exec(`UPDATE device_requests SET stage = $1, user_id = $2 WHERE user_mac = $3 AND state = 'pending' AND expires_at > $4`, stage, string(user), userCode, int64(t.Now()))
		return err
	})
}

// DecideDevice approves or denies what a code stands for.
func (s *Store) DecideDevice(ctx context.Context, userCode []byte, approve bool, user core.UserID, by core.By) error {
	return s.ask(ctx, func(t Tx) error {
		state, action := core.DeviceDenied, "device.denied"
		if approve {
			state, action = core.DeviceApproved, "device.approved"
		}
		var id string
		err := t.Row(`SELECT id FROM device_requests WHERE user_mac = $1 AND state = 'pending' AND expires_at > $2`, userCode, int64(t.Now())).Scan(&id)
		if err != nil {
			return missing(err, "code")
		}
		if err := t.One(`UPDATE device_requests SET state = $1, user_id = $2, stage = 'approve' WHERE id = $3 AND state = 'pending'`, state, string(user), id); err != nil {
			return err
		}
		return log(t, by, action, id, "")
	})
}

// Poll answers a device: a sign-in if it was approved, once. Who asks too early
// is told so and has to wait longer from then on.
func (s *Store) Poll(ctx context.Context, device []byte, client string, g core.Grant, first core.Tokens, by core.By) (out core.Polled, err error) {
	var verdict error
	err = s.ask(ctx, func(t Tx) error {
		out, verdict = core.Polled{}, nil
		d, err := scanDevice(t.Row(`SELECT `+deviceColumns+` FROM device_requests WHERE device_mac = $1`, device))
		if errors.Is(err, &core.Refusal{Code: core.NotFound}) || err == nil && (d.Client != client || d.State == core.DeviceRedeemed) {
			verdict = core.ErrGrant
			return nil
		}
		if err != nil {
			return err
		}
		out.DeviceRequest = d
		switch {
		case t.Now() >= d.ExpiresAt:
			out.Expired = true
			return nil
		case d.PolledAt != 0 && t.Now() < d.PolledAt+d.Interval-slack:
			out.Early = true
			out.Interval += core.DevicePoll
			return t.One(`UPDATE device_requests SET polled_at = $1, poll_every = $2 WHERE id = $3`, int64(t.Now()), int64(out.Interval), d.ID)
		case d.State != core.DeviceApproved:
			return t.One(`UPDATE device_requests SET polled_at = $1 WHERE id = $2`, int64(t.Now()), d.ID)
		}
		if verdict, err = mayEnter(t, d.User); err != nil || verdict != nil {
			return err
		}
		if err := t.One(`UPDATE device_requests SET state = 'redeemed' WHERE id = $1 AND state = 'approved'`, d.ID); err != nil {
			return err
		}
		g.User, g.Client, g.Device, g.Scopes, g.Flow, g.Address = d.User, d.Client, d.Name, d.Scopes, core.FlowDevice, d.Address
		by.Actor = string(d.User)
		out.Grant, err = addGrant(t, g, first, by)
		return err
	})
	if err == nil {
		err = verdict
	}
	return out, err
}

// slack is how much too early a question may come: networks are not even.
const slack = 500_000
