package task_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/bundle/lmeval/ported"
	"github.com/evalrouter/evalrouter/bundle/lmeval/task"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

func config(t *testing.T, more ...any) *task.Config {
	t.Helper()
	d := value.DictOf("task", "t", "test_split", "test", "doc_to_text", "q", "doc_to_target", "a")
	for i := 0; i < len(more); i += 2 {
		if err := d.Set(more[i], more[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	c, err := task.Read(d)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func metrics(names ...string) []any {
	var out []any
	for _, n := range names {
		out = append(out, value.DictOf("metric", n))
	}
	return out
}

func TestScore(t *testing.T) {
	t.Parallel()
	drop := ported.Functions()["drop/utils.process_results"]
	tests := []struct {
		name    string
		config  *task.Config
		doc     *value.Dict
		results []any
		want    string
	}{
		{"generate_until", config(t), value.DictOf("q", "1+1", "a", "2"), []any{"2"}, `{'exact_match': 1.0}`},
		{"multiple_choice", config(t, "output_type", task.Choice, "doc_to_choice", []any{"no", "yes"}),
			value.DictOf("q", "?", "a", int64(1)), []any{[]any{-2.0, false}, []any{-1.0, true}}, `{'acc': 1.0, 'acc_norm': 1.0}`},
		{"choices in the prompt", config(t, "output_type", task.Choice, "doc_to_text", "g", "doc_to_choice", []any{"x", "y"}, "metric_list", metrics("acc")),
			value.DictOf("g", int64(0), "a", "end"), []any{[]any{-1.0, false}, []any{-2.0, false}}, `{'acc': 1.0}`},
		{"loglikelihood", config(t, "output_type", task.Likelihood), value.DictOf("q", "x", "a", "y"), []any{[]any{-1.5, true}}, `{'perplexity': -1.5, 'acc': 1}`},
		{"loglikelihood_rolling", config(t, "output_type", task.Rolling, "metric_list", metrics("bits_per_byte")),
			value.DictOf("q", "", "a", "some text"), []any{-9.0}, `{'bits_per_byte': [-9.0, 9]}`},
		{"ported function", config(t, "process_results", drop, "metric_list", metrics("em", "f1")),
			value.DictOf("q", "?", "a", "x", "answers", []any{[]any{"5"}, []any{"the cat"}}), []any{"a cat"}, `{'em': 1.0, 'f1': 1.0}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, err := task.NewBuilder(tt.config, tt.doc, nil, task.Options{})
			if err != nil {
				t.Fatal(err)
			}
			q, err := b.Question(tt.doc)
			if err != nil {
				t.Fatal(err)
			}
			got, err := tt.config.Score(tt.doc, q, tt.results)
			if err != nil || value.Repr(got) != tt.want {
				t.Errorf("Score = %s, %v; want %s", value.Repr(got), err, tt.want)
			}
			if _, err := tt.config.Score(tt.doc, q, []any{int64(5)}); tt.config.OutputType != task.Rolling && err == nil {
				t.Error("a result of the wrong form was scored")
			}
			if _, err := tt.config.Score(tt.doc, q, nil); err == nil {
				t.Error("no result was scored")
			}
		})
	}
}

// A task of the shape of IFEval's: its function scores, and another aggregates.
func TestAggregate_Function(t *testing.T) {
	t.Parallel()
	f := ported.Functions()
	c := config(t, "process_results", f["ifeval/utils.process_results"],
		"metric_list", []any{value.DictOf("metric", "inst_level_loose_acc", "aggregation", f["ifeval/utils.agg_inst_level_acc"])})
	doc := value.DictOf("q", "", "a", int64(0), "instruction_id_list", []any{"punctuation:no_comma", "startend:quotation"},
		"kwargs", []any{value.DictOf(), value.DictOf()})
	s, err := c.Score(doc, task.Question{}, []any{"no comma"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Aggregate("none", []*value.Dict{s}, 10)
	if want := `{'inst_level_loose_acc,none': 0.5, 'inst_level_loose_acc_stderr,none': 'N/A'}`; err != nil || value.Repr(got) != want {
		t.Errorf("Aggregate = %s, %v; want %s", value.Repr(got), err, want)
	}
	for key, name := range map[string]string{"process_docs": "ifeval/utils.process_results", "process_results": "hellaswag/utils.process_docs"} {
		d := value.DictOf("task", "t", "test_split", "test", "doc_to_text", "q", "doc_to_target", "a", key, f[name])
		if _, err := task.Read(d); err == nil {
			t.Errorf("%s was accepted as %s", name, key)
		}
	}
}

func TestAggregate(t *testing.T) {
	t.Parallel()
	c := config(t)
	scores := []*value.Dict{value.DictOf("exact_match", 1.0), value.DictOf("exact_match", 0.0)}
	got, err := c.Aggregate("none", scores, 10)
	if want := `{'exact_match,none': 0.5, 'exact_match_stderr,none': 0.5}`; err != nil || value.Repr(got) != want {
		t.Errorf("Aggregate = %s, %v; want %s", value.Repr(got), err, want)
	}
	if _, err := c.Aggregate("none", []*value.Dict{value.DictOf()}, 10); err == nil {
		t.Error("a document without the metric was aggregated")
	}
}
