package traces

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/access"
)

const connectionColumns = `c.id, c.workspace_id, c.name, c.kind, c.capture_doc, c.days, c.actor, c.created_at, c.disabled_at, c.received_at, c.traces,
	coalesce(k.id, ''), coalesce(k.prefix, ''), coalesce(k.created_at, 0)`

// The key of a connection is the newest one. One before it may still be good.
const fromConnections = ` FROM trace_connections c LEFT JOIN api_keys k ON k.id =
	(SELECT n.id FROM api_keys n WHERE n.connection_id = c.id AND n.connection_id <> '' ORDER BY n.created_at DESC, n.id DESC LIMIT 1)`

func scanConnection(rows *sql.Rows) (c core.TraceConnection, err error) {
	var capture string
	err = rows.Scan(&c.ID, &c.Workspace, &c.Name, &c.Kind, &capture, &c.Days, &c.Actor, &c.CreatedAt, &c.DisabledAt, &c.LastReceivedAt, &c.Traces, &c.KeyID, &c.KeyPrefix, &c.KeyAt)
	if err == nil {
		err = json.Unmarshal([]byte(capture), &c.Capture)
	}
	return c, err
}

// AddConnection keeps a new connection with its key.
func (s *Store) AddConnection(ctx context.Context, c core.TraceConnection, k core.APIKey, by core.By) error {
	capture, err := json.Marshal(c.Capture)
	if err != nil {
		return err
	}
	return s.ask(ctx, func(t Tx) error {
		var n int
		rows, err := t.Rows(`SELECT count(*) FROM trace_connections WHERE workspace_id = $1 AND disabled_at = 0`, string(c.Workspace))
		if _, err := single(rows, err, &n); err != nil {
			return err
		}
		if n >= core.MaxTraceConnections {
			return core.Refuse(core.SourceQuota, "the workspace has %d trace connections, which is as many as it may have; nothing was made. Disable one that is no longer needed", n)
		}
		if _, err := t.Exec(`INSERT INTO trace_connections (id, workspace_id, name, kind, capture_doc, days, actor, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			string(c.ID), string(c.Workspace), c.Name, c.Kind, string(capture), c.Days, c.Actor, int64(t.Now())); err != nil {
			return err
		}
		return access.AddBound(t, bound(k, c), by)
	})
}

// bound makes a key one of a connection, which can do nothing else.
func bound(k core.APIKey, c core.TraceConnection) core.APIKey {
	k.Workspace, k.Name, k.Connection, k.Scopes = c.Workspace, c.Name, c.ID, []string{"traces:ingest"}
	return k
}

// RotateKey gives a connection another key. The one before stays good, so that
// senders can change over; those before that end.
func (s *Store) RotateKey(ctx context.Context, sc core.Scope, id core.TraceConnectionID, k core.APIKey, by core.By) error {
	return s.ask(ctx, func(t Tx) error {
		c, err := connectionIn(t, sc, id)
		if err != nil {
			return err
		}
		if c.DisabledAt != 0 {
			return core.Refuse(core.NotFound, "this trace connection was disabled; nothing was changed. Make another one")
		}
		return access.RotateBound(t, core.APIKey{ID: c.KeyID, Prefix: c.KeyPrefix}, bound(k, c), by)
	})
}

func connectionIn(t Tx, sc core.Scope, id core.TraceConnectionID) (core.TraceConnection, error) {
	rows, err := t.Rows(`SELECT `+connectionColumns+fromConnections+` WHERE c.workspace_id = $1 AND c.id = $2`, string(sc.Workspace), string(id))
	return theConnection(gather(rows, err, scanConnection))
}

func theConnection(all []core.TraceConnection, err error) (core.TraceConnection, error) {
	if err == nil && len(all) == 0 {
		return core.TraceConnection{}, core.Missing("trace connection")
	}
	if err != nil {
		return core.TraceConnection{}, fmt.Errorf("read trace connection: %w", err)
	}
	return all[0], nil
}

// Connection reads a connection.
func (s *Store) Connection(ctx context.Context, sc core.Scope, id core.TraceConnectionID) (core.TraceConnection, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT `+connectionColumns+fromConnections+` WHERE c.workspace_id = $1 AND c.id = $2`, string(sc.Workspace), string(id))
	return theConnection(gather(rows, err, scanConnection))
}

// Connections lists connections, newest first.
func (s *Store) Connections(ctx context.Context, sc core.Scope, after *core.Place, limit int) ([]core.TraceConnection, error) {
	text, args := `SELECT `+connectionColumns+fromConnections+` WHERE c.workspace_id = $1`, []any{string(sc.Workspace)}
	if after != nil {
		text += ` AND (c.created_at < $2 OR (c.created_at = $3 AND c.id < $4))`
		args = append(args, int64(after.At), int64(after.At), after.ID)
	}
	args = append(args, limit)
	rows, err := s.db.QueryContext(ctx, text+fmt.Sprintf(` ORDER BY c.created_at DESC, c.id DESC LIMIT $%d`, len(args)), args...)
	return gather(rows, err, scanConnection)
}

// ChangeConnection sets a connection's name, capture and days.
func (s *Store) ChangeConnection(ctx context.Context, sc core.Scope, id core.TraceConnectionID, change func(*core.TraceConnection) error) error {
	return s.ask(ctx, func(t Tx) error {
		c, err := connectionIn(t, sc, id)
		if err == nil {
			err = change(&c)
		}
		if err != nil {
			return err
		}
		capture, err := json.Marshal(c.Capture)
		if err != nil {
			return err
		}
		return t.One(`UPDATE trace_connections SET name = $1, capture_doc = $2, days = $3 WHERE workspace_id = $4 AND id = $5`, c.Name, string(capture), c.Days, string(sc.Workspace), string(id))
	})
}

// DisableConnection ends a connection and its keys. Its traces stay. Disabling
// again changes nothing.
func (s *Store) DisableConnection(ctx context.Context, sc core.Scope, id core.TraceConnectionID, by core.By) error {
	return s.ask(ctx, func(t Tx) error {
		if _, err := connectionIn(t, sc, id); err != nil {
			return err
		}
		if _, err := t.Exec(`UPDATE trace_connections SET disabled_at = $1 WHERE id = $2 AND disabled_at = 0`, int64(t.Now()), string(id)); err != nil {
			return err
		}
		by.Workspace = sc.Workspace
		return access.EndBound(t, id, by)
	})
}
