package datasets

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

const itemColumns = `i.id, i.dataset_id, i.revision, i.digest, i.source_doc, i.review, i.created_at, i.changed_at, r.input, r.expected, r.metadata, r.author`

const fromItems = ` FROM dataset_items i JOIN dataset_revisions r ON r.item_id = i.id AND r.revision = i.revision`

func scanItem(rows *sql.Rows) (x core.DatasetItem, err error) {
	var source, input string
	var expected, metadata *string
	err = rows.Scan(&x.ID, &x.Dataset, &x.Revision, &x.Digest, &source, &x.Review, &x.CreatedAt, &x.ChangedAt, &input, &expected, &metadata, &x.Author)
	if err != nil {
		return x, err
	}
	x.ItemContent = contentOf(input, expected, metadata)
	x.Source, err = sourceOf(source)
	return x, err
}

func contentOf(input string, expected, metadata *string) core.ItemContent {
	c := core.ItemContent{Input: json.RawMessage(input)}
	if expected != nil {
		c.Expected = json.RawMessage(*expected)
	}
	if metadata != nil {
		c.Metadata = json.RawMessage(*metadata)
	}
	return c
}

func sourceOf(doc string) (*core.ItemSource, error) {
	if doc == "" {
		return nil, nil
	}
	s := &core.ItemSource{}
	return s, json.Unmarshal([]byte(doc), s)
}

func orNull(b json.RawMessage) any {
	if b == nil {
		return nil
	}
	return string(b)
}

