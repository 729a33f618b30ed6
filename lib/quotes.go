package evalrouter

import (
	"context"
	"net/http"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Quotes makes offers: what would run, at which rates and under which cap.
type Quotes struct{ c *core }

// Create asks for a quote. It starts no evaluation and spends nothing. It is
// not repeated after a failure: a second quote is another quote.
func (s *Quotes) Create(ctx context.Context, in api.NewQuote) (api.QuoteRecord, error) {
	return do[api.QuoteRecord](ctx, s.c, call{op: "create a quote", method: http.MethodPost, path: path("quotes"), body: in})
}

// Get reads a quote. A preview quote was never stored and cannot be read.
func (s *Quotes) Get(ctx context.Context, id string) (api.QuoteRecord, error) {
	return get[api.QuoteRecord](ctx, s.c, "read quote "+id, path("quotes", id))
}
