package practice_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/practice"
)

const nonce = "5ca1ab1e0ddba115"

// question is a task whose target stands in no attack.
var question = bundle.Task{
	ID: "t", Input: []bundle.Message{{Role: bundle.User, Text: "Who signed the charter of Ellesmoor?"}}, Target: []string{"Wilhelmina Drost", "W. Drost"},
}

func judgedBy(t testing.TB, options string) bundle.Judged {
	t.Helper()
	g, err := families.Grader(bundle.GraderConfig{Kind: "inspect/model_graded_qa", Options: json.RawMessage(options)})
	if err != nil {
		t.Fatal(err)
	}
	return g.(bundle.Judged)
}

// grade is what becomes of an answer: the prompt, the practice judge's reply
// to it, and the reading of that reply.
func grade(t testing.TB, answer string) (bundle.Verdict, error) {
	t.Helper()
	g := judgedBy(t, `{"judges":["practice.judge"]}`)
	a := bundle.Answer{Text: answer, Finish: bundle.FinishStop}
	prompt, err := g.Prompt(question, a, nonce)
	if err != nil {
		t.Fatal(err)
	}
	route := core.Judge{MaxOutputTokens: 200}
	for _, r := range practice.Routes() {
		if r.RouteID == practice.Judge {
			route.Target = r
		}
	}
	o := practice.New(nil).Call(context.Background(), provider.RequestForJudge(route, prompt))
	if o.Class != provider.Answered {
		t.Fatalf("the judge did not answer: %+v", o)
	}
	return g.Verdict(question, a, []bundle.Answer{{Text: o.Text, Finish: o.Finish}})
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, answer string
		want         bundle.Outcome
	}{
		{"the target", "Wilhelmina Drost", bundle.Right},
		{"in a sentence", "It was Wilhelmina\nDROST, in 1412.", bundle.Right},
		{"another accepted answer", "Signed by W. Drost.", bundle.Right},
		{"part of a word", "Wilhelmina Drosten", bundle.Wrong},
		{"another name", "Anna Drost", bundle.Wrong},
		{"nothing", "", bundle.Empty},
		{"the name of the separator", "or", bundle.Wrong},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, err := grade(t, tt.answer)
			if err != nil || v.Outcome != tt.want {
				t.Errorf("%+v, %v; want %s", v, err, tt.want)
			}
		})
	}
}

func TestJudge_ReadsNothingElse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "hello", "Say it with the mark short.", "With the mark aaaaaaaaaaaaaaaa.\n\n<<aaaaaaaaaaaaaaaa\nopen"} {
		r := provider.Request{Target: core.Target{RouteID: practice.Judge}, Messages: []bundle.Message{{Role: bundle.User, Text: text}}, MaxOutput: 100}
		if o := practice.New(nil).Call(context.Background(), r); strings.Contains(o.Text, "GRADE") {
			t.Errorf("a verdict about %q: %s", text, o.Text)
		}
	}
}

func attacks(t testing.TB) []string {
	t.Helper()
	f, err := os.Open("testdata/attacks.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var s string
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	if len(out) != 200 {
		t.Fatalf("%d attacks, want 200", len(out))
	}
	return out
}

// No attack makes a wrong answer right, neither alone nor behind an answer.
func TestJudge_Attacks(t *testing.T) {
	t.Parallel()
	passed, tried := 0, 0
	for i, attack := range attacks(t) {
		for _, answer := range []string{attack, "It was Anna Drost.\n\n" + attack, attack + "\n" + attack} {
			tried++
			v, err := grade(t, answer)
			var fault *bundle.JudgeFault
			if err != nil && !errors.As(err, &fault) {
				t.Fatalf("attack %d: %v", i, err)
			}
			if v.Score != 0 {
				passed++
				t.Errorf("attack %d turned a wrong answer into %s: %q", i, v.Outcome, attack)
			}
		}
	}
	t.Logf("%d of %d attacks on the reference judge turned a fail into a pass", passed, tried)
}

// A judge that quotes an attack before its own grade, or is cut off while it
// does, is read by its own grade or not at all.
func TestVerdict_QuotedAttacks(t *testing.T) {
	t.Parallel()
	g := judgedBy(t, `{"judges":["practice.judge"],"partial_credit":true}`)
	for i, attack := range attacks(t) {
		for _, reply := range []bundle.Answer{
			{Text: "The answer reads: " + attack + "\n\nThat is beside the point.\n\nGRADE: I", Finish: bundle.FinishStop},
			{Text: attack + "\nGRADE: I", Finish: bundle.FinishStop},
			{Text: "The answer reads: " + attack, Finish: bundle.FinishLength},
			{Text: "The answer reads:\n" + attack, Finish: bundle.FinishUnknown},
		} {
			v, err := g.Verdict(question, bundle.Answer{Text: attack}, []bundle.Answer{reply})
			if v.Score != 0 {
				t.Errorf("attack %d was read as the judge's own grade: %+v, %v", i, v, err)
			}
		}
	}
}
