package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/datasets"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
)

type sealInput struct {
	ID string `path:"id"`
	httpapi.With[api.NewDatasetVersion]
}

func (h *Handlers) seal(_ *httpapi.Server, ctx context.Context, in *sealInput) (*httpapi.Answer[api.DatasetVersion], error) {
	n := in.Value()
	if n.Include != "" && n.Include != api.ReviewApproved || len(n.Note) > 2_000 {
		return nil, httpapi.RefuseFields(core.InvalidRequest, "a version holds approved items only, and its note has at most 2,000 characters; nothing was sealed", []api.FieldError{{Path: "include", Code: "invalid_value"}})
	}
	v, err := h.Service.Versions.Seal(ctx, httpapi.ScopeOf(ctx), core.DatasetID(in.ID), n.Note)
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(versionRecord(v)), nil
}

type versionsInput struct {
	ID string `path:"id"`
	httpapi.Paging
}

func (h *Handlers) versions(_ *httpapi.Server, ctx context.Context, in *versionsInput) (*httpapi.Answer[api.Page[api.DatasetVersion]], error) {
	at, err := in.Place("dataset-versions")
	if err != nil {
		return nil, err
	}
	below := 0
	if at != nil {
		below = int(at.At)
	}
	rows, err := h.Service.Versions.Versions(ctx, httpapi.ScopeOf(ctx), core.DatasetID(in.ID), below, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return httpapi.PageOf("dataset-versions", in.Paging, rows, func(v core.DatasetVersion) core.Place { return core.Place{At: core.Micros(v.Version), ID: "v"} }, versionRecord), nil
}

type versionInput struct {
	ID string `path:"id"`
	N  int    `path:"n" minimum:"0"`
}

func (h *Handlers) version(_ *httpapi.Server, ctx context.Context, in *versionInput) (*httpapi.Answer[api.DatasetVersion], error) {
	v, err := h.Service.Versions.Version(ctx, httpapi.ScopeOf(ctx), core.DatasetID(in.ID), in.N)
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(versionRecord(v)), nil
}

type diffInput struct {
	ID string `path:"id"`
	N  int    `path:"n" minimum:"1"`
	M  int    `path:"m" minimum:"1"`
}

func (h *Handlers) diff(_ *httpapi.Server, ctx context.Context, in *diffInput) (*httpapi.Answer[api.DatasetDiff], error) {
	added, changed, removed, err := h.Service.Versions.Difference(ctx, httpapi.ScopeOf(ctx), core.DatasetID(in.ID), in.N, in.M)
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(api.DatasetDiff{From: in.N, To: in.M, Added: texts(added), Changed: texts(changed), Removed: texts(removed)}), nil
}

func texts(ids []core.ItemID) []string {
	out := []string{}
	for _, id := range ids {
		out = append(out, string(id))
	}
	return out
}

type retractInput struct {
	ID string `path:"id"`
	N  int    `path:"n" minimum:"1"`
	httpapi.With[api.NewRetraction]
}

func (h *Handlers) retract(_ *httpapi.Server, ctx context.Context, in *retractInput) (*httpapi.Answer[api.DatasetVersion], error) {
	reason := in.Value().Reason
	if reason == "" || len(reason) > 2_000 {
		return nil, httpapi.RefuseFields(core.InvalidRequest, "a retraction has a reason of at most 2,000 characters; nothing was changed", []api.FieldError{{Path: "reason", Code: "invalid_value"}})
	}
	if err := h.Service.Versions.Retract(ctx, httpapi.ScopeOf(ctx), core.DatasetID(in.ID), in.N, reason); err != nil {
		return nil, err
	}
	return h.version(nil, ctx, &versionInput{in.ID, in.N})
}

type exportInput struct {
	ID     string `path:"id"`
	N      int    `path:"n" minimum:"1"`
	Format string `query:"format" enum:"jsonl,json,csv" default:"jsonl"`
}

// exported is a file.
type exported struct {
	Body func(huma.Context)
}

// export writes a version twice: once for its length and hash, and once for the
// caller. It never changes, so that both are the same.
func (h *Handlers) export(_ *httpapi.Server, ctx context.Context, in *exportInput) (*exported, error) {
	sc := httpapi.ScopeOf(ctx)
	d, err := h.Service.Dataset(ctx, sc, core.DatasetID(in.ID))
	if err != nil {
		return nil, err
	}
	v, err := h.Service.Versions.Version(ctx, sc, d.ID, in.N)
	if err != nil {
		return nil, err
	}
	first := &counted{sum: sha256.New()}
	if err := datasets.Export(first, in.Format, d, v, h.Service.Versions.Sealed(ctx, v)); err != nil {
		return nil, err
	}
	return &exported{Body: func(hc huma.Context) {
		_, w := humago.Unwrap(hc)
		head := w.Header()
		head.Set("Content-Type", map[string]string{datasets.CSV: "text/csv; charset=utf-8", datasets.JSON: "application/json"}[in.Format])
		if in.Format == datasets.JSONL {
			head.Set("Content-Type", "application/x-ndjson")
		}
		head.Set("Content-Length", strconv.FormatInt(first.n, 10))
		head.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s-v%d.%s"`, d.Name, v.Version, in.Format))
		head.Set("X-Content-SHA256", hex.EncodeToString(first.sum.Sum(nil)))
		w.WriteHeader(http.StatusOK)
		if err := datasets.Export(w, in.Format, d, v, h.Service.Versions.Sealed(hc.Context(), v)); err != nil {
			panic(http.ErrAbortHandler) // half a file must not look whole
		}
	}}, nil
}

// counted counts and hashes what is written.
type counted struct {
	n   int64
	sum hash.Hash
}

// Write takes everything.
func (c *counted) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return c.sum.Write(b)
}

