// Package access keeps who may do what: people, the workspaces that they are
// members of, API keys, sign-ins, and the log of every change to these.
//
// No secret is kept. What somebody must prove to know, a password apart, stands
// as a MAC whose key is outside the database. A change and its line in the log
// are one transaction, and the database itself refuses to change the log.
//
// A wrong guess is counted although the attempt is refused: such methods give
// their refusal beside a transaction that was committed.
package access

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Row is a row that can be read.
type Row = interface{ Scan(...any) error }

// adding is what adding a line or a key needs of a transaction.
type adding interface {
	Exec(q string, args ...any) (rows int64, err error)
	Now() core.Micros
}

// Tx is an open write transaction with one fixed time.
type Tx interface {
	Exec(q string, args ...any) (rows int64, err error)
	// One is Exec for a statement that must touch exactly one row; it fails
	// with core.ErrMoved otherwise.
	One(q string, args ...any) error
	Row(q string, args ...any) Row
	Rows(q string, args ...any) (*sql.Rows, error)
	Now() core.Micros
	// NewWorkspace makes a workspace with empty accounts, unless it is there.
	NewWorkspace(core.WorkspaceInfo) (made bool, err error)
}

// Store reads through db and writes through the one writer of the database.
// It is safe for concurrent use.
type Store struct {
	db  *sql.DB
	now func() core.Micros
	ask func(context.Context, func(Tx) error) error
}

// New makes a store. now is the database's clock; ask runs a function in a
// transaction, more than once where the transaction must be made again.
func New(db *sql.DB, now func() core.Micros, ask func(context.Context, func(Tx) error) error) *Store {
	return &Store{db: db, now: now, ask: ask}
}

// log adds a line about who did what to whom.
func log(t adding, by core.By, action, subject, detail string) error {
	_, err := t.Exec(`INSERT INTO access_log (id, at, workspace_id, actor, address, action, subject, detail) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		by.Entry, int64(t.Now()), string(by.Workspace), by.Actor, by.Address, action, subject, detail)
	if err != nil {
		return fmt.Errorf("write the log of changes: %w", err)
	}
	return nil
}

// Log lists lines of the log, newest first: those of a workspace, or of all
// where it is "".
func (s *Store) Log(ctx context.Context, w core.WorkspaceID, after *core.Place, limit int) ([]core.LogLine, error) {
	q, args := `SELECT id, at, workspace_id, actor, address, action, subject, detail FROM access_log WHERE 1 = 1`, []any{}
	if w != "" {
		args = append(args, string(w))
		q += ` AND workspace_id = $1`
	}
	if after != nil {
		n := len(args)
		args = append(args, int64(after.At), int64(after.At), after.ID)
		q += fmt.Sprintf(` AND (at < $%d OR (at = $%d AND id < $%d))`, n+1, n+2, n+3)
	}
	args = append(args, limit)
	q += fmt.Sprintf(` ORDER BY at DESC, id DESC LIMIT $%d`, len(args))
	return list(ctx, s.db, func(r Row) (l core.LogLine, err error) {
		err = r.Scan(&l.ID, &l.At, &l.Workspace, &l.Actor, &l.Address, &l.Action, &l.Subject, &l.Detail)
		return l, err
	}, q, args...)
}

// list reads every row of a query.
// gather reads the rows of a transaction.
func gather[T any](rows *sql.Rows, err error, scan func(Row) (T, error)) (out []T, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

func list[T any](ctx context.Context, db *sql.DB, scan func(Row) (T, error), q string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, q, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// missing makes the absence of a row a refusal that says what is missing.
func missing(err error, what string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return core.Missing(what)
	}
	return err
}

func words(list []string) string { return strings.Join(list, " ") }
