// Package allowance is how much a workspace may have at once. What it counts is
// read in the transaction that adds one more, so that two that come together
// cannot both be the last.
package allowance

import (
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Row is a row that can be read.
type Row = interface{ Scan(...any) error }

// Tx is an open write transaction.
type Tx interface {
	Row(q string, args ...any) Row
	Now() core.Micros
	// Lock ends a SELECT whose row is to stay as it is until the commit.
	Lock() string
}

// Bounds is how much of something a workspace may have; 0 is as much as it likes.
type Bounds struct {
	// ActiveRuns go on: they are queued, running or ending.
	ActiveRuns int
	// OpenQuotes can still be accepted. A quote of a group counts with each of its
	// models.
	OpenQuotes int
}

// MayBegin refuses more runs than a workspace may have, all that are to begin in
// one transaction together and before the first of them: what is rolled back is
// not told of. Two that begin at once wait for each other at the workspace's row.
func (b Bounds) MayBegin(t Tx, w core.WorkspaceID, more int) error {
	if b.ActiveRuns == 0 {
		return nil
	}
	var n int64
	if err := t.Row(`SELECT epoch FROM workspaces WHERE id = $1`+t.Lock(), string(w)).Scan(&n); err != nil {
		return fmt.Errorf("read workspace: %w", err)
	}
	if err := t.Row(`SELECT count(*) FROM runs WHERE workspace_id = $1 AND state IN ('queued', 'running', 'stopping', 'finalizing')`, string(w)).Scan(&n); err != nil {
		return fmt.Errorf("count active runs: %w", err)
	}
	if n+int64(more) <= int64(b.ActiveRuns) {
		return nil
	}
	return core.Refuse(core.TooManyRuns, "this workspace has %d runs going on and may have %d%s; nothing was started or charged, and the quote is kept. Wait for one to end, or cancel one", n, b.ActiveRuns, beside(more, "start")).
		With("limit", b.ActiveRuns)
}

// beside says how many come at once, where it is not one.
func beside(more int, verb string) string {
	if more == 1 {
		return ""
	}
	return fmt.Sprintf(", and this would %s %d more", verb, more)
}

// MayQuote refuses more quotes than a workspace may have open, all that are to be
// kept in one transaction together.
func (b Bounds) MayQuote(t Tx, w core.WorkspaceID, more int) error {
	if b.OpenQuotes == 0 {
		return nil
	}
	var n int
	err := t.Row(`SELECT count(*) FROM (SELECT 1 FROM quotes WHERE workspace_id = $1 AND consumed_by IS NULL AND expires_at > $2 LIMIT $3) AS open_quotes`, string(w), int64(t.Now()), b.OpenQuotes).Scan(&n)
	if err != nil {
		return fmt.Errorf("count open quotes: %w", err)
	}
	if n+more <= b.OpenQuotes {
		return nil
	}
	return core.Refuse(core.TooManyQuotes, "this workspace has %d quotes open and may have %d%s; nothing was quoted. They expire within half an hour", n, b.OpenQuotes, beside(more, "open")).
		With("limit", b.OpenQuotes)
}
