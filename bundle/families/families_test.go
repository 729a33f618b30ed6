package families_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/builtin"
	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/google/go-cmp/cmp"
)

func TestGrader(t *testing.T) {
	t.Parallel()
	question := bundle.Task{ID: "t", Input: []bundle.Message{{Role: bundle.User, Text: "1+1?"}}, Target: []string{"2"}}
	object := bundle.Task{ID: "t", Input: question.Input, Target: []string{`{"n":2}`}, Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)}
	for _, tt := range []struct {
		name, kind, options, answer string
		task                        bundle.Task
		want                        bundle.Outcome
	}{
		{name: "generic", kind: "numeric", answer: "It is 2.", task: question, want: bundle.Right},
		{name: "inspect", kind: "inspect/match", options: `{"numeric":true}`, answer: "It is 3.", task: question, want: bundle.Wrong},
		{name: "sob", kind: "sob_text", answer: `{"n": 2}`, task: object, want: bundle.Right},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, err := families.Grader(bundle.GraderConfig{Kind: tt.kind, Options: json.RawMessage(tt.options)})
			if err != nil {
				t.Fatal(err)
			}
			v, err := g.Grade(tt.task, bundle.Answer{Text: tt.answer, Finish: bundle.FinishStop})
			if err != nil || v.Outcome != tt.want {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
	g, err := families.Grader(bundle.GraderConfig{Kind: "inspect/model_graded_qa", Options: json.RawMessage(`{"judges":["a"]}`)})
	if j, ok := g.(bundle.Judged); err != nil || !ok || j.Panel().Routes[0] != "a" {
		t.Errorf("a judged kind: %v, %v", g, err)
	} else if f := bundle.CheckGold(g, question); f != nil {
		t.Errorf("gold of a judged task was graded: %v", f)
	}
	judged(t, g.(bundle.Judged), question)
	for _, kind := range []string{"", "nothing", "inspect/model_graded_qa", "inspect/nothing", "inspect", "lmeval/nothing"} {
		if g, err := families.Grader(bundle.GraderConfig{Kind: kind}); err == nil || g != nil {
			t.Errorf("kind %q: %v, %v", kind, g, err)
		}
	}
	for _, b := range builtin.List() {
		if _, err := families.Grader(b.Grader); err != nil {
			t.Errorf("%s: %v", b.Slug, err)
		}
	}
}

// Judges see no reasoning, theirs is not read, and an answer that was still
// reasoning when it was cut off needs none of them.
func judged(t *testing.T, g bundle.Judged, task bundle.Task) {
	t.Helper()
	const nonce = "0123456789abcdef0123456789abcdef"
	prompt, err := g.Prompt(task, bundle.Answer{Text: "<think>Perhaps 3.</think>It is 2.", Finish: bundle.FinishStop}, nonce)
	if err != nil || strings.Contains(prompt[0].Text, "Perhaps") || !strings.Contains(prompt[0].Text, "It is 2.") {
		t.Errorf("the judge is asked %v, %v", prompt, err)
	}
	if _, err := g.Prompt(task, bundle.Answer{Text: "<think>" + nonce + "</think>It is 2."}, nonce); !errors.Is(err, bundle.ErrNonce) {
		t.Errorf("a nonce that stands in the reasoning: %v", err)
	}
	for _, tt := range []struct {
		name, answer, reply string
		want                bundle.Outcome
	}{
		{name: "a judge that reasons", answer: "It is 2.", reply: "<think>GRADE: I</think>\nGRADE: C", want: bundle.Right},
		{name: "a judge that never stops reasoning", answer: "It is 2.", reply: "<think>\nGRADE: C"},
		{name: "an answer that never came", answer: "<think>Perhaps 3.", want: bundle.Truncated},
		{name: "no reply yet", answer: "It is 2."},
	} {
		var replies []bundle.Answer
		if tt.reply != "" {
			replies = []bundle.Answer{{Text: tt.reply, Finish: bundle.FinishStop}}
		}
		v, err := g.Verdict(task, bundle.Answer{Text: tt.answer, Finish: bundle.FinishStop}, replies)
		if v.Outcome != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %+v, %v", tt.name, v, err)
		}
	}
}

// What a configuration declares of how answers are drawn is there behind every
// wrapper, and is part of what grades may be mixed.
func TestSampling_Declared(t *testing.T) {
	t.Parallel()
	zero := 0.0
	for _, tt := range []struct {
		name, kind, options, other string
		want                       bundle.Sampling
	}{
		{"lm-eval", "lmeval/generate_until", `{"temperature":0,"until":["Q:"]}`, `{"until":["Q:"]}`, bundle.Sampling{Temperature: &zero, Stop: []string{"Q:"}}},
		{"lm-eval, stops alone", "lmeval/generate_until", `{"until":["Q:","</s>"]}`, `{}`, bundle.Sampling{Stop: []string{"Q:", "</s>"}}},
		{"SOB", "sob_text", `{"temperature":"0"}`, `{}`, bundle.Sampling{Temperature: &zero}},
		{"SOB, nothing said", "sob_text", `{}`, `{"gate":"image"}`, bundle.Sampling{}},
		{"a grader that says nothing", "numeric", `{}`, `{"take":"first"}`, bundle.Sampling{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var made [2]bundle.Grader
			for i, o := range []string{tt.options, tt.other} {
				g, err := families.Grader(bundle.GraderConfig{Kind: tt.kind, Options: json.RawMessage(o)})
				if err != nil {
					t.Fatal(err)
				}
				made[i] = g
			}
			if d := cmp.Diff(tt.want, bundle.SamplingOf(made[0])); d != "" {
				t.Error(d)
			}
			if made[0].Identity().Compat == made[1].Identity().Compat {
				t.Error("answers drawn in another way share a class")
			}
		})
	}
}
