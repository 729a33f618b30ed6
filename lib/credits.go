package evalrouter

import (
	"context"
	"iter"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Credits reads a workspace's money. There is no way to pay through the API.
type Credits struct{ c *core }

// Get is the balance, what running evaluations hold, and what is available.
func (s *Credits) Get(ctx context.Context) (api.CreditsRecord, error) {
	return get[api.CreditsRecord](ctx, s.c, "read credits", path("credits"))
}

// LedgerQuery filters ledger entries.
type LedgerQuery struct {
	RunID string
	Paging
}

// Ledger is one page of movements, newest first.
func (s *Credits) Ledger(ctx context.Context, in LedgerQuery) (api.Page[api.LedgerEntry], error) {
	var q query
	q.text("run_id", in.RunID)
	in.put(&q)
	return list[api.LedgerEntry](ctx, s.c, "read the ledger", path("credits", "ledger"), q)
}

// AllLedger walks every page.
func (s *Credits) AllLedger(ctx context.Context, in LedgerQuery) iter.Seq2[api.LedgerEntry, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.LedgerEntry], error) {
		in.Cursor = cursor
		return s.Ledger(ctx, in)
	})
}
