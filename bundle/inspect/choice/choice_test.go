package choice_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/bundle/inspect/choice"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/random"
	"github.com/google/go-cmp/cmp"
)

func TestLetters(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_answer_chars", func(t *testing.T, c vt.Case) {
		if vt.Str(c.Params, "function") == "answer_character" {
			if got := choice.Letter(vt.Int(c.Input, "index")); got != c.Expected {
				t.Errorf("letter = %q, want %v", got, c.Expected)
			}
			return
		}
		got, err := choice.Index(vt.Str(c.Input, "char"))
		if !vt.Raised(t, c, err) && int64(got) != c.Expected {
			t.Errorf("index = %d, want %v", got, c.Expected)
		}
	})
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	own := map[string]string{
		"SINGLE_ANSWER_TEMPLATE": choice.SingleAnswer, "SINGLE_ANSWER_TEMPLATE_COT": choice.SingleCOT,
		"MULTIPLE_ANSWER_TEMPLATE": choice.MultipleAnswer, "MULTIPLE_ANSWER_TEMPLATE_COT": choice.MultipleCOT,
	}
	vt.Replay(t, "inspect_mc_prompt", func(t *testing.T, c vt.Case) {
		template := vt.Str(c.Params, "template")
		if ours, ok := own[vt.Str(c.Params, "template_name")]; ok && ours != template {
			t.Errorf("template differs: %s", cmp.Diff(template, ours))
		}
		got, err := choice.NewOptions(vt.Texts(c.Input, "choices")).Prompt(vt.Str(c.Input, "question"), template)
		if err != nil || got != c.Expected {
			t.Errorf("prompt = %q, %v; want %q", got, err, c.Expected)
		}
	})
}

func TestParse(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_mc_parse_answers", func(t *testing.T, c vt.Case) {
		completion := vt.Str(c.Input, "completion")
		got, err := choice.NewOptions(vt.Texts(c.Input, "choices")).Parse(completion, vt.Flag(c.Params, "multiple_correct"))
		want := vt.Texts(vt.Wrap(c.Expected), "expected")
		if d := cmp.Diff(want, append([]string{}, got.Letters...)); d != "" || err != nil {
			t.Errorf("letters of %q: %v %s", completion, err, d)
		}
	})
}

func TestScore(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_choice", func(t *testing.T, c vt.Case) {
		o := choice.NewOptions(vt.Texts(c.Input, "choices"))
		if _, ok := c.Params.Get("shuffle_seed"); ok && vt.Int(c.Params, "shuffle_seed") != 0 {
			o = o.Shuffle(random.New(int64(vt.Int(c.Params, "shuffle_seed"))))
		}
		got, err := o.Score(vt.Str(c.Input, "completion"), vt.Texts(c.Input, "target"), vt.Flag(c.Params, "multiple_correct"))
		if err != nil {
			t.Fatal(err)
		}
		want := vt.Dict(vt.Wrap(c.Expected), "expected")
		if got.Value != vt.Str(want, "value") || *got.Answer != vt.Str(want, "answer") || *got.Explanation != vt.Str(want, "explanation") {
			t.Errorf("score = %v, %q, %q; want %s", got.Value, *got.Answer, *got.Explanation, vt.Show(c.Expected))
		}
	})
}

// What the reference decides and the vectors leave out.
func TestScoreEdges(t *testing.T) {
	t.Parallel()
	o := choice.NewOptions([]string{"x", "y", "z"})
	for _, c := range []struct {
		name, completion string
		target           score.Target
		multiple         bool
		want, raises     string
	}{
		{"an empty target is met by nothing", "no answer", score.Target{""}, true, "C", ""},
		{"a doubled target letter is never met", "ANSWER: A", score.Target{"AA"}, true, "I", ""},
		{"public fault A11: the last ANSWER line counts", "Answer: this asks for one letter\nANSWER: B", score.Target{"B"}, false, "C", ""},
		{"a target that is no letter raises", "ANSWER: A", score.Target{"?"}, false, "", "ValueError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := o.Score(c.completion, c.target, c.multiple)
			if pycompat.Class(err) != c.raises || err == nil && got.Value != c.want {
				t.Errorf("score = %v, %v; want %q, %q", got.Value, err, c.want, c.raises)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"ANSWER: A", "answer : a and b.", "ANSWER:\n\nANSWER: 1,2", "anſwer: A", "**ANSWER: A**"} {
		f.Add(s, 3, true)
		f.Add(s, 28, false)
	}
	f.Fuzz(func(t *testing.T, completion string, n int, multiple bool) {
		if n < 0 || n > 40 {
			return
		}
		o := choice.NewOptions(make([]string, n))
		got, err := o.Parse(completion, multiple)
		if err != nil {
			return
		}
		if !multiple && len(got.Letters) > 1 {
			t.Errorf("%q selects %v of one", completion, got.Letters)
		}
		for _, l := range got.Letters {
			if i, err := choice.Index(l); len(l) == 1 && (err != nil || i >= n) {
				t.Errorf("%q selects %q of %d options", completion, l, n)
			}
		}
		for _, target := range got.Letters {
			s, err := o.Score("ANSWER: "+target, score.Target{target}, false)
			if len(target) == 1 && (err != nil || s.Value != score.Correct) {
				t.Errorf("gold %q does not grade itself: %v, %v", target, s.Value, err)
			}
		}
	})
}
