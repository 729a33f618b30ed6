package datasets

import (
	"context"
	"database/sql"
	"fmt"
	"iter"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// sealed is an item on its way into a version, or in one.
type sealed struct {
	id       core.ItemID
	revision int
	digest   string
	source   string
}

// Seal makes the next version of the approved items. Nothing new is an error:
// the version before is the same. One that was retracted stands for nothing, so
// that its items can be sealed again.
func (s *Store) Seal(ctx context.Context, sc core.Scope, id core.DatasetID, note string) (v core.DatasetVersion, err error) {
	err = s.ask(ctx, func(t Tx) error {
		d, err := open(t, sc, id)
		if err != nil {
			return err
		}
		rows, err := t.Rows(`SELECT id, revision, digest, source_doc FROM dataset_items WHERE dataset_id = $1 AND withdrawn = 0 AND review = 'approved' ORDER BY created_at, id`, string(id))
		items, err := gather(rows, err, scanSealed)
		if err != nil {
			return err
		}
		if len(items) == 0 {
			return core.Refuse(core.NothingApproved, "no item of the dataset is approved, so there is nothing to seal").With("pending", d.Items)
		}
		before, err := sealedItems(t.Rows, id, d.Latest)
		if err != nil {
			return err
		}
		v = core.DatasetVersion{Dataset: id, Version: d.Latest + 1, Items: len(items), LeftOut: d.Items - len(items), Note: note, Actor: sc.Actor, CreatedAt: t.Now()}
		v.Added, v.Changed, v.Removed = difference(before, items)
		v.SHA256 = s.digestOf(items)
		if d.Latest > 0 && s.digestOf(before) == v.SHA256 {
			rows, err := t.Rows(`SELECT 1 FROM dataset_retractions WHERE dataset_id = $1 AND version = $2`, string(id), d.Latest)
			void, err := gather(rows, err, func(rows *sql.Rows) (n int, err error) { return n, rows.Scan(&n) })
			if err != nil {
				return err
			}
			if len(void) > 0 { // the items were right after all, and nothing else says so
				return keep(t, v, items)
			}
			return core.Refuse(core.NothingChanged, "version %d has exactly these items; nothing was sealed", d.Latest).With("version", d.Latest)
		}
		return keep(t, v, items)
	})
	return v, err
}

func scanSealed(rows *sql.Rows) (x sealed, err error) {
	return x, rows.Scan(&x.id, &x.revision, &x.digest, &x.source)
}

func sealedItems(q query, id core.DatasetID, version int) ([]sealed, error) {
	rows, err := q(`SELECT item_id, revision, digest, source_doc FROM dataset_version_items WHERE dataset_id = $1 AND version = $2 ORDER BY pos`, string(id), version)
	return gather(rows, err, scanSealed)
}

func (s *Store) digestOf(items []sealed) string {
	digests := make([]string, len(items))
	for i, x := range items {
		digests[i] = x.digest
	}
	return s.digest(digests)
}

// difference counts what b has that a has not, has in another form, and lacks.
func difference(a, b []sealed) (added, changed, removed int) {
	was := map[core.ItemID]string{}
	for _, x := range a {
		was[x.id] = x.digest
	}
	for _, x := range b {
		digest, there := was[x.id]
		switch {
		case !there:
			added++
		case digest != x.digest:
			changed++
		}
		delete(was, x.id)
	}
	return added, changed, len(was)
}

func keep(t Tx, v core.DatasetVersion, items []sealed) error {
	if _, err := t.Exec(`INSERT INTO dataset_versions (dataset_id, version, sha256, items, added, changed, removed, left_out, note, actor, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		string(v.Dataset), v.Version, v.SHA256, v.Items, v.Added, v.Changed, v.Removed, v.LeftOut, v.Note, v.Actor, int64(v.CreatedAt)); err != nil {
		return err
	}
	for pos, x := range items {
		if _, err := t.Exec(`INSERT INTO dataset_version_items (dataset_id, version, pos, item_id, revision, digest, source_doc) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			string(v.Dataset), v.Version, pos, string(x.id), x.revision, x.digest, x.source); err != nil {
			return err
		}
	}
	return t.One(`UPDATE datasets SET latest = $1 WHERE id = $2`, v.Version, string(v.Dataset))
}

const versionColumns = `v.dataset_id, v.version, v.sha256, v.items, v.added, v.changed, v.removed, v.left_out, v.note, v.actor, v.created_at, coalesce(x.at, 0), coalesce(x.reason, '')`

const fromVersions = ` FROM dataset_versions v LEFT JOIN dataset_retractions x ON x.dataset_id = v.dataset_id AND x.version = v.version`

func scanVersion(rows *sql.Rows) (v core.DatasetVersion, err error) {
	return v, rows.Scan(&v.Dataset, &v.Version, &v.SHA256, &v.Items, &v.Added, &v.Changed, &v.Removed, &v.LeftOut, &v.Note, &v.Actor, &v.CreatedAt, &v.RetractedAt, &v.Reason)
}

