package private

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

const benchmarkColumns = `profile_id, name, task, source_uri, manifest_sha256, task_count, actor, created_at, archived_at`

func scanBenchmark(row Row) (b core.OwnBenchmark, err error) {
	err = row.Scan(&b.Profile, &b.Name, &b.Task, &b.SourceURI, &b.ManifestSHA256, &b.TaskCount, &b.Actor, &b.CreatedAt, &b.ArchivedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return b, core.Missing("benchmark")
	}
	return b, err
}

// Room says whether a workspace may make one more benchmark. AddBenchmark makes
// the same check again: this one only spares the work before it.
func (st *Store) Room(ctx context.Context, sc core.Scope) error {
	var n int
	if err := st.db.QueryRowContext(ctx, countBenchmarks, string(sc.Workspace)).Scan(&n); err != nil {
		return err
	}
	return room(n)
}

const countBenchmarks = `SELECT count(*) FROM private_benchmarks WHERE workspace_id = $1 AND archived_at = 0`

func room(n int) error {
	if n >= core.MaxOwnBenchmarks {
		return core.Refuse(core.SourceQuota, "the workspace has %d benchmarks of its own, which is as many as it may have; nothing was made. Archive one that is no longer needed", n)
	}
	return nil
}

// AddBenchmark makes an admitted profile usable in its workspace, once for a
// request. The profile is a candidate of that workspace, which nobody sees, and
// becomes active. encode writes the answer that is kept.
func (st *Store) AddBenchmark(ctx context.Context, sc core.Scope, once core.Once, b core.OwnBenchmark, encode func(core.OwnBenchmark) ([]byte, error)) (out core.Admitted, err error) {
	err = st.ask(ctx, func(t Tx) error {
		var found bool
		var err error
		if out, found, err = t.Recall(sc, once); err != nil || found {
			return err
		}
		var n int
		if err := t.Row(countBenchmarks, string(sc.Workspace)).Scan(&n); err != nil {
			return err
		}
		if err := room(n); err != nil {
			return err
		}
		b.CreatedAt = t.Now()
		if err := t.One(`UPDATE profiles SET status = 'active' WHERE id = $1 AND workspace_id = $2 AND status = 'candidate'`, string(b.Profile), string(sc.Workspace)); err != nil {
			return err
		}
		if _, err := t.Exec(`INSERT INTO private_benchmarks (profile_id, workspace_id, name, task, source_uri, manifest_sha256, task_count, actor, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			string(b.Profile), string(sc.Workspace), b.Name, b.Task, b.SourceURI, b.ManifestSHA256, b.TaskCount, b.Actor, int64(b.CreatedAt)); err != nil {
			return err
		}
		body, err := encode(b)
		if err != nil {
			return fmt.Errorf("encode benchmark: %w", err)
		}
		out = core.Admitted{Status: 200, Body: body}
		return t.Remember(sc, once, out)
	})
	return out, err
}

// Benchmark reads a benchmark of a workspace.
func (st *Store) Benchmark(ctx context.Context, sc core.Scope, id core.ProfileID) (core.OwnBenchmark, error) {
	return scanBenchmark(st.db.QueryRowContext(ctx, `SELECT `+benchmarkColumns+` FROM private_benchmarks WHERE workspace_id = $1 AND profile_id = $2`, string(sc.Workspace), string(id)))
}

// Benchmarks lists them, newest first; status is active, archived or "".
func (st *Store) Benchmarks(ctx context.Context, sc core.Scope, status string, after *core.Place, limit int) ([]core.OwnBenchmark, error) {
	text, args := `SELECT `+benchmarkColumns+` FROM private_benchmarks WHERE workspace_id = $1`, []any{string(sc.Workspace)}
	switch status {
	case "active":
		text += ` AND archived_at = 0`
	case core.SourceArchived:
		text += ` AND archived_at <> 0`
	}
	page, args := behind(after, "profile_id", args, limit)
	rows, err := st.db.QueryContext(ctx, text+page, args...)
	if err != nil {
		return nil, fmt.Errorf("list benchmarks: %w", err)
	}
	defer rows.Close()
	var out []core.OwnBenchmark
	for rows.Next() {
		b, err := scanBenchmark(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, rows.Err()
}

// ArchiveBenchmark takes a benchmark out of use: it cannot be quoted any more.
// Its runs and their results stay. Archiving again changes nothing.
func (st *Store) ArchiveBenchmark(ctx context.Context, sc core.Scope, id core.ProfileID) error {
	return st.ask(ctx, func(t Tx) error {
		n, err := t.Exec(`UPDATE private_benchmarks SET archived_at = CASE WHEN archived_at = 0 THEN $1 ELSE archived_at END WHERE workspace_id = $2 AND profile_id = $3`,
			int64(t.Now()), string(sc.Workspace), string(id))
		if err == nil && n == 0 {
			return core.Missing("benchmark")
		}
		if err != nil {
			return err
		}
		return t.One(`UPDATE profiles SET status = 'retired' WHERE id = $1 AND workspace_id = $2`, string(id), string(sc.Workspace))
	})
}
