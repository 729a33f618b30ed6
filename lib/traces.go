package evalrouter

import (
	"context"
	"net/http"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Traces brings traces into a workspace.
type Traces struct{ c *core }

// Import sends a batch of whole traces to a connection. The client's key must
// be the ingest key of that connection. The batch may be sent again: a trace
// that is stored already is counted as a duplicate.
func (s *Traces) Import(ctx context.Context, connectionID string, key IdempotencyKey, in api.TraceImport) (api.TraceImportResult, error) {
	return do[api.TraceImportResult](ctx, s.c, call{
		op: "import traces", method: http.MethodPost, path: path("trace-connections", connectionID, "imports"),
		body: in, key: key, keyed: true, retry: true,
	})
}
