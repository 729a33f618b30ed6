package lmeval_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/bundle/lmeval"
)

// echoed is what a completions route says of "The sky is" and " blue".
const echoed = `{"choices":[{"text":"The sky is blue","logprobs":{"tokens":["The"," sky"," is"," blue"],
	"token_logprobs":[null,-2,-1,-0.5],"top_logprobs":[null,{" sky":-2},{" is":-1},{" %s":-0.25," blue":-0.5}]}}]}`

func TestContinuation(t *testing.T) {
	t.Parallel()
	task := bundle.Task{ID: "t", Input: []bundle.Message{{Role: bundle.User, Text: "The sky is"}}, Target: []string{"blue"}}
	for _, tt := range []struct {
		name, response string
		want           bundle.Outcome
		text           string
	}{
		{"the likeliest", strings.ReplaceAll(echoed, `" %s":-0.25,`, ""), bundle.Right, "[-0.5,true]"},
		{"another is likelier", strings.ReplaceAll(echoed, "%s", "red"), bundle.Wrong, "[-0.5,false]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, err := lmeval.NewLikely(bundle.GraderConfig{Kind: lmeval.LogLikelihood})
			if err != nil {
				t.Fatal(err)
			}
			asks, err := g.Asks(task)
			if d := cmp.Diff([]bundle.Ask{{Context: "The sky is", Continuation: " blue"}}, asks); d != "" || err != nil {
				t.Fatalf("%s, %v", d, err)
			}
			read, err := g.Read(asks[0], []byte(tt.response))
			if err != nil {
				t.Fatal(err)
			}
			text, err := g.Text(task, []bundle.LogProb{read})
			if err != nil || text != tt.text {
				t.Errorf("the answer is %s, %v", text, err)
			}
			if v, err := g.Grade(task, bundle.Answer{Text: text}); err != nil || v.Outcome != tt.want {
				t.Errorf("%+v, %v", v, err)
			}
			if f := bundle.CheckGold(g, task); f != nil {
				t.Errorf("gold does not grade itself: %s", f.Message)
			}
		})
	}
}

func TestContinuation_Refuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, kind, options, want string }{
		{"a perplexity is no score", lmeval.Rolling, ``, "no score of a task"},
		{"an option of another kind", lmeval.LogLikelihood, `{"letters":true}`, "unknown field"},
		{"a kind that reads text", "lmeval/generate_until", ``, "reads no log probabilities"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := lmeval.NewLikely(bundle.GraderConfig{Kind: tt.kind, Options: json.RawMessage(tt.options)}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	g, err := lmeval.NewLikely(bundle.GraderConfig{Kind: lmeval.LogLikelihood, Options: json.RawMessage(`{"delimiter":""}`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, targets := range [][]string{nil, {""}, {"a", "b"}} {
		if _, err := g.Asks(bundle.Task{ID: "t", Target: targets}); err == nil {
			t.Errorf("targets %q are asked", targets)
		}
	}
	for _, text := range []string{"", "blue", `[1]`, `["x", true]`, `[-1, "true"]`, `{"A": [0, true]}`} {
		if v, err := g.Grade(bundle.Task{ID: "t", Target: []string{"a"}}, bundle.Answer{Text: text}); err == nil {
			t.Errorf("%q is graded: %+v", text, v)
		}
	}
	if needs := families.Needs(lmeval.LogLikelihood); len(needs) != 1 || needs[0] != families.Logprobs {
		t.Errorf("it needs %v", needs)
	}
	if _, err := families.Grader(bundle.GraderConfig{Kind: lmeval.Rolling}); err == nil {
		t.Error("a perplexity is taken for a grader")
	}
}
