package evalrouter

import (
	"context"
	"iter"
	"net/http"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Catalog reads what can be evaluated and with which models. Availability
// shown here is information; a quote decides.
type Catalog struct {
	c      *core
	public bool
}

// Public is the same catalog read without credentials: what everyone may see,
// in answers that may be stored.
func (s *Catalog) Public() *Catalog { return &Catalog{c: s.c, public: true} }

// BenchmarkQuery filters benchmarks. Status is candidate, active, quarantined
// or retired.
type BenchmarkQuery struct {
	Text       string
	Runner     string
	Capability string
	Status     string
	Paging
}

// Benchmarks is one page of benchmark versions.
func (s *Catalog) Benchmarks(ctx context.Context, in BenchmarkQuery) (api.Page[api.BenchmarkRecord], error) {
	var q query
	q.text("q", in.Text)
	q.text("runner", in.Runner)
	q.text("capability", in.Capability)
	q.text("status", in.Status)
	in.put(&q)
	return read[api.Page[api.BenchmarkRecord]](ctx, s, "list benchmarks", path("catalog", "benchmarks"), q)
}

// AllBenchmarks walks every page.
func (s *Catalog) AllBenchmarks(ctx context.Context, in BenchmarkQuery) iter.Seq2[api.BenchmarkRecord, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.BenchmarkRecord], error) {
		in.Cursor = cursor
		return s.Benchmarks(ctx, in)
	})
}

// Benchmark is every version of one benchmark, newest first.
func (s *Catalog) Benchmark(ctx context.Context, slug string) (api.BenchmarkDetail, error) {
	return read[api.BenchmarkDetail](ctx, s, "read benchmark "+slug, path("catalog", "benchmarks", slug), query{})
}

// ModelQuery filters managed routes.
type ModelQuery struct {
	Text       string
	Provider   string
	Capability string
	Paging
}

// Models is one page of managed routes with their prices.
func (s *Catalog) Models(ctx context.Context, in ModelQuery) (api.Page[api.ManagedRoute], error) {
	var q query
	q.text("q", in.Text)
	q.text("provider", in.Provider)
	q.text("capability", in.Capability)
	in.put(&q)
	return read[api.Page[api.ManagedRoute]](ctx, s, "list models", path("catalog", "models"), q)
}

// AllModels walks every page.
func (s *Catalog) AllModels(ctx context.Context, in ModelQuery) iter.Seq2[api.ManagedRoute, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.ManagedRoute], error) {
		in.Cursor = cursor
		return s.Models(ctx, in)
	})
}

// Model is one managed route.
func (s *Catalog) Model(ctx context.Context, routeID string) (api.ManagedRoute, error) {
	return read[api.ManagedRoute](ctx, s, "read model "+routeID, path("catalog", "models", routeID), query{})
}

// ExecutionOptions are the limits of one run.
func (s *Catalog) ExecutionOptions(ctx context.Context) (api.ExecutionOptions, error) {
	return read[api.ExecutionOptions](ctx, s, "read execution options", path("catalog", "execution-options"), query{})
}

// Environments is one page of interactive environments.
func (s *Catalog) Environments(ctx context.Context, in Paging) (api.Page[api.EnvironmentRecord], error) {
	var q query
	in.put(&q)
	return read[api.Page[api.EnvironmentRecord]](ctx, s, "list environments", path("catalog", "environments"), q)
}

// Environment is every version of one environment.
func (s *Catalog) Environment(ctx context.Context, family string) (api.EnvironmentFamily, error) {
	return read[api.EnvironmentFamily](ctx, s, "read environment "+family, path("catalog", "environments", family), query{})
}

// CompatibilityQuery asks which models can run a profile.
type CompatibilityQuery struct {
	ProfileID string
	Text      string
	Provider  string
	Paging
}

// Compatibility is one page of routes, and of the workspace's connections
// when the caller is signed in, each with the reasons if it cannot run the
// profile.
func (s *Catalog) Compatibility(ctx context.Context, in CompatibilityQuery) (api.Page[api.CompatibleRoute], error) {
	var q query
	q.text("profile_id", in.ProfileID)
	q.text("q", in.Text)
	q.text("provider", in.Provider)
	in.put(&q)
	return read[api.Page[api.CompatibleRoute]](ctx, s, "read compatibility", path("catalog", "compatibility"), q)
}

// AllCompatible walks every page of Compatibility.
func (s *Catalog) AllCompatible(ctx context.Context, in CompatibilityQuery) iter.Seq2[api.CompatibleRoute, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.CompatibleRoute], error) {
		in.Cursor = cursor
		return s.Compatibility(ctx, in)
	})
}

func read[T any](ctx context.Context, s *Catalog, op string, p pathText, q query) (T, error) {
	return do[T](ctx, s.c, call{op: op, method: http.MethodGet, path: p, query: q, retry: true, public: s.public})
}
