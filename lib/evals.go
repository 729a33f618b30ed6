package evalrouter

import (
	"context"
	"iter"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Evals reads benchmarks as references such as arithmetic@1.
type Evals struct{ c *core }

// EvalQuery filters references. Kind is benchmark, environment or remote;
// Protocol is batch, interactive or agentic.
type EvalQuery struct {
	Text           string
	Provider       string
	Kind           string
	Protocol       string
	Behavior       string
	Availability   string
	Publisher      string
	IncludePrivate bool
	Paging
}

// List is one page of references.
func (s *Evals) List(ctx context.Context, in EvalQuery) (api.Page[api.EvalRecord], error) {
	var q query
	q.text("q", in.Text)
	q.text("provider", in.Provider)
	q.text("kind", in.Kind)
	q.text("protocol", in.Protocol)
	q.text("behavior", in.Behavior)
	q.text("availability", in.Availability)
	q.text("publisher", in.Publisher)
	q.flag("include_private", in.IncludePrivate)
	in.put(&q)
	return list[api.EvalRecord](ctx, s.c, "list evals", path("evals"), q)
}

// All walks every page.
func (s *Evals) All(ctx context.Context, in EvalQuery) iter.Seq2[api.EvalRecord, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.EvalRecord], error) {
		in.Cursor = cursor
		return s.List(ctx, in)
	})
}

// Get reads one reference, written name@version. The long form with slashes
// cannot be part of a path.
func (s *Evals) Get(ctx context.Context, ref string) (api.EvalRecord, error) {
	return get[api.EvalRecord](ctx, s.c, "read eval "+ref, path("evals", ref))
}