// maxPacked bounds how often a version can be packed again.
const maxPacked = 100

// place finds the source of a version, or the id of the one to make: the first
// that is neither archived nor failed.
func place(ctx context.Context, sc core.Scope, sources byob.Sources, v core.DatasetVersion) (core.SourceID, core.DataSource, error) {
	for n := range maxPacked {
		id := core.SourceID(fmt.Sprintf("dataset-%s-v%d", v.Dataset, v.Version))
		if n > 0 {
			id += core.SourceID(fmt.Sprintf("-%d", n+1))
		}
		src, err := sources.Source(ctx, sc, id)
		if errors.Is(err, &core.Refusal{Code: core.NotFound}) {
			return id, core.DataSource{}, nil
		}
		if err != nil || src.Status != core.SourceArchived && src.Status != core.SourceFailed {
			return id, src, err
		}
	}
	return "", core.DataSource{}, core.Refuse(core.SourceQuota, "version %d was made a source %d times, and each was archived; nothing was made. Seal the items as another version", v.Version, maxPacked)
}

// pack makes a version a source of a private benchmark, once: its id follows
// from the version. One that was archived has no bytes, and gets a successor.
func (h *Handlers) pack(_ *httpapi.Server, ctx context.Context, in *versionInput) (*httpapi.Answer[api.BenchmarkSource], error) {
	if h.Own == nil {
		return nil, core.Refuse(core.FeatureUnavailable, "this service takes no benchmarks of your own: its operator has switched them off; nothing was changed").With("feature", "private_benchmarks")
	}
	if err := httpapi.Require(ctx, read); err != nil {
		return nil, err
	}
	sc := httpapi.ScopeOf(ctx)
	v, err := h.Service.Versions.Version(ctx, sc, core.DatasetID(in.ID), in.N)
	if err != nil {
		return nil, err
	}
	if v.RetractedAt != 0 {
		return nil, core.Refuse(core.VersionRetracted, "version %d was retracted: %s. Nothing was made of it", v.Version, v.Reason)
	}
	first := &counted{sum: sha256.New()}
	if err := datasets.Rows(first, h.Service.Versions.Sealed(ctx, v)); err != nil {
		return nil, err
	}
	own := *h.Own
	id, src, err := place(ctx, sc, own.Sources, v)
	own.NewID = func() string { return string(id) }
	if err == nil && src.ID == "" {
		src, err = own.Begin(ctx, sc, byob.NewSource{FileName: fmt.Sprintf("v%d.jsonl", v.Version), Format: core.FormatJSONL, Bytes: first.n, SHA256: hex.EncodeToString(first.sum.Sum(nil))})
	}
	if err != nil {
		return nil, err
	}
	if src.Status == core.SourcePending {
		if src, err = h.upload(ctx, sc, &own, src, v); err != nil {
			return nil, err
		}
	}
	return httpapi.Reply(api.BenchmarkSource{
		ID: string(src.ID), FileName: src.FileName, Format: src.Format, Bytes: src.Bytes, SHA256: src.SHA256, ReceivedBytes: src.Received, RowCount: &src.Rows, Columns: append([]string{}, src.Columns...),
		Status: src.Status, CreatedAt: httpapi.TimeOf(src.CreatedAt), ArchivedAt: httpapi.MaybeTime(src.ArchivedAt), URI: src.URI,
	}), nil
}

// upload passes the rows on as they are made.
func (h *Handlers) upload(ctx context.Context, sc core.Scope, own *byob.Service, src core.DataSource, v core.DatasetVersion) (core.DataSource, error) {
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.CloseWithError(datasets.Rows(w, h.Service.Versions.Sealed(ctx, v)))
	}()
	src, err := own.Upload(ctx, sc, src.ID, byob.Part{Whole: true}, r)
	r.CloseWithError(io.ErrClosedPipe) // where it was not read to its end
	<-done
	return src, err
}

func versionRecord(v core.DatasetVersion) api.DatasetVersion {
	return api.DatasetVersion{
		Version: v.Version, SHA256: v.SHA256, ItemCount: v.Items, Added: v.Added, Changed: v.Changed, Removed: v.Removed, LeftOut: v.LeftOut, Note: v.Note, SealedBy: v.Actor,
		CreatedAt: httpapi.TimeOf(v.CreatedAt), RetractedAt: httpapi.MaybeTime(v.RetractedAt), RetractionReason: v.Reason,
	}
}
