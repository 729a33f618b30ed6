package private

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

const sourceColumns = `id, workspace_id, file_name, format, bytes, sha256, received, row_count, columns_doc, status, error_code, reason, uri, actor, created_at, archived_at`

func scanSource(row Row) (s core.DataSource, err error) {
	var columns string
	err = row.Scan(&s.ID, &s.Workspace, &s.FileName, &s.Format, &s.Bytes, &s.SHA256, &s.Received, &s.Rows, &columns, &s.Status, &s.Error, &s.Reason, &s.URI, &s.Actor, &s.CreatedAt, &s.ArchivedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return s, core.Missing("source")
	}
	if err == nil {
		err = json.Unmarshal([]byte(columns), &s.Columns)
	}
	return s, err
}

// AddSource begins a source whose bytes are still to come, within the quota of
// its workspace.
func (st *Store) AddSource(ctx context.Context, s core.DataSource) (core.DataSource, error) {
	s.Status, s.Received, s.Columns = core.SourcePending, 0, nil
	err := st.ask(ctx, func(t Tx) error {
		s.CreatedAt = t.Now()
		var n int
		if err := t.Row(`SELECT count(*) FROM benchmark_sources WHERE workspace_id = $1 AND (status = 'pending' OR status = 'completed')`, string(s.Workspace)).Scan(&n); err != nil {
			return err
		}
		if n >= core.MaxSources {
			return core.Refuse(core.SourceQuota, "the workspace has %d sources, which is as many as it may have; nothing was added. Archive one that is no longer needed", n)
		}
		_, err := t.Exec(`INSERT INTO benchmark_sources (id, workspace_id, file_name, format, bytes, sha256, status, uri, actor, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, $8, $9)`,
			string(s.ID), string(s.Workspace), s.FileName, s.Format, s.Bytes, s.SHA256, s.URI, s.Actor, int64(s.CreatedAt))
		return err
	})
	return s, err
}

// Source reads a source.
func (st *Store) Source(ctx context.Context, sc core.Scope, id core.SourceID) (core.DataSource, error) {
	return scanSource(st.db.QueryRowContext(ctx, `SELECT `+sourceColumns+` FROM benchmark_sources WHERE workspace_id = $1 AND id = $2`, string(sc.Workspace), string(id)))
}

// SourceByURI reads the newest completed source of that name.
func (st *Store) SourceByURI(ctx context.Context, sc core.Scope, uri string) (core.DataSource, error) {
	return scanSource(st.db.QueryRowContext(ctx, `SELECT `+sourceColumns+` FROM benchmark_sources
		WHERE workspace_id = $1 AND uri = $2 AND status = 'completed' ORDER BY created_at DESC, id DESC LIMIT 1`, string(sc.Workspace), uri))
}

