package apitest

import (
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Reprice gives a route other rates, for a million tokens, from now on. Quotes
// that were made keep theirs.
func (f *Fake) Reprice(routeID string, in, out usd.Micro) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rates == nil {
		f.rates = map[string][2]usd.Micro{}
	}
	f.rates[routeID] = [2]usd.Micro{in, out}
}

// Expire ends every open quote now.
func (f *Fake) Expire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, q := range f.quotes {
		q.rec.ExpiresAt = f.now().Add(-time.Second)
	}
}

// Requests is how many requests arrived at all.
func (f *Fake) Requests() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.counts {
		n += c
	}
	return n
}

// repriced puts the rates of Reprice into a route.
func (f *Fake) repriced(m api.ManagedRoute) api.ManagedRoute {
	if r, ok := f.rates[m.ID]; ok {
		m.Pricing.InputMicrousd, m.Pricing.OutputMicrousd = &r[0], &r[1]
	}
	return m
}
