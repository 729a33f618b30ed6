package private

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// AddImport begins an import.
func (st *Store) AddImport(ctx context.Context, sc core.Scope, im core.DataImport) (core.DataImport, error) {
	paths, err := json.Marshal(im.Paths)
	if err != nil {
		return im, err
	}
	im.Status = core.ImportRunning
	err = st.ask(ctx, func(t Tx) error {
		im.CreatedAt = t.Now()
		_, err := t.Exec(`INSERT INTO benchmark_imports (id, workspace_id, source, paths_doc, status, actor, created_at) VALUES ($1, $2, $3, $4, 'running', $5, $6)`,
			string(im.ID), string(sc.Workspace), im.Source, string(paths), im.Actor, int64(im.CreatedAt))
		return err
	})
	return im, err
}

// EndImport writes how an import ended.
func (st *Store) EndImport(ctx context.Context, sc core.Scope, im core.DataImport) (core.DataImport, error) {
	files, err := json.Marshal(append([]core.ImportedFile{}, im.Files...))
	if err != nil {
		return im, err
	}
	err = st.ask(ctx, func(t Tx) error {
		im.EndedAt = t.Now()
		return t.One(`UPDATE benchmark_imports SET commit_sha = $1, files_doc = $2, status = $3, error_code = $4, reason = $5, ended_at = $6 WHERE workspace_id = $7 AND id = $8 AND status = 'running'`,
			im.Commit, string(files), im.Status, im.Error, im.Reason, int64(im.EndedAt), string(sc.Workspace), string(im.ID))
	})
	return im, err
}

// Import reads an import.
func (st *Store) Import(ctx context.Context, sc core.Scope, id core.ImportID) (im core.DataImport, err error) {
	var paths, files string
	err = st.db.QueryRowContext(ctx, `SELECT id, source, paths_doc, commit_sha, files_doc, status, error_code, reason, actor, created_at, ended_at FROM benchmark_imports WHERE workspace_id = $1 AND id = $2`,
		string(sc.Workspace), string(id)).Scan(&im.ID, &im.Source, &paths, &im.Commit, &files, &im.Status, &im.Error, &im.Reason, &im.Actor, &im.CreatedAt, &im.EndedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return im, core.Missing("import")
	}
	if err != nil {
		return im, err
	}
	if err := json.Unmarshal([]byte(paths), &im.Paths); err != nil {
		return im, err
	}
	return im, json.Unmarshal([]byte(files), &im.Files)
}
