package inspect_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/generic"
	"github.com/evalrouter/evalrouter/bundle/inspect"
	"github.com/google/go-cmp/cmp"
)

func grader(t testing.TB, kind, options string) *inspect.Grader {
	t.Helper()
	g, err := inspect.New(bundle.GraderConfig{Kind: kind, Options: json.RawMessage(options)})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// bug is a line of testdata/publicbugs: a fault of a public tool, what this
// family says, and where the family itself is wrong what the generic grader
// says.
type bug struct {
	Name, Ref, Kind, Text, Want string
	Options                     json.RawMessage
	Target, Choices             []string
	Finish                      bundle.Finish
	Generic                     *struct {
		Kind, Want string
		Options    json.RawMessage
	}
}

func TestPublicFaults(t *testing.T) {
	t.Parallel()
	f, err := os.Open(filepath.Join("testdata", "publicbugs", "grading.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for sc := bufio.NewScanner(f); sc.Scan(); n++ {
		var b bug
		if err := json.Unmarshal(sc.Bytes(), &b); err != nil {
			t.Fatal(err)
		}
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			if b.Finish == "" {
				b.Finish = bundle.FinishStop
			}
			task := bundle.Task{ID: "t", Target: b.Target, Choices: b.Choices}
			answer := bundle.Answer{Text: b.Text, Finish: b.Finish}
			v, err := grader(t, b.Kind, string(b.Options)).Grade(task, answer)
			if err != nil || string(v.Outcome) != b.Want {
				t.Errorf("%s says %s (%s), %v; want %s", b.Kind, v.Outcome, v.Rule, err, b.Want)
			}
			if b.Generic == nil {
				return
			}
			g, err := generic.New(bundle.GraderConfig{Kind: b.Generic.Kind, Options: b.Generic.Options})
			if err != nil {
				t.Fatal(err)
			}
			if v, err = g.Grade(task, answer); err != nil || string(v.Outcome) != b.Generic.Want {
				t.Errorf("%s says %s (%s), %v; want %s", b.Generic.Kind, v.Outcome, v.Rule, err, b.Generic.Want)
			}
		})
	}
	if n < 20 {
		t.Errorf("%d faults, want all", n)
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kind, options, text string
		target, choices           []string
		finish                    bundle.Finish
		want                      bundle.Verdict
	}{
		{"number with its place", inspect.Match, `{"numeric": true}`, "é is $1,234.50.", []string{"1234.5"}, nil, bundle.FinishStop,
			bundle.Verdict{Outcome: bundle.Right, Score: 1, Extracted: "$1,234.50.", Span: &[2]int{5, 15}, Rule: "number at end, equal"}},
		{"text", inspect.Match, ``, " It is Paris. ", []string{"paris"}, nil, bundle.FinishStop,
			bundle.Verdict{Outcome: bundle.Right, Score: 1, Extracted: "It is Paris.", Span: &[2]int{1, 13}, Rule: "match at end, equal"}},
		{"case", inspect.Match, `{"ignore_case": false}`, "Paris", []string{"paris"}, nil, bundle.FinishStop,
			bundle.Verdict{Outcome: bundle.Wrong, Extracted: "Paris", Span: &[2]int{0, 5}, Rule: "match at end, not equal"}},
		{"no number", inspect.Match, `{"numeric": true}`, "none", []string{"5"}, nil, bundle.FinishStop,
			bundle.Verdict{Outcome: bundle.ExtractionFailed, Rule: "number at end, none found"}},
		{"included", inspect.Includes, ``, "So it is PARIS then", []string{"paris"}, nil, bundle.FinishStop,
			bundle.Verdict{Outcome: bundle.Right, Score: 1, Extracted: "PARIS", Span: &[2]int{9, 14}, Rule: "included anywhere, equal"}},
		{"included where folding moves places", inspect.Includes, ``, "ﬁ is PARIS", []string{"paris"}, nil, bundle.FinishStop,
			bundle.Verdict{Outcome: bundle.Right, Score: 1, Rule: "included anywhere, equal"}},
		{"pattern", inspect.Pattern, `{"pattern": "is (\\d+)"}`, "it is 7", []string{"7"}, nil, bundle.FinishStop,
			bundle.Verdict{Outcome: bundle.Right, Score: 1, Extracted: "7", Span: &[2]int{6, 7}, Rule: "pattern group, equal"}},
		{"pattern without a match", inspect.Pattern, `{"pattern": "is (\\d+)"}`, "seven", []string{"7"}, nil, bundle.FinishStop,
			bundle.Verdict{Outcome: bundle.ExtractionFailed, Rule: "pattern group, none found"}},
		{"choice", inspect.Choice, ``, "ANSWER: B", []string{"B"}, []string{"x", "y"}, bundle.FinishStop,
			bundle.Verdict{Outcome: bundle.Right, Score: 1, Extracted: "B", Span: &[2]int{8, 9}, Rule: "letter after ANSWER, equal"}},
		{"choice of no option", inspect.Choice, ``, "ANSWER: Z", []string{"B"}, []string{"x", "y"}, bundle.FinishStop,
			bundle.Verdict{Outcome: bundle.ExtractionFailed, Extracted: "Z", Span: &[2]int{8, 9}, Rule: "letter after ANSWER, none found"}},
		{"F1 in part", inspect.F1, ``, "a b c d", []string{"c d e f"}, nil, bundle.FinishStop,
			bundle.Verdict{Outcome: bundle.Wrong, Score: 0.57, Rule: "F1 of words, 0.57"}},
		{"exact", inspect.Exact, ``, "The Cat.", []string{"cat"}, nil, bundle.FinishStop,
			bundle.Verdict{Outcome: bundle.Right, Score: 1, Rule: "normalised text, equal"}},
		{"math", inspect.MathString, ``, `so \boxed{1{,}000} or not`, []string{`1{,}000`}, nil, bundle.FinishStop,
			bundle.Verdict{Outcome: bundle.Right, Score: 1, Extracted: "1{,}000", Span: &[2]int{10, 17}, Rule: "mathematical text, equal"}},
		{"math number", inspect.MathString, ``, "The answer is $1,000.0$", []string{"1000"}, nil, bundle.FinishStop,
			bundle.Verdict{Outcome: bundle.Right, Score: 1, Extracted: "1,000.0", Span: &[2]int{15, 22}, Rule: "mathematical text, equal"}},
		{"math, a box outranks the text", inspect.MathString, ``, `\boxed{4}, not 5`, []string{"5"}, nil, bundle.FinishStop,
			bundle.Verdict{Outcome: bundle.Wrong, Extracted: "4", Span: &[2]int{7, 8}, Rule: "mathematical text, not equal"}},
		{"cut off without text", inspect.Match, ``, " ", []string{"5"}, nil, bundle.FinishLength,
			bundle.Verdict{Outcome: bundle.Truncated, Span: &[2]int{0, 0}, Rule: "no text"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := grader(t, c.kind, c.options).Grade(bundle.Task{ID: "t", Target: c.target, Choices: c.choices}, bundle.Answer{Text: c.text, Finish: c.finish})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestGradeErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kind, options string
		task                bundle.Task
		text                string
	}{
		{"no target", inspect.Match, ``, bundle.Task{}, "x"},
		{"no choices", inspect.Choice, ``, bundle.Task{Target: []string{"A"}}, "ANSWER: A"},
		{"a target that is no letter", inspect.Choice, ``, bundle.Task{Target: []string{"?"}, Choices: []string{"x"}}, "ANSWER: A"},
		{"a pattern without end", inspect.Pattern, `{"pattern": "^(?:a+)+(b)$"}`, bundle.Task{Target: []string{"b"}}, strings.Repeat("a", 60)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if v, err := grader(t, c.kind, c.options).Grade(c.task, bundle.Answer{Text: c.text}); err == nil {
				t.Errorf("verdict %+v without an error", v)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, kind, options, path string }{
		{"kind", "inspect/model_graded_qa", ``, "kind"},
		{"option", inspect.Match, `{"loc": "end"}`, "loc"},
		{"word", inspect.Match, `{"location": "middle"}`, "location"},
		{"type", inspect.Match, `{"numeric": 1}`, "numeric"},
		{"no pattern", inspect.Pattern, ``, "pattern"},
		{"broken pattern", inspect.Pattern, `{"pattern": "("}`, "pattern"},
		{"pattern without a group", inspect.Pattern, `{"pattern": "a"}`, "pattern"},
		{"long pattern", inspect.Pattern, `{"pattern": "(` + strings.Repeat("a", 500) + `)"}`, "pattern"},
		{"no JSON", inspect.Match, `{`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g, err := inspect.New(bundle.GraderConfig{Kind: c.kind, Options: json.RawMessage(c.options)})
			r, ok := err.(*bundle.Refusal)
			if g != nil || !ok || len(r.Findings) == 0 || c.path != "" && r.Findings[0].Path != c.path {
				t.Errorf("New = %v, %v; want a refusal at %q", g, err, c.path)
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	ids := map[string]string{}
	for _, c := range []struct{ name, kind, options, same string }{
		{"match", inspect.Match, ``, ""},
		{"match with defaults written", inspect.Match, `{"location": "end", "numeric": false, "ignore_case": true}`, "match"},
		{"numeric", inspect.Match, `{"numeric": true}`, ""},
		{"begin", inspect.Match, `{"location": "begin"}`, ""},
		{"includes", inspect.Includes, ``, ""},
		{"f1", inspect.F1, ``, ""},
		{"f1 with stop words", inspect.F1, `{"stop_words": ["x"]}`, ""},
	} {
		id := grader(t, c.kind, c.options).Identity()
		if id.ID != c.kind || id.Version == "" {
			t.Errorf("%s: identity %+v", c.name, id)
		}
		for other, compat := range ids {
			if (compat == id.Compat) != (other == c.same) {
				t.Errorf("%s and %s: %s, %s", c.name, other, id.Compat, compat)
			}
		}
		ids[c.name] = id.Compat
	}
}

// Gold grades itself right, in the form that the kind asks for.
func TestGold(t *testing.T) {
	t.Parallel()
	for _, kind := range inspect.Kinds() {
		if kind == inspect.Pattern {
			continue // only the author of a pattern knows what it accepts
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			g := grader(t, kind, "")
			v, err := g.Grade(bundle.Task{ID: "t", Target: []string{"B"}, Choices: []string{"x", "y"}}, bundle.Answer{Text: g.Gold("B"), Finish: bundle.FinishStop})
			if err != nil || v.Outcome != bundle.Right || v.Score != 1 {
				t.Errorf("gold grades %+v, %v", v, err)
			}
		})
	}
}
