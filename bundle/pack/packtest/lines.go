package packtest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/jsonl"
	"github.com/evalrouter/evalrouter/bundle/pack"
)

// lineCase replaces the first line of a file.
type lineCase struct{ name, rule, line string }

func breakLines(file, template string, cases []lineCase) []Broken {
	var all []Broken
	for _, c := range cases {
		p := Good(template)
		_, rest, _ := bytes.Cut(p[file], []byte("\n"))
		p[file] = append([]byte(c.line+"\n"), rest...)
		p.Seal()
		all = append(all, Broken{Name: fmt.Sprintf("%s of %s: %s", file, template, c.name), Rule: c.rule, Files: p, Line: c.line})
	}
	return all
}

// jsonCases are lines that no JSON object may look like, whatever its fields.
// good is a good line.
func jsonCases(prefix, good string) []lineCase {
	open := strings.TrimSuffix(good, "}")
	return []lineCase{
		{"not JSON", prefix + "_json_syntax", "hello"},
		{"cut off", prefix + "_json_syntax", good[:len(good)/2]},
		{"two objects", prefix + "_json_syntax", good + good},
		{"a comma at its end", prefix + "_json_syntax", open + ",}"},
		{"a byte order mark", prefix + "_json_syntax", "\ufeff" + good},
		{"a control character", prefix + "_json_syntax", strings.Replace(good, `":"`, "\":\"\x02", 1)},
		{"an escape that is none", prefix + "_json_syntax", strings.Replace(good, `":"`, `":"\q`, 1)},
		{"Latin-1", prefix + "_json_encoding", strings.Replace(good, `":"`, "\":\"\xe9", 1)},
		{"half a pair", prefix + "_json_encoding", strings.Replace(good, `":"`, `":"\ud83d`, 1)},
		{"a key twice", prefix + "_json_duplicate_key", strings.Replace(good, "{", strings.SplitAfter(good, ",")[0], 1)},
		{"an array", prefix + "_field_type", "[" + good + "]"},
		{"a text", prefix + "_field_type", `"x"`},
		{"null", prefix + "_field_type", "null"},
		{"an unknown field", prefix + "_field_unknown", open + `,"extra":1}`},
		{"a field in another case", prefix + "_field_unknown", open + `,"Input":"x"}`},
		{"no fields", prefix + "_field_missing", "{}"},
		{"blank", prefix + "_line_blank", " \t"},
		{"empty", prefix + "_line_blank", ""},
		{"too long", prefix + "_line_too_long", open + strings.Repeat(" ", jsonl.MaxLine) + "}"},
	}
}

