package families_test

import (
	"encoding/json"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/builtin"
	"github.com/evalrouter/evalrouter/bundle/families"
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
