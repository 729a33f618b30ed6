package engine_test

import (
	"math"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/stat"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// A mean of scores between 0 and 1 carries the interval that lib/stat makes of
// the scores themselves.
func TestResult_MeanScoreHasAnInterval(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t, func(task bundle.Task, _ int) provider.Outcome {
		return say(bundle.Reply(task, task.ID[len(task.ID)-1]%2 == 0, 1), 10, 10)
	})
	n, cap := 20, usd.Dollar
	p, err := w.catalog.Generate(t.Context(), "extraction", 1, n)
	if err != nil {
		t.Fatal(err)
	}
	id := w.quoteAndStart(admission.QuoteRequest{Profile: p.ID, Route: target.RouteID, Full: true, Cap: &cap, Concurrency: core.Concurrency{N: 4}})
	w.wait(id)
	var scores []float64
	for s, err := range w.store.Samples(t.Context(), scope, id, 0) {
		if err != nil || s.Score == nil {
			t.Fatal(s, err)
		}
		scores = append(scores, *s.Score)
	}
	e, err := stat.Mean(scores)
	if err != nil {
		t.Fatal(err)
	}
	want, err := e.Interval(0.95)
	if err != nil {
		t.Fatal(err)
	}
	want = want.Within(0, 1)
	metrics := w.result(id).Metrics
	if len(metrics) != 2 || metrics[1].Key != "mean_score" || metrics[1].Interval == nil {
		t.Fatalf("metrics %+v", metrics)
	}
	m := metrics[1]
	if off := math.Abs(m.Value-e.Mean) + math.Abs(m.Interval.Lower-want.Lower) + math.Abs(m.Interval.Upper-want.Upper); off > 1e-9 || m.Interval.Method != "student_t" || m.N != n {
		t.Errorf("%+v %+v, want %v in %+v", m, *m.Interval, e.Mean, want)
	}
}