func taskCases() []Broken {
	const text = `{"id":"g00","input":"A question?","target":"x"}`
	const choice = `{"id":"g00","input":"A question?","target":"A","choices":["one","two"]}`
	const number = `{"id":"g00","input":"A question?","target":7}`
	const object = `{"id":"g00","input":"A question?","target":{"a":1}}`
	const talk = `{"id":"g00","input":[{"role":"user","text":"Hi"}],"target":"x"}`
	var all []Broken
	for template, good := range map[string]string{
		pack.TemplateText: text, pack.TemplateChoice: choice, pack.TemplateNumeric: number, pack.TemplateJSON: object, pack.TemplateConversation: talk,
	} {
		all = append(all, breakLines(pack.TasksFile, template, jsonCases("task", good))...)
		all = append(all, breakLines(pack.TasksFile, template, taskFieldCases(good))...)
	}
	turns := func(s string) string { return `{"id":"g00","input":` + s + `,"target":"x"}` }
	target := func(s string) string { return `{"id":"g00","input":"A question?","target":` + s + `}` }
	options := func(s string) string { return `{"id":"g00","input":"A question?","target":"A","choices":` + s + `}` }
	all = append(all, breakLines(pack.TasksFile, pack.TemplateText, []lineCase{
		{"a conversation", "task_input_form", talk}, {"options", "task_choices_form", choice},
		{"a number", "task_target_form", target("7")}, {"an object", "task_target_form", target(`{"a":1}`)}, {"a number among answers", "task_target_form", target(`["a",1]`)},
		{"65 answers", "task_target_form", target("[" + strings.Repeat(`"a",`, pack.MaxTargets) + `"a"]`)},
		{"no answer", "task_field_missing", target("[]")}, {"a blank answer", "task_target_blank", target(`["a"," "]`)},
	})...)
	all = append(all, breakLines(pack.TasksFile, pack.TemplateNumeric, []lineCase{
		{"a large exponent", "task_json_number", target("1e99999")}, {"an object", "task_target_form", target(`{"a":1}`)},
		{"a leading zero", "task_json_syntax", target("07")}, {"hexadecimal", "task_json_syntax", target("0x7")},
	})...)
	all = append(all, breakLines(pack.TasksFile, pack.TemplateJSON, []lineCase{
		{"an empty object", "task_field_missing", target("{ }")}, {"an empty array", "task_field_missing", target("[]")},
		{"a number", "task_target_form", target("7")}, {"a key twice inside", "task_json_duplicate_key", target(`{"a":1,"a":2}`)},
		{"deep", "task_json_depth", target(strings.Repeat(`[`, 70) + strings.Repeat(`]`, 70))},
	})...)
	all = append(all, breakLines(pack.TasksFile, pack.TemplateChoice, []lineCase{
		{"no options", "task_choices_form", text}, {"one option", "task_field_range", options(`["one"]`)},
		{"27 options", "task_field_range", options("[" + strings.Repeat(`"a",`, 0) + letters(27) + "]")},
		{"equal options", "task_choice_repeated", options(`["one","one"]`)}, {"equal options, one escaped", "task_choice_repeated", options(`["one","on\u0065"]`)},
		{"a blank option", "task_field_missing", options(`["one",""]`)}, {"a number as an option", "task_field_type", options(`["one",2]`)}, {"options that are text", "task_field_type", options(`"one"`)},
		{"a letter without an option", "task_target_letter", strings.Replace(choice, `"A"`, `"C"`, 1)}, {"a small letter", "task_target_letter", strings.Replace(choice, `"A"`, `"a"`, 1)},
		{"the words of an option", "task_target_letter", strings.Replace(choice, `"A"`, `"one"`, 1)},
	})...)
	all = append(all, breakLines(pack.TasksFile, pack.TemplateConversation, []lineCase{
		{"text", "task_input_form", text}, {"nothing said", "task_input_turns", turns(`[]`)},
		{"the assistant last", "task_input_turns", turns(`[{"role":"user","text":"Hi"},{"role":"assistant","text":"Hi"}]`)},
		{"a system message late", "task_input_turns", turns(`[{"role":"user","text":"Hi"},{"role":"system","text":"x"},{"role":"user","text":"Hi"}]`)},
		{"an unknown role", "task_field_range", turns(`[{"role":"tool","text":"Hi"}]`)}, {"no role", "task_field_missing", turns(`[{"text":"Hi"}]`)},
		{"no text", "task_field_missing", turns(`[{"role":"user"}]`)}, {"a blank text", "task_field_missing", turns(`[{"role":"user","text":"\n"}]`)},
		{"text that is a number", "task_field_type", turns(`[{"role":"user","text":1}]`)}, {"a turn that is text", "task_field_type", turns(`["Hi"]`)},
		{"a name", "task_field_unknown", turns(`[{"role":"user","text":"Hi","name":"x"}]`)},
		{"65 turns", "task_field_range", turns("[" + strings.Repeat(`{"role":"user","text":"Hi"},`, pack.MaxTurns) + `{"role":"user","text":"Hi"}]`)},
	})...)
	p := Good(pack.TemplateText)
	p[pack.TasksFile] = []byte{}
	p.Seal()
	return append(all, Broken{Name: "tasks.jsonl: empty", Rule: "tasks_none", Files: p})
}

func letters(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(`"option %d"`, i))
	}
	return strings.Join(out, ",")
}

