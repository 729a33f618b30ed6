package ported_test

import (
	"testing"

	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/lmeval/ported"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// equal compares a result with the expectation of a case.
func equal(t *testing.T, c vt.Case, got any, err error) {
	t.Helper()
	if vt.Raised(t, c, err) {
		return
	}
	if !vt.Same(got, c.Expected) {
		t.Errorf("%s of %s = %s, want %s", value.Repr(c.Params), value.Repr(c.Input), value.Repr(got), value.Repr(c.Expected))
	}
}

func TestHellaSwag(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_hellaswag_preprocess", func(t *testing.T, c vt.Case) {
		s, err := ported.CleanWikiHow(vt.Str(c.Input, "s"))
		equal(t, c, value.DictOf("preprocess", s, "capitalize", str.Capitalize(vt.Str(c.Input, "s"))), err)
	})
}

func TestHellaSwag_Doc(t *testing.T) {
	t.Parallel()
	got, err := ported.HellaSwag(value.DictOf("ctx_a", "A man sits.", "ctx_b", "HE [step] waves", "activity_label", "Waving",
		"endings", []any{"at [title] us", "off"}, "label", "1"))
	want := value.DictOf("ctx_a", "A man sits.", "ctx_b", "HE [step] waves", "activity_label", "Waving", "endings", []any{"at [title] us", "off"},
		"label", "1", "query", "Waving: A man sits. He waves", "choices", []any{"at. us", "off"}, "gold", int64(1))
	if err != nil || value.Repr(got) != value.Repr(want) {
		t.Errorf("HellaSwag = %s, %v; want %s", value.Repr(got), err, value.Repr(want))
	}
	if _, err := ported.HellaSwag(value.DictOf("ctx_a", "x")); err == nil {
		t.Error("a document without its columns was accepted")
	}
}

func TestTruthfulQA(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_truthfulqa_mc2", func(t *testing.T, c vt.Case) {
		doc := value.DictOf("mc2_targets", value.DictOf("labels", vt.List(c.Input, "labels")))
		got, err := ported.TruthfulQA(doc, vt.List(c.Input, "results"))
		if vt.Raised(t, c, err) {
			return
		}
		g, _ := got.Get("acc")
		w, _ := c.Expected.(*value.Dict).Get("acc")
		vt.Close(t, "acc", vt.Float(t, g), vt.Float(t, w))
	})
}

func TestDrop(t *testing.T) {
	t.Parallel()
	d := ported.NewDrop()
	vt.Replay(t, "lmeval_drop", func(t *testing.T, c vt.Case) {
		if vt.Str(c.Params, "function") == "process_results" {
			answers, _ := c.Input.Get("answers")
			got, err := d.Results(value.DictOf("answers", answers), []any{vt.Str(c.Input, "result")})
			equal(t, c, got, err)
			return
		}
		em, f1, err := d.Score(vt.Texts(c.Input, "predicted"), vt.Texts(c.Input, "gold"))
		equal(t, c, []any{em, f1}, err)
	})
}

func TestDrop_Doc(t *testing.T) {
	t.Parallel()
	none := value.DictOf("day", "", "month", "", "year", "")
	got, err := ported.DropDoc(value.DictOf("query_id", "7", "passage", "p", "question", "q",
		"answer", value.DictOf("number", "3", "date", none, "spans", []any{}),
		"validated_answers", value.DictOf("number", []any{"3", "", ""},
			"date", []any{none, none, value.DictOf("day", "1", "month", "May", "year", "")}, "spans", []any{[]any{}, []any{"a", "b"}, []any{}})))
	if err != nil {
		t.Fatal(err)
	}
	id, _ := got.Get("id")
	answers, _ := got.Get("answers")
	_, kept := got.Get("validated_answers")
	if want := "[['3'], ['a', 'b'], ['1 May']]"; id != "7" || value.Repr(answers) != want || !kept {
		t.Errorf("DropDoc = %s, want answers %s beside what was there", value.Repr(got), want)
	}
}

func TestMath(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_hendrycks_math", func(t *testing.T, c vt.Case) {
		if vt.Str(c.Params, "function") == "is_equiv" {
			equal(t, c, ported.Equivalent(vt.Str(c.Input, "a"), vt.Str(c.Input, "b")), nil)
			return
		}
		got, err := ported.StripMath(vt.Str(c.Input, "a"))
		equal(t, c, got, err)
	})
}

func TestBoxed(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_boxed", func(t *testing.T, c vt.Case) {
		s := vt.Str(c.Input, "s")
		if vt.Str(c.Params, "function") == "remove_boxed" {
			got, err := ported.Unbox(s)
			equal(t, c, got, err)
			return
		}
		var got any
		if boxed, ok := ported.LastBoxed(s); ok {
			got = boxed
		}
		equal(t, c, got, nil)
	})
}

func TestMath_Results(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, solution, text string
		want                 int64
	}{
		{"box", `so \boxed{\frac12}`, `I get \boxed{\frac{1}{2}}.`, 1},
		{"display formula", `\boxed{7}`, `thus \[ 7 \] holds`, 1},
		{"between dollars", `\boxed{x+1}`, `it is $x+1$`, 1},
		{"all of the text", `\boxed{5}`, `5`, 1},
		{"wrong", `\boxed{5}`, `\boxed{6}`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ported.NewMath().Results(value.DictOf("solution", tt.solution), []any{tt.text})
			if err != nil || !value.Equal(got, value.DictOf("exact_match", tt.want)) {
				t.Errorf("Results = %s, %v; want %d", value.Repr(got), err, tt.want)
			}
		})
	}
}

func TestMinerva(t *testing.T) {
	t.Parallel()
	m := ported.NewMinerva()
	vt.Replay(t, "lmeval_minerva_math", func(t *testing.T, c vt.Case) {
		f := m.Normal
		if vt.Str(c.Params, "function") == "get_unnormalized_answer" {
			f = m.Final
		}
		got, err := f(vt.Str(c.Input, "s"))
		equal(t, c, got, err)
	})
}

// Every name is offered once and does something.
func TestFunctions(t *testing.T) {
	t.Parallel()
	for name, f := range ported.Functions() {
		set := 0
		for _, there := range []bool{f.Doc != nil, f.Results != nil, f.Aggregate != nil} {
			if there {
				set++
			}
		}
		if f.Name != name || set != 1 {
			t.Errorf("%s is %+v", name, f)
		}
	}
}
