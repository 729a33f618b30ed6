package evalrouter

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Groups evaluates two to eight models on the same tasks under one quote.
type Groups struct{ c *core }

// Quote asks for a group quote. It starts no evaluation and spends nothing. It
// is not repeated after a failure: a second quote is another quote.
func (s *Groups) Quote(ctx context.Context, in api.NewGroupQuote) (api.GroupQuoteRecord, error) {
	return do[api.GroupQuoteRecord](ctx, s.c, call{op: "create a group quote", method: http.MethodPost, path: path("group-quotes"), body: in})
}

// GetQuote reads a group quote. A preview was never stored and cannot be read.
func (s *Groups) GetQuote(ctx context.Context, id string) (api.GroupQuoteRecord, error) {
	return get[api.GroupQuoteRecord](ctx, s.c, "read group quote "+id, path("group-quotes", id))
}

// ContinuationQuote asks what is left of a group's members and what that may
// cost together. It starts nothing and spends nothing; Submit starts the runs. It
// is not repeated after a failure: a second quote is another quote.
func (s *Groups) ContinuationQuote(ctx context.Context, id string, in api.NewContinuationQuote) (api.GroupQuoteRecord, error) {
	return do[api.GroupQuoteRecord](ctx, s.c, call{op: "quote the continuation of group " + id, method: http.MethodPost, path: path("groups", id, "continuation-quotes"), body: in})
}

// Submit starts every run of an accepted group quote, or none, and can start
// paid work up to the quote's cap. What Runs.Submit says about keeping the quote
// id and the key before calling holds here too; quote_already_accepted has the
// group's id in its details.
func (s *Groups) Submit(ctx context.Context, in api.NewGroup, key IdempotencyKey) (api.GroupRecord, error) {
	if in.GroupQuoteID == "" {
		return api.GroupRecord{}, inputError("a group needs the id of an accepted group quote")
	}
	return do[api.GroupRecord](ctx, s.c, call{op: "submit a group", method: http.MethodPost, path: path("groups"), body: in, key: key, keyed: true, retry: true})
}

// GroupQuery filters groups. IDPrefix has at least 4 characters; with it the
// service answers at most 5 groups.
type GroupQuery struct {
	IDPrefix string
	Status   api.RunStatus
	Paging
}

// List is one page of groups, newest first.
func (s *Groups) List(ctx context.Context, in GroupQuery) (api.Page[api.GroupRecord], error) {
	var q query
	q.text("id_prefix", in.IDPrefix)
	q.text("status", string(in.Status))
	in.put(&q)
	return list[api.GroupRecord](ctx, s.c, "list groups", path("groups"), q)
}

// All walks every page.
func (s *Groups) All(ctx context.Context, in GroupQuery) iter.Seq2[api.GroupRecord, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.GroupRecord], error) {
		in.Cursor = cursor
		return s.List(ctx, in)
	})
}

// Get reads a group as it stands.
func (s *Groups) Get(ctx context.Context, id string) (api.GroupRecord, error) {
	return get[api.GroupRecord](ctx, s.c, "read group "+id, path("groups", id))
}

// Cancel asks every member to stop. Repeating it is safe; members that have
// ended are left as they are.
func (s *Groups) Cancel(ctx context.Context, id string) (api.GroupRecord, error) {
	return do[api.GroupRecord](ctx, s.c, call{op: "cancel group " + id, method: http.MethodPost, path: path("groups", id, "cancel"), retry: true})
}

// Events is one piece of the members' logs as one: each event names its run.
// Sequences are the group's. Tail is not for groups.
func (s *Groups) Events(ctx context.Context, id string, in EventQuery) (api.EventPage, error) {
	var q query
	q.number("after", in.After)
	q.number("limit", int64(in.Limit))
	for _, t := range in.Types {
		q.add("type", t)
	}
	q.number("wait_seconds", int64(in.Wait/time.Second))
	return do[api.EventPage](ctx, s.c, call{op: "read the events of group " + id, method: http.MethodGet, path: path("groups", id, "events"), query: q, retry: true})
}

// Comparison is the members' results side by side, once all have ended.
func (s *Groups) Comparison(ctx context.Context, id string) (api.Comparison, error) {
	return get[api.Comparison](ctx, s.c, "compare the members of group "+id, path("groups", id, "comparison"))
}

// Link is an address that shows one group for a quarter of an hour in a browser that is
// not signed in. Not every service makes them.
func (s *Groups) Link(ctx context.Context, id, purpose string) (api.Link, error) {
	return do[api.Link](ctx, s.c, call{op: "make a link to group " + id, method: http.MethodPost, path: path("groups", id, "links"), body: api.NewLink{Purpose: purpose}, retry: true})
}
