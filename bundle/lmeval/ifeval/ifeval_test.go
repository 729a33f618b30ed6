package ifeval_test

import (
	"errors"
	"testing"

	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/lmeval/ifeval"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

func TestChecker(t *testing.T) {
	t.Parallel()
	checker := ifeval.Checker{AssumeEnglish: true} // the vectors were made with a detector that always says English
	vt.Replay(t, "lmeval_ifeval_instruction", func(t *testing.T, c vt.Case) {
		if items := vt.List(c.Input, "items"); items != nil {
			got, err := ifeval.Aggregate(items)
			if err != nil {
				t.Fatal(err)
			}
			vt.Close(t, "accuracy", got, vt.Float(t, c.Expected))
			return
		}
		ids := vt.List(c.Input, "instruction_id_list")
		args, _ := c.Input.Get("kwargs")
		if id, ok := c.Input.Get("instruction_id"); ok {
			ids, args = []any{id}, []any{args}
		}
		doc := value.DictOf("instruction_id_list", ids, "kwargs", args)
		got, err := checker.Results(doc, []any{vt.Str(c.Input, "response")})
		if vt.Raised(t, c, err) {
			return
		}
		if !vt.Same(got, c.Expected) {
			t.Errorf("%s = %s, want %s", value.Repr(c.Input), value.Repr(got), value.Repr(c.Expected))
		}
	})
}

// What the reference guesses or draws at random is refused.
func TestChecker_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, id    string
		args        *value.Dict
		unsupported bool
	}{
		{"sentences", "length_constraints:number_sentences", value.DictOf("num_sentences", int64(3), "relation", "at least"), true},
		{"capital words", "change_case:capital_word_frequency", value.DictOf(), true},
		{"language", "language:response_language", value.DictOf("language", "de"), true},
		{"English not known", "change_case:english_capital", value.DictOf(), true},
		{"unknown", "no:such", value.DictOf(), true},
		{"missing argument", "keywords:existence", value.DictOf(), false},
		{"zero argument", "detectable_format:number_bullet_lists", value.DictOf("num_bullets", int64(0)), false},
		{"unknown relation", "length_constraints:number_words", value.DictOf("num_words", int64(3), "relation", "about"), false},
		{"no letter", "keywords:letter_frequency", value.DictOf("letter", "!", "let_frequency", int64(1), "let_relation", "at least"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ifeval.Checker{}.Check([]string{tt.id}, []*value.Dict{tt.args}, "text")
			if err == nil || errors.Is(err, ifeval.ErrUnsupported) != tt.unsupported {
				t.Errorf("Check = %v, want unsupported %v", err, tt.unsupported)
			}
		})
	}
}
