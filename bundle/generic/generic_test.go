package generic_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/generic"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func must(t interface {
	Helper()
	Fatalf(string, ...any)
}, kind, options string,
) bundle.Grader {
	t.Helper()
	g, err := generic.New(generic.Config{Kind: kind, Options: json.RawMessage(options)})
	if err != nil {
		t.Fatalf("New(%s, %s): %v", kind, options, err)
	}
	return g
}

// corpusRow is one case of testdata/*/*.jsonl.
type corpusRow struct {
	Name    string          `json:"name"`
	Ref     string          `json:"ref"` // where the fault was reported, for public faults
	Kind    string          `json:"kind"`
	Options json.RawMessage `json:"options"`
	Target  []string        `json:"target"`
	Choices []string        `json:"choices"`
	Text    string          `json:"text"`
	Finish  bundle.Finish   `json:"finish"`
	Want    bundle.Outcome  `json:"want"`
	// Extracted is compared when the row gives it.
	Extracted *string `json:"extracted"`
	// Strict is what the strict reading comes to, compared when it is given.
	Strict bundle.Outcome `json:"strict"`
}

func readCorpus(t *testing.T, dir string) []corpusRow {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus in testdata/%s (%v)", dir, err)
	}
	var rows []corpusRow
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		sc := bufio.NewScanner(f)
		for sc.Scan() {
			dec := json.NewDecoder(strings.NewReader(sc.Text()))
			dec.DisallowUnknownFields()
			var r corpusRow
			if err := dec.Decode(&r); err != nil {
				t.Fatalf("%s: %v in %s", path, err, sc.Text())
			}
			rows = append(rows, r)
		}
		f.Close()
	}
	return rows
}

func TestGrade_Corpus(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"publicbugs", "cases"} {
		for _, r := range readCorpus(t, dir) {
			t.Run(dir+"/"+r.Name, func(t *testing.T) {
				t.Parallel()
				g := must(t, r.Kind, string(r.Options))
				finish := r.Finish
				if finish == "" {
					finish = bundle.FinishStop
				}
				v, err := g.Grade(bundle.Task{ID: "t", Target: r.Target, Choices: r.Choices}, bundle.Answer{Text: r.Text, Finish: finish})
				if err != nil {
					t.Fatal(err)
				}
				if v.Outcome != r.Want {
					t.Errorf("outcome %s, want %s; verdict %+v for %q", v.Outcome, r.Want, v, r.Text)
				}
				if r.Extracted != nil && v.Extracted != *r.Extracted {
					t.Errorf("extracted %q, want %q", v.Extracted, *r.Extracted)
				}
				if r.Strict != "" && v.Strict != r.Strict {
					t.Errorf("read strictly %s, want %s; %+v", v.Strict, r.Strict, v)
				}
				checkVerdict(t, r.Text, v)
			})
		}
	}
}

