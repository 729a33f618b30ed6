package metric_test

import (
	"testing"

	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/lmeval/metric"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// exactMatch builds the metric from its arguments in a vector.
func exactMatch(t *testing.T, d *value.Dict) metric.ExactMatch {
	t.Helper()
	m := metric.ExactMatch{
		IgnoreCase: vt.Flag(d, "ignore_case"), IgnorePunctuation: vt.Flag(d, "ignore_punctuation"),
		IgnoreNumbers: vt.Flag(d, "ignore_numbers"),
	}
	if _, ok := d.Get("regexes_to_ignore"); ok {
		m.Ignore = []*re.Regexp{}
	}
	for _, p := range vt.Texts(d, "regexes_to_ignore") {
		r, err := re.Compile(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		m.Ignore = append(m.Ignore, r)
	}
	return m
}

func TestExactMatch(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_exact_match", func(t *testing.T, c vt.Case) {
		got, err := exactMatch(t, c.Params).Score(vt.Texts(c.Input, "predictions"), vt.Texts(c.Input, "references"))
		if vt.Raised(t, c, err) {
			return
		}
		vt.Exact(t, "score", got, vt.Float(t, c.Expected))
	})
}

// aggregate is the function that the vectors name.
func aggregate(name string, items []any) (float64, error) {
	direct := map[string]func([]any) (float64, error){
		"pop_stddev": metric.PopStddev, "sample_stddev": metric.SampleStddev, "mean_stderr": metric.MeanStderr,
		"weighted_mean": metric.WeightedMean,
	}
	if f, ok := direct[name]; ok {
		return f(items)
	}
	if name == "mcc" {
		name = "matthews_corrcoef"
	}
	a, ok := metric.Lookup(name)
	if !ok {
		panic("no aggregation " + name)
	}
	return a.Value(items)
}

func TestAggregations(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"lmeval_agg_scalar", "lmeval_agg_f1_mcc", "lmeval_agg_weighted", "lmeval_bleu_chrf_ter"} {
		vt.Replay(t, file, func(t *testing.T, c vt.Case) {
			got, err := aggregate(vt.Str(c.Params, "function"), vt.List(c.Input, "items"))
			if vt.Raised(t, c, err) {
				return
			}
			vt.Close(t, vt.Str(c.Params, "function"), got, vt.Float(t, c.Expected))
		})
	}
}

func TestBootstrapStderr(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_bootstrap_stderr", func(t *testing.T, c vt.Case) {
		name := vt.Str(c.Params, "function")
		if name == "mcc" {
			name = "matthews_corrcoef"
		}
		a, ok := metric.Lookup(name)
		if !ok {
			t.Fatalf("no aggregation %s", name)
		}
		got, known, err := a.Stderr(vt.List(c.Input, "items"), vt.Int(c.Params, "iters"))
		if vt.Raised(t, c, err) {
			return
		}
		if !known {
			t.Fatal("Stderr gives no figure")
		}
		vt.Close(t, name, got, vt.Float(t, c.Expected))
	})
}

func TestAccAll(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_acc_all", func(t *testing.T, c vt.Case) {
		items := vt.List(c.Input, "items")
		want := vt.Dict(vt.Wrap(c.Expected), "expected")
		acc, err := metric.AccAll(items)
		if err != nil {
			t.Fatal(err)
		}
		v, _ := want.Get("acc_all")
		vt.Close(t, "acc_all", acc, vt.Float(t, v))
		stderr, err := metric.AccAllStderr(items)
		v, _ = want.Get("stderr")
		if d, ok := v.(*value.Dict); ok {
			vt.Raised(t, vt.Case{Expected: d}, err)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		vt.Close(t, "stderr", stderr, vt.Float(t, v))
	})
}

func TestBrierSoftmax(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_brier_softmax", func(t *testing.T, c vt.Case) {
		want := vt.Dict(vt.Wrap(c.Expected), "expected")
		rows, gold := vt.List(c.Input, "lls"), vt.List(c.Input, "gold")
		wantRows := vt.List(want, "softmax")
		items := make([]any, len(rows))
		for i, row := range rows {
			var xs []float64
			for _, x := range row.([]any) {
				xs = append(xs, vt.Float(t, x))
			}
			probs := make([]any, len(xs))
			for j, p := range metric.Softmax(xs) {
				vt.Close(t, "softmax", p, vt.Float(t, wantRows[i].([]any)[j]))
				probs[j] = p
			}
			items[i] = []any{gold[i], probs}
		}
		got, err := metric.Brier(items)
		if err != nil {
			t.Fatal(err)
		}
		v, _ := want.Get("brier")
		vt.Close(t, "brier", got, vt.Float(t, v))
	})
}

func TestSquad(t *testing.T) {
	t.Parallel()
	q := metric.NewSquad()
	vt.Replay(t, "hfevaluate_squad", func(t *testing.T, c vt.Case) {
		p, r := vt.Str(c.Input, "prediction"), vt.Str(c.Input, "reference")
		want := vt.Dict(vt.Wrap(c.Expected), "expected")
		norm, err := q.Normal(p)
		if err != nil || norm != vt.Str(want, "norm") {
			t.Errorf("Normal = %q, %v", norm, err)
		}
		exact, err := q.Exact(p, r)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"em", "v2_em"} {
			if v, _ := want.Get(key); !value.Equal(exact, v) {
				t.Errorf("Exact = %v, want %s %v", exact, key, v)
			}
		}
		for version, key := range map[int]string{1: "f1", 2: "v2_f1"} {
			got, err := q.F1(p, r, version)
			if err != nil {
				t.Fatal(err)
			}
			v, _ := want.Get(key)
			vt.Close(t, key, got, vt.Float(t, v))
		}
	})
}

func TestPassAtK(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "hfevaluate_pass_at_k", func(t *testing.T, c vt.Case) {
		got, err := metric.PassAtK(vt.Int(c.Input, "n"), vt.Int(c.Input, "c"), vt.Int(c.Params, "k"))
		if vt.Raised(t, c, err) {
			return
		}
		vt.Close(t, "pass@k", got, vt.Float(t, c.Expected))
	})
}

// Public fault E59: what cannot be estimated is refused.
func TestPassAtK_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		n, c, k int
	}{
		{"k beyond n", 1, 1, 10},
		{"more right than answered", 3, 4, 1},
		{"fewer than none right", 3, -1, 1},
		{"k of zero", 3, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, err := metric.PassAtK(tt.n, tt.c, tt.k); err == nil {
				t.Errorf("PassAtK = %v, want a refusal", got)
			}
		})
	}
}

// Where no error can be given, none is made up.
func TestStderr_Absent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, aggregation string
		items             []any
		iters             int
	}{
		{"one item", "mean", []any{1.0}, 100},
		{"no bootstrap wanted", "mean", []any{1.0, 0.0}, 0},
		{"no closed form and no bootstrap", "weighted_perplexity", []any{[]any{-1.0, int64(2)}, []any{-2.0, int64(2)}}, 100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, ok := metric.Lookup(tt.aggregation)
			if !ok {
				t.Fatal("unknown aggregation")
			}
			if got, known, err := a.Stderr(tt.items, tt.iters); known || err != nil {
				t.Errorf("Stderr = %v, %v, %v; want it absent", got, known, err)
			}
		})
	}
}
