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

// visible is the condition under which a workspace sees a profile. One whose
// tasks are still being written does not exist yet, nor does a workspace's own
// before the record that it made it.
const visible = `(workspace_id = '' OR workspace_id = $1) AND status <> 'staging' AND NOT (workspace_id <> '' AND status = 'candidate')`

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
// the same manifest is a no-op (made is false). Until the last task is written
// the profile does not exist. claim is a new random id: of several admissions
// of one version at once, the one that claimed last goes on, and the others
// add nothing.
func (s *Store) PutProfile(ctx context.Context, claim string, p core.Profile, tasks iter.Seq2[bundle.Task, error]) (made bool, err error) {
	doc, err := json.Marshal(p)
	if err != nil {
		return false, fmt.Errorf("encode benchmark: %w", err)
	}
	if have, err := s.same(ctx, p); have || err != nil {
		return false, err
	}
	err = s.stage(ctx, claim, p, string(doc))
	if err == nil {
		err = s.putTasks(ctx, claim, p.ID, tasks)
	}
	if err == nil {
		err = s.activate(ctx, claim, p)
	}
	if !errors.Is(err, core.ErrMoved) {
		return err == nil, err
	}
	if have, err := s.same(ctx, p); have || err != nil {
		return false, err // another admission of the same benchmark was faster
	}
	return false, core.Refuse(core.InvalidRequest, "another admission of %s is under way; this one added nothing", p.ID)
}

// same says whether this very version is admitted. Another under its id is a
// refusal.
func (s *Store) same(ctx context.Context, p core.Profile) (bool, error) {
	var sum string
	err := s.read.QueryRowContext(ctx, `SELECT manifest_sha256 FROM profiles WHERE id = $1 AND status <> 'staging'`, string(p.ID)).Scan(&sum)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	case sum != p.ManifestSHA256:
		return false, core.Refuse(core.InvalidRequest, "%s exists with another manifest; versions never change, so give this one a new version", p.ID)
	}
	return true, nil
}

// stage claims the version, in place of an admission that died or is slower.
func (s *Store) stage(ctx context.Context, claim string, p core.Profile, doc string) error {
	return s.writer.ask(ctx, func(t *tx) error {
		if _, err := t.exec(`DELETE FROM tasks WHERE profile_id IN (SELECT id FROM profiles WHERE id = $1 AND status = 'staging')`, string(p.ID)); err != nil {
			return err
		}
		return t.one(`INSERT INTO profiles (id, workspace_id, slug, version, status, claim, task_count, manifest_sha256, doc, created_at)
			VALUES ($1, $2, $3, $4, 'staging', $5, $6, $7, $8, $9)
			ON CONFLICT (id) DO UPDATE SET claim = excluded.claim, task_count = excluded.task_count, manifest_sha256 = excluded.manifest_sha256, doc = excluded.doc
			WHERE profiles.status = 'staging'`,
			string(p.ID), string(p.Workspace), p.Slug, p.Version, claim, p.TaskCount, p.ManifestSHA256, doc, int64(t.now))
	})
}

// activate makes a staged version exist, if it is still this claim's and every
// task is there.
func (s *Store) activate(ctx context.Context, claim string, p core.Profile) error {
	return s.writer.ask(ctx, func(t *tx) error {
		var n int
		if err := t.row(`SELECT count(*) FROM tasks WHERE profile_id = $1`, string(p.ID)).Scan(&n); err != nil {
			return err
		}
		if p.Generator == nil && n != p.TaskCount {
			return fmt.Errorf("%d of %d tasks were written", n, p.TaskCount)
		}
		return t.one(`UPDATE profiles SET status = $1, claim = '' WHERE id = $2 AND status = 'staging' AND claim = $3`, p.Status, string(p.ID), claim)
	})
}

func (s *Store) putTasks(ctx context.Context, claim string, id core.ProfileID, tasks iter.Seq2[bundle.Task, error]) error {
	pos := 0
	batch := make([]taskRow, 0, taskBatch)
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		start, rows := pos-len(batch), batch
		err := s.writer.ask(ctx, func(t *tx) error {
			if err := t.one(`UPDATE profiles SET claim = claim WHERE id = $1 AND status = 'staging' AND claim = $2`, string(id), claim); err != nil {
				return err
			}
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

// maxTaskBytes bounds what one reading of tasks holds in memory.
const maxTaskBytes = 8 << 20

// tasksAtOnce is how many positions one statement names. Its text is always the
// same, so that a run, which reads its tasks in hundreds of such pieces, has it
// compiled once; places left over repeat the last position.
const tasksAtOnce = 256

const tasksAtText = "SELECT pos, doc FROM tasks WHERE profile_id = $1 AND pos"

// TasksAt reads stored tasks by their positions in the benchmark: all of the
// first 256, or as many of them as fit into 8 MiB, and at least one.
func (s *Store) TasksAt(ctx context.Context, id core.ProfileID, positions []int) (map[int]bundle.Task, error) {
	n, stmt := tasksAtOnce, s.tasksAt
	if len(positions) == 1 {
		n, stmt = 1, s.taskAt
	}
	args := make([]any, 1+n)
	args[0] = string(id)
	for i := range n {
		args[1+i] = positions[min(i, len(positions)-1)]
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("read tasks of %s: %w", id, err)
	}
	defer rows.Close()
	out, size := map[int]bundle.Task{}, 0
	for size < maxTaskBytes && rows.Next() {
		var pos int
		var doc []byte
		if err := rows.Scan(&pos, &doc); err != nil {
			return nil, err
		}
		var t bundle.Task
		if err := json.Unmarshal(doc, &t); err != nil {
			return nil, fmt.Errorf("decode task %d of %s: %w", pos, id, err)
		}
		out[pos], size = t, size+len(doc)
	}
	if len(out) == 0 && rows.Err() == nil {
		return nil, fmt.Errorf("read tasks of %s: position %d is not there", id, positions[0])
	}
	return out, rows.Err()
}
