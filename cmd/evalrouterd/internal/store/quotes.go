package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/allowance"
)

// InsertQuote keeps a quote so that it can be fetched and accepted.
func (s *Store) InsertQuote(ctx context.Context, q core.Quote) error {
	return s.writer.ask(ctx, func(t *tx) error { return t.putQuote(q) })
}

func (t *tx) putQuote(q core.Quote) error {
	if err := t.w.bounds.MayQuote(door{t}, q.Workspace, 1); err != nil {
		return err
	}
	doc, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("encode quote: %w", err)
	}
	_, err = t.exec(`INSERT INTO quotes (id, workspace_id, epoch, source_run_id, scope_hash, price_id, cap, min_cap, created_at, expires_at, doc)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		string(q.ID), string(q.Workspace), q.Epoch, null(sourceOf(q)), q.ScopeHash, q.Target.Prices.Version, int64(q.Cap), int64(q.MinCap),
		int64(q.CreatedAt), int64(q.ExpiresAt), string(doc))
	return err
}

// Quote reads a quote of a workspace.
func (s *Store) Quote(ctx context.Context, sc core.Scope, id core.QuoteID) (core.QuoteState, error) {
	return scanQuote(s.read.QueryRowContext(ctx, selectQuote, string(id), string(sc.Workspace)))
}

func sourceOf(q core.Quote) string {
	if q.Continuation == nil {
		return ""
	}
	return string(q.Continuation.Source)
}

const selectQuote = `SELECT doc, coalesce(consumed_by, '') FROM quotes WHERE id = $1 AND workspace_id = $2`

func scanQuote(row scanner) (q core.QuoteState, err error) {
	var doc string
	err = row.Scan(&doc, &q.Run)
	if errors.Is(err, sql.ErrNoRows) {
		return q, core.Missing("quote")
	}
	if err != nil {
		return q, err
	}
	if err := json.Unmarshal([]byte(doc), &q.Quote); err != nil {
		return q, fmt.Errorf("decode quote %s: %w", q.ID, err)
	}
	return q, nil
}

// Bound holds every workspace to bounds from now on. It is called before the
// store is used by others.
func (s *Store) Bound(b allowance.Bounds) { s.writer.bounds = b }
