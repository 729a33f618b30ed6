package store_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Prices under a version stay what they are, for every route by itself.
func TestPriceBooks_VersionsNeverChange(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		first := core.Prices{Version: "r/1", Input: 1, Output: 2, Effective: 7, Long: core.LongContext{Above: 10, Rates: core.Rates{Input: 3}}}
		for range 2 { // keeping the same again changes nothing
			if err := d.PutPriceBook(t.Context(), "r", first); err != nil {
				t.Fatal(err)
			}
		}
		other := first
		other.Long.Input = 4
		for _, c := range []struct {
			name  string
			route core.RouteID
			p     core.Prices
		}{{"another price", "r", other}, {"another route", "s", first}} {
			if err := d.PutPriceBook(t.Context(), c.route, c.p); !errors.Is(err, &core.Refusal{Code: core.InvalidRequest}) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		other.Version = "r/2"
		if err := d.PutPriceBook(t.Context(), "r", other); err != nil {
			t.Fatal(err)
		}
		for _, want := range []core.Prices{first, other} {
			var route, doc string
			var got core.Prices
			err := d.raw.QueryRow(`SELECT route_id, doc FROM price_books WHERE id = $1`, want.Version).Scan(&route, &doc)
			if err == nil {
				err = json.Unmarshal([]byte(doc), &got)
			}
			if err != nil || route != "r" || got != want {
				t.Errorf("%s is %+v of %s, %v", want.Version, got, route, err)
			}
		}
	})
}
