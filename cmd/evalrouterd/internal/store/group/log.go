package group

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Event is an event of a member in the log of its group. Its Seq is the
// group's.
type Event struct {
	core.Event
	Run core.RunID
}

// chunk is how many events are taken into a group's log at once.
const chunk = 500

// Events reads a group's log behind a sequence, oldest first, of the given types
// or of all. Sequences have no gaps, an event keeps its own for ever, and each
// member's events stand in its own order.
//
// Whether something waits to be taken is asked before the log is read: a reader
// that asked afterwards could read an empty log, be overtaken by one who fills it,
// and say that there is nothing.
func (st *Store) Events(ctx context.Context, g core.Group, after int64, types []string, limit int) ([]Event, error) {
	for {
		more, err := st.waiting(ctx, g)
		if err != nil {
			return nil, err
		}
		out, err := st.told(ctx, g.ID, after, types, limit)
		if err != nil || !more || len(out) >= limit {
			return out, err
		}
		if err := st.ask(ctx, func(t Tx) error { return take(t, g) }); err != nil {
			return nil, fmt.Errorf("take up events of group %s: %w", g.ID, err)
		}
	}
}

func (st *Store) told(ctx context.Context, id core.GroupID, after int64, types []string, limit int) ([]Event, error) {
	where, args := ``, []any{string(id), after}
	for i, t := range types {
		sep := `, `
		if i == 0 {
			sep = ` AND e.type IN (`
		}
		args = append(args, t)
		where += fmt.Sprintf("%s$%d", sep, len(args))
	}
	if len(types) > 0 {
		where += `)`
	}
	args = append(args, limit)
	rows, err := st.db.QueryContext(ctx, fmt.Sprintf(`SELECT l.seq, e.type, e.at, e.doc, r.id FROM group_log l JOIN events e ON e.run = l.run AND e.seq = l.run_seq JOIN runs r ON r.num = l.run
		WHERE l.group_id = $1 AND l.seq > $2%s ORDER BY l.seq LIMIT $%d`, where, len(args)), args...)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	defer rows.Close()
	var out []Event
	for rows.Next() {
		var e Event
		var doc string
		if err := rows.Scan(&e.Seq, &e.Type, &e.At, &doc, &e.Run); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(doc), &e.Data); err != nil {
			return nil, fmt.Errorf("decode event %d: %w", e.Seq, err)
		}
		out = append(out, e)
	}
	return out, rows.Err()
}

// waiting says whether a member has events that the group's log has not. Both
// counts are kept: no event is looked at.
func (st *Store) waiting(ctx context.Context, g core.Group) (bool, error) {
	var there, taken int64
	err := st.db.QueryRowContext(ctx, `SELECT (SELECT coalesce(sum(r.next_seq - 1), 0) FROM runs r JOIN group_members m ON m.run_id = r.id WHERE m.group_id = $1), next_seq - 1 FROM groups_ WHERE id = $2`,
		string(g.ID), string(g.ID)).Scan(&there, &taken)
	if err != nil {
		return false, fmt.Errorf("count events: %w", err)
	}
	return there > taken, nil
}

// pending is an event that is not in the group's log yet.
type pending struct {
	at       core.Micros
	run, seq int64
}

// take appends the oldest events that the group's log does not have. Two
// processes that do so at once wait for each other at the group's row.
func take(t Tx, g core.Group) error {
	if err := t.One(`UPDATE groups_ SET next_seq = next_seq WHERE id = $1`, string(g.ID)); err != nil {
		return err
	}
	var next int64
	if err := t.Row(`SELECT next_seq FROM groups_ WHERE id = $1`, string(g.ID)).Scan(&next); err != nil {
		return err
	}
	var all []pending
	for _, run := range g.Members {
		some, err := untold(t, g.ID, run)
		if err != nil {
			return err
		}
		all = append(all, some...)
	}
	// A stable sort: the events of one run have rising times and stay in order.
	slices.SortStableFunc(all, func(a, b pending) int { return cmp.Compare(a.at, b.at) })
	all = all[:min(len(all), chunk)]
	for i, p := range all {
		if _, err := t.Exec(`INSERT INTO group_log (group_id, seq, run, run_seq) VALUES ($1, $2, $3, $4)`, string(g.ID), next+int64(i), p.run, p.seq); err != nil {
			return err
		}
	}
	return t.One(`UPDATE groups_ SET next_seq = $1 WHERE id = $2`, next+int64(len(all)), string(g.ID))
}

// untold is the events of a run that come next in the group's log.
func untold(t Tx, id core.GroupID, run core.RunID) ([]pending, error) {
	rows, err := t.Rows(`SELECT e.at, e.run, e.seq FROM events e JOIN runs r ON r.num = e.run WHERE r.id = $1 AND e.seq >
		coalesce((SELECT max(l.run_seq) FROM group_log l WHERE l.group_id = $2 AND l.run = r.num), 0) ORDER BY e.seq LIMIT $3`, string(run), string(id), chunk)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []pending
	for rows.Next() {
		var p pending
		if err := rows.Scan(&p.at, &p.run, &p.seq); err != nil {
			return nil, err
		}
		// A clock that was set back must not turn a run's order around.
		if n := len(out); n > 0 {
			p.at = max(p.at, out[n-1].at)
		}
		out = append(out, p)
	}
	return out, rows.Err()
}
