package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// visible is the condition under which a workspace sees a profile.
const visible = `(workspace_id = '' OR workspace_id = $1)`

// Profiles lists the benchmarks that a workspace sees, by slug, newest
// version first. An empty scope sees public ones only.
func (s *Store) Profiles(ctx context.Context, sc core.Scope) ([]core.Profile, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT doc, status FROM profiles WHERE `+visible+` ORDER BY slug, created_at DESC, id DESC`, string(sc.Workspace))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []core.Profile
	for rows.Next() {
		p, err := scanProfile(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, rows.Err()
}

// Profile reads one benchmark version.
func (s *Store) Profile(ctx context.Context, sc core.Scope, id core.ProfileID) (core.Profile, error) {
	return scanProfile(s.read.QueryRowContext(ctx, `SELECT doc, status FROM profiles WHERE `+visible+` AND id = $2`, string(sc.Workspace), string(id)))
}

func scanProfile(row scanner) (p core.Profile, err error) {
	var doc, status string
	err = row.Scan(&doc, &status)
	if errors.Is(err, sql.ErrNoRows) {
		return p, core.Missing("benchmark")
	}
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal([]byte(doc), &p); err != nil {
		return p, fmt.Errorf("decode benchmark: %w", err)
	}
	p.Status = status
	return p, nil
}

// taskBatch is how many tasks one insertion transaction writes.
const taskBatch = 4096

// taskRow is a task as it is inserted.
type taskRow struct {
	id  string
	doc string
}

// PutProfile admits a benchmark version with its tasks. Versions never
// change: the same id with another manifest is refused, and the same id with
// the same manifest is a no-op. Until the last task is written the profile
// does not exist.
func (s *Store) PutProfile(ctx context.Context, p core.Profile, tasks iter.Seq2[bundle.Task, error]) (made bool, err error) {
	doc, err := json.Marshal(p)
	if err != nil {
		return false, fmt.Errorf("encode benchmark: %w", err)
	}
	have, err := s.manifestOf(ctx, p.ID)
	if err != nil {
		return false, err
	}
	switch have {
	case "":
	case p.ManifestSHA256:
		return false, nil
	default:
		return false, core.Refuse(core.InvalidRequest, "%s exists with another manifest; versions never change, so give this one a new version", p.ID)
	}
	if err := s.claim(ctx, p, string(doc)); err != nil {
		return false, err
	}
	if err := s.putTasks(ctx, p.ID, tasks); err != nil {
		return false, errors.Join(err, s.drop(context.WithoutCancel(ctx), p.ID))
	}
	return true, s.writer.do(ctx, func(t *tx) error {
		return t.one(`UPDATE profiles SET status = $1 WHERE id = $2 AND status = 'candidate'`, p.Status, string(p.ID))
	})
}

func (s *Store) manifestOf(ctx context.Context, id core.ProfileID) (sum string, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT manifest_sha256 FROM profiles WHERE id = $1 AND status <> 'candidate'`, string(id)).Scan(&sum)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return sum, err
}

// claim writes the profile as a candidate, replacing an admission that died.
func (s *Store) claim(ctx context.Context, p core.Profile, doc string) error {
	if err := s.drop(ctx, p.ID); err != nil {
		return err
	}
	return s.writer.do(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO profiles (id, workspace_id, slug, version, status, task_count, manifest_sha256, doc, created_at)
			VALUES ($1, $2, $3, $4, 'candidate', $5, $6, $7, $8)`,
			string(p.ID), string(p.Workspace), p.Slug, p.Version, p.TaskCount, p.ManifestSHA256, doc, int64(t.now))
		return err
	})
}

// drop removes a candidate and its tasks.
func (s *Store) drop(ctx context.Context, id core.ProfileID) error {
	return s.writer.do(ctx, func(t *tx) error {
		var n int
		if err := t.row(`SELECT count(*) FROM profiles WHERE id = $1 AND status = 'candidate'`, string(id)).Scan(&n); err != nil || n == 0 {
			return err
		}
		if _, err := t.exec(`DELETE FROM tasks WHERE profile_id = $1`, string(id)); err != nil {
			return err
		}
		_, err := t.exec(`DELETE FROM profiles WHERE id = $1 AND status = 'candidate'`, string(id))
		return err
	})
}

func (s *Store) putTasks(ctx context.Context, id core.ProfileID, tasks iter.Seq2[bundle.Task, error]) error {
	pos := 0
	batch := make([]taskRow, 0, taskBatch)
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		start, rows := pos-len(batch), batch
		err := s.writer.do(ctx, func(t *tx) error {
			for i, r := range rows {
				if _, err := t.exec(`INSERT INTO tasks (profile_id, pos, task_id, doc) VALUES ($1, $2, $3, $4)`, string(id), start+i, r.id, r.doc); err != nil {
					return fmt.Errorf("write task %s: %w", r.id, err)
				}
			}
			return nil
		})
		batch = batch[:0]
		return err
	}
	for task, err := range tasks {
		if err != nil {
			return err
		}
		doc, err := json.Marshal(task)
		if err != nil {
			return fmt.Errorf("encode task %s: %w", task.ID, err)
		}
		batch = append(batch, taskRow{task.ID, string(doc)})
		pos++
		if len(batch) == taskBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// Task reads one stored task by its position in the benchmark.
func (s *Store) Task(ctx context.Context, id core.ProfileID, pos int) (t bundle.Task, err error) {
	var doc string
	if err := s.read.QueryRowContext(ctx, `SELECT doc FROM tasks WHERE profile_id = $1 AND pos = $2`, string(id), pos).Scan(&doc); err != nil {
		return t, fmt.Errorf("read task %d of %s: %w", pos, id, err)
	}
	return t, json.Unmarshal([]byte(doc), &t)
}

// TaskIDs yields the ids of a stored benchmark in order.
func (s *Store) TaskIDs(ctx context.Context, id core.ProfileID) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		rows, err := s.read.QueryContext(ctx, `SELECT task_id FROM tasks WHERE profile_id = $1 ORDER BY pos`, string(id))
		if err != nil {
			yield("", err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var v string
			if err := rows.Scan(&v); !yield(v, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield("", err)
		}
	}
}
