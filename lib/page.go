package evalrouter

import (
	"context"
	"iter"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Paging asks for one page of a list. The zero value is the first page with
// the service's default size of 50; Limit may be 1 to 200.
type Paging struct {
	Cursor string
	Limit  int
}

func (p Paging) put(q *query) {
	q.text("cursor", p.Cursor)
	q.number("limit", int64(p.Limit))
}

// pages walks a list from a cursor to its end. It stops at the first error.
// A service that answers the cursor it was asked with would never end; that
// is invalid_response.
func pages[T any](start string, fetch func(cursor string) (api.Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for cursor := start; ; {
			page, err := fetch(cursor)
			if err != nil {
				yield(none, err)
				return
			}
			for _, v := range page.Data {
				if !yield(v, nil) {
					return
				}
			}
			if page.NextCursor == nil || *page.NextCursor == "" {
				return
			}
			if *page.NextCursor == cursor {
				yield(none, &Error{Problem: Problem{Code: api.InvalidResponse, Message: "the service answered the same page of a list twice"}})
				return
			}
			cursor = *page.NextCursor
		}
	}
}

// list is the common part of all reads of a page.
func list[T any](ctx context.Context, c *core, op string, p pathText, q query) (api.Page[T], error) {
	return do[api.Page[T]](ctx, c, call{op: op, method: "GET", path: p, query: q, retry: true})
}

// get is the common part of all reads of a record.
func get[T any](ctx context.Context, c *core, op string, p pathText) (T, error) {
	return do[T](ctx, c, call{op: op, method: "GET", path: p, retry: true})
}
