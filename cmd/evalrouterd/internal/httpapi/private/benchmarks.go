package private

import (
	"context"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
)

func manifest(m api.BenchmarkManifest) byob.Manifest {
	out := byob.Manifest{
		Name: m.Name, Source: m.Source, SHA256: m.SHA256, Bytes: m.Bytes, Task: m.Task, Columns: map[string][]string{}, Template: m.PromptTemplate,
		Options: m.GraderOptions, AnswerFormat: m.AnswerFormat, MaxOutputTokens: m.MaxOutputTokens, License: m.DataLicense, Rights: m.RightsAttestation,
	}
	for name, columns := range m.Columns {
		out.Columns[name] = columns
	}
	return out
}

type previewInput struct {
	httpapi.With[api.BenchmarkManifest]
}

func (h *Handlers) preview(_ *httpapi.Server, ctx context.Context, in *previewInput) (*httpapi.Answer[api.BenchmarkPreview], error) {
	s, err := h.on()
	if err != nil {
		return nil, err
	}
	p, err := s.Preview(ctx, httpapi.ScopeOf(ctx), manifest(in.Value()))
	if err != nil {
		return nil, worded(err)
	}
	out := api.BenchmarkPreview{
		OK: p.Report.Total == 0, RowCount: p.Report.Rows, Errors: rowErrors(p.Report.Findings), ErrorCount: p.Report.Total,
		Examples: []api.BenchmarkExample{}, Warnings: append([]string{}, p.Warnings...),
	}
	for _, e := range p.Examples {
		out.Examples = append(out.Examples, api.BenchmarkExample{Prompt: e.Prompt, Answer: e.Answer})
	}
	return httpapi.Reply(out), nil
}

func rowErrors(all []bundle.Finding) []api.RowError {
	out := []api.RowError{}
	for _, f := range all {
		e := api.RowError{Code: f.Code, Message: f.Message}
		if f.Row > 0 {
			e.Row = &f.Row
		}
		if f.Path != "" {
			e.Column = &f.Path
		}
		out = append(out, e)
	}
	return out
}

type createInput struct {
	httpapi.Keyed
	httpapi.With[api.BenchmarkManifest]
}

func (h *Handlers) create(server *httpapi.Server, ctx context.Context, in *createInput) (*httpapi.Replayable[api.PrivateBenchmark], error) {
	s, err := h.on()
	if err != nil {
		return nil, err
	}
	out, err := httpapi.Once[api.PrivateBenchmark](server, ctx, in.Keyed, "benchmarks", in.RawBody, func(o core.Once) (core.Admitted, error) {
		// A caller who has no more patience asks again with the same key.
		return s.Create(context.WithoutCancel(ctx), httpapi.ScopeOf(ctx), manifest(in.Value()), o, func(b core.OwnBenchmark) ([]byte, error) {
			return httpapi.Record(record(b))
		})
	})
	return out, worded(err)
}

type benchmarksInput struct {
	httpapi.Paging
	Status string `query:"status" enum:"active,archived"`
}

func (h *Handlers) list(_ *httpapi.Server, ctx context.Context, in *benchmarksInput) (*httpapi.Answer[api.Page[api.PrivateBenchmark]], error) {
	s, err := h.on()
	if err != nil {
		return nil, err
	}
	after, err := in.Place("private-benchmarks")
	if err != nil {
		return nil, err
	}
	rows, err := s.Benchmarks.Benchmarks(ctx, httpapi.ScopeOf(ctx), in.Status, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return httpapi.PageOf("private-benchmarks", in.Paging, rows, func(b core.OwnBenchmark) core.Place { return core.Place{At: b.CreatedAt, ID: string(b.Profile)} }, record), nil
}

type profileInput struct {
	ID string `path:"profile_id"`
}

func (h *Handlers) get(_ *httpapi.Server, ctx context.Context, in *profileInput) (*httpapi.Answer[api.PrivateBenchmark], error) {
	s, err := h.on()
	if err != nil {
		return nil, err
	}
	b, err := s.Benchmarks.Benchmark(ctx, httpapi.ScopeOf(ctx), core.ProfileID(in.ID))
	if err != nil {
		return nil, err
	}
	return httpapi.Reply(record(b)), nil
}

func (h *Handlers) archive(_ *httpapi.Server, ctx context.Context, in *profileInput) (*httpapi.Answer[api.PrivateBenchmark], error) {
	s, err := h.on()
	if err != nil {
		return nil, err
	}
	if err := s.Benchmarks.ArchiveBenchmark(ctx, httpapi.ScopeOf(ctx), core.ProfileID(in.ID)); err != nil {
		return nil, err
	}
	return h.get(nil, ctx, in)
}

func record(b core.OwnBenchmark) api.PrivateBenchmark {
	out := api.PrivateBenchmark{
		ProfileID: string(b.Profile), Name: b.Name, Task: b.Task, Status: api.BenchmarkActive, SourceURI: b.SourceURI, ManifestSHA256: b.ManifestSHA256, TaskCount: b.TaskCount,
		CreatedBy: b.Actor, CreatedAt: httpapi.TimeOf(b.CreatedAt), ArchivedAt: httpapi.MaybeTime(b.ArchivedAt),
		QuoteAvailability: &api.BenchmarkQuoteAvailability{Status: api.ReadyForQuote},
	}
	if b.ArchivedAt != 0 {
		reason, message := "retired", "This benchmark was archived and cannot be quoted any more."
		out.Status = api.BenchmarkArchived
		out.QuoteAvailability = &api.BenchmarkQuoteAvailability{Status: api.QuoteUnavailable, ReasonCode: &reason, Message: &message}
	}
	return out
}
