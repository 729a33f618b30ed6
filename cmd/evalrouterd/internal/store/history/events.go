package history

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// EventQuery selects events of a run: those after a sequence, oldest first,
// or with Tail the last Limit of them, oldest first.
type EventQuery struct {
	After int64
	Limit int
	Tail  bool
	Types []string
}

// Events reads a run's log.
func (r Reader) Events(ctx context.Context, sc core.Scope, run core.RunID, q EventQuery) ([]core.Event, error) {
	where, args := `r.id = $1 AND r.workspace_id = $2 AND e.seq > $3`, []any{string(run), string(sc.Workspace), q.After}
	for i, t := range q.Types {
		if i == 0 {
			where += ` AND e.type IN (`
		} else {
			where += `, `
		}
		args = append(args, t)
		where += fmt.Sprintf("$%d", len(args))
	}
	if len(q.Types) > 0 {
		where += `)`
	}
	order := "ASC"
	if q.Tail {
		order = "DESC"
	}
	args = append(args, q.Limit)
	rows, err := r.db.QueryContext(ctx, fmt.Sprintf(`SELECT e.seq, e.type, e.at, e.doc FROM events e JOIN runs r ON r.num = e.run
		WHERE %s ORDER BY e.seq %s LIMIT $%d`, where, order, len(args)), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []core.Event
	for rows.Next() {
		var e core.Event
		var doc string
		if err := rows.Scan(&e.Seq, &e.Type, &e.At, &doc); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(doc), &e.Data); err != nil {
			return nil, fmt.Errorf("decode event %d: %w", e.Seq, err)
		}
		out = append(out, e)
	}
	if q.Tail {
		for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
		}
	}
	return out, rows.Err()
}
