package sim_test

import (
	"context"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// After thirty minutes of nothing but 429, a run is back at four fifths of
// its rate within two minutes.
func TestStorm_RateComesBack(t *testing.T) {
	w := newWorld(t, 7)
	w.model.faults = false
	const (
		latency = time.Second
		calm    = 20 * time.Second
		storm   = 30 * time.Minute
		limit   = 8
	)
	began := w.s.now
	var answered []time.Duration
	w.model.instead = func(r provider.Request) provider.Outcome {
		_ = clock{w.s}.Sleep(context.Background(), latency)
		at := w.s.now.Sub(began)
		if at > calm && at < calm+storm {
			return provider.Outcome{Class: provider.Rejected, Reach: provider.Overload, Status: 429}
		}
		answered = append(answered, at)
		return w.model.answer(r, 1, 1)
	}
	p, err := w.catalog.Generate(context.Background(), "arithmetic", 99, 3000)
	w.check(err)
	cap := usd.Dollar
	w.submit(admission.QuoteRequest{Profile: p.ID, Route: target.RouteID, Full: true, Cap: &cap, Concurrency: core.Concurrency{N: limit}})
	end := calm + storm + 3*time.Minute
	for w.s.now.Sub(began) < end && w.s.step() {
	}
	rate := func(from, to time.Duration) float64 {
		n := 0
		for _, at := range answered {
			if at >= from && at < to {
				n++
			}
		}
		return float64(n) / (to - from).Seconds()
	}
	before, after := rate(calm/4, calm), rate(calm+storm+2*time.Minute, end)
	t.Logf("%.2f answers a second before the storm, %.2f two minutes after it", before, after)
	if before < limit*0.8 || after < 0.8*before {
		t.Errorf("%.2f answers a second before the storm and %.2f two minutes after it", before, after)
	}
	w.s.crash()
	w.check(w.store.Close())
}
