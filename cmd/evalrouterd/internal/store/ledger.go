package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Kinds of ledger account. Grant, absorbed and provider stand for the outside
// world and may go below zero; available, held and spent never do.
const (
	accAvailable = "available"
	accHeld      = "held"
	accSpent     = "spent"
	accGrant     = "grant"
	accAbsorbed  = "absorbed"
	accProvider  = "provider"
)

var accountKinds = []struct {
	kind     string
	negative int
}{
	{accAvailable, 0}, {accHeld, 0}, {accSpent, 0}, {accGrant, 1}, {accAbsorbed, 1}, {accProvider, 1},
}

func accountID(w core.WorkspaceID, b core.Book, kind string) string {
	return string(w) + "/" + string(b) + "/" + kind
}

// transfer is one movement of money. From and to are account kinds of one book.
type transfer struct {
	id        string
	workspace core.WorkspaceID
	book      core.Book
	from, to  string
	amount    usd.Micro
	code      string
	run       core.RunID
	call      core.CallID
	note      string
}

// errShort says that an account has less than a transfer takes.
var errShort = errors.New("not enough in the account")

// move writes a transfer and both balances. Nothing moves for amount 0.
func (t *tx) move(m transfer) error {
	if m.amount == 0 {
		return nil
	}
	from, to := accountID(m.workspace, m.book, m.from), accountID(m.workspace, m.book, m.to)
	if err := t.shift(from, to, m.amount); err != nil {
		return err
	}
	err := t.put(`INSERT INTO transfers (id, workspace_id, debit, credit, amount, code, run_id, call_id, note, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		m.id, string(m.workspace), from, to, int64(m.amount), m.code, null(string(m.run)), null(string(m.call)), m.note, int64(t.now))
	if err != nil {
		return fmt.Errorf("write transfer: %w", err)
	}
	return nil
}

// shift changes both balances. What books defer cannot fall short: a charge is
// taken from what its own run holds.
func (t *tx) shift(from, to string, amount usd.Micro) error {
	if t.books.deferred {
		t.adjust(from, -amount)
		t.adjust(to, amount)
		return nil
	}
	n, err := t.exec(`UPDATE ledger_accounts SET balance = balance - $1 WHERE id = $2 AND (allow_negative = 1 OR balance >= $1)`, int64(amount), from)
	if err != nil {
		return fmt.Errorf("take from %s: %w", from, err)
	}
	if n == 0 {
		return errShort
	}
	if err := t.one(`UPDATE ledger_accounts SET balance = balance + $1 WHERE id = $2`, int64(amount), to); err != nil {
		return fmt.Errorf("give to %s: %w", to, err)
	}
	return nil
}

// null makes an absent reference NULL.
func null(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// CreateWorkspace makes a workspace with empty accounts in both books. An
// existing one is left as it is; made says whether it is new.
func (s *Store) CreateWorkspace(ctx context.Context, w core.WorkspaceInfo) (made bool, err error) {
	err = s.writer.ask(ctx, func(t *tx) error {
		made, err = t.newWorkspace(w)
		return err
	})
	return made, err
}

func (t *tx) newWorkspace(w core.WorkspaceInfo) (made bool, err error) {
	n, err := t.exec(`INSERT INTO workspaces (id, slug, name, epoch, practice, created_at) VALUES ($1, $2, $3, 1, $4, $5)
		ON CONFLICT (id) DO NOTHING`, string(w.ID), w.Slug, w.Name, flag(w.Practice), int64(t.now))
	if err != nil || n == 0 {
		return false, err
	}
	for _, b := range []core.Book{core.CreditBook, core.PracticeBook} {
		for _, k := range accountKinds {
			if _, err := t.exec(`INSERT INTO ledger_accounts (id, workspace_id, book, kind, balance, allow_negative) VALUES ($1, $2, $3, $4, 0, $5)`,
				accountID(w.ID, b, k.kind), string(w.ID), string(b), k.kind, k.negative); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Workspace reads one workspace.
func (s *Store) Workspace(ctx context.Context, id core.WorkspaceID) (core.WorkspaceInfo, error) {
	w := core.WorkspaceInfo{ID: id}
	err := s.read.QueryRowContext(ctx, `SELECT slug, name, epoch, practice, created_at FROM workspaces WHERE id = $1`, string(id)).
		Scan(&w.Slug, &w.Name, &w.Epoch, &w.Practice, &w.CreatedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return w, core.Missing("workspace")
	}
	return w, err
}

// Grant adds credit to a workspace. id makes it idempotent: the same id
// grants once.
func (s *Store) Grant(ctx context.Context, id string, w core.WorkspaceID, b core.Book, amount usd.Micro, note string) error {
	return s.writer.ask(ctx, func(t *tx) error {
		var n int
		if err := t.row(`SELECT count(*) FROM workspaces WHERE id = $1`, string(w)).Scan(&n); err != nil {
			return err
		}
		if n == 0 {
			return core.Missing("workspace")
		}
		if amount <= 0 {
			return core.Refuse(core.InvalidRequest, "a grant is more than nothing")
		}
		if err := t.row(`SELECT count(*) FROM transfers WHERE id = $1`, id).Scan(&n); err != nil || n > 0 {
			return err
		}
		return t.move(transfer{id: id, workspace: w, book: b, from: accGrant, to: accAvailable, amount: amount, code: "grant", note: note})
	})
}

// Credits reads one book of a workspace.
func (s *Store) Credits(ctx context.Context, w core.WorkspaceID, b core.Book) (c core.Credits, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT
		coalesce(sum(CASE WHEN kind = 'available' THEN balance ELSE 0 END), 0),
		coalesce(sum(CASE WHEN kind = 'held' THEN balance ELSE 0 END), 0)
		FROM ledger_accounts WHERE workspace_id = $1 AND book = $2`, string(w), string(b)).Scan(&c.Available, &c.Held)
	return c, err
}
