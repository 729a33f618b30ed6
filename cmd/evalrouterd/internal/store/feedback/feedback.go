// Package feedback keeps what people and agents say about the product, for the
// operator of the service. A workspace reads its own reports only.
package feedback

import (
	"context"
	"database/sql"
	"errors"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Tx is an open write transaction with one fixed time.
type Tx interface {
	Exec(q string, args ...any) (rows int64, err error)
	Row(q string, args ...any) Row
	Now() core.Micros
}

// Row is a row that can be read.
type Row interface{ Scan(...any) error }

// Store reads through db and writes through the one writer of the database. It
// is safe for concurrent use.
type Store struct {
	db  *sql.DB
	ask func(context.Context, func(Tx) error) error
}

// New makes a store. ask runs a function in a transaction, more than once where
// the transaction must be made again.
func New(db *sql.DB, ask func(context.Context, func(Tx) error) error) *Store {
	return &Store{db: db, ask: ask}
}

const columns = `id, workspace_id, actor, kind, severity, summary, details, context_doc, contact_ok, digest, status, duplicate_of, created_at`

func scan(row Row) (f core.Feedback, err error) {
	contact := 0
	err = row.Scan(&f.ID, &f.Workspace, &f.Actor, &f.Kind, &f.Severity, &f.Summary, &f.Details, &f.Context, &contact, &f.Digest, &f.Status, &f.DuplicateOf, &f.CreatedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return f, core.Missing("feedback")
	}
	f.ContactOK = contact == 1
	return f, err
}

// Add keeps a report. One about the same thing as an earlier one of the same
// workspace is kept too, and names the first.
func (st *Store) Add(ctx context.Context, f core.Feedback) (core.Feedback, error) {
	err := st.ask(ctx, func(t Tx) error {
		n := 0
		if err := t.Row(`SELECT count(*) FROM feedback WHERE workspace_id = $1`, string(f.Workspace)).Scan(&n); err != nil {
			return err
		}
		if n >= core.MaxFeedback {
			return core.Refuse(core.SourceQuota, "the workspace has sent %d reports, which is as many as are kept; nothing was stored", n)
		}
		f.Status, f.CreatedAt, f.DuplicateOf = "received", t.Now(), ""
		err := t.Row(`SELECT id FROM feedback WHERE workspace_id = $1 AND digest = $2 AND duplicate_of = '' LIMIT 1`, string(f.Workspace), f.Digest).Scan(&f.DuplicateOf)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		contact := 0
		if f.ContactOK {
			contact = 1
		}
		_, err = t.Exec(`INSERT INTO feedback (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
			f.ID, string(f.Workspace), f.Actor, f.Kind, f.Severity, f.Summary, f.Details, f.Context, contact, f.Digest, f.Status, f.DuplicateOf, int64(f.CreatedAt))
		return err
	})
	return f, err
}

// Get reads a report of a workspace.
func (st *Store) Get(ctx context.Context, sc core.Scope, id string) (core.Feedback, error) {
	return scan(st.db.QueryRowContext(ctx, `SELECT `+columns+` FROM feedback WHERE workspace_id = $1 AND id = $2`, string(sc.Workspace), id))
}

// All are the newest reports of every workspace: the operator's view.
func (st *Store) All(ctx context.Context, limit int) (out []core.Feedback, err error) {
	rows, err := st.db.QueryContext(ctx, `SELECT `+columns+` FROM feedback ORDER BY created_at DESC, id DESC LIMIT $1`, limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		f, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, rows.Err()
}

// Mark sets what became of a report.
func (st *Store) Mark(ctx context.Context, id, status string) error {
	return st.ask(ctx, func(t Tx) error {
		n, err := t.Exec(`UPDATE feedback SET status = $1 WHERE id = $2`, status, id)
		if err == nil && n == 0 {
			return core.Missing("feedback")
		}
		return err
	})
}