// Sources lists sources, newest first; status "" is any.
func (st *Store) Sources(ctx context.Context, sc core.Scope, status string, after *core.Place, limit int) ([]core.DataSource, error) {
	text, args := `SELECT `+sourceColumns+` FROM benchmark_sources WHERE workspace_id = $1`, []any{string(sc.Workspace)}
	switch status {
	case "":
	case "verifying":
		text += ` AND status = 'pending' AND received = bytes`
	case core.SourcePending:
		text += ` AND status = 'pending' AND received < bytes`
	default:
		args = append(args, status)
		text += ` AND status = $2`
	}
	page, args := behind(after, "id", args, limit)
	rows, err := st.db.QueryContext(ctx, text+page, args...)
	if err != nil {
		return nil, fmt.Errorf("list sources: %w", err)
	}
	defer rows.Close()
	var out []core.DataSource
	for rows.Next() {
		s, err := scanSource(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// StartOver drops what came of a pending source.
func (st *Store) StartOver(ctx context.Context, sc core.Scope, id core.SourceID) error {
	return st.ask(ctx, func(t Tx) error {
		if err := t.One(`UPDATE benchmark_sources SET received = 0 WHERE workspace_id = $1 AND id = $2 AND status = 'pending'`, string(sc.Workspace), string(id)); err != nil {
			return err
		}
		return dropChunks(t, id)
	})
}

func dropChunks(t Tx, id core.SourceID) error {
	_, err := t.Exec(`DELETE FROM benchmark_source_chunks WHERE source_id = $1`, string(id))
	return err
}

// Append adds bytes to a pending source of which exactly start bytes are there.
// It fails with core.ErrMoved when that is not so.
func (st *Store) Append(ctx context.Context, sc core.Scope, id core.SourceID, start int64, data []byte) error {
	return st.ask(ctx, func(t Tx) error {
		end := start + int64(len(data))
		if err := t.One(`UPDATE benchmark_sources SET received = $1 WHERE workspace_id = $2 AND id = $3 AND status = 'pending' AND received = $4 AND bytes >= $5`,
			end, string(sc.Workspace), string(id), start, end); err != nil {
			return err
		}
		_, err := t.Exec(`INSERT INTO benchmark_source_chunks (source_id, start, data) VALUES ($1, $2, $3)`, string(id), start, data)
		return err
	})
}

// Finish says what a whole source holds. One in which something is wrong keeps
// no bytes.
func (st *Store) Finish(ctx context.Context, sc core.Scope, id core.SourceID, f core.WhatFound) error {
	columns, err := json.Marshal(f.Columns)
	if err != nil {
		return err
	}
	status := core.SourceCompleted
	if f.Error != "" {
		status, columns = core.SourceFailed, []byte("[]")
	}
	return st.ask(ctx, func(t Tx) error {
		if err := t.One(`UPDATE benchmark_sources SET status = $1, error_code = $2, reason = $3, row_count = $4, columns_doc = $5
			WHERE workspace_id = $6 AND id = $7 AND status = 'pending' AND received = bytes`,
			status, f.Error, f.Reason, f.Rows, string(columns), string(sc.Workspace), string(id)); err != nil {
			return err
		}
		if f.Error == "" {
			return nil
		}
		return dropChunks(t, id)
	})
}

// ArchiveSource takes a source out of use and drops its bytes. Benchmarks that
// were made of it keep their tasks. Archiving again changes nothing.
func (st *Store) ArchiveSource(ctx context.Context, sc core.Scope, id core.SourceID) error {
	return st.ask(ctx, func(t Tx) error {
		if _, err := t.Exec(`UPDATE benchmark_sources SET status = 'archived', archived_at = $1 WHERE workspace_id = $2 AND id = $3 AND status <> 'archived'`,
			int64(t.Now()), string(sc.Workspace), string(id)); err != nil {
			return err
		}
		var there int
		err := t.Row(`SELECT count(*) FROM benchmark_sources WHERE workspace_id = $1 AND id = $2`, string(sc.Workspace), string(id)).Scan(&there)
		if err == nil && there == 0 {
			return core.Missing("source")
		}
		if err != nil {
			return err
		}
		return dropChunks(t, id)
	})
}

// Copy writes the bytes of a source to w, a chunk at a time.
func (st *Store) Copy(ctx context.Context, s core.DataSource, w io.Writer) error {
	for at := int64(0); at < s.Bytes; {
		var data []byte
		err := st.db.QueryRowContext(ctx, `SELECT c.data FROM benchmark_source_chunks c JOIN benchmark_sources s ON s.id = c.source_id
			WHERE s.workspace_id = $1 AND s.id = $2 AND c.start = $3`, string(s.Workspace), string(s.ID), at).Scan(&data)
		if errors.Is(err, sql.ErrNoRows) || err == nil && len(data) == 0 {
			return core.Refuse(core.SourceNotReady, "the bytes of the source are not there: it was archived, or is still being uploaded")
		}
		if err != nil {
			return fmt.Errorf("read source %s at %d: %w", s.ID, at, err)
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
		at += int64(len(data))
	}
	return nil
}