// checkVerdict holds for every verdict of every grader.
func checkVerdict(t interface {
	Helper()
	Errorf(string, ...any)
}, text string, v bundle.Verdict,
) {
	t.Helper()
	if (v.Outcome == bundle.Right) != (v.Score == 1) || v.Score != 0 && v.Score != 1 {
		t.Errorf("outcome %s with score %v", v.Outcome, v.Score)
	}
	if v.Rule == "" {
		t.Errorf("no rule in %+v", v)
	}
	if v.Outcome != v.Lenient && v.Outcome != v.Strict || v.Strict == bundle.Right && v.Lenient != bundle.Right {
		t.Errorf("the readings do not fit: %+v", v)
	}
	if v.Span == nil {
		if v.Extracted != "" || v.Outcome == bundle.Right || v.Outcome == bundle.Wrong {
			t.Errorf("no span in %+v", v)
		}
		return
	}
	from, to := v.Span[0], v.Span[1]
	if from < 0 || from > to || to > utf8.RuneCountInString(text) {
		t.Errorf("span %v outside the text of %d code points", *v.Span, utf8.RuneCountInString(text))
		return
	}
	// Conversion through runes would rewrite broken bytes, so cut by counting.
	cut, i := "", 0
	for rest := text; rest != "" && i < to; i++ {
		_, w := utf8.DecodeRuneInString(rest)
		if i >= from {
			cut += rest[:w]
		}
		rest = rest[w:]
	}
	if cut != v.Extracted {
		t.Errorf("span %v holds %q, extracted %q", *v.Span, cut, v.Extracted)
	}
}

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, kind, options, code, path string }{
		{"unknown kind", "regex", ``, "field_range", "kind"},
		{"no pattern", generic.RegexMatch, ``, "field_missing", "pattern"},
		{"pattern with lookahead", generic.RegexMatch, `{"pattern":"(?=x)"}`, "field_range", "pattern"},
		{"locale unknown", generic.Numeric, `{"locale":"xx"}`, "field_range", "locale"},
		{"reading unknown", generic.Numeric, `{"extraction":"loose"}`, "field_range", "extraction"},
		{"empty kind", "", `{}`, "field_range", "kind"},
		{"unknown option", generic.Numeric, `{"tolerence":"1"}`, "field_unknown", "tolerence"},
		{"letter case of an option", generic.Numeric, `{"Take":"last"}`, "field_unknown", "Take"},
		{"option twice", generic.Numeric, `{"take":"last","take":"first"}`, "json_duplicate_key", "take"},
		{"option type", generic.ExactMatch, `{"ignore_case":"yes"}`, "field_type", "ignore_case"},
		{"option word", generic.Numeric, `{"take":"middle"}`, "field_range", "take"},
		{"options not an object", generic.Numeric, `[]`, "field_type", ""},
		{"options not JSON", generic.Numeric, `{`, "json_syntax", ""},
		{"pattern does not compile", generic.Numeric, `{"answer_pattern":"(?=x)"}`, "field_range", "answer_pattern"},
		{"pattern with two groups", generic.ExactMatch, `{"answer_pattern":"(a)(b)"}`, "field_range", "answer_pattern"},
		{"pattern too long", generic.ExactMatch, `{"answer_pattern":"` + strings.Repeat("a", 501) + `"}`, "field_range", "answer_pattern"},
		{"tolerance negative", generic.Numeric, `{"tolerance":"-1"}`, "field_range", "tolerance"},
		{"tolerance not text", generic.Numeric, `{"tolerance":0.1}`, "field_type", "tolerance"},
		{"too many letters", generic.MultipleChoice, `{"letters":27}`, "field_range", "letters"},
		{"field not a pointer", generic.JSONFieldMatch, `{"fields":["a.b"]}`, "field_range", "fields[0]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := generic.New(generic.Config{Kind: c.kind, Options: json.RawMessage(c.options)})
			var r *bundle.Refusal
			if !errors.As(err, &r) {
				t.Fatalf("error %v, want a refusal", err)
			}
			if got := r.Findings[0]; got.Code != c.code || got.Path != c.path {
				t.Errorf("finding %+v, want code %s at %q", got, c.code, c.path)
			}
		})
	}
}

func TestGrade_TargetItCannotRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kind, options string
		task                bundle.Task
	}{
		{"no target", generic.ExactMatch, "", bundle.Task{}},
		{"blank target", generic.ExactMatch, "", bundle.Task{Target: []string{" \n"}}},
		{"target is decoration", generic.ExactMatch, `{"ignore_punctuation":true}`, bundle.Task{Target: []string{"**"}}},
		{"no number", generic.Numeric, "", bundle.Task{Target: []string{"pi/x"}}},
		{"two numbers", generic.Numeric, "", bundle.Task{Target: []string{"3 or 4"}}},
		{"number with words", generic.Numeric, "", bundle.Task{Target: []string{"12 apples"}}},
		{"second target broken", generic.Numeric, "", bundle.Task{Target: []string{"12", "x"}}},
		{"letter beyond the options", generic.MultipleChoice, "", bundle.Task{Target: []string{"C"}, Choices: []string{"x", "y"}}},
		{"target is the option's words", generic.MultipleChoice, "", bundle.Task{Target: []string{"x"}, Choices: []string{"x", "y"}}},
		{"27 options", generic.MultipleChoice, "", bundle.Task{Target: []string{"A"}, Choices: make([]string, 27)}},
		{"target not JSON", generic.JSONFieldMatch, "", bundle.Task{Target: []string{"{"}}},
		{"target a scalar", generic.JSONFieldMatch, "", bundle.Task{Target: []string{"4"}}},
		{"target empty", generic.JSONFieldMatch, "", bundle.Task{Target: []string{"{}"}}},
		{"field not in the target", generic.JSONFieldMatch, `{"fields":["/b"]}`, bundle.Task{Target: []string{`{"a":1}`}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v, err := must(t, c.kind, c.options).Grade(c.task, bundle.Answer{Text: "A", Finish: bundle.FinishStop})
			if err == nil {
				t.Errorf("graded %+v, want an error", v)
			}
		})
	}
}

