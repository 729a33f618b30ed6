package lmeval_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/lmeval"
	"github.com/evalrouter/evalrouter/bundle/lmeval/group"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

const (
	strictMatch = `[{"function":"regex","regex_pattern":"#### (\\-?[0-9\\.\\,]+)"},{"function":"take_first"}]`
	flexible    = `[{"function":"regex","group_select":-1,"regex_pattern":"(-?[$0-9.,]{2,})|(-?[0-9]+)"},{"function":"take_first"}]`
	gsm8kExact  = `{"ignore_case":true,"ignore_punctuation":false,"regexes_to_ignore":[",","\\$","(?s).*#### ","\\.$"]}`
)

func grader(t *testing.T, options string) *lmeval.Grader {
	t.Helper()
	g, err := lmeval.New(bundle.GraderConfig{Kind: lmeval.GenerateUntil, Options: json.RawMessage(options)})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// lines reads the objects of a JSONL file.
func lines(t *testing.T, path string) []*value.Dict {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []*value.Dict
	for line := range strings.Lines(string(raw)) {
		v, err := value.Loads(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v.(*value.Dict))
	}
	return out
}

// The published answers of four models to GSM8K get the verdicts that lm-eval
// gives, one by one.
func TestGrade_ReproducesGSM8K(t *testing.T) {
	t.Parallel()
	answers := lines(t, vt.Shared(t, "data", "gsm8k", "example_model_solutions.jsonl"))
	tests := lines(t, vt.Shared(t, "data", "gsm8k", "test.jsonl"))
	vt.Replay(t, "e2e_gsm8k_lmeval", func(t *testing.T, c vt.Case) {
		filters := map[string]string{"strict-match": strictMatch, "flexible-extract": flexible}[vt.Str(c.Params, "filter")]
		g := grader(t, `{"filter":`+filters+`,"exact_match":`+gsm8kExact+`}`)
		var hits strings.Builder
		var items []any
		for i, row := range answers {
			text := vt.Str(vt.Dict(row, vt.Str(c.Input, "model")), "solution")
			if vt.Flag(c.Input, "rewrite_A_to_hash") {
				text = strings.ReplaceAll(text, "\nA: ", "\n#### ")
			}
			v, err := g.Grade(bundle.Task{ID: "t", Target: []string{vt.Str(tests[i], "answer")}}, bundle.Answer{Text: text, Finish: bundle.FinishStop})
			if err != nil {
				t.Fatal(err)
			}
			hits.WriteByte("01"[int(v.Score)])
			items = append(items, v.Score)
		}
		want := vt.Dict(vt.Wrap(c.Expected), "expected")
		if hits.String() != vt.Str(want, "hits") {
			t.Error("the verdicts are not those of lm-eval")
		}
		got, err := group.Aggregate([]group.Series{{Metric: "exact_match", Filter: "f", Items: items}}, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"exact_match", "exact_match_stderr"} {
			g, _ := got.Get(key + ",f")
			w, _ := want.Get(key)
			vt.Exact(t, key, vt.Float(t, g), vt.Float(t, w))
		}
	})
}

func TestGrade_Verdicts(t *testing.T) {
	t.Parallel()
	options := `{"filter":` + flexible + `,"exact_match":{"regexes_to_ignore":[","]}}`
	tests := []struct {
		name, options, text string
		finish              bundle.Finish
		target              []string
		want                bundle.Verdict
	}{
		{"right", options, "so ½ + 1,234", bundle.FinishStop, []string{"1234"},
			bundle.Verdict{Outcome: bundle.Right, Score: 1, Extracted: "1,234", Span: &[2]int{7, 12}, Rule: "exact_match, equal"}},
		{"wrong", options, "25", bundle.FinishStop, []string{"5"},
			bundle.Verdict{Outcome: bundle.Wrong, Extracted: "25", Span: &[2]int{0, 2}, Rule: "exact_match, not equal"}},
		{"second of several targets", options, "25", bundle.FinishStop, []string{"5", "25"},
			bundle.Verdict{Outcome: bundle.Right, Score: 1, Extracted: "25", Span: &[2]int{0, 2}, Rule: "exact_match, equal"}},
		{"nothing found", options, "no idea", bundle.FinishStop, []string{"5"},
			bundle.Verdict{Outcome: bundle.ExtractionFailed, Rule: "filters found nothing"}},
		{"cut off", options, "let me think", bundle.FinishLength, []string{"5"},
			bundle.Verdict{Outcome: bundle.Truncated, Rule: "exact_match, not equal"}},
		{"empty", options, " \n", bundle.FinishStop, []string{"5"}, bundle.Verdict{Outcome: bundle.Empty, Rule: "no text"}},
		{"no filters", ``, "yes", bundle.FinishStop, []string{"yes"},
			bundle.Verdict{Outcome: bundle.Right, Score: 1, Extracted: "yes", Span: &[2]int{0, 3}, Rule: "exact_match, equal"}},
		{"fallback as an answer", ``, "[invalid]", bundle.FinishStop, []string{"x"},
			bundle.Verdict{Outcome: bundle.Wrong, Extracted: "[invalid]", Span: &[2]int{0, 9}, Rule: "exact_match, not equal"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := grader(t, tt.options).Grade(bundle.Task{ID: "t", Target: tt.target}, bundle.Answer{Text: tt.text, Finish: tt.finish})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("verdict (-want +got):\n%s", d)
			}
		})
	}
}

