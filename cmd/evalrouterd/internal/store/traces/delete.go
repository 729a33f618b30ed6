package traces

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Delete takes a trace with all of its content. One that dataset items were
// made of goes only with force: the items keep what they copied.
func (s *Store) Delete(ctx context.Context, sc core.Scope, id core.TraceID, force bool) error {
	return s.ask(ctx, func(t Tx) error {
		rows, err := t.Rows(`SELECT `+traceColumns+` FROM traces WHERE workspace_id = $1 AND id = $2 AND spans > 0`, string(sc.Workspace), string(id))
		all, err := gather(rows, err, scanTrace)
		switch {
		case err != nil:
			return err
		case len(all) == 0:
			return core.Missing("trace")
		case all[0].Held > 0 && !force:
			return core.Refuse(core.TraceHeld, "%d dataset items were made of this trace; nothing was deleted. Forced, it goes, and the items keep what they copied", all[0].Held).With("items", all[0].Held)
		}
		return drop(t, all[0].Num, all[0].Connection)
	})
}

func drop(t Tx, num int64, c core.TraceConnectionID) error {
	if err := empty(t, num); err != nil {
		return err
	}
	// A finding stays, with its fingerprint and what was decided about it; what it
	// quotes of the trace goes with the trace.
	if _, err := t.Exec(`UPDATE trace_findings SET detail = '' WHERE trace_id = (SELECT id FROM traces WHERE num = $1)`, num); err != nil {
		return err
	}
	if _, err := t.Exec(`DELETE FROM trace_occurrences WHERE trace_id = (SELECT id FROM traces WHERE num = $1)`, num); err != nil {
		return err
	}
	if _, err := t.Exec(`DELETE FROM trace_evaluations WHERE trace_id = (SELECT id FROM traces WHERE num = $1)`, num); err != nil {
		return err
	}
	if n, err := t.Exec(`DELETE FROM traces WHERE num = $1`, num); err != nil || n == 0 {
		return err // another process was first
	}
	return t.One(`UPDATE trace_connections SET traces = traces - 1 WHERE id = $1`, string(c))
}

// expireAtOnce bounds a transaction: what arrives meanwhile waits for it.
const expireAtOnce = 20

// Expire takes the traces whose time is over, a few in each transaction, and
// gives their number.
func (s *Store) Expire(ctx context.Context) (n int, err error) {
	for {
		few := 0
		err := s.ask(ctx, func(t Tx) error {
			rows, err := t.Rows(`SELECT num, connection_id FROM traces WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2`, int64(t.Now()), expireAtOnce)
			type old struct {
				num int64
				of  core.TraceConnectionID
			}
			all, err := gather(rows, err, func(rows *sql.Rows) (o old, err error) { return o, rows.Scan(&o.num, &o.of) })
			if err != nil {
				return err
			}
			few = len(all)
			for _, o := range all {
				if err := drop(t, o.num, o.of); err != nil {
					return fmt.Errorf("expire trace %d: %w", o.num, err)
				}
			}
			return nil
		})
		if n += few; err != nil || few < expireAtOnce {
			return n, err
		}
	}
}
