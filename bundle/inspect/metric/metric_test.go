package metric_test

import (
	"math"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/inspect/metric"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
	"github.com/google/go-cmp/cmp"
)

func samples(c vt.Case) []metric.Sample {
	var out []metric.Sample
	for i, v := range vt.List(c.Input, "values") {
		out = append(out, metric.Sample{ID: int64(i), Score: score.Score{Value: v}})
	}
	return out
}

// with puts metadata into samples.
func with(samples []metric.Sample, key string, values []any) []metric.Sample {
	for i, v := range values {
		samples[i].Metadata = value.DictOf(key, v)
	}
	return samples
}

func named(t *testing.T, name string) metric.Metric {
	t.Helper()
	m, ok := map[string]metric.Metric{
		"accuracy": metric.Accuracy{}, "mean": metric.Mean{}, "std": metric.Std{}, "var": metric.Var{}, "stderr": metric.Stderr{},
	}[name]
	if !ok {
		t.Fatalf("the vector names metric %q, which the test does not know", name)
	}
	return m
}

// figures compares a metric with an expected number or object of numbers.
func figures(t *testing.T, c vt.Case, m metric.Metric, s []metric.Sample) {
	t.Helper()
	got, err := m.Compute(s)
	if !vt.Raised(t, c, err) {
		compare(t, m.Name(), got, c.Expected)
	}
}

func compare(t *testing.T, name string, got, want any) {
	t.Helper()
	w, ok := want.(*value.Dict)
	if !ok {
		vt.Close(t, name, vt.Float(t, got), vt.Float(t, want))
		return
	}
	g, ok := got.(*value.Dict)
	if !ok || g.Len() != w.Len() {
		t.Fatalf("%s = %s, want %s", name, value.Repr(got), value.Repr(want))
	}
	scale := 0.0 // of the figures together: a bound near 0 is a difference of greater ones
	for _, v := range w.All() {
		scale = max(scale, math.Abs(vt.Float(t, v)))
	}
	for i := range w.Len() {
		gk, gv := g.At(i)
		wk, wv := w.At(i)
		if gk != wk {
			t.Errorf("entry %d of %s is %v, want %v", i, name, gk, wk)
		}
		if name == "ci" {
			vt.Close(t, name, vt.Float(t, gv)+2*scale, vt.Float(t, wv)+2*scale)
			continue
		}
		vt.Close(t, name, vt.Float(t, gv), vt.Float(t, wv))
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_metrics", func(t *testing.T, c vt.Case) {
		got, err := named(t, vt.Str(c.Params, "metric")).Compute(samples(c))
		if err != nil {
			t.Fatal(err)
		}
		vt.Exact(t, "metric", vt.Float(t, got), vt.Float(t, c.Expected))
	})
}

func TestCI(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_ci", func(t *testing.T, c vt.Case) {
		level, _ := c.Params.Get("level")
		figures(t, c, metric.CI{Level: vt.Float(t, level)}, samples(c))
	})
}

func TestClusters(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_stderr_clustered", func(t *testing.T, c vt.Case) {
		s := with(samples(c), "cluster", vt.List(c.Input, "clusters"))
		se, err := metric.Stderr{Cluster: "cluster"}.Compute(s)
		if vt.Raised(t, c, err) {
			return
		}
		want := vt.Dict(vt.Wrap(c.Expected), "expected")
		wantSE, _ := want.Get("stderr")
		vt.Close(t, "stderr", vt.Float(t, se), vt.Float(t, wantSE))
		ci, err := metric.CI{Cluster: "cluster"}.Compute(s)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "ci", ci, vt.Dict(want, "ci"))
	})
}

