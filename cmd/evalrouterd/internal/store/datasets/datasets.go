// Package datasets keeps datasets: items with all of their revisions, reviews,
// and versions, which the tables themselves protect from change. Every
// statement names the workspace, or a dataset that was found by it.
package datasets

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Tx is an open write transaction with one fixed time.
type Tx interface {
	Exec(q string, args ...any) (rows int64, err error)
	// One is Exec for a statement that must touch exactly one row; it fails with
	// core.ErrMoved otherwise.
	One(q string, args ...any) error
	Rows(q string, args ...any) (*sql.Rows, error)
	Now() core.Micros
}

// Store reads through db and writes through the one writer of the database.
// It is safe for concurrent use.
type Store struct {
	db *sql.DB
	// ask runs a function in a transaction, more than once where the transaction
	// must be made again.
	ask func(context.Context, func(Tx) error) error
	// digest is that of a version with items of these digests.
	digest func(items []string) string
}

// New makes a store.
func New(db *sql.DB, ask func(context.Context, func(Tx) error) error, digest func([]string) string) *Store {
	return &Store{db: db, ask: ask, digest: digest}
}

// query is how rows are read, in a transaction or outside of one.
type query func(q string, args ...any) (*sql.Rows, error)

func (s *Store) reading(ctx context.Context) query {
	return func(q string, args ...any) (*sql.Rows, error) { return s.db.QueryContext(ctx, q, args...) }
}

// gather reads every row.
func gather[T any](rows *sql.Rows, err error, scan func(*sql.Rows) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// one is the only row, or a refusal.
func one[T any](all []T, err error, what string) (T, error) {
	var none T
	switch {
	case err != nil:
		return none, fmt.Errorf("read %s: %w", what, err)
	case len(all) == 0:
		return none, core.Missing(what)
	}
	return all[0], nil
}

const datasetColumns = `d.id, d.workspace_id, d.name, d.description, d.reviewers, d.allow_self, d.actor, d.created_at, d.archived_at, d.latest,
	(SELECT count(*) FROM dataset_items i WHERE i.dataset_id = d.id AND i.withdrawn = 0),
	(SELECT count(*) FROM dataset_items i WHERE i.dataset_id = d.id AND i.withdrawn = 0 AND i.review = 'approved')`

func scanDataset(rows *sql.Rows) (d core.Dataset, err error) {
	var self int
	err = rows.Scan(&d.ID, &d.Workspace, &d.Name, &d.Description, &d.Reviewers, &self, &d.Actor, &d.CreatedAt, &d.ArchivedAt, &d.Latest, &d.Items, &d.Reviewed)
	d.AllowSelf = self == 1
	return d, err
}

func dataset(q query, sc core.Scope, id core.DatasetID) (core.Dataset, error) {
	rows, err := q(`SELECT `+datasetColumns+` FROM datasets d WHERE d.workspace_id = $1 AND d.id = $2`, string(sc.Workspace), string(id))
	all, err := gather(rows, err, scanDataset)
	return one(all, err, "dataset")
}

// open is a dataset that may be changed.
func open(t Tx, sc core.Scope, id core.DatasetID) (core.Dataset, error) {
	d, err := dataset(t.Rows, sc, id)
	if err == nil && d.ArchivedAt != 0 {
		err = core.Refuse(core.DatasetArchived, "the dataset %s was archived; nothing was changed", d.Name)
	}
	return d, err
}

// Add keeps a new dataset.
func (s *Store) Add(ctx context.Context, d core.Dataset) error {
	return s.ask(ctx, func(t Tx) error {
		rows, err := t.Rows(`SELECT name FROM datasets WHERE workspace_id = $1 AND (archived_at = 0 OR name = $2)`, string(d.Workspace), d.Name)
		names, err := gather(rows, err, func(rows *sql.Rows) (n string, err error) { return n, rows.Scan(&n) })
		if err != nil {
			return err
		}
		for _, n := range names {
			if n == d.Name {
				return core.Refuse(core.NameTaken, "the workspace has a dataset of this name; nothing was made")
			}
		}
		if len(names) >= core.MaxDatasets {
			return core.Refuse(core.SourceQuota, "the workspace has %d datasets, which is as many as it may have; nothing was made. Archive one", len(names))
		}
		_, err = t.Exec(`INSERT INTO datasets (id, workspace_id, name, description, reviewers, allow_self, actor, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			string(d.ID), string(d.Workspace), d.Name, d.Description, d.Reviewers, flag(d.AllowSelf), d.Actor, int64(t.Now()))
		return err
	})
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Dataset reads a dataset.
func (s *Store) Dataset(ctx context.Context, sc core.Scope, id core.DatasetID) (core.Dataset, error) {
	return dataset(s.reading(ctx), sc, id)
}

// Datasets lists datasets, newest first.
func (s *Store) Datasets(ctx context.Context, sc core.Scope, after *core.Place, limit int) ([]core.Dataset, error) {
	text, args := `SELECT `+datasetColumns+` FROM datasets d WHERE d.workspace_id = $1`, []any{string(sc.Workspace)}
	if after != nil {
		text += ` AND (d.created_at < $2 OR (d.created_at = $3 AND d.id < $4))`
		args = append(args, int64(after.At), int64(after.At), after.ID)
	}
	args = append(args, limit)
	rows, err := s.db.QueryContext(ctx, text+fmt.Sprintf(` ORDER BY d.created_at DESC, d.id DESC LIMIT $%d`, len(args)), args...)
	return gather(rows, err, scanDataset)
}

// Change sets description and policy of a dataset. A policy that asks for more
// holds for reviews that come; what is approved stays so.
func (s *Store) Change(ctx context.Context, sc core.Scope, id core.DatasetID, change func(*core.Dataset) error) error {
	return s.ask(ctx, func(t Tx) error {
		d, err := open(t, sc, id)
		if err == nil {
			err = change(&d)
		}
		if err != nil {
			return err
		}
		return t.One(`UPDATE datasets SET description = $1, reviewers = $2, allow_self = $3 WHERE id = $4`, d.Description, d.Reviewers, flag(d.AllowSelf), string(id))
	})
}

// Archive takes a dataset out of use. Its versions stay. Archiving again changes
// nothing.
func (s *Store) Archive(ctx context.Context, sc core.Scope, id core.DatasetID) error {
	return s.ask(ctx, func(t Tx) error {
		if _, err := dataset(t.Rows, sc, id); err != nil {
			return err
		}
		_, err := t.Exec(`UPDATE datasets SET archived_at = $1 WHERE id = $2 AND archived_at = 0`, int64(t.Now()), string(id))
		return err
	})
}

var errGone = errors.New("a row that a version names is not there")
