package httpapi

import (
	"context"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/offer"
	"github.com/evalrouter/evalrouter/lib/api"
)

type benchmarksInput struct {
	Paging
	Q          string `query:"q"`
	Runner     string `query:"runner"`
	Capability string `query:"capability"`
	Status     string `query:"status" enum:"candidate,active,quarantined,retired"`
	Conditional
}

func (s *Server) listBenchmarks(ctx context.Context, in *benchmarksInput) (*cacheable[api.Page[api.BenchmarkRecord]], error) {
	all, err := s.profiles(ctx, func(p core.Profile) bool {
		return mentions(in.Q, p.Slug, p.Name, p.Description) && equals(in.Runner, p.Runner) && equals(in.Status, p.Status) && offered(in.Capability, offer.Required(p))
	})
	if err != nil {
		return nil, err
	}
	page, err := slicePage("benchmarks", all, in.Paging, func(p core.Profile) string { return string(p.ID) }, offer.Benchmark)
	if err != nil {
		return nil, err
	}
	return conditionally(ctx, in.Conditional, page.Body)
}

type slugInput struct {
	Slug string `path:"slug"`
	Conditional
}

func (s *Server) getBenchmark(ctx context.Context, in *slugInput) (*cacheable[api.BenchmarkDetail], error) {
	all, err := s.profiles(ctx, func(p core.Profile) bool { return p.Slug == in.Slug })
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, core.Missing("benchmark")
	}
	out := api.BenchmarkDetail{Slug: in.Slug}
	for _, p := range all {
		out.Versions = append(out.Versions, offer.Benchmark(p))
	}
	return conditionally(ctx, in.Conditional, out)
}

// profiles lists the benchmarks that the caller sees and the filter keeps.
func (s *Server) profiles(ctx context.Context, keep func(core.Profile) bool) ([]core.Profile, error) {
	all, err := s.o.Catalog.Profiles(ctx, scopeOf(ctx))
	if err != nil {
		return nil, err
	}
	var out []core.Profile
	for _, p := range all {
		if keep(p) {
			out = append(out, p)
		}
	}
	return out, nil
}

func (s *Server) executionOptions(context.Context, *none) (*answer[api.ExecutionOptions], error) {
	return reply(api.ExecutionOptions{MaxModelsPerRun: s.models()}), nil
}

// mentions says that one of the texts holds the words, in any letter case.
func mentions(words string, texts ...string) bool {
	words = strings.ToLower(strings.TrimSpace(words))
	for _, t := range texts {
		if strings.Contains(strings.ToLower(t), words) {
			return true
		}
	}
	return false
}

// equals is a filter: an empty one keeps everything.
func equals(want, got string) bool { return want == "" || want == got }

type pageInput struct{ Paging }

// listEnvironments is empty: this service runs no environments.
func (s *Server) listEnvironments(_ context.Context, in *pageInput) (*answer[api.Page[api.EnvironmentRecord]], error) {
	return slicePage("environments", nil, in.Paging, func(e api.EnvironmentRecord) string { return e.ID }, func(e api.EnvironmentRecord) api.EnvironmentRecord { return e })
}

type familyInput struct {
	Family string `path:"family"`
}

func (s *Server) getEnvironment(context.Context, *familyInput) (*answer[api.EnvironmentFamily], error) {
	return nil, core.Missing("environment")
}
