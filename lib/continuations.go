package evalrouter

import (
	"context"
	"net/http"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Continuation says whether a run can be continued and where its chain stands.
// A service without continuations answers api.FeatureUnavailable or
// api.NotFound.
func (s *Runs) Continuation(ctx context.Context, id string) (api.ContinuationStatus, error) {
	return get[api.ContinuationStatus](ctx, s.c, "read the continuation of run "+id, path("runs", id, "continuation"))
}

// ContinuationQuote asks what is left of an ended run and what that may cost. It
// starts nothing and spends nothing; Submit starts the run of the quote. It is
// not repeated after a failure: a second quote is another quote.
func (s *Runs) ContinuationQuote(ctx context.Context, id string, in api.NewContinuationQuote) (api.QuoteRecord, error) {
	return do[api.QuoteRecord](ctx, s.c, call{op: "quote the continuation of run " + id, method: http.MethodPost, path: path("runs", id, "continuation-quotes"), body: in})
}

// Chain is the chain that a run belongs to, up to its newest run.
func (s *Runs) Chain(ctx context.Context, id string) (api.ChainRecord, error) {
	return get[api.ChainRecord](ctx, s.c, "read the chain of run "+id, path("runs", id, "chain"))
}