// taskFieldCases breaks the fields that tasks of all templates have.
func taskFieldCases(good string) []lineCase {
	const id = `"id":"g00"`
	swap := func(with string) string { return strings.Replace(good, id, with, 1) }
	open := strings.TrimSuffix(good, "}")
	cut := func(field string) string {
		i := strings.Index(good, `,"`+field+`":`)
		j := strings.Index(good[i+1:], `,"`)
		if j < 0 || field == "input" && strings.HasPrefix(good[i:], `,"input":[`) {
			j = strings.Index(good[i+1:], map[string]string{"input": `,"target"`, "target": "}"}[field])
		}
		if field == "target" && strings.HasSuffix(good, "}}") {
			return good[:i] + "}"
		}
		return good[:i] + good[i+1+j:]
	}
	return []lineCase{
		{"no id", "task_field_missing", strings.Replace(good, id+",", "", 1)},
		{"no input", "task_field_missing", cut("input")},
		{"no target", "task_field_missing", cut("target")},
		{"an empty id", "task_field_range", swap(`"id":""`)},
		{"an id with a space", "task_field_range", swap(`"id":"g 00"`)},
		{"an id with a slash", "task_field_range", swap(`"id":"g/00"`)},
		{"an id with an escape", "task_field_range", swap(`"id":"g\u001b00"`)},
		{"an id of letters elsewhere", "task_field_range", swap(`"id":"é"`)},
		{"a long id", "task_field_range", swap(`"id":"` + strings.Repeat("g", 201) + `"`)},
		{"a number as id", "task_field_type", swap(`"id":7`)},
		{"null as id", "task_field_type", swap(`"id":null`)},
		{"the id of another task", "task_id_duplicate", swap(`"id":"g01"`)},
		{"the id of another task, escaped", "task_id_duplicate", swap(`"id":"g0\u0031"`)},
		{"null as input", "task_field_type", `{"id":"g00","input":null,"target":"x"}`},
		{"true as target", "task_field_type", strings.Replace(cut("target"), "{", `{"target":true,`, 1)},
		{"a blank group", "task_field_missing", open + `,"group":" "}`},
		{"a long group", "task_field_range", open + `,"group":"` + strings.Repeat("g", 201) + `"}`},
		{"a number as group", "task_field_type", open + `,"group":1}`},
	}
}

func fixtureCases() []Broken {
	const good = `{"task":"g00","output":"ANSWER: lamp","expect":"right"}`
	swap := func(old, with string) string { return strings.Replace(good, old, with, 1) }
	open := strings.TrimSuffix(good, "}")
	all := breakLines(pack.FixturesFile, pack.TemplateText, jsonCases("fixture", good))
	return append(all, breakLines(pack.FixturesFile, pack.TemplateText, []lineCase{
		{"no task", "fixture_field_missing", swap(`"task":"g00",`, "")},
		{"no output", "fixture_field_missing", swap(`"output":"ANSWER: lamp",`, "")},
		{"no expect", "fixture_field_missing", swap(`,"expect":"right"`, "")},
		{"a blank task", "fixture_field_missing", swap("g00", " ")},
		{"a task that is not there", "fixture_task_unknown", swap("g00", "g99")},
		{"a task in another case", "fixture_task_unknown", swap("g00", "G00")},
		{"a number as task", "fixture_field_type", swap(`"g00"`, "0")},
		{"null as output", "fixture_field_type", swap(`"ANSWER: lamp"`, "null")},
		{"an unknown outcome", "fixture_field_range", swap(`"right"`, `"correct"`)},
		{"refused", "fixture_field_range", swap(`"right"`, `"refused"`)},
		{"true as outcome", "fixture_field_type", swap(`"right"`, "true")},
		{"an unknown finish", "fixture_field_range", open + `,"finish":"timeout"}`},
		{"a number as finish", "fixture_field_type", open + `,"finish":1}`},
		{"a number as note", "fixture_field_type", open + `,"note":1}`},
	})...)
}
