package filter_test

import (
	"testing"

	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/lmeval/filter"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// replay builds a pipeline of the steps and compares what it gives.
func replay(t *testing.T, c vt.Case, steps []filter.Step) {
	t.Helper()
	p, err := filter.New("f", steps)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Apply(vt.List(c.Input, "resps"), c.Input)
	if vt.Raised(t, c, err) {
		return
	}
	if !vt.Same(got, c.Expected) {
		t.Errorf("%s of %s = %s, want %s", value.Repr(c.Params), value.Repr(c.Input), value.Repr(got), value.Repr(c.Expected))
	}
}

func TestRegex(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_filter_regex", func(t *testing.T, c vt.Case) {
		replay(t, c, []filter.Step{{Function: "regex", Args: c.Params}})
	})
}

func TestMultiChoice(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_filter_multi_choice_regex", func(t *testing.T, c vt.Case) {
		replay(t, c, []filter.Step{{Function: "multi_choice_regex", Args: c.Params}})
	})
}

func TestSimple(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_filter_simple", func(t *testing.T, c vt.Case) {
		args := c.Params.Copy()
		args.Delete("function")
		replay(t, c, []filter.Step{{Function: vt.Str(c.Params, "function"), Args: args}})
	})
}

func TestPipeline(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_filter_pipeline", func(t *testing.T, c vt.Case) {
		var steps []filter.Step
		for _, s := range vt.List(c.Params, "pipeline") {
			pair := s.([]any)
			args, _ := pair[1].(*value.Dict)
			steps = append(steps, filter.Step{Function: pair[0].(string), Args: args})
		}
		replay(t, c, steps)
	})
}

// What is not supported is refused when the pipeline is built.
func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		steps []filter.Step
	}{
		{"unknown function", []filter.Step{{Function: "custom"}}},
		{"unknown argument", []filter.Step{{Function: "regex", Args: value.DictOf("regexp", "x")}}},
		{"argument where none is taken", []filter.Step{{Function: "lowercase", Args: value.DictOf("k", int64(1))}}},
		{"pattern that does not compile", []filter.Step{{Function: "regex", Args: value.DictOf("regex_pattern", "(")}}},
		{"wrong type", []filter.Step{{Function: "regex", Args: value.DictOf("group_select", "1")}}},
		{"no k", []filter.Step{{Function: "take_first_k"}}},
		{"step after take_first", []filter.Step{{Function: "take_first"}, {Function: "lowercase"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if p, err := filter.New("f", tt.steps); err == nil {
				t.Errorf("New accepted it: %v", p)
			}
		})
	}
}

// A pattern that backtracks without end is an error, never an answer.
func TestRegex_Budget(t *testing.T) {
	t.Parallel()
	p, err := filter.New("f", []filter.Step{{Function: "regex", Args: value.DictOf("regex_pattern", "(a|aa|aaa)*b")}, {Function: "take_first"}})
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 4000)
	for i := range text {
		text[i] = 'a'
	}
	if got, err := p.Apply([]any{string(text)}, nil); err == nil {
		t.Errorf("Apply = %v, want an error", got)
	}
}
