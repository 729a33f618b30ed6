package access

import (
	"context"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Void ends what lets somebody in and may have been ended already, in a database
// that does not know its last commits: browsers' sessions, sign-ins with their
// tokens, codes under way, open invitations. Everybody signs in again. It gives
// how many sessions and sign-ins were good.
//
// API keys stay as they are: whether one was revoked since then is the operator's
// to say, with GoodKeys and EndKeys.
func Void(t adding, by core.By) (ended int, err error) {
	now := int64(t.Now())
	for _, s := range []struct {
		q       string
		args    []any
		counted bool
	}{
		{`DELETE FROM web_sessions`, nil, true},
		{`UPDATE grants SET revoked_at = $1, reason = 'restored' WHERE revoked_at = 0`, []any{now}, true},
		{`DELETE FROM access_tokens`, nil, false},
		{`DELETE FROM device_requests`, nil, false},
		{`DELETE FROM auth_codes`, nil, false},
		{`DELETE FROM registrations WHERE code_mac IS NOT NULL`, nil, false},
		{`UPDATE invitations SET ended_at = $1 WHERE ended_at = 0`, []any{now}, false},
	} {
		n, err := t.Exec(s.q, s.args...)
		if err != nil {
			return ended, err
		}
		if s.counted {
			ended += int(n)
		}
	}
	return ended, log(t, by, "access.voided", "", "the database was restored")
}

const goodKey = `revoked_at = 0 AND (expires_at = 0 OR expires_at > $1)`

// GoodKeys counts the keys that are good now, of every workspace.
func (s *Store) GoodKeys(ctx context.Context) (n int, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT count(*) FROM api_keys WHERE `+goodKey, int64(s.now())).Scan(&n)
	return n, err
}

// EndKeys ends every key of every workspace.
func (s *Store) EndKeys(ctx context.Context, by core.By) (n int64, err error) {
	err = s.ask(ctx, func(t Tx) error {
		if n, err = t.Exec(`UPDATE api_keys SET revoked_at = $1 WHERE revoked_at = 0`, int64(t.Now())); err != nil {
			return err
		}
		return log(t, by, "key.revoked", "all", "the database was restored")
	})
	return n, err
}
