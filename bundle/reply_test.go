package bundle_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/generic"
	"pgregory.net/rapid"
)

// imported are tasks as manifests make them, each with the grader that its
// manifest would declare.
var imported = []struct {
	name, kind, options string
	task                bundle.Task
}{
	{"whole number", generic.Numeric, "", bundle.Task{Target: []string{"18"}}},
	{"zero", generic.Numeric, "", bundle.Task{Target: []string{"0"}}},
	{"negative", generic.Numeric, "", bundle.Task{Target: []string{"-7"}}},
	{"decimal", generic.Numeric, "", bundle.Task{Target: []string{"51.0"}}},
	{"grouped with currency", generic.Numeric, "", bundle.Task{Target: []string{"$1,234.50"}}},
	{"negative currency", generic.Numeric, "", bundle.Task{Target: []string{"-$5"}}},
	{"percent", generic.Numeric, `{"percent":"strict"}`, bundle.Task{Target: []string{"20%"}}},
	{"fraction", generic.Numeric, "", bundle.Task{Target: []string{"3/4"}}},
	{"first number", generic.Numeric, `{"take":"first"}`, bundle.Task{Target: []string{"18"}}},
	{"marked number", generic.Numeric, `{"answer_pattern":"#### (.*)"}`, bundle.Task{Target: []string{"18"}}},
	{"two numbers", generic.Numeric, "", bundle.Task{Target: []string{"18", "19"}}},
	{"answer line", generic.Numeric, "", bundle.Task{Target: []string{"18"}, Input: []bundle.Message{{Role: bundle.User, Text: `End with "ANSWER: N".`}}}},
	{"letter", generic.MultipleChoice, "", bundle.Task{Target: []string{"B"}, Choices: []string{"red", "green", "blue"}}},
	{"two right letters", generic.MultipleChoice, "", bundle.Task{Target: []string{"A", "C"}, Choices: []string{"red", "green", "blue"}}},
	{"letter A", generic.MultipleChoice, "", bundle.Task{Target: []string{"A"}, Choices: []string{"a", "an"}}},
	{"letter without choices", generic.MultipleChoice, "", bundle.Task{Target: []string{"D"}}},
	{"letter as text", generic.ExactMatch, "", bundle.Task{Target: []string{"D"}}},
	{"words", generic.ExactMatch, "", bundle.Task{Target: []string{"New York City"}}},
	{"words ignoring case", generic.ExactMatch, `{"ignore_case":true,"ignore_punctuation":true}`, bundle.Task{Target: []string{"not sure", "I am not sure."}}},
	{"yes", generic.ExactMatch, "", bundle.Task{Target: []string{"yes"}}},
	{"date", generic.ExactMatch, "", bundle.Task{Target: []string{"2024-02-29"}}},
	{"text with digits", generic.ExactMatch, "", bundle.Task{Target: []string{"Room 90"}}},
	{"flat JSON", generic.JSONFieldMatch, "", bundle.Task{Target: []string{`{"a":1,"b":"x","c":true,"d":null}`}}},
	{"nested JSON", generic.JSONFieldMatch, `{"extra":"allow"}`, bundle.Task{Target: []string{`{"a":{"b":[{"c":0},{"c":-1.5}]},"e":"2024-01-01"}`}}},
	{"array JSON", generic.JSONFieldMatch, "", bundle.Task{Target: []string{`[1,"x"]`}}},
}

func TestReply_ImportedTasks(t *testing.T) {
	t.Parallel()
	for _, c := range imported {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g, err := generic.New(generic.Config{Kind: c.kind, Options: json.RawMessage(c.options)})
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(300) {
				for _, right := range []bool{true, false} {
					text := bundle.Reply(c.task, right, seed)
					mustGrade(t, g, c.task, text, right)
					if again := bundle.Reply(c.task, right, seed); again != text {
						t.Errorf("seed %d gave %q and %q", seed, text, again)
					}
				}
			}
		})
	}
}

func mustGrade(t interface {
	Helper()
	Errorf(string, ...any)
}, g bundle.Grader, task bundle.Task, text string, right bool,
) {
	t.Helper()
	v, err := g.Grade(task, bundle.Answer{Text: text, Finish: bundle.FinishStop})
	want := bundle.Wrong
	if right {
		want = bundle.Right
	}
	if err != nil || v.Outcome != want {
		t.Errorf("target %q, reply %q: %+v %v, want %s", task.Target, text, v, err, want)
	}
}

// Any number under the default grader.
func TestReply_AnyNumber(t *testing.T) {
	t.Parallel()
	g, err := generic.New(generic.Config{Kind: generic.Numeric})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.Int64Range(-1_000_000, 1_000_000).Draw(rt, "n")
		target := fmt.Sprint(n)
		if d := rapid.IntRange(0, 3).Draw(rt, "decimals"); d > 0 {
			target += "." + strings.Repeat("5", d)
		}
		task := bundle.Task{ID: rapid.StringMatching(`[a-z0-9]{1,8}`).Draw(rt, "id"), Target: []string{target}}
		seed := rapid.Uint64().Draw(rt, "seed")
		for _, right := range []bool{true, false} {
			mustGrade(rt, g, task, bundle.Reply(task, right, seed), right)
		}
	})
}

// ReplyUnder also serves graders under which the natural words would not be
// graded as meant.
func TestReplyUnder_FitsTheGrader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kind, options string
		task                bundle.Task
	}{
		{"a number compared as text", generic.ExactMatch, "", bundle.Task{Target: []string{"18"}}},
		{"one field of many", generic.JSONFieldMatch, `{"fields":["/z"]}`, bundle.Task{Target: []string{`{"a":1,"b":2,"c":3,"d":4,"e":5,"z":6}`}}},
		{"a wide tolerance", generic.Numeric, `{"tolerance":"5"}`, bundle.Task{Target: []string{"100"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g, err := generic.New(generic.Config{Kind: c.kind, Options: json.RawMessage(c.options)})
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(100) {
				for _, right := range []bool{true, false} {
					text, err := bundle.ReplyUnder(g, c.task, right, seed)
					if err != nil {
						t.Fatal(err)
					}
					mustGrade(t, g, c.task, text, right)
				}
			}
		})
	}
	g, err := generic.New(generic.Config{Kind: generic.Numeric})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.ReplyUnder(g, bundle.Task{Target: []string{"x"}}, true, 1); err == nil {
		t.Error("a task that cannot be graded gives a reply")
	}
}
