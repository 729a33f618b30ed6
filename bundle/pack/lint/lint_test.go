package lint_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/bundle/pack"
	"github.com/evalrouter/evalrouter/bundle/pack/draft"
	"github.com/evalrouter/evalrouter/bundle/pack/lint"
	"github.com/evalrouter/evalrouter/bundle/pack/packtest"
)

func run(t *testing.T, fsys fstest.MapFS) lint.Report {
	t.Helper()
	rep, err := lint.Run(context.Background(), fsys, pack.Options{Graders: families.Grader})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func rules(rep lint.Report) []string {
	var out []string
	for _, f := range rep.Findings {
		if !slices.Contains(out, f.Rule) {
			out = append(out, f.Rule)
		}
	}
	slices.Sort(out)
	return out
}

func TestGood(t *testing.T) {
	t.Parallel()
	for _, template := range pack.Templates() {
		t.Run(template, func(t *testing.T) {
			t.Parallel()
			rep := run(t, packtest.Good(template).FS())
			if !rep.Clean {
				t.Errorf("%v", rep.Findings)
			}
			if rep.Mutation.Total < 9 || rep.Mutation.Killed != rep.Mutation.Total {
				t.Errorf("%+v", rep.Mutation)
			}
		})
	}
}

// Of a draft nothing is wrong but that it is one.
func TestDrafts(t *testing.T) {
	t.Parallel()
	for _, template := range pack.Templates() {
		t.Run(template, func(t *testing.T) {
			t.Parallel()
			files, err := draft.Files(draft.Draft{Namespace: "acme", Name: "draft", Template: template})
			if err != nil {
				t.Fatal(err)
			}
			p := packtest.Package{}
			for _, f := range files {
				p[f.Path] = f.Data
			}
			rep := run(t, p.FS())
			want := []string{"license_not_granted", "package_synthetic", "readme_draft", "rights_draft", "tasks_few"}
			if d := cmp.Diff(want, rules(rep)); d != "" {
				t.Errorf("%s%v", d, rep.Findings)
			}
			if rep.Mutation.Killed*10 < rep.Mutation.Total*9 {
				t.Errorf("%+v", rep.Mutation)
			}
		})
	}
}

// seeded is one fault put into a good benchmark.
type seeded struct {
	name, template, rule string
	change               func(p packtest.Package)
}

// setTask changes fields of one task; a nil value removes.
func setTask(p packtest.Package, i int, fields map[string]any) {
	lines := bytes.SplitAfter(p[pack.TasksFile], []byte("\n"))
	var t map[string]any
	if err := json.Unmarshal(lines[i], &t); err != nil {
		panic(err)
	}
	for k, v := range fields {
		t[k] = v
	}
	b, err := json.Marshal(t)
	if err != nil {
		panic(err)
	}
	lines[i] = append(b, '\n')
	p[pack.TasksFile] = bytes.Join(lines, nil)
}

func task(p packtest.Package, i int) map[string]any {
	var t map[string]any
	if err := json.Unmarshal(bytes.Split(p[pack.TasksFile], []byte("\n"))[i], &t); err != nil {
		panic(err)
	}
	return t
}

func input(i int, text string) func(packtest.Package) {
	return func(p packtest.Package) { setTask(p, i, map[string]any{"input": text}) }
}

func manifest(old, with string) func(packtest.Package) {
	return func(p packtest.Package) {
		if !bytes.Contains(p[pack.ManifestFile], []byte(old)) {
			panic("the manifest does not hold " + old)
		}
		p[pack.ManifestFile] = bytes.Replace(p[pack.ManifestFile], []byte(old), []byte(with), 1)
	}
}

// fixtures keeps the lines of fixtures that hold none of the words.
func without(words ...string) func(packtest.Package) {
	return func(p packtest.Package) {
		var kept []string
		for l := range strings.Lines(string(p[pack.FixturesFile])) {
			if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(l, w) }) {
				kept = append(kept, l)
			}
		}
		p[pack.FixturesFile] = []byte(strings.Join(kept, ""))
	}
}

