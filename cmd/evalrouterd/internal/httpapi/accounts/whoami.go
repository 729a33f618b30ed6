package accounts

import (
	"context"
	"slices"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
)

func (h *Handlers) whoami(s *httpapi.Server, ctx context.Context, _ *none) (*httpapi.Answer[api.WhoamiRecord], error) {
	c := httpapi.CallerOf(ctx)
	out := api.WhoamiRecord{Kind: c.Kind, Scopes: append([]string{}, slices.Sorted(slices.Values(c.Scopes))...)}
	if c.Workspace != "" {
		w, err := h.workspace(s, ctx, c.Workspace, roleOf(c))
		if err != nil {
			return nil, err
		}
		out.Workspace = &w
	}
	if c.Key.ID != "" {
		out.APIKey = &api.KeyView{ID: c.Key.ID, Name: c.Key.Name, Prefix: c.Key.Prefix}
		out.ExpiresAt = httpapi.MaybeTime(c.Key.ExpiresAt)
	}
	if c.Kind == httpapi.KindSession {
		a := accountRecord(c.User)
		out.Account, out.ExpiresAt = &a, httpapi.MaybeTime(c.Expires)
		all, err := h.Access.Workspaces(ctx, c.User.ID)
		if err != nil {
			return nil, err
		}
		if out.SetupRequired = len(all) == 0; out.SetupRequired {
			out.SetupURL = maybe(h.Origin + "/setup")
		}
	}
	return httpapi.Reply(out), nil
}

func accountRecord(u core.User) api.AccountRecord {
	return api.AccountRecord{ID: string(u.ID), Email: u.Email, Name: maybe(u.Name), EmailVerified: true, CreatedAt: httpapi.TimeOf(u.CreatedAt)}
}

// roleOf is the role in the workspace of the request. A key has none of its
// own; it is named after what it may do.
func roleOf(c httpapi.Caller) core.Role {
	switch {
	case c.Role != "":
		return c.Role
	case c.Kind == httpapi.KindOwner:
		return core.RoleOwner
	}
	for _, scope := range []string{"eval:write", "connections:write", "benchmarks:submit"} {
		if slices.Contains(c.Scopes, scope) {
			return core.RoleMember
		}
	}
	return core.RoleViewer
}

func (h *Handlers) workspace(s *httpapi.Server, ctx context.Context, id core.WorkspaceID, role core.Role) (api.WorkspaceRecord, error) {
	w, err := h.Money.Workspace(ctx, id)
	if err != nil {
		return api.WorkspaceRecord{}, err
	}
	return h.record(s, w, role), nil
}

func (h *Handlers) record(s *httpapi.Server, w core.WorkspaceInfo, role core.Role) api.WorkspaceRecord {
	out := api.WorkspaceRecord{ID: string(w.ID), Name: w.Name, Slug: w.Slug, Role: string(role), Status: "active", CreatedAt: httpapi.TimeOf(w.CreatedAt), Features: s.Features()}
	if h.Origin != "" {
		out.WebURL = h.Origin + "/settings?workspace=" + string(w.ID)
	}
	return out
}

// mine lists the workspaces of whoever asks: all of a person's, and the one
// that a key belongs to.
func (h *Handlers) mine(s *httpapi.Server, ctx context.Context) ([]api.WorkspaceRecord, error) {
	c := httpapi.CallerOf(ctx)
	if c.Kind != httpapi.KindSession {
		w, err := h.workspace(s, ctx, c.Workspace, roleOf(c))
		return []api.WorkspaceRecord{w}, err
	}
	all, err := h.Access.Workspaces(ctx, c.User.ID)
	if err != nil {
		return nil, err
	}
	out := make([]api.WorkspaceRecord, len(all))
	for i, m := range all {
		out[i] = h.record(s, m.WorkspaceInfo, m.Role)
	}
	return out, nil
}

type pageInput struct{ httpapi.Paging }

func (h *Handlers) listWorkspaces(s *httpapi.Server, ctx context.Context, in *pageInput) (*httpapi.Answer[api.Page[api.WorkspaceRecord]], error) {
	all, err := h.mine(s, ctx)
	if err != nil {
		return nil, err
	}
	return httpapi.SlicePage("workspaces", all, in.Paging, func(w api.WorkspaceRecord) string { return w.ID }, func(w api.WorkspaceRecord) api.WorkspaceRecord { return w })
}

type idInput struct {
	ID string `path:"id"`
}

func (h *Handlers) getWorkspace(s *httpapi.Server, ctx context.Context, in *idInput) (*httpapi.Answer[api.WorkspaceRecord], error) {
	all, err := h.mine(s, ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		if w.ID == in.ID {
			return httpapi.Reply(w), nil
		}
	}
	return nil, core.Missing("workspace")
}
