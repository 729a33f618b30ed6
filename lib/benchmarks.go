package evalrouter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Sources keeps files of a workspace, of which benchmarks are made.
type Sources struct{ c *core }

// SourceQuery filters sources by status.
type SourceQuery struct {
	Status string
	Paging
}

// List is one page of sources, newest first.
func (s *Sources) List(ctx context.Context, in SourceQuery) (api.Page[api.BenchmarkSource], error) {
	var q query
	q.text("status", in.Status)
	in.put(&q)
	return list[api.BenchmarkSource](ctx, s.c, "list sources", path("benchmark-sources"), q)
}

// All walks every page.
func (s *Sources) All(ctx context.Context, in SourceQuery) iter.Seq2[api.BenchmarkSource, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.BenchmarkSource], error) {
		in.Cursor = cursor
		return s.List(ctx, in)
	})
}

// Get reads one source.
func (s *Sources) Get(ctx context.Context, id string) (api.BenchmarkSource, error) {
	return get[api.BenchmarkSource](ctx, s.c, "read source "+id, path("benchmark-sources", id))
}

// Create announces a file. Its bytes are uploaded afterwards.
func (s *Sources) Create(ctx context.Context, in api.NewBenchmarkSource) (api.BenchmarkSource, error) {
	return do[api.BenchmarkSource](ctx, s.c, call{op: "announce a source", method: http.MethodPost, path: path("benchmark-sources"), body: in})
}

// Archive takes a source out of use and drops its bytes. Benchmarks that were
// made of it stay.
func (s *Sources) Archive(ctx context.Context, id string) (api.BenchmarkSource, error) {
	return do[api.BenchmarkSource](ctx, s.c, call{op: "archive source " + id, method: http.MethodPost, path: path("benchmark-sources", id, "archive"), retry: true})
}

const (
	// partBytes is how much of a file one request brings.
	partBytes = 4 << 20
	// maxLost is how many parts in a row may get lost before an upload gives up.
	maxLost = 5
)

// Upload brings the bytes of an announced source that are not there yet, and
// returns once the service has looked at the whole. A part that got lost is
// sent again from where the service is. When it gives up, what came stays
// there, and another Upload goes on behind it. progress is told how much is
// there; it may be nil.
func (s *Sources) Upload(ctx context.Context, src api.BenchmarkSource, file io.ReaderAt, progress func(received int64)) (api.BenchmarkSource, error) {
	if progress == nil {
		progress = func(int64) {}
	}
	buf := make([]byte, min(partBytes, src.Bytes))
	for lost := 0; src.Status == api.SourcePending || src.Status == api.SourceVerifying; {
		at := src.ReceivedBytes
		data := buf[:min(int64(len(buf)), src.Bytes-at)]
		if n, err := file.ReadAt(data, at); n < len(data) {
			return src, &Error{Problem: Problem{Code: inputCode, Message: "the file cannot be read to its announced end; has it changed?"}, Op: "upload source " + src.ID, err: err}
		}
		next, err := s.put(ctx, src, data)
		if err == nil && (next.ReceivedBytes > at || next.Status != api.SourcePending) {
			src, lost = next, 0
			progress(src.ReceivedBytes)
			continue
		}
		if lost++; err != nil && (lost > maxLost || !goesOn(err)) {
			return src, err
		}
		// What of the part came is for the service to say.
		if src, err = s.Get(ctx, src.ID); err != nil {
			return src, err
		}
	}
	return src, nil
}

// put sends the next bytes of a source; none ask for it to be looked at.
func (s *Sources) put(ctx context.Context, src api.BenchmarkSource, data []byte) (api.BenchmarkSource, error) {
	p := &part{data: data, span: fmt.Sprintf("bytes */%d", src.Bytes)}
	if len(data) > 0 {
		p.span = fmt.Sprintf("bytes %d-%d/%d", src.ReceivedBytes, src.ReceivedBytes+int64(len(data))-1, src.Bytes)
	}
	return do[api.BenchmarkSource](ctx, s.c, call{op: "upload source " + src.ID, method: http.MethodPut, path: path("benchmark-sources", src.ID, "content"), file: p})
}

// goesOn says whether an upload that failed so can go on from where the service
// is.
func goesOn(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Code == api.SourceOffset || e.Code == api.NetworkError || e.Code == api.RequestTimeout || retryable(e.Status)
}

// Benchmarks makes benchmarks that only their workspace sees.
type Benchmarks struct{ c *core }

// BenchmarkListQuery filters them by status, active or archived.
type BenchmarkListQuery struct {
	Status string
	Paging
}

// List is one page of a workspace's own benchmarks, newest first.
func (s *Benchmarks) List(ctx context.Context, in BenchmarkListQuery) (api.Page[api.PrivateBenchmark], error) {
	var q query
	q.text("status", in.Status)
	in.put(&q)
	return list[api.PrivateBenchmark](ctx, s.c, "list benchmarks", path("benchmarks"), q)
}

// All walks every page.
func (s *Benchmarks) All(ctx context.Context, in BenchmarkListQuery) iter.Seq2[api.PrivateBenchmark, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.PrivateBenchmark], error) {
		in.Cursor = cursor
		return s.List(ctx, in)
	})
}

// Get reads one of them.
func (s *Benchmarks) Get(ctx context.Context, profileID string) (api.PrivateBenchmark, error) {
	return get[api.PrivateBenchmark](ctx, s.c, "read benchmark "+profileID, path("benchmarks", profileID))
}

// Preview checks a manifest against every row of its source and makes nothing.
func (s *Benchmarks) Preview(ctx context.Context, in api.BenchmarkManifest) (api.BenchmarkPreview, error) {
	return do[api.BenchmarkPreview](ctx, s.c, call{op: "preview a benchmark", method: http.MethodPost, path: path("benchmarks", "preview"), body: in, retry: true})
}

// Create makes a benchmark. The same key and manifest again make no second one.
func (s *Benchmarks) Create(ctx context.Context, key IdempotencyKey, in api.BenchmarkManifest) (api.PrivateBenchmark, error) {
	return do[api.PrivateBenchmark](ctx, s.c, call{op: "make a benchmark", method: http.MethodPost, path: path("benchmarks"), body: in, key: key, keyed: true, retry: true})
}

// Archive takes a benchmark out of use. Its runs and their results stay.
func (s *Benchmarks) Archive(ctx context.Context, profileID string) (api.PrivateBenchmark, error) {
	return do[api.PrivateBenchmark](ctx, s.c, call{op: "archive benchmark " + profileID, method: http.MethodPost, path: path("benchmarks", profileID, "archive"), retry: true})
}

// Import fetches files of a public data set at one commit. It may still be
// running when it is answered.
func (s *Sources) Import(ctx context.Context, in api.NewBenchmarkImport) (api.BenchmarkImport, error) {
	return do[api.BenchmarkImport](ctx, s.c, call{op: "import from " + in.Source, method: http.MethodPost, path: path("benchmark-imports"), body: in})
}

// ImportStatus reads the receipt of an import.
func (s *Sources) ImportStatus(ctx context.Context, id string) (api.BenchmarkImport, error) {
	return get[api.BenchmarkImport](ctx, s.c, "read import "+id, path("benchmark-imports", id))
}