func faults() []seeded {
	text, choice, number, object, talk := pack.TemplateText, pack.TemplateChoice, pack.TemplateNumeric, pack.TemplateJSON, pack.TemplateConversation
	all := []seeded{
		{"a number in words", number, "gold_not_gradable", func(p packtest.Package) { setTask(p, 20, map[string]any{"target": "about thirty"}) }},
		{"a target that is broken JSON", object, "gold_not_gradable", func(p packtest.Package) { setTask(p, 20, map[string]any{"target": `{"a":`}) }},
		{"a target of several lines under a pattern of one", text, "gold_not_right", func(p packtest.Package) { setTask(p, 20, map[string]any{"target": "first\nANSWER: second"}) }},
		{"the same question and answer", text, "task_repeated", func(p packtest.Package) {
			setTask(p, 20, map[string]any{"input": task(p, 9)["input"], "target": task(p, 9)["target"]})
		}},
		{"the same question in capitals", text, "task_repeated", func(p packtest.Package) {
			setTask(p, 20, map[string]any{"input": strings.ToUpper(task(p, 9)["input"].(string)) + "?!", "target": task(p, 9)["target"]})
		}},
		{"the same options in another order", choice, "task_repeated", func(p packtest.Package) {
			t := task(p, 9)
			options := slices.Clone(t["choices"].([]any))
			slices.Reverse(options)
			setTask(p, 20, map[string]any{"input": t["input"], "choices": options, "target": string(rune('A' + 'D' - rune(t["target"].(string)[0])))})
		}},
		{"the same question with another answer", text, "task_contradicted", func(p packtest.Package) { setTask(p, 20, map[string]any{"input": task(p, 9)["input"]}) }},
		{"a conversation twice, with another answer", talk, "task_contradicted", func(p packtest.Package) { setTask(p, 20, map[string]any{"input": task(p, 9)["input"]}) }},
		{"one word more", text, "task_nearly_repeated", func(p packtest.Package) {
			setTask(p, 20, map[string]any{"input": "So " + task(p, 28)["input"].(string), "target": task(p, 28)["target"]})
		}},
		{"the answer announced", text, "answer_leaked", input(20, "Theatres raise a heavy red one. (Correct answer: curtain) What is it?")},
		{"the answer as a hint", number, "answer_leaked", func(p packtest.Package) {
			setTask(p, 20, map[string]any{"input": task(p, 20)["input"].(string) + " Hint: " + fmt.Sprint(task(p, 20)["target"])})
		}},
		{"the right letter", choice, "answer_leaked", func(p packtest.Package) {
			setTask(p, 20, map[string]any{"input": task(p, 20)["input"].(string) + "\nKey = (" + task(p, 20)["target"].(string) + ")"})
		}},
		{"the assistant answers in the prompt", talk, "answer_leaked", func(p packtest.Package) {
			setTask(p, 20, map[string]any{"input": []pack.Turn{{Role: "user", Text: "Theatres raise it."}, {Role: "assistant", Text: "ANSWER: curtain"}, {Role: "user", Text: "Sure?"}}})
		}},
		{"options that differ in case", choice, "choice_ambiguous", func(p packtest.Package) {
			c := task(p, 20)["choices"].([]any)
			c[0], c[1] = "feather", "Feather."
			letter := slices.Index(c, any("curtain"))
			if letter < 0 {
				c[2], letter = "curtain", 2
			}
			setTask(p, 20, map[string]any{"choices": c, "target": string(rune('A' + letter))})
		}},
		{"options that are one number", choice, "choice_ambiguous", func(p packtest.Package) {
			setTask(p, 20, map[string]any{"choices": []any{"0.5", "0.50", "0.25", "2"}, "target": "C"})
		}},
		{"all of the above", choice, "choice_refers", func(p packtest.Package) {
			setTask(p, 20, map[string]any{"choices": []any{"curtain", "stage", "seat", "All of the above"}, "target": "A"})
		}},
		{"options that are not shown", choice, "choices_not_shown", manifest(`\n\n{{choices}}`, "")},
		{"always the same letter", choice, "answers_unbalanced", func(p packtest.Package) {
			for i := range 32 {
				t := task(p, i)
				c := t["choices"].([]any)
				at := int(t["target"].(string)[0] - 'A')
				if i >= 6 { // fixtures speak about the first
					c[0], c[at] = c[at], c[0]
					setTask(p, i, map[string]any{"choices": c, "target": "A"})
				}
			}
		}},
		{"nearly always yes", text, "answers_unbalanced", func(p packtest.Package) {
			for i := 6; i < 32; i++ {
				setTask(p, i, map[string]any{"target": "yes"})
			}
		}},
		{"the right option is the longest", choice, "choice_longest", func(p packtest.Package) {
			for i := 6; i < 32; i++ {
				t := task(p, i)
				c := t["choices"].([]any)
				at := int(t["target"].(string)[0] - 'A')
				c[at] = c[at].(string) + ", to be quite precise"
				setTask(p, i, map[string]any{"choices": c})
			}
		}},
		{"a zero-width space", text, "text_hidden", input(20, "Theatres raise a heavy\u200b red one. What is it?")},
		{"text that is reordered", text, "text_hidden", input(20, "Theatres raise a heavy \u202ered one. What is it?")},
		{"a placeholder that nothing fills", text, "text_placeholder", input(20, "Theatres raise a heavy {{colour}} one. What is it?")},
		{"a note to oneself", text, "text_placeholder", input(20, "Theatres raise a heavy red one. TODO: better clue. What is it?")},
		{"an answer that does not fit", object, "limit_too_small", manifest(`"max_output_tokens": 256`, `"max_output_tokens": 2`)},
		{"half of the tasks", text, "tasks_few", func(p packtest.Package) {
			p[pack.TasksFile] = bytes.Join(bytes.SplitAfter(p[pack.TasksFile], []byte("\n"))[:16], nil)
		}},
		{"no licence granted", text, "license_not_granted", manifest(`"CC0-1.0"`, `"LicenseRef-NotGranted"`)},
		{"declared synthetic", text, "package_synthetic", manifest(`"title"`, `"synthetic": true, "title"`)},
		{"the rights of the draft", text, "rights_draft", func(p packtest.Package) {
			p[pack.RightsFile] = []byte("RIGHTS\n\nReplace this text before you submit. Say who owns the tasks.\n")
		}},
		{"the page of the draft", text, "readme_draft", func(p packtest.Package) {
			p[pack.ReadmeFile] = []byte("# Mine\n\nIts tasks are synthetic: they\ncame with the tool and measure nothing.\n")
		}},
		{"a fixture that expects the wrong outcome", text, "fixture_disagrees", func(p packtest.Package) {
			p[pack.FixturesFile] = append(p[pack.FixturesFile], `{"task":"g09","output":"ANSWER: lamp","expect":"right"}`+"\n"...)
		}},
		{"no wrong answer among the fixtures", text, "fixture_outcome_missing", without(`"wrong"`)},
		{"no empty answer among the fixtures", number, "fixture_outcome_missing", without(`"empty"`)},
		{"no truncated answer among the fixtures", object, "fixture_outcome_missing", without(`"truncated"`)},
		{"no answer without a letter among the fixtures", choice, "fixture_outcome_missing", without(`"extraction_failed"`)},
		{"fixtures that notice little", text, "fixtures_weak", func(p packtest.Package) {
			p[pack.FixturesFile] = []byte(`{"task":"g00","output":"lamp","expect":"right"}
{"task":"g01","output":"ANSWER: no","expect":"wrong"}
{"task":"g02","output":"","expect":"empty"}
{"task":"g03","output":"I do","finish":"length","expect":"truncated"}
{"task":"g04","output":"I do not know","expect":"extraction_failed"}
`)
			manifest(`"answer_pattern"`, `"ignore_punctuation": true, "answer_pattern"`)(p)
		}},
	}
	return all
}

