package evalrouter

import (
	"context"
	"net/http"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Evaluations quotes and starts in one step, under a budget.
type Evaluations struct{ c *core }

// Start can start paid work, up to the budget. Keep the key before calling:
// the same key and request answer with the same run.
func (s *Evaluations) Start(ctx context.Context, in api.NewEvaluation, key IdempotencyKey) (api.RunRecord, error) {
	return do[api.RunRecord](ctx, s.c, call{op: "start an evaluation", method: http.MethodPost, path: path("evaluations"), body: in, key: key, keyed: true, retry: true})
}

// Get reads the run of an evaluation.
func (s *Evaluations) Get(ctx context.Context, id string) (api.RunRecord, error) {
	return get[api.RunRecord](ctx, s.c, "read evaluation "+id, path("evaluations", id))
}
