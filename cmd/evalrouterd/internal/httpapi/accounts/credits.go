package accounts

import (
	"context"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
	"github.com/evalrouter/evalrouter/lib/api"
)

type none struct{}

func (h *Handlers) credits(_ *httpapi.Server, ctx context.Context, _ *none) (*httpapi.Answer[api.CreditsRecord], error) {
	ws := httpapi.ScopeOf(ctx).Workspace
	c, err := h.Money.Credits(ctx, ws, core.CreditBook)
	if err != nil {
		return nil, err
	}
	info, err := h.Money.Workspace(ctx, ws)
	if err != nil {
		return nil, err
	}
	out := api.CreditsRecord{
		WorkspaceID: string(ws), Currency: "USD", BalanceMicrousd: c.Available + c.Held, HeldMicrousd: c.Held, AvailableMicrousd: c.Available,
		AsOf: httpapi.TimeOf(h.Now()),
	}
	if h.Origin != "" {
		out.BillingURL = maybe(h.Origin + "/settings/billing?workspace=" + string(ws))
	}
	if info.Practice {
		p, err := h.Money.Credits(ctx, ws, core.PracticeBook)
		if err != nil {
			return nil, err
		}
		out.Practice = &api.PracticeCredit{BalanceMicrousd: p.Available + p.Held, HeldMicrousd: p.Held, AvailableMicrousd: p.Available}
	}
	return httpapi.Reply(out), nil
}

type ledgerInput struct {
	httpapi.Paging
	RunID string `query:"run_id"`
}

func (h *Handlers) ledger(_ *httpapi.Server, ctx context.Context, in *ledgerInput) (*httpapi.Answer[api.Page[api.LedgerEntry]], error) {
	q := history.EntryQuery{Run: core.RunID(in.RunID), Limit: in.Limit + 1}
	at, err := in.Place("ledger")
	if err != nil {
		return nil, err
	}
	if at != nil {
		q.After = &history.EntryCursor{At: at.At, ID: at.ID}
	}
	entries, err := h.Money.Entries(ctx, httpapi.ScopeOf(ctx), q)
	if err != nil {
		return nil, err
	}
	return httpapi.PageOf("ledger", in.Paging, entries, func(e history.Entry) core.Place { return core.Place{At: e.At, ID: e.ID} }, ledgerEntry), nil
}

// ledgerEntry shows a movement. Practice credit is play money in a book of its
// own, and its entries say so.
func ledgerEntry(e history.Entry) api.LedgerEntry {
	note := e.Note
	if e.Book == core.PracticeBook {
		note = "practice credit"
		if e.Note != "" && e.Note != note {
			note += ": " + e.Note
		}
	}
	return api.LedgerEntry{
		ID: e.ID, Kind: e.Code, AmountMicrousd: e.Amount, BalanceAfterMicrousd: e.Balance, RunID: maybe(string(e.Run)), OperationID: maybe(string(e.Call)), Note: note, CreatedAt: httpapi.TimeOf(e.At),
	}
}

// maybe is null for an empty text.
func maybe(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
