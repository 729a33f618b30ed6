package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// event appends to a run's log. The sequence comes from the run's row, so the
// order of commits is the order of sequences, without gaps. Every event
// carries the run's money at that moment.
func (t *tx) event(run core.RunID, kind string, data map[string]any) error {
	return t.change(run, func(a *account) error {
		a.now.nextSeq++
		return t.insertEvent(run, a.now.nextSeq-1, kind, a.now.charged+a.now.metered, a.now.reserved, data)
	})
}

func (t *tx) insertEvent(run core.RunID, seq int64, kind string, spend, reserved usd.Micro, data map[string]any) error {
	if data == nil {
		data = map[string]any{}
	}
	data["spend_microusd"], data["reserved_microusd"] = spend.Wire(), reserved.Wire()
	doc, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	num, err := t.num(run)
	if err != nil {
		return err
	}
	return t.add(intoEvents, []any{int64(t.now)}, num, seq, kind, string(doc))
}

// AppendEvent writes one event by itself.
func (s *Store) AppendEvent(ctx context.Context, run core.RunID, kind string, data map[string]any) error {
	return s.writer.book(ctx, func(t *tx) error {
		if err := t.holds(s.claim); err != nil {
			return err
		}
		return t.event(run, kind, copyData(data))
	})
}

func copyData(m map[string]any) map[string]any {
	out := make(map[string]any, len(m)+2)
	for k, v := range m {
		out[k] = v
	}
	return out
}

// EventQuery selects events of a run: those after a sequence, oldest first,
// or with Tail the last Limit of them, oldest first.
type EventQuery struct {
	After int64
	Limit int
	Tail  bool
	Types []string
}

// Events reads a run's log.
func (s *Store) Events(ctx context.Context, sc core.Scope, run core.RunID, q EventQuery) ([]core.Event, error) {
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
	rows, err := s.read.QueryContext(ctx, fmt.Sprintf(`SELECT e.seq, e.type, e.at, e.doc FROM events e JOIN runs r ON r.num = e.run
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
