package private

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
)

// worded makes what is wrong with fields an answer.
func worded(err error) error {
	var rows *byob.RowsInvalid
	if errors.As(err, &rows) {
		return core.Refuse(core.ManifestInvalid, "%s", rows.Error()).With("error_count", rows.Report.Total).With("errors", rowErrors(rows.Report.Findings[:min(len(rows.Report.Findings), 20)]))
	}
	var bad *byob.Invalid
	if !errors.As(err, &bad) {
		return err
	}
	fields := make([]api.FieldError, len(bad.Fields))
	for i, f := range bad.Fields {
		fields[i] = api.FieldError{Path: f.Path, Code: f.Code}
	}
	return httpapi.RefuseFields(bad.Code, bad.Message, fields)
}

type newSourceInput struct {
	httpapi.With[api.NewBenchmarkSource]
}

func (h *Handlers) createSource(_ *httpapi.Server, ctx context.Context, in *newSourceInput) (*httpapi.Answer[api.BenchmarkSource], error) {
	s, err := h.on()
	if err != nil {
		return nil, err
	}
	n := in.Value()
	src, err := s.Begin(ctx, httpapi.ScopeOf(ctx), byob.NewSource{FileName: n.FileName, Format: n.Format, Bytes: n.Bytes, SHA256: n.SHA256})
	if err != nil {
		return nil, worded(err)
	}
	return httpapi.Reply(sourceRecord(src)), nil
}

// maxDrained bounds what is read of a part that was refused.
const maxDrained = 8 << 20

type uploadInput struct {
	ID    string `path:"id"`
	Range string `header:"Content-Range" doc:"bytes FIRST-LAST/SIZE goes on behind received_bytes; bytes */SIZE brings nothing and looks at a source that is all there"`
}

func (h *Handlers) upload(_ *httpapi.Server, ctx context.Context, in *uploadInput) (*httpapi.Answer[api.BenchmarkSource], error) {
	s, err := h.on()
	if err != nil {
		return nil, err
	}
	part, ok := partOf(in.Range)
	if !ok {
		return nil, httpapi.RefuseFields(core.InvalidRequest, "Content-Range is bytes FIRST-LAST/SIZE; nothing was taken", []api.FieldError{{Path: "header.Content-Range", Code: "invalid_value"}})
	}
	body := httpapi.UploadOf(ctx)
	src, err := s.Upload(ctx, httpapi.ScopeOf(ctx), core.SourceID(in.ID), part, body)
	if err != nil {
		// Many senders read no answer before they have sent everything.
		_, _ = io.CopyN(io.Discard, body, maxDrained)
		return nil, worded(err)
	}
	return httpapi.Reply(sourceRecord(src)), nil
}

// partOf reads a Content-Range; "" is the whole file.
func partOf(text string) (p byob.Part, ok bool) {
	if text == "" {
		return byob.Part{Whole: true}, true
	}
	rest, ok := strings.CutPrefix(text, "bytes ")
	span, size, found := strings.Cut(rest, "/")
	total, good := position(size)
	if !ok || !found || !good {
		return p, false
	}
	if span == "*" {
		return byob.Part{Start: total, End: total, Total: total}, true
	}
	first, last, found := strings.Cut(span, "-")
	from, good := position(first)
	to, also := position(last)
	if !found || !good || !also || to < from || to >= total {
		return p, false
	}
	return byob.Part{Start: from, End: to + 1, Total: total}, true
}

// position is a number of bytes in plain digits.
func position(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0 && text == fmt.Sprint(n)
}

type sourcesInput struct {
	httpapi.Paging
	Status string `query:"status" enum:"pending,verifying,completed,failed,archived"`
}

func (h *Handlers) listSources(_ *httpapi.Server, ctx context.Context, in *sourcesInput) (*httpapi.Answer[api.Page[api.BenchmarkSource]], error) {
	s, err := h.on()
	if err != nil {
		return nil, err
	}
	after, err := in.Place("benchmark-sources")
	if err != nil {
		return nil, err
	}
	rows, err := s.Sources.Sources(ctx, httpapi.ScopeOf(ctx), in.Status, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return httpapi.PageOf("benchmark-sources", in.Paging, rows, func(s core.DataSource) core.Place { return core.Place{At: s.CreatedAt, ID: string(s.ID)} }, sourceRecord), nil
}

type idInput struct {
	ID string `path:"id"`
}

func (h *Handlers) getSource(_ *httpapi.Server, ctx context.Context, in *idInput) (*httpapi.Answer[api.BenchmarkSource], error) {
	s, err := h.on()
	if err != nil {
		return nil, err
	}
	src, err := s.Sources.Source(ctx, httpapi.ScopeOf(ctx), core.SourceID(in.ID))
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(sourceRecord(src)), nil
}

func (h *Handlers) archiveSource(_ *httpapi.Server, ctx context.Context, in *idInput) (*httpapi.Answer[api.BenchmarkSource], error) {
	s, err := h.on()
	if err != nil {
		return nil, err
	}
	if err := s.Sources.ArchiveSource(ctx, httpapi.ScopeOf(ctx), core.SourceID(in.ID)); err != nil {
		return nil, err
	}
	return h.getSource(nil, ctx, in)
}

func sourceRecord(s core.DataSource) api.BenchmarkSource {
	out := api.BenchmarkSource{
		ID: string(s.ID), FileName: s.FileName, Format: s.Format, Bytes: s.Bytes, SHA256: s.SHA256, ReceivedBytes: s.Received, Status: s.Status,
		CreatedAt: httpapi.TimeOf(s.CreatedAt), ArchivedAt: httpapi.MaybeTime(s.ArchivedAt), URI: s.URI,
	}
	switch {
	case s.Status == core.SourcePending && s.Received == s.Bytes:
		out.Status = api.SourceVerifying
	case s.Error != "":
		out.ErrorCode, out.ErrorMessage = &s.Error, &s.Reason
	case s.Rows > 0:
		out.RowCount = &s.Rows
		if s.Format != core.FormatPackage {
			out.Columns = s.Columns
		}
	}
	return out
}
