package group

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

const groupColumns = `id, workspace_id, quote_id, name, metadata, cap, created_at, coalesce(source_group_id, ''), coalesce((SELECT n.id FROM groups_ n WHERE n.source_group_id = groups_.id), '')`

func scanGroup(row Row) (g core.Group, err error) {
	var meta string
	err = row.Scan(&g.ID, &g.Workspace, &g.Quote, &g.Name, &meta, &g.Cap, &g.CreatedAt, &g.Source, &g.ContinuedBy)
	if errors.Is(err, sql.ErrNoRows) {
		return g, core.Missing("group")
	}
	if err != nil {
		return g, err
	}
	if err := json.Unmarshal([]byte(meta), &g.Metadata); err != nil {
		return g, fmt.Errorf("decode metadata: %w", err)
	}
	return g, nil
}

// Group reads a group of a workspace.
func (st *Store) Group(ctx context.Context, sc core.Scope, id core.GroupID) (core.Group, error) {
	g, err := scanGroup(st.db.QueryRowContext(ctx, `SELECT `+groupColumns+` FROM groups_ WHERE id = $1 AND workspace_id = $2`, string(id), string(sc.Workspace)))
	if err != nil {
		return g, err
	}
	return g, st.members(ctx, &g)
}

// Lineage is the chain of groups that a group belongs to, from the first on.
func (st *Store) Lineage(ctx context.Context, sc core.Scope, id core.GroupID) ([]core.Group, error) {
	g, err := st.Group(ctx, sc, id)
	for err == nil && g.Source != "" {
		g, err = st.Group(ctx, sc, g.Source)
	}
	if err != nil {
		return nil, err
	}
	chain := []core.Group{g}
	for g.ContinuedBy != "" {
		if g, err = st.Group(ctx, sc, g.ContinuedBy); err != nil {
			return nil, err
		}
		chain = append(chain, g)
	}
	return chain, nil
}

func (st *Store) members(ctx context.Context, g *core.Group) error {
	rows, err := st.db.QueryContext(ctx, `SELECT run_id FROM group_members WHERE group_id = $1 ORDER BY pos`, string(g.ID))
	if err != nil {
		return fmt.Errorf("list members: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id core.RunID
		if err := rows.Scan(&id); err != nil {
			return err
		}
		g.Members = append(g.Members, id)
	}
	return rows.Err()
}

// Query selects groups, newest first. Prefix is the beginning of an id, After
// the last group of the page before.
type Query struct {
	Prefix string
	After  *core.Place
	Limit  int
}

// Groups lists groups of a workspace.
func (st *Store) Groups(ctx context.Context, sc core.Scope, q Query) ([]core.Group, error) {
	text, args := `SELECT `+groupColumns+` FROM groups_ WHERE workspace_id = $1`, []any{string(sc.Workspace)}
	if q.Prefix != "" {
		args = append(args, q.Prefix, q.Prefix+"g") // ids are lower-case hex and dashes
		text += ` AND id >= $2 AND id < $3`
	}
	if q.After != nil {
		n := len(args)
		args = append(args, int64(q.After.At), int64(q.After.At), q.After.ID)
		text += fmt.Sprintf(` AND (created_at < $%d OR (created_at = $%d AND id < $%d))`, n+1, n+2, n+3)
	}
	args = append(args, q.Limit)
	out, err := st.list(ctx, text+fmt.Sprintf(` ORDER BY created_at DESC, id DESC LIMIT $%d`, len(args)), args)
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	for i := range out {
		if err := st.members(ctx, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (st *Store) list(ctx context.Context, text string, args []any) ([]core.Group, error) {
	rows, err := st.db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []core.Group
	for rows.Next() {
		g, err := scanGroup(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, rows.Err()
}
