package inspect_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/inspect"
)

func newJudged(t testing.TB, kind, options string) *inspect.Judged {
	t.Helper()
	g, err := inspect.NewJudged(bundle.GraderConfig{Kind: kind, Options: json.RawMessage(options)})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func says(texts ...string) (out []bundle.Answer) {
	for _, s := range texts {
		out = append(out, bundle.Answer{Text: s, Finish: bundle.FinishStop})
	}
	return out
}

func TestNewJudged_Refuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, kind, options, path string }{
		{"no judges", inspect.ModelGradedQA, `{}`, "judges"},
		{"an empty panel", inspect.ModelGradedQA, `{"judges":[]}`, "judges"},
		{"ten judges", inspect.ModelGradedQA, `{"judges":["a","b","c","d","e","f","g","h","i","j"]}`, "judges"},
		{"a judge twice", inspect.ModelGradedQA, `{"judges":["a","a"]}`, "judges[1]"},
		{"no route id", inspect.ModelGradedQA, `{"judges":["a b"]}`, "judges[0]"},
		{"unknown option", inspect.ModelGradedQA, `{"judges":["a"],"template":"x"}`, "template"},
		{"a tiny reply", inspect.ModelGradedQA, `{"judges":["a"],"max_output_tokens":1}`, "max_output_tokens"},
		{"long instructions", inspect.ModelGradedQA, `{"judges":["a"],"instructions":"` + strings.Repeat("x", 4001) + `"}`, "instructions"},
		{"another kind", "inspect/match", `{"judges":["a"]}`, "kind"},
		{"not JSON", inspect.ModelGradedFact, `{`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := inspect.NewJudged(bundle.GraderConfig{Kind: tt.kind, Options: json.RawMessage(tt.options)})
			var no *bundle.Refusal
			if !errors.As(err, &no) {
				t.Fatalf("error %v", err)
			}
			if got := no.Findings[0].Path; got != tt.path && !strings.HasSuffix(got, "."+tt.path) {
				t.Errorf("refused at %q, want %q", got, tt.path)
			}
		})
	}
}

func TestJudged_Identity(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, o := range []string{
		`{"judges":["a"]}`, `{"judges":["b"]}`, `{"judges":["a","b"]}`, `{"judges":["b","a"]}`, `{"judges":["a"],"partial_credit":true}`,
		`{"judges":["a"],"instructions":"x"}`, `{"judges":["a"],"max_output_tokens":512}`,
	} {
		id := newJudged(t, inspect.ModelGradedQA, o).Identity().Compat
		if other, ok := seen[id]; ok {
			t.Errorf("%s and %s may be mixed", o, other)
		}
		seen[id] = o
	}
	a, b := newJudged(t, inspect.ModelGradedQA, `{"judges":["a"]}`), newJudged(t, inspect.ModelGradedQA, `{"judges":["a"],"max_output_tokens":1024}`)
	if a.Identity() != b.Identity() {
		t.Error("a default that is written out makes another grader")
	}
	if _, err := a.Grade(bundle.Task{}, bundle.Answer{}); !errors.Is(err, bundle.ErrNeedsJudges) {
		t.Errorf("graded without judges: %v", err)
	}
}

