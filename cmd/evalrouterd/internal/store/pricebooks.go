package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// PutPriceBook keeps the price book of a route for good. A book is known by
// its version, which quotes and receipts name; other prices under a version
// that is kept are refused, for then nobody could say what was charged.
func (s *Store) PutPriceBook(ctx context.Context, route core.RouteID, p core.Prices) error {
	doc, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode prices of %s: %w", route, err)
	}
	return s.writer.ask(ctx, func(t *tx) error {
		if _, err := t.exec(`INSERT INTO price_books (id, route_id, valid_from, doc) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING`,
			p.Version, string(route), int64(p.Effective), string(doc)); err != nil {
			return err
		}
		var kept, owner string
		if err := t.row(`SELECT route_id, doc FROM price_books WHERE id = $1`, p.Version).Scan(&owner, &kept); err != nil {
			return err
		}
		var was core.Prices
		if err := json.Unmarshal([]byte(kept), &was); err != nil {
			return fmt.Errorf("decode prices %s: %w", p.Version, err)
		}
		if was != p || owner != string(route) {
			return core.Refuse(core.InvalidRequest, "the prices of %s are not those that were kept as %s; prices of a version never change, so give these a new version. Nothing was changed", route, p.Version)
		}
		return nil
	})
}