// Version reads a version; 0 is the newest.
func (s *Store) Version(ctx context.Context, sc core.Scope, id core.DatasetID, version int) (core.DatasetVersion, error) {
	d, err := s.Dataset(ctx, sc, id)
	if err != nil {
		return core.DatasetVersion{}, err
	}
	if version == 0 {
		version = d.Latest
	}
	rows, err := s.db.QueryContext(ctx, `SELECT `+versionColumns+fromVersions+` WHERE v.dataset_id = $1 AND v.version = $2`, string(id), version)
	all, err := gather(rows, err, scanVersion)
	return one(all, err, "version")
}

// Versions lists versions, newest first, from the one before below on; 0 is
// from the newest.
func (s *Store) Versions(ctx context.Context, sc core.Scope, id core.DatasetID, below, limit int) ([]core.DatasetVersion, error) {
	if _, err := s.Dataset(ctx, sc, id); err != nil {
		return nil, err
	}
	if below == 0 {
		below = 1 << 31
	}
	rows, err := s.db.QueryContext(ctx, `SELECT `+versionColumns+fromVersions+` WHERE v.dataset_id = $1 AND v.version < $2 ORDER BY v.version DESC LIMIT $3`, string(id), below, limit)
	return gather(rows, err, scanVersion)
}

// Retract says that a version was a mistake. It stays readable. Retracting
// again changes nothing.
func (s *Store) Retract(ctx context.Context, sc core.Scope, id core.DatasetID, version int, reason string) error {
	if _, err := s.Version(ctx, sc, id, version); err != nil {
		return err
	}
	return s.ask(ctx, func(t Tx) error {
		_, err := t.Exec(`INSERT INTO dataset_retractions (dataset_id, version, reason, actor, at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (dataset_id, version) DO NOTHING`,
			string(id), version, reason, sc.Actor, int64(t.Now()))
		return err
	})
}

// pageOfItems is how many items of a version are read at a time.
const pageOfItems = 200

// Sealed yields the items of a version in their order. The caller has found the
// version in its workspace.
func (s *Store) Sealed(ctx context.Context, v core.DatasetVersion) iter.Seq2[core.SealedItem, error] {
	return func(yield func(core.SealedItem, error) bool) {
		for pos := 0; pos < v.Items; pos += pageOfItems {
			rows, err := s.db.QueryContext(ctx, `SELECT w.item_id, w.revision, w.digest, w.source_doc, r.input, r.expected, r.metadata
				FROM dataset_version_items w JOIN dataset_revisions r ON r.item_id = w.item_id AND r.revision = w.revision
				WHERE w.dataset_id = $1 AND w.version = $2 AND w.pos >= $3 AND w.pos < $4 ORDER BY w.pos`, string(v.Dataset), v.Version, pos, pos+pageOfItems)
			page, err := gather(rows, err, scanSealedItem)
			if err == nil && len(page) != min(pageOfItems, v.Items-pos) {
				err = errGone
			}
			if err != nil {
				yield(core.SealedItem{}, fmt.Errorf("read version %d of dataset %s: %w", v.Version, v.Dataset, err))
				return
			}
			for _, x := range page {
				if !yield(x, nil) {
					return
				}
			}
		}
	}
}

func scanSealedItem(rows *sql.Rows) (x core.SealedItem, err error) {
	var source, input string
	var expected, metadata *string
	if err = rows.Scan(&x.ID, &x.Revision, &x.Digest, &source, &input, &expected, &metadata); err != nil {
		return x, err
	}
	x.ItemContent = contentOf(input, expected, metadata)
	x.Source, err = sourceOf(source)
	return x, err
}

// Difference lists the items by which two versions differ: in b and not in a,
// in both with other content, and in a and not in b.
func (s *Store) Difference(ctx context.Context, sc core.Scope, id core.DatasetID, a, b int) (added, changed, removed []core.ItemID, err error) {
	var lists [2][]sealed
	for i, n := range []int{a, b} {
		v, err := s.Version(ctx, sc, id, n)
		if err != nil {
			return nil, nil, nil, err
		}
		if lists[i], err = sealedItems(s.reading(ctx), id, v.Version); err != nil {
			return nil, nil, nil, err
		}
	}
	was := map[core.ItemID]string{}
	for _, x := range lists[0] {
		was[x.id] = x.digest
	}
	now := map[core.ItemID]bool{}
	for _, x := range lists[1] {
		now[x.id] = true
		digest, there := was[x.id]
		switch {
		case !there:
			added = append(added, x.id)
		case digest != x.digest:
			changed = append(changed, x.id)
		}
	}
	for _, x := range lists[0] {
		if !now[x.id] {
			removed = append(removed, x.id)
		}
	}
	return added, changed, removed, nil
}