func TestJudged_Verdict(t *testing.T) {
	t.Parallel()
	const one, three, partial = `{"judges":["a"]}`, `{"judges":["a","b","c"]}`, `{"judges":["a"],"partial_credit":true}`
	fault := func(judge int) *bundle.JudgeFault { return &bundle.JudgeFault{Judge: judge} }
	for _, tt := range []struct {
		name    string
		options string
		answer  bundle.Answer
		replies []bundle.Answer
		outcome bundle.Outcome
		score   float64
		fault   *bundle.JudgeFault
	}{
		{name: "right", options: one, replies: says("Fine.\nGRADE: C"), outcome: bundle.Right, score: 1},
		{name: "wrong", options: one, replies: says("No.\n\nGRADE: I\n"), outcome: bundle.Wrong},
		{name: "small letters and emphasis", options: one, replies: says("Yes.\n**Grade: c**"), outcome: bundle.Right, score: 1},
		{name: "a half", options: partial, replies: says("GRADE: P"), outcome: bundle.Wrong, score: 0.5},
		{name: "a half is not offered", options: one, replies: says("GRADE: P"), fault: fault(0)},
		{name: "another letter", options: one, replies: says("GRADE: B"), fault: fault(0)},
		{name: "a number", options: one, replies: says("GRADE: 10"), fault: fault(0)},
		{name: "a word that begins with C", options: one, replies: says("GRADE: Certainly"), fault: fault(0)},
		{name: "a sentence on the line", options: one, replies: says("GRADE: C is what I would not give"), fault: fault(0)},
		{name: "no grade", options: one, replies: says("It is right."), fault: fault(0)},
		{name: "nothing", options: one, replies: says(""), fault: fault(0)},
		{name: "text after the grade", options: one, replies: says("GRADE: C\nOr maybe not."), fault: fault(0)},
		{name: "the last of two", options: one, replies: says("The answer says GRADE: C\nGRADE: I"), outcome: bundle.Wrong},
		{name: "cut off", options: one, replies: []bundle.Answer{{Text: "GRADE: C", Finish: bundle.FinishLength}}, fault: fault(0)},
		{name: "filtered", options: one, replies: []bundle.Answer{{Text: "GRADE: C", Finish: bundle.FinishFilter}}, fault: fault(0)},
		{name: "two of three", options: three, replies: says("GRADE: I", "GRADE: C", "GRADE: C"), outcome: bundle.Right, score: 1},
		{name: "one of three", options: three, replies: says("GRADE: I", "GRADE: C", "GRADE: I"), outcome: bundle.Wrong},
		{name: "one without a verdict", options: three, replies: says("GRADE: C", "GRADE: C", "hm"), fault: fault(2)},
		{name: "a fault before the rest has replied", options: three, replies: says("GRADE: C", "hm"), fault: fault(1)},
		{name: "a tie goes to the first", options: `{"judges":["a","b"]}`, replies: says("GRADE: I", "GRADE: C"), outcome: bundle.Wrong},
		{name: "an answer that was cut off", options: one, answer: bundle.Answer{Text: "x", Finish: bundle.FinishLength}, outcome: bundle.Truncated},
		{name: "an answer that was cut off, though it was judged", options: one, answer: bundle.Answer{Text: "x", Finish: bundle.FinishLength}, replies: says("GRADE: C"), outcome: bundle.Truncated},
		{name: "an answer that was cut off before any text", options: one, answer: bundle.Answer{Finish: bundle.FinishLength}, outcome: bundle.Truncated},
		{name: "no answer", options: one, answer: bundle.Answer{Text: " \n"}, outcome: bundle.Empty},
		{name: "no answer, though it was judged", options: one, answer: bundle.Answer{Text: " \n"}, replies: says("GRADE: C"), outcome: bundle.Empty},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.answer == (bundle.Answer{}) {
				tt.answer = bundle.Answer{Text: "an answer", Finish: bundle.FinishStop}
			}
			v, err := newJudged(t, inspect.ModelGradedQA, tt.options).Verdict(bundle.Task{}, tt.answer, tt.replies)
			var got *bundle.JudgeFault
			if errors.As(err, &got) != (tt.fault != nil) || tt.fault != nil && got.Judge != tt.fault.Judge {
				t.Fatalf("fault %v, want %v", err, tt.fault)
			}
			if v.Outcome != tt.outcome || v.Score != tt.score {
				t.Errorf("%+v, want %s %v", v, tt.outcome, tt.score)
			}
		})
	}
}

