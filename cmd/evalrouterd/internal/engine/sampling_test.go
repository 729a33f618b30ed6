package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// drawn is a route of a model, with what it takes.
func drawn(id core.RouteID, offers ...string) core.Target {
	t := target
	t.RouteID, t.Offers, t.Simulated = id, offers, false
	return t
}

// What a benchmark declares of how answers are drawn is frozen into the quote
// and stands in each request, where the route takes it; elsewhere the quote
// says so. Stop texts end an answer either way.
func TestSampling_QuotedAndSent(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t, func(task bundle.Task, _ int) provider.Outcome { return say(right(task)+"\nQ: and then?", 10, 10) })
	p := w.addGraded(3, bundle.GraderConfig{Kind: "lmeval/generate_until", Options: []byte(`{"temperature":0.5,"until":["\nQ:"]}`)})
	half, cap := 0.5, usd.Dollar
	declared := bundle.Sampling{Temperature: &half, Stop: []string{"\nQ:"}}
	quote := func(route core.RouteID) core.Quote {
		q, err := w.admit.Quote(context.Background(), scope, admission.QuoteRequest{Profile: p, Route: route, Full: true, Cap: &cap})
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	takes, plain := quote("drawn"), quote(target.RouteID)
	if d := cmp.Diff([]bundle.Sampling{declared, {}}, []bundle.Sampling{takes.Sampling, plain.Sampling}); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(declared, provider.RequestFor(takes, bundle.Task{}).Sampling); d != "" {
		t.Error(d)
	}
	changed := takes
	changed.Sampling = bundle.Sampling{}
	if changed.Fingerprint() == takes.Fingerprint() {
		t.Error("answers that are drawn in another way have the same fingerprint")
	}
	if r := w.wait(w.quoteAndStart(admission.QuoteRequest{Profile: p, Route: target.RouteID, Full: true, Cap: &cap})); r.Tallies[bundle.Right] != 3 {
		t.Errorf("answers that go on behind a stop text: %v", r.Tallies)
	}
	for _, q := range []core.Quote{takes, plain, quote("as it comes")} {
		warns := strings.Contains(strings.Join(q.Warnings, " "), "draws answers with temperature 0.5")
		if warns != (q.Target.RouteID == "as it comes") {
			t.Errorf("%s: warnings %q", q.Target.RouteID, q.Warnings)
		}
	}
}
