package pack

import (
	"sync"

	"github.com/evalrouter/evalrouter/bundle/archive"
)

// Rule is one thing that Validate checks. Its id never changes its meaning.
type Rule struct {
	ID       string
	Severity Severity
	// Remedy says what the author can do.
	Remedy string
	// Schema says that the published JSON Schema states the rule too.
	Schema bool
}

// Rules lists everything that Validate can find, in the order of a package's
// files.
func Rules() []Rule {
	var all []Rule
	for _, part := range [][]Rule{packageRules(), manifestRules(), componentRules(), taskRules(), fixtureRules(), paperRules()} {
		all = append(all, part...)
	}
	for _, r := range archive.Rules() {
		all = append(all, Rule{ID: r.ID, Severity: Error, Remedy: r.Remedy})
	}
	return all
}

// byID is the table for looking up; nobody changes it.
var byID = sync.OnceValue(func() map[string]Rule {
	all := map[string]Rule{}
	for _, r := range Rules() {
		all[r.ID] = r
	}
	return all
})

func ruleOf(id string) Rule {
	r, ok := byID()[id]
	if !ok {
		panic("pack: " + id + " is no rule")
	}
	return r
}

const fixHashes = "run evalrouter-bench fix-hashes if the change is meant"

func packageRules() []Rule {
	return []Rule{
		{ID: "file_unreadable", Severity: Error, Remedy: "make the file readable for you"},
		{ID: "file_not_regular", Severity: Error, Remedy: "replace the link or device by a plain file"},
		{ID: "file_unlisted", Severity: Error, Remedy: "list the file in components (evalrouter-bench fix-hashes does) or take it out of the package"},
		{ID: "package_too_large", Severity: Error, Remedy: "split the benchmark: all files together may have 100 MiB less 1 MiB for the index of a bundle"},
		{ID: "files_too_many", Severity: Error, Remedy: "keep only the files of the benchmark in its folder"},
	}
}

func manifestRules() []Rule {
	return []Rule{
		{ID: "manifest_missing", Severity: Error, Remedy: "add evalrouter.json; evalrouter-bench init writes one to start from"},
		{ID: "manifest_too_large", Severity: Error, Remedy: "keep evalrouter.json below 256 KiB; tasks belong into tasks.jsonl"},
		{ID: "manifest_json_syntax", Severity: Error, Remedy: "write valid JSON"},
		{ID: "manifest_json_encoding", Severity: Error, Remedy: "save the file as UTF-8"},
		{ID: "manifest_json_duplicate_key", Severity: Error, Remedy: "keep one of the two keys"},
		{ID: "manifest_json_depth", Severity: Error, Remedy: "nest less deeply"},
		{ID: "manifest_field_unknown", Severity: Error, Schema: true, Remedy: "remove the field or correct its spelling"},
		{ID: "manifest_field_missing", Severity: Error, Schema: true, Remedy: "add the field, and not blank"},
		{ID: "manifest_field_type", Severity: Error, Schema: true, Remedy: "write a value of the type that is wanted"},
		{ID: "manifest_field_range", Severity: Error, Schema: true, Remedy: "write a value as the message says"},
		{ID: "manifest_prompt_placeholder", Severity: Error, Remedy: "use {{input}}, and {{choices}} for multiple choice; nothing else can be filled in"},
		{ID: "manifest_prompt_conversation", Severity: Error, Remedy: "remove prompt.template: the tasks of a conversation are whole prompts"},
		{ID: "manifest_grader", Severity: Error, Remedy: "declare a built-in grader with options that it knows"},
		{ID: "manifest_metric_repeated", Severity: Error, Schema: true, Remedy: "name every metric once"},
		{ID: "license_not_granted", Severity: Warning, Remedy: "before you submit, name the licence under which the owner of the tasks allows their use"},
		{ID: "package_synthetic", Severity: Warning, Remedy: "replace the tasks before you submit, then set synthetic to false or remove it"},
	}
}