// Lint finds every fault that is put into a good benchmark, and nothing else.
func TestSeededFaults(t *testing.T) {
	t.Parallel()
	shown := map[string]bool{}
	for _, f := range faults() {
		shown[f.rule] = true
		t.Run(f.rule+"/"+f.name, func(t *testing.T) {
			t.Parallel()
			p := packtest.Good(f.template)
			f.change(p)
			p.Seal()
			rep := run(t, p.FS())
			if !rep.Package.Valid {
				t.Fatalf("not a valid package: %v", rep.Package.Findings)
			}
			if d := cmp.Diff([]string{f.rule}, rules(rep)); d != "" {
				t.Errorf("%s%v", d, rep.Findings)
			}
			for _, x := range rep.Findings {
				if x.Message == "" || x.Remedy == "" || x.Path == "" {
					t.Errorf("a finding without words: %+v", x)
				}
			}
		})
	}
	for _, r := range lint.Rules() {
		if !shown[r.ID] {
			t.Errorf("no fault shows %s", r.ID)
		}
	}
	if len(faults()) < 20 {
		t.Errorf("%d faults", len(faults()))
	}
}

// A package that is not valid is not linted; its findings are those of the
// validator.
func TestInvalid(t *testing.T) {
	t.Parallel()
	p := packtest.Good(pack.TemplateText)
	setTask(p, 3, map[string]any{"id": ""})
	p.Seal()
	rep := run(t, p.FS())
	if d := cmp.Diff([]string{"task_field_range"}, rules(rep)); d != "" || rep.Clean || rep.Errors != 1 {
		t.Errorf("%s%+v", d, rep)
	}
}

// Tasks that a template made with other numbers are different tasks, and a
// text that holds its answer is no leak.
func TestNotFaults(t *testing.T) {
	t.Parallel()
	p := packtest.Good(pack.TemplateText)
	for i := 6; i < 32; i++ {
		setTask(p, i, map[string]any{
			"input":  fmt.Sprintf("In the year %d a farmer had %d sheep and sold half of them at the market. He called the best one Nr%d. How did he call it?", 1900+i, 2*i, i),
			"target": fmt.Sprintf("Nr%d", i),
		})
	}
	p.Seal()
	if rep := run(t, p.FS()); !rep.Clean {
		t.Errorf("%v", rep.Findings)
	}
}
