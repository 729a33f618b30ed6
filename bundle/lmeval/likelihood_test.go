package lmeval_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/lmeval"
)

func TestLikelihood(t *testing.T) {
	t.Parallel()
	task := bundle.Task{ID: "t", Target: []string{"B"}, Choices: []string{"x", "a longer choice"}}
	for _, tt := range []struct {
		name, options, text string
		want                bundle.Outcome
		fails               bool
	}{
		{name: "likeliest", text: `{"A": [-9, false], "B": [-2.5, true]}`, want: bundle.Right},
		{name: "another is likelier", text: `{"A": [-2, false], "B": [-2.5, true]}`, want: bundle.Wrong},
		{name: "for its length", options: `{"metric":"acc_norm"}`, text: `{"A": [-2, false], "B": [-2.5, true]}`, want: bundle.Right},
		{name: "the first of two equals", text: `{"A": [-2, false], "B": [-2, true]}`, want: bundle.Wrong},
		{name: "the other is missing", text: `{"B": [-2, true]}`, want: bundle.Right},
		{name: "text is no log probability", text: "The answer is B.", fails: true},
		{name: "beyond what it is alone", options: `{"metric":"acc_mutual_info"}`, text: `{"A": [-2, true, -1], "B": [-2.5, false, -9]}`, want: bundle.Right},
		{name: "its letter counts, not its length", options: `{"metric":"acc_norm","letters":true}`, text: `{"A": [-2, false], "B": [-2.5, true]}`, want: bundle.Wrong},
		{name: "nothing of it alone", options: `{"metric":"acc_mutual_info"}`, text: `{"A": [-2, true], "B": [-2.5, false, -9]}`, fails: true},
		{name: "half a choice", text: `{"B": [null, true]}`, fails: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, err := lmeval.NewLikelihood(bundle.GraderConfig{Kind: lmeval.MultipleChoice, Options: json.RawMessage(tt.options)})
			if err != nil {
				t.Fatal(err)
			}
			v, err := g.Grade(task, bundle.Answer{Text: tt.text, Finish: bundle.FinishStop})
			if (err != nil) != tt.fails || v.Outcome != tt.want {
				t.Errorf("%+v, %v", v, err)
			}
			if f := bundle.CheckGold(g, task); f != nil {
				t.Errorf("gold does not grade itself: %s", f.Message)
			}
		})
	}
	for _, options := range []string{`{"prefix":"x"}`, `{"metric":"bleu"}`, `{"other":1}`, `[]`} {
		if _, err := lmeval.NewLikelihood(bundle.GraderConfig{Kind: lmeval.MultipleChoice, Options: json.RawMessage(options)}); err == nil {
			t.Errorf("options %s are taken", options)
		}
	}
}

// What is asked is lm-eval's, and the answer that is written is read back.
func TestLikelihood_Asks(t *testing.T) {
	t.Parallel()
	task := bundle.Task{ID: "t", Input: []bundle.Message{{Role: bundle.System, Text: "Be brief."}, {Role: bundle.User, Text: "Which?"}}, Target: []string{"B"}, Choices: []string{"x", "yes"}}
	const prompt = "Be brief.\n\nWhich?"
	for _, tt := range []struct {
		name, options string
		want          []bundle.Ask
		text          string
	}{
		{"each choice", `{}`, []bundle.Ask{{Context: prompt, Continuation: " x"}, {Context: prompt, Continuation: " yes"}}, `{"A": [-1,true], "B": [-2,false]}`},
		{"another delimiter", `{"delimiter":""}`, []bundle.Ask{{Context: prompt, Continuation: "x"}, {Context: prompt, Continuation: "yes"}}, `{"A": [-1,true], "B": [-2,false]}`},
		{"letters", `{"letters":true}`, []bundle.Ask{{Context: prompt, Continuation: " A"}, {Context: prompt, Continuation: " B"}}, `{"A": [-1,true], "B": [-2,false]}`},
		{"each alone too", `{"metric":"acc_mutual_info","prefix":"<s>"}`, []bundle.Ask{
			{Context: prompt, Continuation: " x"}, {Context: prompt, Continuation: " yes"}, {Context: "<s>", Continuation: " x"}, {Context: "<s>", Continuation: " yes"},
		}, `{"A": [-1,true,-3], "B": [-2,false,-4]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, err := lmeval.NewLikelihood(bundle.GraderConfig{Kind: lmeval.MultipleChoice, Options: json.RawMessage(tt.options)})
			if err != nil {
				t.Fatal(err)
			}
			asks, err := g.Asks(task)
			if d := cmp.Diff(tt.want, asks); d != "" || err != nil {
				t.Errorf("%s, %v", d, err)
			}
			read := []bundle.LogProb{{Sum: -1, Greedy: true}, {Sum: -2}, {Sum: -3}, {Sum: -4}}[:len(asks)]
			text, err := g.Text(task, read)
			if err != nil || text != tt.text {
				t.Errorf("the answer is %s, %v", text, err)
			}
			if v, err := g.Grade(task, bundle.Answer{Text: text}); err != nil || v.Outcome != bundle.Wrong {
				t.Errorf("%+v, %v", v, err)
			}
			if _, err := g.Text(task, read[1:]); err == nil {
				t.Error("an answer is written without one of its parts")
			}
		})
	}
	g, err := lmeval.NewLikelihood(bundle.GraderConfig{Kind: lmeval.MultipleChoice, Options: json.RawMessage(`{"delimiter":""}`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, choices := range [][]string{nil, {"x", ""}} {
		if _, err := g.Asks(bundle.Task{ID: "t", Input: task.Input, Choices: choices}); err == nil {
			t.Errorf("choices %q are asked", choices)
		}
	}
}

// Options that can give other verdicts are another compatibility class.
func TestLikelihood_Identity(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, options := range []string{`{}`, `{"metric":"acc_norm"}`, `{"letters":true}`, `{"delimiter":""}`, `{"metric":"acc_mutual_info"}`, `{"metric":"acc_mutual_info","prefix":"<s>"}`} {
		g, err := lmeval.NewLikelihood(bundle.GraderConfig{Kind: lmeval.MultipleChoice, Options: json.RawMessage(options)})
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[g.Identity().Compat]; ok {
			t.Errorf("%s and %s are one class", options, other)
		}
		seen[g.Identity().Compat] = options
	}
}
