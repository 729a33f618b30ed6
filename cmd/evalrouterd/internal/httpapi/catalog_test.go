package httpapi_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/api"
)

// TestAvailability_CAT06 quotes every benchmark: it works exactly where the
// catalog says ready_for_quote.
func TestAvailability_CAT06(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	p, err := h.catalog.Profile(t.Context(), core.Scope{}, profil)
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []string{"quarantined", "retired"} {
		other := p
		other.ID, other.Slug, other.Status = core.ProfileID(status+"@1"), status, status
		if _, err := h.store.PutProfile(t.Context(), "claim", other, func(func(bundle.Task, error) bool) {}); err != nil {
			t.Fatal(err)
		}
	}
	var page api.Page[api.BenchmarkRecord]
	h.send("GET", "/v1/catalog/benchmarks", nil).want(t, 200).into(t, &page)
	seen := map[string]int{}
	for _, b := range page.Data {
		seen[b.QuoteAvailability.Status]++
		r := h.send("POST", "/v1/quotes", newQuote(object{"selection": object{"profile_ids": []string{b.ID}}}))
		if b.QuoteAvailability.Status == api.ReadyForQuote {
			r.want(t, 200)
			continue
		}
		r.refused(t, 404, "feature_unavailable")
		if b.QuoteAvailability.ReasonCode == nil || *b.QuoteAvailability.ReasonCode != b.Status {
			t.Errorf("%s is unavailable because of %v", b.ID, b.QuoteAvailability.ReasonCode)
		}
	}
	if seen[api.ReadyForQuote] != 1 || seen[api.QuoteUnavailable] != 2 {
		t.Errorf("the catalog has %v", seen)
	}
}

func TestCatalogFilters(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	tests := []struct {
		path string
		want int
	}{
		{"/v1/catalog/benchmarks?q=ARITH", 1},
		{"/v1/catalog/benchmarks?q=no-such", 0},
		{"/v1/catalog/benchmarks?status=active&capability=chat", 1},
		{"/v1/catalog/benchmarks?status=retired", 0},
		{"/v1/catalog/benchmarks?runner=evalplus", 0},
		{"/v1/catalog/models", 9},
		{"/v1/catalog/models?q=echo", 1},
		{"/v1/catalog/models?provider=practice", 9},
		{"/v1/catalog/models?provider=acme", 0},
		{"/v1/catalog/models?capability=vision", 0},
		{"/v1/evals?kind=benchmark&provider=evalrouter&protocol=batch&availability=ready_for_quote", 1},
		{"/v1/evals?kind=environment", 0},
		{"/v1/evals?behavior=anything", 0},
		{"/v1/evals?include_private=false", 1},
	}
	for _, tt := range tests {
		var p api.Page[any]
		if h.send("GET", tt.path, nil, anonymous).want(t, 200).into(t, &p); len(p.Data) != tt.want {
			t.Errorf("GET %s lists %d, want %d", tt.path, len(p.Data), tt.want)
		}
	}
}

// TestCompatibility shows own connections to their owner only, and why one
// cannot run.
func TestCompatibility(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	var c struct{ ID string }
	h.send("POST", "/v1/connections", object{"name": "Mine", "base_url": "http://127.0.0.1:9/v1", "model_id": "m", "api_key": "k"}).want(t, 200).into(t, &c)
	const path = "/v1/catalog/compatibility?profile_id=arithmetic%401"
	list := func(tweaks ...tweak) map[string]api.CompatibleRoute {
		var p api.Page[api.CompatibleRoute]
		h.send("GET", path, nil, tweaks...).want(t, 200).into(t, &p)
		out := map[string]api.CompatibleRoute{}
		for _, r := range p.Data {
			out[r.ID] = r
		}
		return out
	}
	if got := list(anonymous); len(got) != 9 || got[solver].MinimumCapMicrousd != nil {
		t.Errorf("nobody sees %d routes with the cap %v", len(got), got[solver].MinimumCapMicrousd)
	}
	mine := list()
	if r := mine["connection:"+c.ID]; len(mine) != 10 || !r.Compatible || r.Kind != "connection" || *r.ConnectionID != c.ID {
		t.Errorf("the owner sees %d routes and %+v", len(mine), r)
	}
	var q api.QuoteRecord
	h.send("POST", "/v1/quotes", newQuote(object{"coverage": nil})).want(t, 200).into(t, &q)
	if got := mine[solver].MinimumCapMicrousd; got == nil || *got != *q.MinimumCapMicrousd {
		t.Errorf("the minimum cap is %v, the quote says %s", got, q.MinimumCapMicrousd)
	}
	h.send("POST", "/v1/connections/"+c.ID+"/check", nil).want(t, 200) // nobody listens there
	if r := list()["connection:"+c.ID]; r.Compatible || len(r.Reasons) != 1 || r.Reasons[0].Code != "connection_unverified" {
		t.Errorf("after a failed check it is %+v", r)
	}
	h.send("GET", "/v1/catalog/compatibility?profile_id=none", nil).refused(t, 404, "not_found")
}
