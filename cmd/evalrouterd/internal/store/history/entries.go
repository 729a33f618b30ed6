package history

import (
	"context"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Entry is one movement of a workspace's credit as its owner sees it. Amount
// is negative for what went away. A hold and its release move credit between
// available and held and leave the balance as it is.
type Entry struct {
	ID      string
	Code    string // grant, hold, release or charge
	Book    core.Book
	Amount  usd.Micro
	Balance usd.Micro // of the book, after this entry
	Run     core.RunID
	Call    core.CallID
	Note    string
	At      core.Micros
}

// EntryQuery selects entries, newest first. After is the last entry of the
// page before.
type EntryQuery struct {
	Run   core.RunID
	After *EntryCursor
	Limit int
}

// EntryCursor is a place in the list of entries.
type EntryCursor struct {
	At core.Micros
	ID string
}

const entryWindow = `SELECT id, code, book, signed, balance, run_id, call_id, note, created_at FROM (
	SELECT t.id, t.code, a.book, CASE WHEN t.code IN ('hold', 'charge') THEN -t.amount ELSE t.amount END AS signed,
		CAST(sum(CASE WHEN t.code = 'grant' THEN t.amount WHEN t.code = 'charge' THEN -t.amount ELSE 0 END)
			OVER (PARTITION BY a.book ORDER BY t.created_at, t.id) AS BIGINT) AS balance,
		coalesce(t.run_id, '') AS run_id, coalesce(t.call_id, '') AS call_id, t.note, t.created_at
	FROM transfers t JOIN ledger_accounts a ON a.id = t.debit
	WHERE t.workspace_id = $1 AND t.code IN ('grant', 'hold', 'release', 'charge')) e WHERE 1 = 1`

// Entries reads a workspace's ledger.
func (r Reader) Entries(ctx context.Context, sc core.Scope, q EntryQuery) ([]Entry, error) {
	text, args := entryWindow, []any{string(sc.Workspace)}
	if q.Run != "" {
		args = append(args, string(q.Run))
		text += fmt.Sprintf(` AND run_id = $%d`, len(args))
	}
	if q.After != nil {
		n := len(args)
		args = append(args, int64(q.After.At), int64(q.After.At), q.After.ID)
		text += fmt.Sprintf(` AND (created_at < $%d OR (created_at = $%d AND id < $%d))`, n+1, n+2, n+3)
	}
	args = append(args, q.Limit)
	rows, err := r.db.QueryContext(ctx, text+fmt.Sprintf(` ORDER BY created_at DESC, id DESC LIMIT $%d`, len(args)), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Entry
	for rows.Next() {
		var e Entry
		if err := rows.Scan(&e.ID, &e.Code, &e.Book, &e.Amount, &e.Balance, &e.Run, &e.Call, &e.Note, &e.At); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, rows.Err()
}