func TestIdentity_CoversOptions(t *testing.T) {
	t.Parallel()
	compat := func(kind, options string) string { return must(t, kind, options).Identity().Compat }
	if a, b := compat(generic.Numeric, ""), compat(generic.Numeric, `{"tolerance":"0.0","take":"last","percent":"face"}`); a != b {
		t.Errorf("defaults written out changed the class: %s, %s", a, b)
	}
	seen := map[string]string{}
	for _, c := range [][2]string{
		{generic.Numeric, ""}, {generic.Numeric, `{"take":"first"}`}, {generic.Numeric, `{"percent":"strict"}`},
		{generic.Numeric, `{"tolerance":"0.01"}`}, {generic.Numeric, `{"answer_pattern":"x"}`}, {generic.Numeric, `{"locale":"de"}`}, {generic.Numeric, `{"extraction":"strict"}`},
		{generic.RegexMatch, `{"pattern":"x"}`}, {generic.RegexMatch, `{"pattern":"x","extraction":"strict"}`},
		{generic.ExactMatch, ""}, {generic.ExactMatch, `{"ignore_case":true}`}, {generic.ExactMatch, `{"ignore_punctuation":true}`},
		{generic.MultipleChoice, ""}, {generic.MultipleChoice, `{"letters":4}`},
		{generic.JSONFieldMatch, ""}, {generic.JSONFieldMatch, `{"extra":"allow"}`}, {generic.JSONFieldMatch, `{"fields":["/a"]}`},
	} {
		id := compat(c[0], c[1])
		if other, ok := seen[id]; ok {
			t.Errorf("%v and %s share the class %s", c, other, id)
		}
		seen[id] = c[0] + c[1]
	}
	want := bundle.Identity{ID: "generic/numeric", Version: "3"}
	got := must(t, generic.Numeric, "").Identity()
	want.Compat = got.Compat
	if d := cmp.Diff(want, got); d != "" || !strings.HasPrefix(got.Compat, "generic/numeric@3+") {
		t.Error(d, got.Compat)
	}
}

// The label of an answer that is not right says why; a right one is right
// whatever the finish reason.
func TestGrade_FinishOnlyLabels(t *testing.T) {
	t.Parallel()
	g := must(t, generic.Numeric, "")
	for _, c := range []struct {
		name   string
		text   string
		finish bundle.Finish
		want   bundle.Outcome
	}{
		{"right", "so 18", bundle.FinishStop, bundle.Right},
		{"right though cut off", "so 18", bundle.FinishLength, bundle.Right},
		{"wrong", "so 17", bundle.FinishStop, bundle.Wrong},
		{"cut off with another number", "so 17", bundle.FinishLength, bundle.Truncated},
		{"cut off without a number", "first we", bundle.FinishLength, bundle.Truncated},
		{"cut off before any text", "", bundle.FinishLength, bundle.Truncated},
		{"empty", "", bundle.FinishStop, bundle.Empty},
		{"blank", " \n\t", bundle.FinishUnknown, bundle.Empty},
		{"nothing found", "I cannot tell.", bundle.FinishStop, bundle.ExtractionFailed},
		{"filtered text is graded", "so 18", bundle.FinishFilter, bundle.Right},
		{"another reason", "so 17", "other:pause", bundle.Wrong},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v, err := g.Grade(bundle.Task{Target: []string{"18"}}, bundle.Answer{Text: c.text, Finish: c.finish})
			if err != nil || v.Outcome != c.want {
				t.Errorf("got %+v %v, want %s", v, err, c.want)
			}
			checkVerdict(t, c.text, v)
		})
	}
}

// Every character that may decorate a number leaves it readable on both
// edges, and every letter that touches it does not.
func TestNumeric_Edges(t *testing.T) {
	t.Parallel()
	g := must(t, generic.Numeric, "")
	task := bundle.Task{Target: []string{"42"}}
	const ascii = "!\"#$&'()*,/:;<=>?@[\\]^_`{|}~"
	const wide = "、。，．：；！？（）「」『』【】《》〈〉“”‘’…—·•€£¥₹"
	for _, l := range ascii + wide + " " {
		for _, r := range ascii + wide + "%.- " {
			text := string(l) + "42" + string(r)
			want := bundle.Right
			if (l == '<' || l == '>') && string(l)+string(r) != "<>" {
				want = bundle.ExtractionFailed // a bound
			}
			v, err := g.Grade(task, bundle.Answer{Text: text, Finish: bundle.FinishStop})
			if err != nil || v.Outcome != want {
				t.Errorf("%q: %+v %v, want %s", text, v, err, want)
			}
		}
	}
	for _, text := range []string{"42abc", "x42", "42nd", "v42", "42_x", "x_42", "42π", "42²", "2^42", "42^2", "42**2", "1.42.1", "10:42", "42:10", "4,2", "42/0", "1/2/42"} {
		v, err := g.Grade(task, bundle.Answer{Text: text, Finish: bundle.FinishStop})
		if err != nil || v.Outcome != bundle.ExtractionFailed {
			t.Errorf("%q: %+v %v, want no extraction", text, v, err)
		}
	}
}

