package score_test

import (
	"math"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// scorer is what all scorers of a completion have in common.
type scorer interface {
	Score(completion string, target score.Target) (score.Score, error)
}

// check compares value and answer of a score with an expectation.
func check(t *testing.T, c vt.Case, s scorer) {
	t.Helper()
	completion := vt.Str(c.Input, "completion")
	got, err := s.Score(completion, vt.Texts(c.Input, "target"))
	if err != nil {
		t.Fatal(err)
	}
	want := vt.Dict(vt.Wrap(c.Expected), "expected")
	wantValue, _ := want.Get("value")
	wantAnswer, _ := want.Get("answer")
	if !vt.Same(got.Value, wantValue) || !vt.Same(optional(got.Answer), wantAnswer) {
		t.Errorf("score of %q for %q = %s, %s; want %s, %s", completion, vt.Texts(c.Input, "target"),
			value.Repr(got.Value), value.Repr(optional(got.Answer)), value.Repr(wantValue), value.Repr(wantAnswer))
	}
	if p := got.Span; p != nil && (p.From < 0 || p.To < p.From || p.To > len(completion)) {
		t.Errorf("span %v is outside of %q", *p, completion)
	}
}

func optional(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

func TestMatch(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_match", func(t *testing.T, c vt.Case) {
		check(t, c, score.Match{
			Location:      score.Location(vt.Str(c.Params, "location")),
			CaseSensitive: !vt.Flag(c.Params, "ignore_case"),
			Numeric:       vt.Flag(c.Params, "numeric"),
		})
	})
}

func TestIncludes(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_includes", func(t *testing.T, c vt.Case) {
		check(t, c, score.Includes{CaseSensitive: !vt.Flag(c.Params, "ignore_case")})
	})
}

func TestPattern(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_pattern", func(t *testing.T, c vt.Case) {
		p, err := score.NewPattern(vt.Str(c.Params, "pattern"), !vt.Flag(c.Params, "ignore_case"), vt.Flag(c.Params, "match_all"))
		if err != nil {
			t.Fatal(err)
		}
		check(t, c, p)
	})
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_answer", func(t *testing.T, c vt.Case) {
		kind := vt.Str(c.Params, "pattern")
		if got, want := score.AnswerPattern(kind), vt.Str(c.Params, "regex"); got != want {
			t.Errorf("pattern of %s = %s, want %s", kind, got, want)
		}
		check(t, c, score.NewAnswer(kind))
	})
}

func TestF1AndExact(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_f1_exact", func(t *testing.T, c vt.Case) {
		answer, targets := vt.Str(c.Input, "answer"), vt.Texts(c.Input, "targets")
		f1 := score.F1{StopWords: vt.Texts(c.Params, "stop_words")}
		want := vt.Dict(vt.Wrap(c.Expected), "expected")
		for _, field := range []struct {
			name string
			get  func() any
		}{
			{"normalize_answer", func() any { return f1.Normalize(answer) }},
			{"normalize_target", func() any { return f1.Normalize(targets[0]) }},
			{"raw_f1", func() any { return f1.Raw(answer, targets[0]) }},
			{"f1", func() any { return mustScore(t, f1, answer, targets).Value }},
			{"exact", func() any { return mustScore(t, score.Exact{}, answer, targets).Value }},
		} {
			if w, ok := want.Get(field.name); ok {
				if got := field.get(); !vt.Same(got, w) {
					t.Errorf("%s of %q for %q = %s, want %s", field.name, answer, targets, value.Repr(got), value.Repr(w))
				}
			}
		}
	})
}

func mustScore(t *testing.T, s scorer, completion string, target score.Target) score.Score {
	t.Helper()
	got, err := s.Score(completion, target)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestToFloat(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_value_to_float", func(t *testing.T, c vt.Case) {
		m := score.DefaultToFloat()
		for name, to := range map[string]*any{"correct": &m.Correct, "partial": &m.Partial, "incorrect": &m.Incorrect, "noanswer": &m.NoAnswer} {
			if v, ok := c.Params.Get(name); ok {
				*to = v
			}
		}
		v, _ := c.Input.Get("value")
		f, _ := m.Float(v)
		vt.Exact(t, "value", f, vt.Float(t, c.Expected))
		if got, _ := m.Number(v); !vt.Same(got, c.Expected) {
			t.Errorf("number = %s, want %s", value.Repr(got), value.Repr(c.Expected))
		}
	})
}

func TestGrade(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_model_graded_grade", func(t *testing.T, c vt.Case) {
		text := vt.Str(c.Input, "text")
		want := vt.Dict(vt.Wrap(c.Expected), "expected")
		for _, k := range []struct {
			name  string
			judge score.Judge
		}{
			{"permissive", score.Judge{}},
			{"permissive", score.Judge{Pattern: vt.Str(c.Params, "permissive_pattern")}},
			{"default", score.Judge{Pattern: vt.Str(c.Params, "default_pattern")}},
		} {
			got, err := k.judge.Grade(text)
			w, _ := want.Get(k.name)
			if err != nil || !vt.Same(optional(got), w) {
				t.Errorf("%s grade of %q = %s, %v; want %s", k.name, text, value.Repr(optional(got)), err, value.Repr(w))
			}
		}
	})
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		partial bool
		reply   string
		want    any
	}{
		{"right", false, "It fits.\nGRADE: C", "C"},
		{"the last grade counts", false, "GRADE: C would be wrong.\nGRADE: I", "I"},
		{"a word", false, "GRADE: Correct", "C"},
		{"lower case", false, "grade: i", "I"},
		{"partial offered", true, "GRADE: P", "P"},
		{"partial not offered", false, "GRADE: P", math.NaN()},
		{"public fault D47: another word for the grade is unscored", false, "ANSWER: C", math.NaN()},
		{"public fault D49: a number is unscored", false, "GRADE: [[90]]", math.NaN()},
		{"public fault D50: a letter in prose is unscored", false, "As a judge I say the grade is B", math.NaN()},
		{"nothing", false, "", math.NaN()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := score.Judge{Partial: c.partial}.Verdict("a", c.reply)
			if err != nil || !vt.Same(got.Value, c.want) {
				t.Errorf("verdict of %q = %v, %v; want %v", c.reply, got.Value, err, c.want)
			}
		})
	}
}