func TestJudged_Prompt(t *testing.T) {
	t.Parallel()
	task := bundle.Task{
		Input:  []bundle.Message{{Role: bundle.System, Text: "hidden"}, {Role: bundle.User, Text: "What is it?"}},
		Target: []string{"this", "that"},
	}
	const nonce = "0123456789abcdef"
	for _, tt := range []struct{ name, kind, options, want string }{
		{"criteria", inspect.ModelGradedQA, `{"judges":["a"]}`, "Criterion:\n<<" + nonce + "\nthis\nor\nthat\n" + nonce + ">>\n"},
		{"a fact", inspect.ModelGradedFact, `{"judges":["a"]}`, "Expert answer:\n<<" + nonce + "\nthis\nor\nthat\n"},
		{"the answer as it is", inspect.ModelGradedQA, `{"judges":["a"]}`, "Answer:\n<<" + nonce + "\n{braces} and >>\n" + nonce + ">>\n"},
		{"own instructions", inspect.ModelGradedQA, `{"judges":["a"],"instructions":"Weigh it. {x}"}`, "Once more, what to do with it:\nWeigh it. {x}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := newJudged(t, tt.kind, tt.options).Prompt(task, bundle.Answer{Text: "{braces} and >>"}, nonce)
			if err != nil {
				t.Fatal(err)
			}
			text := got[0].Text
			if len(got) != 1 || got[0].Role != bundle.User || !strings.Contains(text, tt.want) || strings.Contains(text, "hidden") {
				t.Errorf("%q lacks %q", text, tt.want)
			}
		})
	}
	if _, err := newJudged(t, inspect.ModelGradedQA, `{"judges":["a"]}`).Prompt(bundle.Task{}, bundle.Answer{}, nonce); err == nil {
		t.Error("a task without a target has a prompt")
	}
}

// Whatever the answer is, it stands between the marks and the instructions
// have the last word; or the nonce is refused.
func TestJudged_PromptHasTheLastWord(t *testing.T) {
	t.Parallel()
	g := newJudged(t, inspect.ModelGradedQA, `{"judges":["a"],"instructions":"Say GRADE."}`)
	rapid.Check(t, func(rt *rapid.T) {
		nonce := rapid.StringMatching(`[0-9a-f]{16}`).Draw(rt, "nonce")
		answer := rapid.OneOf(rapid.String(), rapid.StringMatching(`(<<|>>|\n|GRADE: C|`+nonce+`){0,8}`)).Draw(rt, "answer")
		got, err := g.Prompt(bundle.Task{Input: []bundle.Message{{Role: bundle.User, Text: "q"}}, Target: []string{"t"}}, bundle.Answer{Text: answer}, nonce)
		if strings.Contains(answer, nonce) {
			if !errors.Is(err, bundle.ErrNonce) {
				rt.Fatalf("an answer with the nonce was fenced by it: %v", err)
			}
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		text := got[0].Text
		_, rest, _ := strings.Cut(text, "\nAnswer:\n<<"+nonce+"\n")
		inside, after, ok := strings.Cut(rest, "\n"+nonce+">>\n")
		if !ok || inside != answer || strings.Contains(after, nonce) || !strings.HasSuffix(after, "\nSay GRADE.") {
			rt.Fatalf("the fence does not hold: %q", text)
		}
	})
}

// No reply is ever read as more than a judge said, and none takes the reader
// down.
func FuzzJudged_Verdict(f *testing.F) {
	for _, s := range []string{"GRADE: C", "**GRADE: I**", "grade:p", "GRADE: C\nGRADE: I", "GRADE:\u200bC", "x\r\nGRADE: C \u00a0", "GRADE: \u0421"} {
		f.Add(s)
	}
	g := newJudged(f, inspect.ModelGradedQA, `{"judges":["a"]}`)
	f.Fuzz(func(t *testing.T, reply string) {
		v, err := g.Verdict(bundle.Task{}, bundle.Answer{Text: "a"}, says(reply))
		if err != nil {
			return
		}
		lines := strings.Split(strings.TrimSpace(reply), "\n")
		last := strings.ToUpper(lines[len(lines)-1])
		if want := map[bool]string{true: "C", false: "I"}[v.Outcome == bundle.Right]; !strings.Contains(last, want) || !strings.Contains(last, "GRADE") {
			t.Errorf("%q was read as %s", reply, v.Outcome)
		}
	})
}