// A grader that cannot decide says so.
func TestGrade_Errors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, options string
		target        []string
	}{
		{"no target", ``, nil},
		{"match beyond those found", `{"filter":[{"function":"regex","regex_pattern":"[0-9]+","group_select":3},{"function":"take_first"}]}`, []string{"1"}},
		{"endless pattern", `{"filter":[{"function":"regex","regex_pattern":"(a|aa|aaa)*c"},{"function":"take_first"}]}`, []string{"1"}},
		{"filter that leaves no text", `{"filter":[{"function":"map","mapping_dict":{"x":"y"}},{"function":"take_first"}]}`, []string{"1"}},
	}
	text := "1 " + strings.Repeat("a", 4000)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if v, err := grader(t, tt.options).Grade(bundle.Task{Target: tt.target}, bundle.Answer{Text: text}); err == nil {
				t.Errorf("Grade = %+v, want an error", v)
			}
		})
	}
}

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, kind, options string }{
		{"unknown kind", "lmeval/rouge", ``},
		{"unknown option", lmeval.GenerateUntil, `{"metric":"bleu"}`},
		{"temperature of text", lmeval.GenerateUntil, `{"temperature":"0"}`},
		{"temperature below 0", lmeval.GenerateUntil, `{"temperature":-1}`},
		{"name of no filter", lmeval.GenerateUntil, `{"filter_name":"x"}`},
		{"name with a comma", lmeval.GenerateUntil, `{"filter_name":"a,b","filter":[{"function":"take_first"}]}`},
		{"equal keys", lmeval.GenerateUntil, `{"fallback":"a","fallback":"b"}`},
		{"no object", lmeval.GenerateUntil, `[]`},
		{"unknown filter", lmeval.GenerateUntil, `{"filter":[{"function":"exec"},{"function":"take_first"}]}`},
		{"filter without take_first", lmeval.GenerateUntil, `{"filter":[{"function":"lowercase"}]}`},
		{"empty filter", lmeval.GenerateUntil, `{"filter":[]}`},
		{"argument of exact_match", lmeval.GenerateUntil, `{"exact_match":{"ignore":true}}`},
		{"pattern", lmeval.GenerateUntil, `{"exact_match":{"regexes_to_ignore":["("]}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if g, err := lmeval.New(bundle.GraderConfig{Kind: tt.kind, Options: json.RawMessage(tt.options)}); err == nil {
				t.Errorf("New accepted it: %+v", g.Identity())
			}
		})
	}
}

// Options decide the compatibility class; how they are written does not.
func TestIdentity(t *testing.T) {
	t.Parallel()
	a := grader(t, `{"fallback":"x","exact_match":{"ignore_case":true}}`).Identity()
	b := grader(t, `{ "exact_match": {"ignore_case": true}, "fallback": "x" }`).Identity()
	c := grader(t, `{"fallback":"x"}`).Identity()
	if a != b || a.Compat == c.Compat {
		t.Errorf("identities %+v, %+v, %+v", a, b, c)
	}
}
