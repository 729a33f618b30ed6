package evalrouter

import (
	"context"
	"iter"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Workspaces are those of whoever is asking.
type Workspaces struct{ c *core }

// List is one page of workspaces. It needs no workspace to be chosen.
func (s *Workspaces) List(ctx context.Context, in Paging) (api.Page[api.WorkspaceRecord], error) {
	var q query
	in.put(&q)
	return list[api.WorkspaceRecord](ctx, s.c, "list workspaces", path("workspaces"), q)
}

// All walks every page.
func (s *Workspaces) All(ctx context.Context, in Paging) iter.Seq2[api.WorkspaceRecord, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.WorkspaceRecord], error) {
		in.Cursor = cursor
		return s.List(ctx, in)
	})
}
