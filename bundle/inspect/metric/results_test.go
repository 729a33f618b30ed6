package metric_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/inspect/metric"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

func plan(t *testing.T, params *value.Dict) metric.Plan {
	t.Helper()
	p := metric.Plan{Scorer: "sc"}
	if list, ok := params.Get("reducers"); ok {
		p.Unreduced = list != nil && len(vt.Texts(params, "reducers")) == 0
	}
	for _, name := range vt.Texts(params, "reducers") {
		r, err := metric.ParseReducer(name)
		if err != nil {
			t.Fatal(err)
		}
		p.Reducers = append(p.Reducers, r)
	}
	list := func(names []string) (out []metric.Metric) {
		for _, name := range names {
			out = append(out, named(t, name))
		}
		return out
	}
	p.Metrics = list(vt.Texts(params, "metrics"))
	for key := range vt.Dict(params, "metrics").All() {
		p.Keyed = append(p.Keyed, metric.Keyed{Key: value.Str(key), Metrics: list(vt.Texts(vt.Dict(params, "metrics"), value.Str(key)))})
	}
	return p
}

func TestResults(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_eval_results", func(t *testing.T, c vt.Case) {
		ids := vt.List(c.Input, "sample_ids")
		var s []metric.Sample
		for _, epoch := range vt.List(c.Input, "epoch_values") {
			values, _ := epoch.([]any)
			for i, v := range values {
				s = append(s, metric.Sample{ID: ids[i], Score: score.Score{Value: v}})
			}
		}
		got, _, err := plan(t, c.Params).Results(s)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := c.Expected.([]any)
		if len(got) != len(want) {
			t.Fatalf("%d results, want %d", len(got), len(want))
		}
		for i := range got {
			sameResult(t, got[i], vt.Dict(vt.Wrap(want[i]), "expected"))
		}
	})
}

func sameResult(t *testing.T, got metric.Result, want *value.Dict) {
	t.Helper()
	if got.Name != vt.Str(want, "name") || got.Scorer != vt.Str(want, "scorer") || got.Reducer != vt.Str(want, "reducer") ||
		got.Scored != vt.Int(want, "scored_samples") || got.Unscored != vt.Int(want, "unscored_samples") {
		t.Errorf("result = %+v, want %s", got, value.Repr(want))
	}
	metrics := vt.Dict(want, "metrics")
	if len(got.Figures) != metrics.Len() {
		t.Fatalf("figures = %+v, want %s", got.Figures, value.Repr(metrics))
	}
	for i, f := range got.Figures {
		key, m := metrics.At(i)
		d := vt.Dict(vt.Wrap(m), "expected")
		v, _ := d.Get("value")
		if f.Key != key || f.Name != vt.Str(d, "name") {
			t.Errorf("figure %d is %s %s, want %v %s", i, f.Key, f.Name, key, vt.Str(d, "name"))
		}
		vt.Close(t, f.Key, f.Value, vt.Float(t, v))
	}
}

func TestResultsEdges(t *testing.T) {
	t.Parallel()
	sample := func(id, v any) metric.Sample { return metric.Sample{ID: id, Score: score.Score{Value: v}} }
	for _, c := range []struct {
		name    string
		plan    metric.Plan
		samples []metric.Sample
		want    string // figures as key=value
		raises  string
	}{
		{"ids 1 and \"1\" are one sample", metric.Plan{Metrics: []metric.Metric{metric.Accuracy{}}},
			[]metric.Sample{sample(int64(1), "C"), sample("1", "I"), sample("2", "C")}, "accuracy=0.75", ""},
		{"no reduction", metric.Plan{Unreduced: true, Metrics: []metric.Metric{metric.Accuracy{}}},
			[]metric.Sample{sample("1", "C"), sample("1", "I"), sample("2", "I"), sample("3", "I")}, "accuracy=0.25", ""},
		{"frequency sees every epoch", metric.Plan{Metrics: []metric.Metric{metric.Frequency{}}},
			[]metric.Sample{sample("1", "C"), sample("1", "I"), sample("2", "I"), sample("2", "I")}, "C=0.25 I=0.75", ""},
		{"metrics of entries need dicts", metric.Plan{Keyed: []metric.Keyed{{Key: "a", Metrics: []metric.Metric{metric.Mean{}}}}},
			[]metric.Sample{sample("1", "C")}, "", "TypeError"},
		{"an unscored sample is no zero", metric.Plan{Metrics: []metric.Metric{metric.Accuracy{}}},
			[]metric.Sample{sample("1", "C"), {ID: "2", Score: score.Unscored("", "")}}, "accuracy=1.0", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, _, err := c.plan.Results(c.samples)
			if pycompat.Class(err) != c.raises {
				t.Fatalf("error = %v, want %q", err, c.raises)
			}
			var all []string
			for _, r := range got {
				for _, f := range r.Figures {
					all = append(all, f.Key+"="+value.Repr(f.Value))
				}
			}
			if s := strings.Join(all, " "); s != c.want {
				t.Errorf("figures %s, want %s", s, c.want)
			}
		})
	}
}
