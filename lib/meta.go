package evalrouter

import (
	"context"
	"net/http"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Meta describes the service itself.
type Meta struct{ c *core }

// Get reads version, features and limits. It is sent without credentials.
func (s *Meta) Get(ctx context.Context) (api.MetaRecord, error) {
	return do[api.MetaRecord](ctx, s.c, call{op: "read the service description", method: http.MethodGet, path: path("meta"), retry: true, public: true})
}
