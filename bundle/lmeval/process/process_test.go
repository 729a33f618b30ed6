package process_test

import (
	"testing"

	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/lmeval/metric"
	"github.com/evalrouter/evalrouter/bundle/lmeval/process"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// texts is a list of texts, nil for null.
func texts(d *value.Dict, key string) []string {
	if v, _ := d.Get(key); v == nil {
		return nil
	}
	return vt.Texts(d, key)
}

func TestGenerate(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_process_generate_until", func(t *testing.T, c vt.Case) {
		m := metric.ExactMatch{IgnoreCase: vt.Flag(c.Params, "ignore_case"), IgnorePunctuation: vt.Flag(c.Params, "ignore_punctuation")}
		for _, p := range vt.Texts(c.Params, "regexes_to_ignore") {
			m.Ignore = append(m.Ignore, re.MustCompile(p, 0))
		}
		result, _ := c.Input.Get("result")
		gold, _ := c.Input.Get("gold")
		got, err := process.Generate{Metrics: []process.Generated{{Name: "exact_match", Exact: m}}}.Results(result, gold, texts(c.Input, "choices"))
		if vt.Raised(t, c, err) {
			return
		}
		if !vt.Same(got, c.Expected) {
			t.Errorf("%s = %s, want %s", value.Repr(c.Input), value.Repr(got), value.Repr(c.Expected))
		}
	})
}

func TestMultipleChoice(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_process_multiple_choice", func(t *testing.T, c vt.Case) {
		m, err := process.NewMultipleChoice(vt.Texts(c.Params, "metrics"))
		if err != nil {
			t.Fatal(err)
		}
		gold, _ := c.Input.Get("gold")
		got, err := m.Results(vt.Texts(c.Input, "choices"), gold, answers(t, c.Input))
		if vt.Raised(t, c, err) {
			return
		}
		want := vt.Dict(vt.Wrap(c.Expected), "expected")
		if got.Len() != want.Len() {
			t.Errorf("%d metrics, want %d", got.Len(), want.Len())
		}
		for key, w := range want.All() {
			g, _ := got.Get(key)
			near(t, value.Str(key), g, w)
		}
	})
}

// answers reads [[ll, greedy], ...].
func answers(t *testing.T, d *value.Dict) []process.LogLikelihood {
	t.Helper()
	var out []process.LogLikelihood
	for _, r := range vt.List(d, "results") {
		pair := r.([]any)
		out = append(out, process.LogLikelihood{Sum: vt.Float(t, pair[0]), Greedy: pair[1].(bool)})
	}
	return out
}

// near compares lists member by member, floats to 1e-12, the rest exactly.
func near(t *testing.T, what string, got, want any) {
	t.Helper()
	w, ok := want.([]any)
	if !ok {
		if f, ok := want.(float64); ok {
			g, ok := got.(float64)
			if !ok {
				t.Errorf("%s = %s, want a float", what, value.Repr(got))
			}
			vt.Close(t, what, g, f)
		} else if !vt.Same(got, want) {
			t.Errorf("%s = %s, want %s", what, value.Repr(got), value.Repr(want))
		}
		return
	}
	g, ok := got.([]any)
	if !ok || len(g) != len(w) {
		t.Errorf("%s = %s, want %s", what, value.Repr(got), value.Repr(want))
		return
	}
	for i := range w {
		near(t, what, g[i], w[i])
	}
}

func TestLikelihood(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_process_loglikelihood", func(t *testing.T, c vt.Case) {
		v, _ := c.Input.Get("loglikelihood")
		sum := vt.Float(t, v)
		got := process.Rolling(vt.Str(c.Input, "target"), sum)
		if vt.Str(c.Params, "output_type") == "loglikelihood" {
			got = process.Likelihood(process.LogLikelihood{Sum: sum, Greedy: vt.Flag(c.Input, "is_greedy")})
		}
		if !vt.Same(got, c.Expected) {
			t.Errorf("results = %s, want %s", value.Repr(got), value.Repr(c.Expected))
		}
	})
}

func TestMultipleChoice_Refuses(t *testing.T) {
	t.Parallel()
	if _, err := process.NewMultipleChoice([]string{"acc", "bleu"}); err == nil {
		t.Error("a metric of another output type was accepted")
	}
	m, err := process.NewMultipleChoice([]string{"acc", "acc_mutual_info"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Results([]string{"a", "b"}, int64(0), make([]process.LogLikelihood, 2)); err == nil {
		t.Error("missing unconditional answers were accepted")
	}
}