func TestBootstrap(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_bootstrap", func(t *testing.T, c vt.Case) {
		n, seed := vt.Int(c.Params, "num_samples"), uint32(vt.Int(c.Params, "seed"))
		switch name := vt.Str(c.Params, "metric"); name {
		case "bootstrap_stderr":
			figures(t, c, metric.BootstrapStderr{Samples: n, Seed: seed}, samples(c))
		case "ci_bootstrap":
			figures(t, c, metric.CI{Bootstrap: true, Samples: n, Seed: seed}, samples(c))
		default:
			t.Fatalf("unknown metric %q", name)
		}
	})
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_t_quantile", func(t *testing.T, c vt.Case) {
		p, _ := c.Input.Get("p")
		df, _ := c.Input.Get("df")
		vt.Close(t, "quantile", metric.Quantile(vt.Float(t, p), vt.Float(t, df)), vt.Float(t, c.Expected))
	})
}

func TestGroupedAggregateFrequency(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_grouped_aggregate_frequency", func(t *testing.T, c vt.Case) {
		s := samples(c)
		switch name := vt.Str(c.Params, "metric"); name {
		case "grouped":
			figures(t, c, metric.Grouped{Inner: named(t, vt.Str(c.Params, "inner")), Key: "g", Over: vt.Str(c.Params, "all")},
				with(s, "g", vt.List(c.Input, "groups")))
		case "aggregate":
			figures(t, c, metric.Aggregate{Inner: named(t, vt.Str(c.Params, "inner")), Key: vt.Str(c.Params, "key"), Missing: vt.Str(c.Params, "on_missing")}, s)
		case "frequency":
			figures(t, c, metric.Frequency{Categories: vt.Texts(c.Params, "categories"), Count: !vt.Flag(c.Params, "normalize")}, s)
		default:
			t.Fatalf("unknown metric %q", name)
		}
	})
}

func TestKrippendorff(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_krippendorff", func(t *testing.T, c vt.Case) {
		figures(t, c, metric.Krippendorff{Level: vt.Str(c.Params, "level")}, samples(c))
	})
}

func TestPerplexity(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_perplexity", func(t *testing.T, c vt.Case) {
		for _, kind := range []string{"perplexity", "target_perplexity"} {
			want := vt.Dict(vt.Dict(vt.Wrap(c.Expected), "expected"), kind)
			scorer := score.Perplexity
			if kind == "target_perplexity" {
				var n *int
				if v, _ := c.Params.Get("num_target_tokens"); v != nil {
					tokens := vt.Int(c.Params, "num_target_tokens")
					n = &tokens
				}
				scorer = func(xs []float64) score.Score { return score.TargetPerplexity(xs, n) }
			}
			var s []metric.Sample
			for i, lps := range vt.List(c.Input, "prompt_logprobs") {
				var xs []float64
				list, _ := lps.([]any)
				for _, x := range list {
					xs = append(xs, vt.Float(t, x))
				}
				got := scorer(xs)
				vt.Close(t, "value", vt.Float(t, got.Value), vt.Float(t, vt.List(want, "values")[i]))
				if !score.IsUnscored(got.Value) {
					s = append(s, metric.Sample{Score: got})
				}
			}
			for _, m := range []metric.Metric{metric.PerplexityPerToken{}, metric.PerplexityPerSeq{}} {
				got, err := m.Compute(s)
				w, ok := want.Get(m.Name()[len("perplexity_"):])
				if err != nil || !ok {
					t.Fatalf("%s: %v, expected figure there: %v", m.Name(), err, ok)
				}
				vt.Close(t, m.Name(), vt.Float(t, got), vt.Float(t, w))
			}
		}
	})
}

func TestReducers(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_reducers", func(t *testing.T, c vt.Case) {
		name := vt.Str(c.Params, "reducer")
		if k, ok := c.Params.Get("k"); ok {
			name += "_" + value.Str(k)
		}
		r, err := metric.ParseReducer(name)
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := c.Params.Get("value"); ok {
			r = r.WithThreshold(vt.Float(t, v))
		}
		var scores []score.Score
		for _, v := range vt.List(c.Input, "values") {
			scores = append(scores, score.Score{Value: v})
		}
		got, err := r.Reduce(scores)
		if !vt.Raised(t, c, err) && !vt.Same(got.Value, c.Expected) {
			t.Errorf("%s of %s = %s, want %s", name, value.Repr(vt.List(c.Input, "values")), value.Repr(got.Value), value.Repr(c.Expected))
		}
	})
}