func componentRules() []Rule {
	return []Rule{
		{ID: "component_role_missing", Severity: Error, Remedy: "list a component of this role"},
		{ID: "component_role_repeated", Severity: Error, Remedy: "keep one component of this role"},
		{ID: "component_path_repeated", Severity: Error, Remedy: "list every file once; names that differ in case only are one file on many systems"},
		{ID: "component_path_reserved", Severity: Error, Remedy: "choose another name: this one is the manifest's or a device of some systems"},
		{ID: "component_schema", Severity: Error, Remedy: "a dataset has the schema " + TasksSchema + ", fixtures " + FixturesSchema + ", and other roles have none"},
		{ID: "component_missing", Severity: Error, Remedy: "add the file or remove it from components"},
		{ID: "component_size", Severity: Error, Remedy: fixHashes},
		{ID: "component_digest", Severity: Error, Remedy: fixHashes},
	}
}

func lineRules(prefix string, schema bool) []Rule {
	return []Rule{
		{ID: prefix + "_json_syntax", Severity: Error, Remedy: "write one valid JSON object on the line"},
		{ID: prefix + "_json_encoding", Severity: Error, Remedy: "save the file as UTF-8, and write characters outside the first plane as they are or as two escapes"},
		{ID: prefix + "_json_duplicate_key", Severity: Error, Remedy: "keep one of the two keys"},
		{ID: prefix + "_json_depth", Severity: Error, Remedy: "nest less deeply"},
		{ID: prefix + "_json_number", Severity: Error, Remedy: "write a number with a smaller exponent"},
		{ID: prefix + "_line_too_long", Severity: Error, Remedy: "shorten the line: it may have 1 MiB"},
		{ID: prefix + "_line_blank", Severity: Error, Remedy: "remove the empty line"},
		{ID: prefix + "_field_unknown", Severity: Error, Schema: schema, Remedy: "remove the field or correct its spelling"},
		{ID: prefix + "_field_missing", Severity: Error, Schema: schema, Remedy: "add the field, and not blank"},
		{ID: prefix + "_field_type", Severity: Error, Schema: schema, Remedy: "write a value of the type that is wanted"},
		{ID: prefix + "_field_range", Severity: Error, Schema: schema, Remedy: "write a value as the message says"},
	}
}

func taskRules() []Rule {
	return append(lineRules("task", true), []Rule{
		{ID: "tasks_none", Severity: Error, Remedy: "write at least one task"},
		{ID: "tasks_too_many", Severity: Error, Remedy: "keep at most 100,000 tasks"},
		{ID: "task_id_duplicate", Severity: Error, Remedy: "give every task its own id"},
		{ID: "task_input_form", Severity: Error, Remedy: "write input as text, and as an array of messages only where template is conversation"},
		{ID: "task_input_turns", Severity: Error, Remedy: "let a system message stand first only, and let the user speak last"},
		{ID: "task_choices_form", Severity: Error, Remedy: "give options where template is multiple-choice, and nowhere else"},
		{ID: "task_choice_repeated", Severity: Error, Schema: true, Remedy: "make the options of a task differ"},
		{ID: "task_target_form", Severity: Error, Remedy: "write target as text or an array of texts, as a number only where template is numeric, and as other JSON only where it is json"},
		{ID: "task_target_blank", Severity: Error, Remedy: "remove the blank answer"},
		{ID: "task_target_letter", Severity: Error, Remedy: "write the letter of an option, A for the first"},
	}...)
}

func fixtureRules() []Rule {
	return append(lineRules("fixture", true), []Rule{
		{ID: "fixtures_too_many", Severity: Error, Remedy: "keep at most 100,000 fixtures"},
		{ID: "fixture_task_unknown", Severity: Error, Remedy: "name a task of the dataset"},
	}...)
}

func paperRules() []Rule {
	return []Rule{
		{ID: "paper_blank", Severity: Error, Remedy: "write the text"},
		{ID: "paper_encoding", Severity: Error, Remedy: "save the file as UTF-8 without control characters"},
		{ID: "paper_too_large", Severity: Error, Remedy: "keep the text below 1 MiB"},
	}
}
