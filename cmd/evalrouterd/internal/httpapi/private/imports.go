package private

import (
	"context"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
)

type importInput struct {
	httpapi.With[api.NewBenchmarkImport]
}

func (h *Handlers) createImport(_ *httpapi.Server, ctx context.Context, in *importInput) (*httpapi.Answer[api.BenchmarkImport], error) {
	i, err := h.imports()
	if err != nil {
		return nil, err
	}
	n := in.Value()
	im, err := i.Begin(ctx, httpapi.ScopeOf(ctx), n.Source, n.Files)
	if err != nil {
		return nil, worded(err)
	}
	return httpapi.Reply(importRecord(im)), nil
}

func (h *Handlers) getImport(_ *httpapi.Server, ctx context.Context, in *idInput) (*httpapi.Answer[api.BenchmarkImport], error) {
	i, err := h.imports()
	if err != nil {
		return nil, err
	}
	im, err := i.Import(ctx, httpapi.ScopeOf(ctx), core.ImportID(in.ID))
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(importRecord(im)), nil
}

func importRecord(im core.DataImport) api.BenchmarkImport {
	out := api.BenchmarkImport{
		ID: string(im.ID), Status: im.Status, Source: im.Source, Files: []api.ImportedFile{}, CreatedAt: httpapi.TimeOf(im.CreatedAt), EndedAt: httpapi.MaybeTime(im.EndedAt),
	}
	if im.Commit != "" {
		out.Commit = &im.Commit
	}
	if im.Error != "" {
		out.ErrorCode, out.ErrorMessage = &im.Error, &im.Reason
	}
	for _, f := range im.Files {
		out.Files = append(out.Files, api.ImportedFile{URI: f.URI, SHA256: f.SHA256, Bytes: f.Bytes, SourceID: string(f.Source)})
	}
	return out
}