func TestReducerFields(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_reducer_fields", func(t *testing.T, c vt.Case) {
		if vt.Str(c.Params, "function") == "create_reducers" {
			r, err := metric.ParseReducer(vt.Str(c.Input, "name"))
			if !vt.Raised(t, c, err) {
				if d := cmp.Diff(vt.Texts(vt.Wrap(c.Expected), "expected"), []string{r.Name()}); d != "" {
					t.Error(d)
				}
			}
			return
		}
		var scores []score.Score
		for i, a := range vt.List(c.Input, "answers") {
			s := score.Score{Value: 1.0, Metadata: value.DictOf("m", int64(i))}
			if text, ok := a.(string); ok {
				s.Answer, s.Explanation = &text, &text
			}
			scores = append(scores, s)
		}
		got, err := metric.MeanReducer().Reduce(scores)
		if err != nil {
			t.Fatal(err)
		}
		all := value.DictOf("value", got.Value, "answer", optional(got.Answer), "explanation", optional(got.Explanation), "metadata", got.Metadata)
		if !vt.Same(all, c.Expected) {
			t.Errorf("reduced = %s, want %s", value.Repr(all), value.Repr(c.Expected))
		}
	})
}

func optional(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

func TestReducerNeedsEpochs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		epochs int
		ok     bool
	}{{"pass_at_3", 3, true}, {"pass_at_3", 2, false}, {"at_least_2", 1, false}, {"pass_k_2", 1, false}, {"mean", 1, true}} {
		r, err := metric.ParseReducer(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Check(c.epochs); (err == nil) != c.ok {
			t.Errorf("%s with %d epochs: %v", c.name, c.epochs, err)
		}
	}
}

// Public fault E55: no and one sample have no error instead of NaN.
func TestBootstrapOfFewSamples(t *testing.T) {
	t.Parallel()
	one := metric.Sample{ID: "1", Score: score.Score{Value: score.Correct}}
	for _, c := range []struct {
		name    string
		samples []metric.Sample
		want    float64 // both bounds
	}{{"none", nil, 0}, {"one", []metric.Sample{one}, 1}} {
		se, err := metric.BootstrapStderr{Seed: 1}.Compute(c.samples)
		if err != nil || se != 0.0 {
			t.Errorf("%s: stderr %v, %v; want 0", c.name, se, err)
		}
		for _, ci := range []metric.CI{{}, {Bootstrap: true, Seed: 1}} {
			got, err := ci.Compute(c.samples)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "ci", got, value.DictOf("lower", c.want, "upper", c.want))
		}
	}
}

// Public fault E59: pass@k is estimated per sample, over its own epochs, and is
// undefined with fewer epochs than k.
func TestPassAtIsPerSample(t *testing.T) {
	t.Parallel()
	r, err := metric.ParseReducer("pass_at_10")
	if err != nil {
		t.Fatal(err)
	}
	p := metric.Plan{Scorer: "s", Reducers: []metric.Reducer{r}, Metrics: []metric.Metric{metric.Mean{}}}
	var s []metric.Sample
	for i := range 164 {
		v := score.Incorrect
		if i < 50 {
			v = score.Correct
		}
		s = append(s, metric.Sample{ID: int64(i), Score: score.Score{Value: v}})
	}
	got, _, err := p.Results(s)
	if err != nil || got[0].Scored != 0 || !math.IsNaN(got[0].Figures[0].Value) {
		t.Errorf("pass@10 of one epoch = %+v, %v; want none", got, err)
	}
}
