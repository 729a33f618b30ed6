package group_test

import (
	"testing"

	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/lmeval/group"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// same compares results: the same keys, floats to 1e-12, the rest exactly.
func same(t *testing.T, got, want *value.Dict) {
	t.Helper()
	if got.Len() != want.Len() {
		t.Errorf("results %s, want %s", value.Repr(got), value.Repr(want))
	}
	for k, w := range want.All() {
		g, ok := got.Get(k)
		if f, isFloat := w.(float64); isFloat && ok {
			x, isNumber := value.Float(g)
			if !isNumber {
				t.Errorf("%v = %s, want %v", k, value.Repr(g), f)
			}
			vt.Close(t, value.Str(k), x, f)
		} else if !value.Equal(g, w) {
			t.Errorf("%v = %s, want %s", k, value.Repr(g), value.Repr(w))
		}
	}
}

func TestAggregate(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_task_aggregation", func(t *testing.T, c vt.Case) {
		names := vt.Dict(c.Params, "aggregation")
		var series []group.Series
		n := 0
		for _, raw := range vt.List(c.Input, "raw") {
			r := raw.([]any)
			s := group.Series{Metric: r[0].(string), Filter: r[1].(string), Items: r[2].([]any)}
			if s.Aggregation = vt.Str(names, s.Metric); s.Aggregation == "f1_score" {
				s.Aggregation = "f1" // the vector names the Python function
			}
			n = len(s.Items)
			series = append(series, s)
		}
		got, err := group.Aggregate(series, vt.Int(c.Params, "bootstrap_iters"))
		if err != nil {
			t.Fatal(err)
		}
		want := vt.Dict(vt.Wrap(c.Expected), "expected")
		same(t, got, vt.Dict(want, "metrics"))
		if n != vt.Int(want, "sample_len") {
			t.Errorf("%d samples, want %d", n, vt.Int(want, "sample_len"))
		}
	})
}

func TestPool(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_group_agg", func(t *testing.T, c vt.Case) {
		var figures, stderrs []float64
		var sizes []int
		for i, m := range vt.List(c.Input, "metrics") {
			figures = append(figures, vt.Float(t, m))
			stderrs = append(stderrs, vt.Float(t, vt.List(c.Input, "stderrs")[i]))
			sizes = append(sizes, int(vt.List(c.Input, "sizes")[i].(int64)))
		}
		want := vt.Dict(vt.Wrap(c.Expected), "expected")
		check := func(key string, got float64, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			v, _ := want.Get(key)
			vt.Close(t, key, got, vt.Float(t, v))
		}
		weighted, err := group.Weighted(figures, sizes, true)
		check("weighted", weighted, err)
		plain, err := group.Weighted(figures, sizes, false)
		check("unweighted", plain, err)
		pooled, err := group.PooledStderr(stderrs, sizes)
		check("pooled", pooled, err)
		combined, err := group.CombinedStderr(stderrs, sizes, figures)
		check("combined", combined, err)
	})
}

// tree reads a group of a vector.
func tree(d *value.Dict) group.Group {
	g := group.Group{Name: vt.Str(d, "name")}
	for _, child := range vt.List(d, "children") {
		switch child := child.(type) {
		case string:
			g.Tasks = append(g.Tasks, child)
		case *value.Dict:
			g.Groups = append(g.Groups, tree(child))
		}
	}
	for _, a := range vt.List(d, "agg") {
		rule := a.(*value.Dict)
		weight, ok := rule.Get("weight_by_size")
		g.Aggregate = append(g.Aggregate, group.Rule{
			Metric: vt.Str(rule, "metric"), Filters: vt.Texts(rule, "filter_list"), Unsized: ok && weight == false,
		})
	}
	return g
}

func TestGroup(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_group_tree", func(t *testing.T, c vt.Case) {
		tasks := map[string]*value.Dict{}
		for k, v := range vt.Dict(c.Input, "task_metrics").All() {
			tasks[k.(string)] = v.(*value.Dict)
		}
		got, err := tree(vt.Dict(c.Input, "group")).Results(tasks)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, vt.Dict(vt.Wrap(c.Expected), "expected"))
	})
}

func TestGroup_Refuses(t *testing.T) {
	t.Parallel()
	g := group.Group{Name: "g", Tasks: []string{"a"}, Aggregate: []group.Rule{{Metric: "acc"}}}
	if _, err := g.Results(nil); err == nil {
		t.Error("a missing task was taken for none")
	}
	bad := map[string]*value.Dict{"a": value.DictOf("sample_len", int64(3), "acc,none", "high")}
	if _, err := g.Results(bad); err == nil {
		t.Error("a figure that is no number was accepted")
	}
	if _, err := group.Aggregate([]group.Series{{Metric: "m", Aggregation: "exec"}}, 0); err == nil {
		t.Error("an unknown aggregation was accepted")
	}
}
