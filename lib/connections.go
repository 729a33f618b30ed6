package evalrouter

import (
	"context"
	"iter"
	"net/http"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Connections manages a workspace's own model endpoints. None of the changing
// operations is ever sent twice.
type Connections struct{ c *core }

// List is one page of connections.
func (s *Connections) List(ctx context.Context, in Paging) (api.Page[api.ConnectionRecord], error) {
	var q query
	in.put(&q)
	return list[api.ConnectionRecord](ctx, s.c, "list connections", path("connections"), q)
}

// All walks every page.
func (s *Connections) All(ctx context.Context, in Paging) iter.Seq2[api.ConnectionRecord, error] {
	return pages(in.Cursor, func(cursor string) (api.Page[api.ConnectionRecord], error) {
		in.Cursor = cursor
		return s.List(ctx, in)
	})
}

// Create registers an endpoint. The model key goes to the service and never
// comes back.
func (s *Connections) Create(ctx context.Context, in api.NewConnection) (api.ConnectionRecord, error) {
	return do[api.ConnectionRecord](ctx, s.c, call{op: "create a connection", method: http.MethodPost, path: path("connections"), body: in})
}

// Check tries the endpoint. It may send one small model request, which the
// provider may bill.
func (s *Connections) Check(ctx context.Context, id string) (api.ConnectionRecord, error) {
	return do[api.ConnectionRecord](ctx, s.c, call{op: "check connection " + id, method: http.MethodPost, path: path("connections", id, "check")})
}

// Update changes what is set. A new key clears the last check.
func (s *Connections) Update(ctx context.Context, id string, in api.UpdateConnection) (api.ConnectionRecord, error) {
	return do[api.ConnectionRecord](ctx, s.c, call{op: "update connection " + id, method: http.MethodPatch, path: path("connections", id), body: in})
}

// Disable takes a connection out of use.
func (s *Connections) Disable(ctx context.Context, id string) error {
	_, err := do[api.OKResponse](ctx, s.c, call{op: "disable connection " + id, method: http.MethodDelete, path: path("connections", id)})
	return err
}

// Discover asks a local service which model servers run on its machine. It
// looks at a few ports and sends no model request. Other services refuse.
func (s *Connections) Discover(ctx context.Context) (api.DiscoveryRecord, error) {
	return do[api.DiscoveryRecord](ctx, s.c, call{op: "look for model servers", method: http.MethodPost, path: path("connections", "discover")})
}