// A number is right under any of its spellings, and equality has no
// direction.
func TestNumeric_Spellings(t *testing.T) {
	t.Parallel()
	g := must(t, generic.Numeric, "")
	right := func(target, text string) bool {
		v, err := g.Grade(bundle.Task{Target: []string{target}}, bundle.Answer{Text: text, Finish: bundle.FinishStop})
		if err != nil {
			t.Fatalf("%q: %v", target, err)
		}
		return v.Outcome == bundle.Right
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(-999_999_999_999, 999_999_999_999).Draw(t, "n")
		m := rapid.Int64Range(-999_999_999_999, 999_999_999_999).Draw(t, "m")
		for _, a := range spellings(n) {
			for _, b := range spellings(n) {
				if !right(a, b) {
					t.Fatalf("%q is not %q", b, a)
				}
				if !right(a, "First 7 of them, then the total is "+b+".") {
					t.Fatalf("%q in a sentence is not %q", b, a)
				}
			}
			for _, b := range spellings(m) {
				if right(a, b) != (n == m) || right(b, a) != (n == m) {
					t.Fatalf("%q against %q", b, a)
				}
			}
		}
	})
}

func spellings(n int64) []string {
	sign, abs := "", n
	if n < 0 {
		sign, abs = "-", -n
	}
	plain := bundleItoa(abs)
	grouped := ""
	for i, d := range plain {
		if i > 0 && (len(plain)-i)%3 == 0 {
			grouped += ","
		}
		grouped += string(d)
	}
	minus := strings.Replace(sign, "-", "−", 1)
	return []string{
		sign + plain, minus + plain, sign + plain + ".0", sign + plain + ".00", sign + grouped,
		sign + "$" + grouped, minus + "€" + plain + ".000", sign + "0" + plain, sign + plain + "e0", sign + plain + "0e-1",
	}
}

func bundleItoa(n int64) string {
	b, _ := json.Marshal(n)
	return string(b)
}

// Long answers that are built to make a search start over at every character.
// A grader that is not linear would run for minutes here.
func TestGrade_LongHostileAnswers(t *testing.T) {
	t.Parallel()
	for name, unit := range map[string]string{
		"digits": "1", "separated digits": "1,", "points": ".", "signs": "- ", "slashes": "1/", "exponents": "1e1", "fractions": "\\frac{1}", "letters": "a1",
		"open objects": `{"a":`, "open braces": "{", "open strings": `{"a":"`, "objects": "{} ", "fences": "```\n", "tilde": "~~~json\n{\n",
		"answers": "Answer: ", "sentences": "option A is correct or ", "boxes": `\boxed{`, "wrapping": "Answer: (*[", "blanks": " ", "broken": "\xff", "spaces between digits": "1\u00a0",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Repeat(unit, (1<<15)/len(unit))
			for _, r := range fuzzRuns(t) {
				v, err := r.g.Grade(r.task, bundle.Answer{Text: text, Finish: bundle.FinishStop})
				if err != nil || v.Outcome == bundle.Right {
					t.Errorf("%s: %s %v", r.g.Identity().ID, v.Outcome, err)
				}
			}
		})
	}
}

type fuzzRun struct {
	g    bundle.Grader
	task bundle.Task
}

func fuzzRuns(t interface {
	Helper()
	Fatalf(string, ...any)
},
) []fuzzRun {
	t.Helper()
	return []fuzzRun{
		{must(t, generic.Numeric, ""), bundle.Task{Target: []string{"42"}}},
		{must(t, generic.Numeric, `{"answer_pattern":"(?i)answer:(.*)","take":"first","percent":"fraction","tolerance":"0.5"}`), bundle.Task{Target: []string{"7/4"}}},
		{must(t, generic.ExactMatch, `{"answer_pattern":"(?i)answer:(.*)","ignore_case":true,"ignore_punctuation":true}`), bundle.Task{Target: []string{"red"}}},
		{must(t, generic.Numeric, `{"locale":"de","extraction":"strict"}`), bundle.Task{Target: []string{"1.234,5"}}},
		{must(t, generic.RegexMatch, `{"pattern":"(?i)answer:\\s*(\\w+)","ignore_case":true}`), bundle.Task{Target: []string{"red"}}},
		{must(t, generic.MultipleChoice, ""), bundle.Task{Target: []string{"B"}, Choices: []string{"red", "green", "blue"}}},
		{must(t, generic.JSONFieldMatch, ""), bundle.Task{Target: []string{`{"a":1,"b":[true,null]}`}}},
		{must(t, generic.JSONFieldMatch, `{"fields":["/a"],"ignore_case":true}`), bundle.Task{Target: []string{`{"a":"x"}`}}},
	}
}
