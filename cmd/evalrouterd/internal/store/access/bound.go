package access

import (
	"database/sql"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Writing is an open transaction of a package beside this one that keeps what
// keys are bound to: a trace connection and its key are made and end together.
type Writing interface {
	adding
	Rows(q string, args ...any) (*sql.Rows, error)
}

// AddBound keeps a new key of a trace connection.
func AddBound(t Writing, k core.APIKey, by core.By) error {
	by.Workspace = k.Workspace
	if err := insertKey(t, k); err != nil {
		return err
	}
	return log(t, by, "key.made", k.Prefix, words(k.Scopes))
}

// RotateBound keeps the successor of a key of a trace connection. The key with
// the id and prefix of old stays good, and those before it end.
func RotateBound(t Writing, old, next core.APIKey, by core.By) error {
	by.Workspace = next.Workspace
	ended, err := endBound(t, next.Connection, old.ID)
	if err != nil {
		return err
	}
	if err := insertKey(t, next); err != nil {
		return err
	}
	detail := next.Prefix
	if len(ended) > 0 {
		detail += "; ended " + words(ended)
	}
	return log(t, by, "key.rotated", old.Prefix, detail)
}

// EndBound ends every key of a trace connection at once. Keys that have ended
// stay so.
func EndBound(t Writing, c core.TraceConnectionID, by core.By) error {
	ended, err := endBound(t, c, "")
	if err != nil || len(ended) == 0 {
		return err
	}
	return log(t, by, "key.revoked", words(ended), "trace connection "+string(c))
}

// endBound ends the keys of a connection but one, and gives the prefixes of
// those that it ended.
func endBound(t Writing, c core.TraceConnectionID, but string) (ended []string, err error) {
	rows, err := t.Rows(`SELECT prefix FROM api_keys WHERE connection_id = $1 AND connection_id <> '' AND id <> $2 AND revoked_at = 0 ORDER BY created_at, id`, string(c), but)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var prefix string
		if err := rows.Scan(&prefix); err != nil {
			return nil, err
		}
		ended = append(ended, prefix)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	_, err = t.Exec(`UPDATE api_keys SET revoked_at = $1 WHERE connection_id = $2 AND connection_id <> '' AND id <> $3 AND revoked_at = 0`, int64(t.Now()), string(c), but)
	return ended, err
}
