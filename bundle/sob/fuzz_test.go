package sob_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
	"github.com/evalrouter/evalrouter/bundle/sob"
)

// FuzzExtract holds the reading of replies to what follows from its rule: what
// it found stands where it says, parses to what it says, and extracting it
// again changes nothing.
func FuzzExtract(f *testing.F) {
	for _, s := range []string{
		`{"a":1}`, "```json\n{\"a\":[1,2]}\n```", "x {\"a\":1} y", "[1,2]", "\ufeff{\"a\":1}", `{"a":1}{"b":2}`, `}{`, "", " 1 ",
		`{"a":"}"} z`, `{"a":NaN}`, "\"\\ud800\"", "{\"\xff\":1}", strings.Repeat("[", 2000), `{"a":1,"a":2}`, "nul",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, rule := range []sob.Reading{sob.Rescue, sob.Whole} {
			got := sob.Extract(text, rule)
			if !got.Parsed {
				if got.Value != any(text) {
					t.Fatalf("an unparsed text became %v", got.Value)
				}
				continue
			}
			part := text[got.From:got.To]
			again := sob.Extract(part, sob.Whole)
			if !again.Parsed || value.Repr(again.Value) != value.Repr(got.Value) || again.From != 0 || again.To != len(part) {
				t.Fatalf("%q gives %s, but its part %q gives %s", text, value.Repr(got.Value), part, value.Repr(again.Value))
			}
		}
	})
}

// FuzzEvaluate scores arbitrary answers, truths and schemas. Every outcome must
// be a row in bounds or an error, and the gates must hold.
func FuzzEvaluate(f *testing.F) {
	for _, s := range [][3]string{
		{personSchema, `{"name":"Ada","age":36}`, `{"name":"ada","age":36.0,"tags":[]}`},
		{`{"type":"array","items":{"type":"object","required":["x"]}}`, `[{"x":1},{"x":2}]`, `[{"x":1}]`},
		{`{"properties":{"a":{"type":["string","integer"]}},"type":"object"}`, `{"a":1}`, `{"a":"1","[x]":2}`},
		{`{"$ref":"#"}`, `[]`, `{}`},
		{`{"type":"object","required":[1,null,"a"]}`, `null`, `x`},
		{`{"uniqueItems":true,"pattern":"(a*)*b"}`, `"aaaa"`, `[1,true,[1],[true]]`},
		{`true`, `{"":{"":1}}`, `{"":1,"a.b":2,"a":{"b":3}}`},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, schema, truth, answer string) {
		s, err := value.Loads(schema)
		if err != nil {
			return
		}
		g, err := value.Loads(truth)
		if err != nil {
			return
		}
		c := sob.Case{Contract: sob.NewContract(s), Truth: g, Answer: sob.Extract(answer, sob.Rescue).Value}
		for _, m := range []sob.Modality{sob.Text, sob.Image} {
			e, err := sob.Evaluate(c, m)
			if err != nil {
				continue
			}
			checkRow(t, e)
			same := c
			same.Answer = c.Truth
			if e, err := sob.Evaluate(same, m); err == nil && e.Scores[sob.ParseSuccess] == 1 && e.Scores[sob.Perfect] != 1 {
				t.Fatal("the ground truth is not a perfect response to itself")
			}
		}
	})
}

func checkRow(t interface{ Fatalf(string, ...any) }, e sob.Evaluation) {
	for m, x := range e.Scores {
		if !(x >= 0 && x <= 1) {
			t.Fatalf("%s is %v", sob.Metric(m), x)
		}
	}
	if e.Scores[sob.Compliance] == 0 {
		for _, m := range []sob.Metric{sob.ValueAccuracy, sob.Faithfulness, sob.PathRecall, sob.StructureCoverage, sob.TypeSafety} {
			if e.Scores[m] != 0 {
				t.Fatalf("%s is %v without compliance", m, e.Scores[m])
			}
		}
	}
	if _, err := e.AppendLine(nil, sob.Image); err != nil {
		t.Fatalf("a scored record cannot be written: %v", err)
	}
}

// jsonValue draws JSON values small enough to collide.
func jsonValue() *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any { return drawValue(t, 3) })
}

func drawValue(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth == 0 {
		kind %= 5
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.Int64Range(-3, 3).Draw(t, "int")
	case 3:
		return rapid.SampledFrom([]float64{-1, 0, 0.5, 1, 3}).Draw(t, "float")
	case 4:
		return rapid.SampledFrom([]string{"", "a", "the cat", "Cat!", "é", "x y"}).Draw(t, "text")
	case 5:
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			out = append(out, drawValue(t, depth-1))
		}
		return out
	}
	out := &value.Dict{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		_ = out.Set(rapid.SampledFrom([]string{"a", "b", "a.b", "x[0]", ""}).Draw(t, "key"), drawValue(t, depth-1))
	}
	return out
}

// Laws of the metrics: F1 figures are symmetric, a value is equal to itself in
// every respect, and a value survives being written and extracted.
func TestLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := jsonValue().Draw(t, "a"), jsonValue().Draw(t, "b")
		if x, y := sob.TokenF1(a, b), sob.TokenF1(b, a); x != y {
			t.Fatalf("token F1 is %v one way and %v the other", x, y)
		}
		_, x := sob.PathMetrics(a, b)
		if _, y := sob.PathMetrics(b, a); x != y {
			t.Fatalf("structure coverage is %v one way and %v the other", x, y)
		}
		if sob.ValueEM(a, a) != 1 || sob.MeanTokenF1(a, a) != 1 || sob.TokenF1(a, a) != 1 {
			t.Fatal("a value is not equal to itself")
		}
		text, err := value.Dump{}.Dumps(a)
		if err != nil {
			t.Fatal(err)
		}
		if got := sob.Extract(text, sob.Whole); value.Repr(got.Value) != value.Repr(a) {
			t.Fatalf("%s became %s", value.Repr(a), value.Repr(got.Value))
		}
		e, err := sob.Evaluate(sob.Case{Contract: sob.NewContract(&value.Dict{}), Answer: a, Truth: b}, sob.Audio)
		if err == nil {
			checkRow(t, e)
		}
	})
}

// A row that is written and read back is the same row.
func TestRow_RoundTrip(t *testing.T) {
	t.Parallel()
	e, err := sob.Evaluate(sob.Case{
		Labels:   sob.Labels{RecordID: int64(7), ModelID: "m", SchemaComplexity: "hard", QuestionDifficulty: "unknown"},
		Contract: sob.NewContract(loads(t, personSchema)),
		Answer:   loads(t, `{"name":"Ada"}`), Truth: loads(t, `{"name":"Ada Lovelace","age":36}`),
	}, sob.Image)
	if err != nil {
		t.Fatal(err)
	}
	line, err := e.AppendLine(nil, sob.Image)
	if err != nil {
		t.Fatal(err)
	}
	got, err := sob.ReadLine(string(line))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(e, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	for _, bad := range []string{``, `[]`, `{}`, strings.Replace(string(line), `"difficulty_weight": 3.0`, `"difficulty_weight": "3"`, 1)} {
		if _, err := sob.ReadLine(bad); err == nil {
			t.Errorf("no error for %q", bad)
		}
	}
}
