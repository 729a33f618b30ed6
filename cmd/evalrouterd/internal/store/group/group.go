// Package group keeps runs that are started together: the quote of all of them,
// who belongs to a group, and in which order their events were told. What a
// group is doing is not kept: it follows from its members.
//
// Every statement names the workspace, and what belongs to another reads as
// missing.
package group

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Tx is an open write transaction with one fixed time.
type Tx interface {
	Exec(q string, args ...any) (rows int64, err error)
	// One is Exec for a statement that must touch exactly one row; it fails
	// with core.ErrMoved otherwise.
	One(q string, args ...any) error
	Row(q string, args ...any) Row
	Rows(q string, args ...any) (*sql.Rows, error)
	Now() core.Micros
	Once
	Runs
}

// Once keeps the answers of requests.
type Once interface {
	Recall(core.Scope, core.Once) (out core.Admitted, ok bool, err error)
	Remember(core.Scope, core.Once, core.Admitted) error
}

// Runs makes single runs.
type Runs interface {
	PutQuote(core.Quote) error
	// Begin consumes a quote and makes its run, with its hold and its consent.
	Begin(core.Admission) (core.Run, core.Quote, error)
	// MayQuote and MayBegin refuse so many more quotes or runs as one than a
	// workspace may have.
	MayQuote(w core.WorkspaceID, more int) error
	MayBegin(w core.WorkspaceID, more int) error
}

// Row is a row that can be read.
type Row = interface{ Scan(...any) error }

// Store reads through db and writes through the one writer of the database.
// It is safe for concurrent use.
type Store struct {
	db  *sql.DB
	ask func(context.Context, func(Tx) error) error
}

// New makes a store. ask runs a function in a transaction, more than once where
// the transaction must be made again.
func New(db *sql.DB, ask func(context.Context, func(Tx) error) error) *Store {
	return &Store{db: db, ask: ask}
}

// quoteDoc is what is kept of a group quote beside its columns.
type quoteDoc struct {
	Members      []core.QuoteID          `json:"members"`
	Continuation *core.GroupContinuation `json:"continuation,omitempty"`
}

