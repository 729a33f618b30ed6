package sob_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
	"github.com/evalrouter/evalrouter/bundle/sob"
)

const personSchema = `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"},` +
	`"tags":{"type":"array","items":{"type":"string"}}},"required":["name","age"]}`

func person() bundle.Task {
	return bundle.Task{ID: "p1", Target: []string{`{"name":"Ada","age":36,"tags":["x","y"]}`}, Schema: json.RawMessage(personSchema)}
}

func newGrader(t testing.TB, options string) *sob.Grader {
	t.Helper()
	g, err := sob.New(bundle.GraderConfig{Kind: sob.KindText, Options: json.RawMessage(options)})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGrader_Verdicts(t *testing.T) {
	t.Parallel()
	accuracy := `{"score":"value_accuracy","gate":"image"}`
	for _, c := range []struct {
		name, options string
		answer        bundle.Answer
		want          bundle.Verdict
	}{
		{"equal", "", bundle.Answer{Text: ` {"age":36,"name":"Ada","tags":["x","y"]} `},
			bundle.Verdict{Outcome: bundle.Right, Score: 1, Extracted: `{"age":36,"name":"Ada","tags":["x","y"]}`, Span: &[2]int{1, 41}, Rule: "JSON equal to the ground truth"}},
		{"fenced, with text beyond ASCII before it", "", bundle.Answer{Text: "é 😀\n```json\n{\"name\":\"Ada\",\"age\":36,\"tags\":[\"x\",\"y\"]}\n```"},
			bundle.Verdict{Outcome: bundle.Right, Score: 1, Extracted: `{"name":"Ada","age":36,"tags":["x","y"]}`, Span: &[2]int{12, 52}, Rule: "JSON equal to the ground truth"}},
		{"fenced, whole text wanted", `{"reading":"whole"}`, bundle.Answer{Text: "```json\n{\"name\":\"Ada\",\"age\":36,\"tags\":[\"x\",\"y\"]}\n```"},
			bundle.Verdict{Outcome: bundle.ExtractionFailed, Rule: "no JSON object or array"}},
		{"one value differs", "", bundle.Answer{Text: `{"name":"Ada","age":37,"tags":["x","y"]}`},
			bundle.Verdict{Outcome: bundle.Wrong, Extracted: `{"name":"Ada","age":37,"tags":["x","y"]}`, Span: &[2]int{0, 40}, Rule: "JSON not equal, value accuracy 0.750"}},
		{"one value differs, by value accuracy", accuracy, bundle.Answer{Text: `{"name":"Ada","age":37,"tags":["x","y"]}`},
			bundle.Verdict{Outcome: bundle.Wrong, Score: 0.75, Extracted: `{"name":"Ada","age":37,"tags":["x","y"]}`, Span: &[2]int{0, 40}, Rule: "JSON not equal, value accuracy 0.750"}},
		{"36.0 is 36 by value and not by text", accuracy, bundle.Answer{Text: `{"name":"Ada","age":36.0,"tags":["x","y"]}`},
			bundle.Verdict{Outcome: bundle.Right, Score: 1, Extracted: `{"name":"Ada","age":36.0,"tags":["x","y"]}`, Span: &[2]int{0, 42}, Rule: "JSON not equal, value accuracy 1.000"}},
		{"schema not met", "", bundle.Answer{Text: `{"name":"Ada"}`},
			bundle.Verdict{Outcome: bundle.Wrong, Extracted: `{"name":"Ada"}`, Span: &[2]int{0, 14}, Rule: "JSON not equal, schema not met"}},
		{"a scalar is no answer", "", bundle.Answer{Text: `"Ada"`}, bundle.Verdict{Outcome: bundle.ExtractionFailed, Rule: "no JSON object or array"}},
		{"prose", "", bundle.Answer{Text: `I cannot tell.`}, bundle.Verdict{Outcome: bundle.ExtractionFailed, Rule: "no JSON object or array"}},
		{"two objects", "", bundle.Answer{Text: `{"a":1} {"b":2}`}, bundle.Verdict{Outcome: bundle.ExtractionFailed, Rule: "no JSON object or array"}},
		{"cut off", "", bundle.Answer{Text: `{"name":"Ada","ag`, Finish: bundle.FinishLength},
			bundle.Verdict{Outcome: bundle.Truncated, Rule: "no JSON object or array"}},
		{"cut off behind the answer", "", bundle.Answer{Text: `{"name":"Ada","age":36,"tags":["x","y"]} and`, Finish: bundle.FinishLength},
			bundle.Verdict{Outcome: bundle.Right, Score: 1, Extracted: `{"name":"Ada","age":36,"tags":["x","y"]}`, Span: &[2]int{0, 40}, Rule: "JSON equal to the ground truth"}},
		{"empty", "", bundle.Answer{Text: " \n"}, bundle.Verdict{Outcome: bundle.Empty, Rule: "no JSON object or array"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := newGrader(t, c.options).Grade(person(), c.answer)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestGrader_Errors(t *testing.T) {
	t.Parallel()
	good := person()
	for _, c := range []struct {
		name  string
		alter func(*bundle.Task)
		class string
	}{
		{"no target", func(t *bundle.Task) { t.Target = nil }, ""},
		{"two targets", func(t *bundle.Task) { t.Target = []string{"{}", "{}"} }, ""},
		{"target is no JSON", func(t *bundle.Task) { t.Target = []string{"{"} }, "JSONDecodeError"},
		{"target is a scalar", func(t *bundle.Task) { t.Target = []string{"1"} }, ""},
		{"no schema", func(t *bundle.Task) { t.Schema = nil }, ""},
		{"schema is no JSON", func(t *bundle.Task) { t.Schema = json.RawMessage("{") }, "JSONDecodeError"},
		{"a union of types on the way", func(t *bundle.Task) {
			t.Schema = json.RawMessage(`{"type":"object","properties":{"name":{"type":["string","integer"]}}}`)
		}, "TypeError"},
		{"a reference to nothing", func(t *bundle.Task) { t.Schema = json.RawMessage(`{"$ref":"#/definitions/x"}`) }, "RefResolutionError"},
		{"a reference elsewhere", func(t *bundle.Task) { t.Schema = json.RawMessage(`{"$ref":"https://example.com/s.json"}`) }, "RefResolutionError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			task := good
			c.alter(&task)
			v, err := newGrader(t, "").Grade(task, bundle.Answer{Text: good.Target[0]})
			if err == nil {
				t.Fatalf("no error, but %+v", v)
			}
			if got := pycompat.Class(err); got != c.class {
				t.Errorf("class %q, want %q: %v", got, c.class, err)
			}
		})
	}
}

func TestNew_Refusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, kind, options, path string }{
		{"another kind", "exact_match", ``, "kind"},
		{"unknown option", sob.KindText, `{"locale":"de"}`, "locale"},
		{"unknown gate", sob.KindText, `{"gate":"video"}`, "gate"},
		{"option of another type", sob.KindText, `{"score":1}`, "score"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := sob.New(bundle.GraderConfig{Kind: c.kind, Options: json.RawMessage(c.options)})
			var r *bundle.Refusal
			if !errors.As(err, &r) || len(r.Findings) != 1 || r.Findings[0].Path != c.path {
				t.Errorf("got %v, want one finding at %s", err, c.path)
			}
		})
	}
}

func TestGrader_IdentityFollowsOptions(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, options := range []string{``, `{"gate":"image"}`, `{"gate":"audio"}`, `{"reading":"whole"}`, `{"score":"value_accuracy"}`, `{"score":"values"}`, `{"temperature":"0"}`} {
		compat := newGrader(t, options).Identity().Compat
		if other, dup := seen[compat]; dup {
			t.Errorf("%s and %s share the class %s", options, other, compat)
		}
		seen[compat] = options
	}
	if a, b := newGrader(t, ``).Identity(), newGrader(t, `{"gate":"text","score":"perfect"}`).Identity(); a != b {
		t.Errorf("defaults spelled out have another identity: %v, %v", a, b)
	}
}

// The published ground truths must be right under the text profile, even the
// one that does not meet its own schema.
func TestGrader_PublishedGoldIsRight(t *testing.T) {
	t.Parallel()
	for _, options := range []string{``, `{"score":"values"}`, `{"score":"values","gate":"image"}`} {
		g := newGrader(t, options)
		n := 0
		for _, line := range publishedRecords(t) {
			task := publishedTask(t, line)
			if f := bundle.CheckGold(g, task); f != nil {
				t.Errorf("%s %s: %v", options, task.ID, f)
			}
			n++
		}
		if n != 209 {
			t.Errorf("%d records, want 209", n)
		}
	}
}

// The profiles of the two gates have figures of their own, each the reference's
// value accuracy under its gate on every record whose truth meets its schema.
func TestGrader_ValuesFollowTheirGate(t *testing.T) {
	t.Parallel()
	lines := publishedRecords(t)
	sums := map[string]float64{}
	for _, gate := range []string{"text", "image"} {
		g := newGrader(t, `{"score":"values","gate":"`+gate+`"}`)
		others := 0
		for _, line := range lines {
			task := publishedTask(t, line)
			text, err := value.Dump{}.Dumps(at(loads(t, line), "output", "candidate_response"))
			if err != nil {
				t.Fatal(err)
			}
			a := bundle.Answer{Text: text, Finish: bundle.FinishStop}
			v, err := g.Grade(task, a)
			if err != nil {
				t.Fatal(err)
			}
			e, err := g.Evaluate(task, a, sob.Labels{RecordID: task.ID})
			if err != nil {
				t.Fatal(err)
			}
			if v.Score != e.Scores[sob.ValueAccuracy] {
				others++
			}
			sums[gate] += v.Score
		}
		if others > 1 {
			t.Errorf("gate %s: %d records differ from the reference's value accuracy, want the one whose truth breaks its schema at most", gate, others)
		}
	}
	if sums["text"] >= sums["image"] || sums["text"] == 0 {
		t.Errorf("sums %v: the gate for text counts no more than that for images", sums)
	}
}

func publishedTask(t testing.TB, line string) bundle.Task {
	t.Helper()
	r := loads(t, line)
	write := func(path ...string) string {
		s, err := value.Dump{}.Dumps(at(r, path...))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	id, _ := at(r, "metadata", "record_id").(string)
	return bundle.Task{ID: id, Target: []string{write("output", "ground_truth")}, Schema: json.RawMessage(write("input", "json_schema"))}
}

// Many goroutines share one grader and its prepared schemas.
func TestGrader_Concurrent(t *testing.T) {
	t.Parallel()
	g := newGrader(t, "")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				task := person()
				if i%2 == 0 {
					task.Schema = json.RawMessage(`{"type":"object"}`)
				}
				if v, err := g.Grade(task, bundle.Answer{Text: task.Target[0]}); err != nil || v.Outcome != bundle.Right {
					t.Errorf("got %v, %v", v, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// The evaluation of a grader is that of the record which holds the same answer.
func TestGrader_EvaluateEqualsRecord(t *testing.T) {
	t.Parallel()
	g := newGrader(t, `{"gate":"image"}`)
	for _, line := range publishedRecords(t) {
		r := loads(t, line)
		text, err := value.Dump{}.Dumps(at(r, "output", "candidate_response"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := sob.EvaluateRecord(r, sob.Image)
		if err != nil {
			t.Fatal(err)
		}
		got, err := g.Evaluate(publishedTask(t, line), bundle.Answer{Text: text}, want.Labels)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("record %v (-want +got):\n%s", want.RecordID, d)
		}
	}
}

// Leaves below a deep nesting are refused before their paths fill the memory.
func TestEvaluate_Size(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 900) + strings.Repeat("1,", 50_000) + "1" + strings.Repeat("]", 900)
	_, err := sob.Evaluate(sob.Case{Contract: sob.NewContract(&value.Dict{}), Answer: loads(t, deep)}, sob.Text)
	if !errors.Is(err, sob.ErrSize) {
		t.Errorf("got %v, want ErrSize", err)
	}
}
