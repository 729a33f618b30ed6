package families_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/google/go-cmp/cmp"
)

// graded is one grader with answers for every outcome that it can give. An
// answer of "-" means that the kind has no such outcome: it compares all of a
// text, so that there is nothing to fail to extract.
var graded = []struct {
	kind, options       string
	task                bundle.Task
	right, wrong, noted string
}{
	{"exact_match", `{"answer_pattern":"= (.*)"}`, bundle.Task{Target: []string{"2"}}, "= 2", "= 3", "no idea"},
	{"regex_match", `{"pattern":"= (\\d+)"}`, bundle.Task{Target: []string{"2"}}, "= 2", "= 3", "no idea"},
	{"numeric", ``, bundle.Task{Target: []string{"2"}}, "It is 2.", "It is 3.", "no idea"},
	{"multiple_choice", ``, bundle.Task{Target: []string{"B"}, Choices: []string{"x", "y"}}, "Answer: B", "Answer: A", "no idea"},
	{"json_field_match", ``, bundle.Task{Target: []string{`{"n":2}`}}, `{"n":2}`, `{"n":3}`, "no idea"},
	{"inspect/match", `{"numeric":true}`, bundle.Task{Target: []string{"2"}}, "It is 2", "It is 3", "no idea"},
	{"inspect/includes", ``, bundle.Task{Target: []string{"2"}}, "It is 2", "It is 3", "-"},
	{"inspect/pattern", `{"pattern":"= (\\d+)"}`, bundle.Task{Target: []string{"2"}}, "= 2", "= 3", "no idea"},
	{"inspect/answer", `{"pattern":"line"}`, bundle.Task{Target: []string{"2"}}, "ANSWER: 2", "ANSWER: 3", "no idea"},
	{"inspect/choice", ``, bundle.Task{Target: []string{"B"}, Choices: []string{"x", "y"}}, "ANSWER: B", "ANSWER: A", "no idea"},
	{"inspect/exact", ``, bundle.Task{Target: []string{"2"}}, "2", "3", "-"},
	{"inspect/f1", ``, bundle.Task{Target: []string{"two"}}, "two", "three", "-"},
	{"inspect/math_string", ``, bundle.Task{Target: []string{"2"}}, "\\boxed{2}", "\\boxed{3}", "-"},
	{"lmeval/generate_until", `{"filter":[{"function":"regex","regex_pattern":"#### (\\d+)"},{"function":"take_first"}]}`, bundle.Task{Target: []string{"2"}}, "#### 2", "#### 3", "no idea"},
	{"sob_text", ``, bundle.Task{Target: []string{`{"n":2}`}, Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}, `{"n":2}`, `{"n":3}`, "no idea"},
}

// Every kind gives every outcome, with the same verdict whether or not the
// model thought aloud before it answered, in any shape.
func TestGrade_OutcomesAndReasoning(t *testing.T) {
	t.Parallel()
	for _, tt := range graded {
		t.Run(tt.kind, func(t *testing.T) {
			t.Parallel()
			g, err := families.Grader(bundle.GraderConfig{Kind: tt.kind, Options: json.RawMessage(tt.options)})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				text   string
				finish bundle.Finish
				want   bundle.Outcome
			}{
				{tt.right, bundle.FinishStop, bundle.Right},
				{tt.right, bundle.FinishLength, bundle.Right},
				{tt.wrong, bundle.FinishStop, bundle.Wrong},
				{tt.wrong, bundle.FinishLength, bundle.Truncated},
				{tt.noted, bundle.FinishStop, bundle.ExtractionFailed},
				{" \n", bundle.FinishStop, bundle.Empty},
				{"", bundle.FinishLength, bundle.Truncated},
			} {
				if c.text == "-" {
					continue
				}
				plain := grade(t, g, tt.task, c.text, c.finish)
				if plain.Outcome != c.want || (plain.Score == 1) != (c.want == bundle.Right) {
					t.Errorf("%q, %s: %+v, want %s", c.text, c.finish, plain, c.want)
				}
				sameBehindReasoning(t, g, tt.task, bundle.Answer{Text: c.text, Finish: c.finish}, plain)
			}
			for _, finish := range []bundle.Finish{bundle.FinishStop, bundle.FinishLength, bundle.FinishUnknown} {
				if v := grade(t, g, tt.task, "<think>\n"+tt.right, finish); v.Outcome != bundle.Truncated || v.Score != 0 {
					t.Errorf("an answer inside reasoning that never ended is graded: %+v", v)
				}
			}
			if _, err := g.Grade(bundle.Task{ID: "t"}, bundle.Answer{Text: tt.right, Finish: bundle.FinishStop}); err == nil {
				t.Error("a task without a target is graded: want an error, which the service records as grader_error")
			}
		})
	}
}

func grade(t *testing.T, g bundle.Grader, task bundle.Task, text string, finish bundle.Finish) bundle.Verdict {
	t.Helper()
	v, err := g.Grade(task, bundle.Answer{Text: text, Finish: finish})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// sameBehindReasoning puts reasoning that names the right and other answers
// before an answer.
func sameBehindReasoning(t *testing.T, g bundle.Grader, task bundle.Task, a bundle.Answer, want bundle.Verdict) {
	t.Helper()
	tried := "= 2 = 3 ANSWER: B ANSWER: A #### 2 {\"n\":2} {\"n\":4} é "
	for _, head := range []string{
		"<think>" + tried + "</think>", "<think>\n" + tried + "\n</think>\n\n", tried + "</think>", "[THINK]" + tried + "[/THINK]",
		"<|channel|>analysis<|message|>" + tried + "<|end|><|start|>assistant<|channel|>final<|message|>",
	} {
		got := grade(t, g, task, head+a.Text, a.Finish)
		if got.Span != nil {
			n := utf8.RuneCountInString(head)
			got.Span = &[2]int{got.Span[0] - n, got.Span[1] - n}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("after %.20q… the verdict differs (-plain +behind):\n%s", head, d)
		}
	}
}
