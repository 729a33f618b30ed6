package lmeval_test

import (
	"encoding/json"
	"testing"

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
	for _, options := range []string{`{"metric":"bleu"}`, `{"other":1}`, `[]`} {
		if _, err := lmeval.NewLikelihood(bundle.GraderConfig{Kind: lmeval.MultipleChoice, Options: json.RawMessage(options)}); err == nil {
			t.Errorf("options %s are taken", options)
		}
	}
}