// PutQuote keeps a group quote and its members, all or none.
func (st *Store) PutQuote(ctx context.Context, g core.GroupQuote) error {
	kept := quoteDoc{Continuation: g.Continuation}
	for _, m := range g.Members {
		kept.Members = append(kept.Members, m.ID)
	}
	doc, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("encode group quote: %w", err)
	}
	return st.ask(ctx, func(t Tx) error {
		if err := t.MayQuote(g.Workspace, len(g.Members)); err != nil {
			return err
		}
		if _, err := t.Exec(`INSERT INTO group_quotes (id, workspace_id, name, cap, created_at, expires_at, doc) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			string(g.ID), string(g.Workspace), g.Name, int64(g.Cap), int64(g.CreatedAt), int64(g.ExpiresAt), string(doc)); err != nil {
			return err
		}
		for _, m := range g.Members {
			if err := t.PutQuote(m); err != nil {
				return err
			}
		}
		return nil
	})
}

const (
	selectQuote  = `SELECT id, workspace_id, name, cap, created_at, expires_at, coalesce(consumed_by, ''), doc FROM group_quotes WHERE id = $1 AND workspace_id = $2`
	selectMember = `SELECT doc FROM quotes WHERE id = $1 AND workspace_id = $2`
)

// reader reads one row: the read pool or a transaction.
type reader func(q string, args ...any) Row

func (st *Store) reader(ctx context.Context) reader {
	return func(q string, args ...any) Row { return st.db.QueryRowContext(ctx, q, args...) }
}

// Quote reads a group quote of a workspace with its members.
func (st *Store) Quote(ctx context.Context, sc core.Scope, id core.GroupQuoteID) (core.GroupQuoteState, error) {
	return st.reader(ctx).quote(sc, id)
}

func (read reader) quote(sc core.Scope, id core.GroupQuoteID) (g core.GroupQuoteState, err error) {
	var doc string
	err = read(selectQuote, string(id), string(sc.Workspace)).Scan(&g.ID, &g.Workspace, &g.Name, &g.Cap, &g.CreatedAt, &g.ExpiresAt, &g.Group, &doc)
	if errors.Is(err, sql.ErrNoRows) {
		return g, core.Missing("group quote")
	}
	if err != nil {
		return g, err
	}
	var kept quoteDoc
	if err := json.Unmarshal([]byte(doc), &kept); err != nil {
		return g, fmt.Errorf("decode group quote %s: %w", id, err)
	}
	g.Continuation = kept.Continuation
	for _, q := range kept.Members {
		var m core.Quote
		if err := read(selectMember, string(q), string(sc.Workspace)).Scan(&doc); err != nil {
			return g, fmt.Errorf("read quote %s of group quote %s: %w", q, id, err)
		}
		if err := json.Unmarshal([]byte(doc), &m); err != nil {
			return g, fmt.Errorf("decode quote %s: %w", q, err)
		}
		g.Members = append(g.Members, m)
	}
	return g, nil
}

// AdmitGroup starts every run of a group quote or none: idempotency record, quotes
// consumed, holds, runs, group and consents are one transaction. An answer that
// is not a success is not kept, so that the same key works after credit was
// added.
func (st *Store) AdmitGroup(ctx context.Context, a core.GroupAdmission) (out core.Admitted, err error) {
	err = st.ask(ctx, func(t Tx) error {
		// Whoever else accepts it, in this process or another, waits here and then
		// reads what became of it.
		if _, err := t.Exec(`UPDATE group_quotes SET consumed_by = consumed_by WHERE id = $1 AND workspace_id = $2`, string(a.Quote), string(a.Scope.Workspace)); err != nil {
			return err
		}
		var found bool
		var err error
		if out, found, err = t.Recall(a.Scope, a.Once); err != nil || found {
			return err
		}
		q, err := openQuote(t, a)
		if err != nil {
			return err
		}
		if err := claim(t, q); err != nil {
			return err
		}
		if err := t.MayBegin(q.Workspace, len(q.Members)); err != nil {
			return err
		}
		if err := covered(t, a, q); err != nil {
			return err
		}
		g, members, err := begin(t, a, q)
		if err != nil {
			return err
		}
		out = core.Admitted{Run: core.RunID(g.ID), Status: 200}
		if out.Body, err = a.Encode(g, members); err != nil {
			return fmt.Errorf("encode group: %w", err)
		}
		return t.Remember(a.Scope, a.Once, out)
	})
	return out, err
}

func openQuote(t Tx, a core.GroupAdmission) (core.GroupQuote, error) {
	q, err := reader(t.Row).quote(a.Scope, a.Quote)
	switch {
	case err != nil:
		return q.GroupQuote, err
	case q.Group != "":
		return q.GroupQuote, core.Refuse(core.QuoteAlreadyAccepted, "this quote already started group %s; nothing new was started", q.Group).With("group_id", string(q.Group))
	case t.Now() >= q.ExpiresAt:
		return q.GroupQuote, core.Refuse(core.QuoteExpired, "the quote has expired; nothing was started")
	case len(q.Members) != len(a.Members):
		return q.GroupQuote, fmt.Errorf("admit group quote %s: ids for %d of %d members", a.Quote, len(a.Members), len(q.Members))
	}
	return q.GroupQuote, t.One(`UPDATE group_quotes SET consumed_by = $1 WHERE id = $2 AND consumed_by IS NULL`, string(a.GroupID), string(q.ID))
}

// claim makes sure, until the commit, that nobody else continues the group that
// a quote goes on with.
func claim(t Tx, q core.GroupQuote) error {
	if q.Continuation == nil {
		return nil
	}
	source := string(q.Continuation.Source)
	// Whoever else continues it waits here, and then sees what this one has written.
	if err := t.One(`UPDATE groups_ SET name = name WHERE id = $1 AND workspace_id = $2`, source, string(q.Workspace)); err != nil {
		return fmt.Errorf("claim group %s: %w", source, err)
	}
	var next string
	err := t.Row(`SELECT id FROM groups_ WHERE source_group_id = $1`, source).Scan(&next)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for what continues group %s: %w", source, err)
	}
	return core.Refuse(core.ContinuationExists, "group %s was continued by group %s already; nothing was started", source, next).With("group_id", next)
}

// covered says whether every book has what the members together would hold, so
// that a refusal names what the group needs and not what the last member did.
func covered(t Tx, a core.GroupAdmission, q core.GroupQuote) error {
	for _, book := range []core.Book{core.CreditBook, core.PracticeBook} {
		var need, have usd.Micro
		for _, m := range q.Members {
			if m.Book(a.Practice) == book {
				need += m.Hold()
			}
		}
		if need == 0 {
			continue
		}
		err := t.Row(`SELECT balance FROM ledger_accounts WHERE workspace_id = $1 AND book = $2 AND kind = 'available'`, string(a.Scope.Workspace), string(book)).Scan(&have)
		if err != nil {
			return fmt.Errorf("read available credit: %w", err)
		}
		if have < need {
			return core.Refuse(core.InsufficientCredit, "available credit is %s and the caps of this group need %s; nothing was started or charged, and the quote is kept", have, need).
				With("required_microusd", need.Wire()).With("available_microusd", have.Wire())
		}
	}
	return nil
}

// begin writes the group and starts its members in the order of the quote.
func begin(t Tx, a core.GroupAdmission, q core.GroupQuote) (core.Group, []core.GroupMember, error) {
	g := core.Group{ID: a.GroupID, Workspace: a.Scope.Workspace, Quote: q.ID, Name: nameOf(a, q), Metadata: a.Metadata, Cap: q.Cap, CreatedAt: t.Now()}
	meta, err := json.Marshal(a.Metadata)
	if err != nil {
		return g, nil, err
	}
	source := any(nil)
	if c := q.Continuation; c != nil {
		g.Source, source = c.Source, string(c.Source)
	}
	if _, err := t.Exec(`INSERT INTO groups_ (id, workspace_id, quote_id, name, metadata, cap, created_at, source_group_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		string(g.ID), string(g.Workspace), string(g.Quote), g.Name, string(meta), int64(g.Cap), int64(g.CreatedAt), source); err != nil {
		return g, nil, err
	}
	var members []core.GroupMember
	for i, m := range q.Members {
		run, quote, err := t.Begin(core.Admission{
			Scope: a.Scope, Quote: m.ID, Name: g.Name, Metadata: a.Metadata, RunID: a.Members[i].Run, TransferID: a.Members[i].Transfer, ConsentID: a.Members[i].Consent,
			Practice: a.Practice, Group: g.ID, GroupQuote: q.ID, Consents: a.Members[i].Consents,
		})
		var no *core.Refusal
		if errors.As(err, &no) {
			return g, nil, no.With("member", q.Place(i))
		}
		if err != nil {
			return g, nil, err
		}
		if _, err := t.Exec(`INSERT INTO group_members (group_id, pos, run_id) VALUES ($1, $2, $3)`, string(g.ID), i, string(run.ID)); err != nil {
			return g, nil, err
		}
		g.Members = append(g.Members, run.ID)
		members = append(members, core.GroupMember{Run: run, Quote: quote})
	}
	return g, members, nil
}

// defaultName is what a group is called that nobody named.
const defaultName = "Evaluation"

func nameOf(a core.GroupAdmission, q core.GroupQuote) string {
	switch {
	case a.Name != "":
		return a.Name
	case q.Name != "":
		return q.Name
	}
	return defaultName
}
