package evalrouter

import (
	"context"
	"net/http"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Feedback tells the operator of the service what is wrong with the product.
type Feedback struct{ c *core }

// Send stores what was said. Saying it again stores it again, as a duplicate.
func (s *Feedback) Send(ctx context.Context, in api.NewFeedback) (api.FeedbackReceipt, error) {
	return do[api.FeedbackReceipt](ctx, s.c, call{op: "send feedback", method: http.MethodPost, path: path("feedback"), body: in})
}

// Get reads what became of it.
func (s *Feedback) Get(ctx context.Context, id string) (api.FeedbackReceipt, error) {
	return get[api.FeedbackReceipt](ctx, s.c, "read feedback "+id, path("feedback", id))
}
