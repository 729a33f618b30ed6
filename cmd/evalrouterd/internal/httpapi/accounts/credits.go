package httpapi

import (
	"context"
	"slices"
	"strconv"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
	"github.com/evalrouter/evalrouter/lib/api"
)

func (s *Server) getCredits(ctx context.Context, _ *none) (*answer[api.CreditsRecord], error) {
	ws := scopeOf(ctx).Workspace
	c, err := s.o.Accounts.Credits(ctx, ws, core.CreditBook)
	if err != nil {
		return nil, err
	}
	info, err := s.o.Accounts.Workspace(ctx, ws)
	if err != nil {
		return nil, err
	}
	out := api.CreditsRecord{
		WorkspaceID: string(ws), Currency: "USD", BalanceMicrousd: c.Available + c.Held, HeldMicrousd: c.Held, AvailableMicrousd: c.Available,
		AsOf: timeOf(s.micros()),
	}
	if info.Practice {
		p, err := s.o.Accounts.Credits(ctx, ws, core.PracticeBook)
		if err != nil {
			return nil, err
		}
		out.Practice = &api.PracticeCredit{BalanceMicrousd: p.Available + p.Held, HeldMicrousd: p.Held, AvailableMicrousd: p.Available}
	}
	return reply(out), nil
}

type ledgerInput struct {
	Paging
	RunID string `query:"run_id"`
}

func (s *Server) listLedger(ctx context.Context, in *ledgerInput) (*answer[api.Page[api.LedgerEntry]], error) {
	q := history.EntryQuery{Run: core.RunID(in.RunID), Limit: in.Limit + 1}
	at, err := cursorParts("ledger", in.Cursor, 2)
	if err != nil {
		return nil, err
	}
	if at != nil {
		t, err := microsOf(at[0])
		if err != nil {
			return nil, err
		}
		q.After = &history.EntryCursor{At: t, ID: at[1]}
	}
	entries, err := s.o.Accounts.Entries(ctx, scopeOf(ctx), q)
	if err != nil {
		return nil, err
	}
	out := api.Page[api.LedgerEntry]{Data: []api.LedgerEntry{}}
	for i, e := range entries {
		if i == in.Limit {
			last := entries[i-1]
			out.NextCursor = cursorText("ledger", strconv.FormatInt(int64(last.At), 10), last.ID)
			break
		}
		out.Data = append(out.Data, ledgerEntry(e))
	}
	return reply(out), nil
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
		ID: e.ID, Kind: e.Code, AmountMicrousd: e.Amount, BalanceAfterMicrousd: e.Balance, RunID: maybe(e.Run), OperationID: maybe(e.Call), Note: note, CreatedAt: timeOf(e.At),
	}
}

func (s *Server) whoami(ctx context.Context, _ *none) (*answer[api.WhoamiRecord], error) {
	c := callerOf(ctx)
	w, err := s.workspace(ctx)
	if err != nil {
		return nil, err
	}
	out := api.WhoamiRecord{Kind: c.kind, Workspace: &w, Scopes: slices.Sorted(slices.Values(c.scopes))}
	if c.key.ID != "" {
		out.APIKey = &api.KeyView{ID: c.key.ID, Name: c.key.Name, Prefix: c.key.Prefix}
		out.ExpiresAt = maybeTime(c.key.ExpiresAt)
	}
	if out.Scopes == nil {
		out.Scopes = []string{}
	}
	return reply(out), nil
}

// workspace is the one that the caller's credential belongs to.
func (s *Server) workspace(ctx context.Context) (api.WorkspaceRecord, error) {
	w, err := s.o.Accounts.Workspace(ctx, scopeOf(ctx).Workspace)
	if err != nil {
		return api.WorkspaceRecord{}, err
	}
	role := "owner"
	if c := callerOf(ctx); c.kind == "api_key" {
		role = "member"
		if !slices.Contains(c.scopes, scopeEvalWrite) && !slices.Contains(c.scopes, scopeConnectionsWrite) && !slices.Contains(c.scopes, scopeBenchmarksSubmit) {
			role = "viewer"
		}
	}
	return api.WorkspaceRecord{ID: string(w.ID), Name: w.Name, Slug: w.Slug, Role: role, Status: "active", CreatedAt: timeOf(w.CreatedAt), Features: s.features()}, nil
}

func (s *Server) listWorkspaces(ctx context.Context, in *pageInput) (*answer[api.Page[api.WorkspaceRecord]], error) {
	w, err := s.workspace(ctx)
	if err != nil {
		return nil, err
	}
	return slicePage("workspaces", []api.WorkspaceRecord{w}, in.Paging, func(w api.WorkspaceRecord) string { return w.ID }, func(w api.WorkspaceRecord) api.WorkspaceRecord { return w })
}

type workspaceInput struct {
	ID string `path:"id"`
}

func (s *Server) getWorkspace(ctx context.Context, in *workspaceInput) (*answer[api.WorkspaceRecord], error) {
	w, err := s.workspace(ctx)
	if err == nil && w.ID != in.ID {
		err = core.Missing("workspace")
	}
	if err != nil {
		return nil, err
	}
	return reply(w), nil
}