// AddItems keeps new items, all or none, and marks the traces that they were
// made of as held.
func (s *Store) AddItems(ctx context.Context, sc core.Scope, id core.DatasetID, items []core.NewItem) error {
	return s.ask(ctx, func(t Tx) error {
		d, err := open(t, sc, id)
		if err != nil {
			return err
		}
		if d.Items+len(items) > core.MaxDatasetItems {
			return core.Refuse(core.SourceQuota, "the dataset has %d items and may have %d; nothing was added", d.Items, core.MaxDatasetItems)
		}
		for n, x := range items {
			if err := s.addItem(t, sc, id, x, n); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) addItem(t Tx, sc core.Scope, id core.DatasetID, x core.NewItem, n int) error {
	if err := unique(t, id, x.Digest, n); err != nil {
		return err
	}
	source := ""
	if x.Source != nil {
		doc, err := json.Marshal(x.Source)
		if err != nil {
			return err
		}
		source = string(doc)
		if err := t.One(`UPDATE traces SET held = held + 1 WHERE workspace_id = $1 AND id = $2`, string(sc.Workspace), string(x.Source.TraceID)); err != nil {
			return fmt.Errorf("hold trace %s: %w", x.Source.TraceID, err)
		}
	}
	// One microsecond apart, so that they are listed as they were given.
	at := int64(t.Now()) + int64(n)
	if _, err := t.Exec(`INSERT INTO dataset_items (id, dataset_id, revision, digest, source_doc, created_at, changed_at) VALUES ($1, $2, 1, $3, $4, $5, $6)`,
		string(x.ID), string(id), x.Digest, source, at, at); err != nil {
		return err
	}
	return revise(t, x.ID, 1, x.Digest, x.ItemContent, sc.Who())
}

// unique refuses content that the dataset has already.
func unique(t Tx, id core.DatasetID, digest string, n int) error {
	rows, err := t.Rows(`SELECT id FROM dataset_items WHERE dataset_id = $1 AND digest = $2 AND withdrawn = 0`, string(id), digest)
	twins, err := gather(rows, err, func(rows *sql.Rows) (id string, err error) { return id, rows.Scan(&id) })
	if err != nil || len(twins) == 0 {
		return err
	}
	return core.Refuse(core.DuplicateItem, "the dataset has an item with the same content; nothing was changed").With("item_id", twins[0]).With("index", n)
}

func revise(t Tx, id core.ItemID, n int, digest string, c core.ItemContent, author string) error {
	_, err := t.Exec(`INSERT INTO dataset_revisions (item_id, revision, digest, input, expected, metadata, author, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		string(id), n, digest, string(c.Input), orNull(c.Expected), orNull(c.Metadata), author, int64(t.Now()))
	return err
}

func item(q query, d core.DatasetID, id core.ItemID) (core.DatasetItem, error) {
	rows, err := q(`SELECT `+itemColumns+fromItems+` WHERE i.dataset_id = $1 AND i.id = $2 AND i.withdrawn = 0`, string(d), string(id))
	all, err := gather(rows, err, scanItem)
	return one(all, err, "item")
}

// Item reads an item.
func (s *Store) Item(ctx context.Context, sc core.Scope, d core.DatasetID, id core.ItemID) (core.DatasetItem, error) {
	if _, err := s.Dataset(ctx, sc, d); err != nil {
		return core.DatasetItem{}, err
	}
	x, err := item(s.reading(ctx), d, id)
	if err != nil {
		return x, err
	}
	all, err := s.reviewed(ctx, []core.DatasetItem{x})
	if err != nil {
		return x, err
	}
	return all[0], nil
}

// Items lists the items of a dataset in the order in which they came; review ""
// is any.
func (s *Store) Items(ctx context.Context, sc core.Scope, d core.DatasetID, review string, after *core.Place, limit int) ([]core.DatasetItem, error) {
	if _, err := s.Dataset(ctx, sc, d); err != nil {
		return nil, err
	}
	text, args := `SELECT `+itemColumns+fromItems+` WHERE i.dataset_id = $1 AND i.withdrawn = 0`, []any{string(d)}
	add := func(condition string, v ...any) {
		for _, one := range v {
			args = append(args, one)
			condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(args)), 1)
		}
		text += condition
	}
	if review != "" {
		add(` AND i.review = ?`, review)
	}
	if after != nil {
		add(` AND (i.created_at > ? OR (i.created_at = ? AND i.id > ?))`, int64(after.At), int64(after.At), after.ID)
	}
	add(` ORDER BY i.created_at, i.id LIMIT ?`, limit)
	rows, err := s.db.QueryContext(ctx, text, args...)
	all, err := gather(rows, err, scanItem)
	if err != nil {
		return nil, err
	}
	return s.reviewed(ctx, all)
}

// reviewed adds who said what of the items as they stand.
func (s *Store) reviewed(ctx context.Context, all []core.DatasetItem) ([]core.DatasetItem, error) {
	for i := range all {
		x := &all[i]
		if x.Review == core.ReviewPending {
			continue
		}
		rows, err := s.db.QueryContext(ctx, `SELECT reviewer, note FROM dataset_reviews WHERE item_id = $1 AND digest = $2 ORDER BY at, reviewer`, string(x.ID), x.Digest)
		said, err := gather(rows, err, func(rows *sql.Rows) (v [2]string, err error) { return v, rows.Scan(&v[0], &v[1]) })
		if err != nil {
			return nil, err
		}
		for _, v := range said {
			x.ReviewedBy, x.Note = append(x.ReviewedBy, v[0]), v[1]
		}
	}
	return all, nil
}

// Edit gives an item other content, which voids what was said of it, unless
// the content was there before: a review is of a digest.
func (s *Store) Edit(ctx context.Context, sc core.Scope, d core.DatasetID, id core.ItemID, digest string, c core.ItemContent) error {
	return s.ask(ctx, func(t Tx) error {
		set, err := open(t, sc, d)
		if err != nil {
			return err
		}
		x, err := item(t.Rows, d, id)
		if err != nil || x.Digest == digest {
			return err
		}
		if err := unique(t, d, digest, 0); err != nil {
			return err
		}
		if err := revise(t, id, x.Revision+1, digest, c, sc.Who()); err != nil {
			return err
		}
		if err := t.One(`UPDATE dataset_items SET revision = $1, digest = $2, changed_at = $3 WHERE id = $4`, x.Revision+1, digest, int64(t.Now()), string(id)); err != nil {
			return err
		}
		return settle(t, set, id, digest)
	})
}

// Withdraw takes an item out of the dataset. Versions that have it keep it.
func (s *Store) Withdraw(ctx context.Context, sc core.Scope, d core.DatasetID, id core.ItemID) error {
	return s.ask(ctx, func(t Tx) error {
		if _, err := open(t, sc, d); err != nil {
			return err
		}
		x, err := item(t.Rows, d, id)
		if err != nil {
			return err
		}
		if x.Source != nil { // its trace may have gone
			if _, err := t.Exec(`UPDATE traces SET held = held - 1 WHERE workspace_id = $1 AND id = $2 AND held > 0`, string(sc.Workspace), string(x.Source.TraceID)); err != nil {
				return err
			}
		}
		return t.One(`UPDATE dataset_items SET withdrawn = 1, changed_at = $1 WHERE id = $2`, int64(t.Now()), string(id))
	})
}

// Review keeps what a person says of an item as it stands. Saying something else
// later takes the place of it.
func (s *Store) Review(ctx context.Context, sc core.Scope, d core.DatasetID, v core.Verdict) error {
	return s.ask(ctx, func(t Tx) error {
		set, err := open(t, sc, d)
		if err != nil {
			return err
		}
		x, err := item(t.Rows, d, v.Item)
		switch {
		case err != nil:
			return err
		case v.Digest != "" && v.Digest != x.Digest:
			return core.Refuse(core.ItemChanged, "the item was edited since it was read; nothing was recorded. Read it again").With("digest", x.Digest)
		case !set.AllowSelf && x.Author == sc.Who():
			return core.Refuse(core.SelfReview, "whoever wrote an item does not review it in this dataset; nothing was recorded")
		}
		verdict := core.ReviewRejected
		if v.Approved {
			verdict = core.ReviewApproved
		}
		if _, err := t.Exec(`INSERT INTO dataset_reviews (item_id, digest, reviewer, verdict, note, at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (item_id, digest, reviewer) DO UPDATE SET verdict = excluded.verdict, note = excluded.note, at = excluded.at`,
			string(v.Item), x.Digest, sc.Who(), verdict, v.Note, int64(t.Now())); err != nil {
			return err
		}
		return settle(t, set, v.Item, x.Digest)
	})
}

// settle says what the reviews of a digest come to: one rejection rejects, and
// as many approvals as the dataset asks for approve.
func settle(t Tx, d core.Dataset, id core.ItemID, digest string) error {
	rows, err := t.Rows(`SELECT verdict FROM dataset_reviews WHERE item_id = $1 AND digest = $2`, string(id), digest)
	all, err := gather(rows, err, func(rows *sql.Rows) (v string, err error) { return v, rows.Scan(&v) })
	if err != nil {
		return err
	}
	state, approvals := core.ReviewPending, 0
	for _, v := range all {
		if v == core.ReviewRejected {
			state = core.ReviewRejected
			break
		}
		if approvals++; approvals >= d.Reviewers {
			state = core.ReviewApproved
		}
	}
	return t.One(`UPDATE dataset_items SET review = $1 WHERE id = $2`, state, string(id))
}
