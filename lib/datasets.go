package evalrouter

import (
	"context"
	"io"
	"iter"
	"net/http"
	"strconv"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Datasets curates items, reviews them, and seals versions that never change.
// None of the changing operations is ever sent twice.
type Datasets struct{ c *core }

// List is one page of datasets, newest first.
func (s *Datasets) List(ctx context.Context, in Paging) (api.Page[api.DatasetRecord], error) {
	var q query
	in.put(&q)
	return list[api.DatasetRecord](ctx, s.c, "list datasets", path("datasets"), q)
}

// All walks every page.
func (s *Datasets) All(ctx context.Context, in Paging) iter.Seq2[api.DatasetRecord, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.DatasetRecord], error) {
		in.Cursor = cursor
		return s.List(ctx, in)
	})
}

// Get reads one dataset.
func (s *Datasets) Get(ctx context.Context, id string) (api.DatasetRecord, error) {
	return get[api.DatasetRecord](ctx, s.c, "read dataset "+id, path("datasets", id))
}

// Create makes an empty dataset.
func (s *Datasets) Create(ctx context.Context, in api.NewDataset) (api.DatasetRecord, error) {
	return do[api.DatasetRecord](ctx, s.c, call{op: "create a dataset", method: http.MethodPost, path: path("datasets"), body: in})
}

// Update changes what is set.
func (s *Datasets) Update(ctx context.Context, id string, in api.UpdateDataset) (api.DatasetRecord, error) {
	return do[api.DatasetRecord](ctx, s.c, call{op: "update dataset " + id, method: http.MethodPatch, path: path("datasets", id), body: in})
}

// Archive takes a dataset out of use. Its versions stay.
func (s *Datasets) Archive(ctx context.Context, id string) (api.DatasetRecord, error) {
	return do[api.DatasetRecord](ctx, s.c, call{op: "archive dataset " + id, method: http.MethodPost, path: path("datasets", id, "archive")})
}

// Items is one page of items in the order in which they came; review "" is any.
func (s *Datasets) Items(ctx context.Context, id, review string, in Paging) (api.Page[api.DatasetItem], error) {
	var q query
	q.text("review", review)
	in.put(&q)
	return list[api.DatasetItem](ctx, s.c, "list the items of dataset "+id, path("datasets", id, "items"), q)
}

// AllItems walks every page of items.
func (s *Datasets) AllItems(ctx context.Context, id, review string, in Paging) iter.Seq2[api.DatasetItem, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.DatasetItem], error) {
		in.Cursor = cursor
		return s.Items(ctx, id, review, in)
	})
}

// AddItems adds items, all or none, and answers with them.
func (s *Datasets) AddItems(ctx context.Context, id string, in api.NewDatasetItems) (api.Page[api.DatasetItem], error) {
	return do[api.Page[api.DatasetItem]](ctx, s.c, call{op: "add items to dataset " + id, method: http.MethodPost, path: path("datasets", id, "items"), body: in})
}

// Item reads one item.
func (s *Datasets) Item(ctx context.Context, id, item string) (api.DatasetItem, error) {
	return get[api.DatasetItem](ctx, s.c, "read item "+item, path("datasets", id, "items", item))
}

// EditItem gives an item other content, which voids what was said of it.
func (s *Datasets) EditItem(ctx context.Context, id, item string, in api.UpdateDatasetItem) (api.DatasetItem, error) {
	return do[api.DatasetItem](ctx, s.c, call{op: "edit item " + item, method: http.MethodPatch, path: path("datasets", id, "items", item), body: in})
}

// WithdrawItem takes an item out. Versions that have it keep it.
func (s *Datasets) WithdrawItem(ctx context.Context, id, item string) error {
	_, err := do[api.OKResponse](ctx, s.c, call{op: "withdraw item " + item, method: http.MethodDelete, path: path("datasets", id, "items", item)})
	return err
}

// Review says what a person thinks of an item. With a digest it is only
// recorded while the item is still what was read.
func (s *Datasets) Review(ctx context.Context, id, item string, in api.NewItemReview) (api.DatasetItem, error) {
	return do[api.DatasetItem](ctx, s.c, call{op: "review item " + item, method: http.MethodPost, path: path("datasets", id, "items", item, "review"), body: in})
}

// Seal makes the next version of the approved items.
func (s *Datasets) Seal(ctx context.Context, id string, in api.NewDatasetVersion) (api.DatasetVersion, error) {
	return do[api.DatasetVersion](ctx, s.c, call{op: "seal a version of dataset " + id, method: http.MethodPost, path: path("datasets", id, "versions"), body: in})
}

// Versions is one page of versions, newest first.
func (s *Datasets) Versions(ctx context.Context, id string, in Paging) (api.Page[api.DatasetVersion], error) {
	var q query
	in.put(&q)
	return list[api.DatasetVersion](ctx, s.c, "list the versions of dataset "+id, path("datasets", id, "versions"), q)
}

// Version reads one version; 0 is the newest.
func (s *Datasets) Version(ctx context.Context, id string, version int) (api.DatasetVersion, error) {
	return get[api.DatasetVersion](ctx, s.c, "read a version of dataset "+id, path("datasets", id, "versions", strconv.Itoa(version)))
}

// Diff says by which items two versions differ.
func (s *Datasets) Diff(ctx context.Context, id string, from, to int) (api.DatasetDiff, error) {
	return get[api.DatasetDiff](ctx, s.c, "compare versions of dataset "+id, path("datasets", id, "versions", strconv.Itoa(from), "diff", strconv.Itoa(to)))
}

// Retract says that a version was a mistake. It stays readable.
func (s *Datasets) Retract(ctx context.Context, id string, version int, reason string) (api.DatasetVersion, error) {
	return do[api.DatasetVersion](ctx, s.c, call{op: "retract a version of dataset " + id, method: http.MethodPost, path: path("datasets", id, "versions", strconv.Itoa(version), "retract"), body: api.NewRetraction{Reason: reason}})
}

// Package makes a version a source of a private benchmark. The same version is
// the same source each time.
func (s *Datasets) Package(ctx context.Context, id string, version int) (api.BenchmarkSource, error) {
	return do[api.BenchmarkSource](ctx, s.c, call{op: "package a version of dataset " + id, method: http.MethodPost, path: path("datasets", id, "versions", strconv.Itoa(version), "package"), retry: true})
}

// Export writes a version to w in one of the formats api.DatasetJSONL, JSON and
// CSV. The same version is the same bytes each time; they are checked against
// the service's checksum.
func (s *Datasets) Export(ctx context.Context, id string, version int, format string, w io.Writer) (ExportInfo, error) {
	return s.c.download(ctx, s.exportCall(id, version, format), &sink{w: w})
}

// ExportFile is Export into a new file, which appears whole or not at all; see
// Runs.ExportFile.
func (s *Datasets) ExportFile(ctx context.Context, id string, version int, format, file string, overwrite bool) (ExportInfo, error) {
	return s.c.toFile(ctx, "export dataset "+id, s.exportCall(id, version, format), file, overwrite)
}

func (s *Datasets) exportCall(id string, version int, format string) call {
	var q query
	q.text("format", format)
	return call{op: "export dataset " + id, method: http.MethodGet, path: path("datasets", id, "versions", strconv.Itoa(version), "export"), query: q, retry: true}
}
