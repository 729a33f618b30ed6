package packtest

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pack"
)

const linkMode = fs.ModeSymlink | 0o777

// Broken is one package with one thing wrong.
type Broken struct {
	Name string
	// Rule is the only rule of severity error that may be found, and it must.
	Rule string
	// Files is the package.
	Files Package
	// Line is a changed line of tasks or fixtures, for a schema of lines.
	Line string
}

// All is every broken package, in a fixed order and with distinct names.
func All() []Broken {
	var all []Broken
	for _, part := range [][]Broken{manifestFields(), manifestBytes(), manifestMeanings(), componentCases(), fileCases(), taskCases(), fixtureCases()} {
		all = append(all, part...)
	}
	return all
}

// edit changes one value of a manifest. A dot leads into an object or, with a
// number, into an array. A nil func removes.
func edit(p Package, path string, change func(old any) any) {
	var m map[string]any
	if err := json.Unmarshal(p[pack.ManifestFile], &m); err != nil {
		panic("packtest: " + err.Error())
	}
	var at any = m
	steps := strings.Split(path, ".")
	for _, s := range steps[:len(steps)-1] {
		if list, ok := at.([]any); ok {
			n, _ := strconv.Atoi(s) // the tables hold numbers here
			at = list[n]
		} else {
			at = at.(map[string]any)[s]
		}
	}
	last := steps[len(steps)-1]
	switch at := at.(type) {
	case []any:
		n, _ := strconv.Atoi(last)
		at[n] = change(at[n])
	case map[string]any:
		if change == nil {
			delete(at, last)
		} else {
			at[last] = change(at[last])
		}
	}
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		panic("packtest: " + err.Error())
	}
	p[pack.ManifestFile] = b
}

func always(v any) func(any) any { return func(any) any { return v } }

const (
	missing = "manifest_field_missing"
	typed   = "manifest_field_type"
	ranged  = "manifest_field_range"
	unknown = "manifest_field_unknown"
)

// manifestFields breaks every field of the manifest in every way that its kind
// allows.
func manifestFields() []Broken {
	var all []Broken
	add := func(name, rule, path string, change func(any) any) {
		p := Good(pack.TemplateText)
		edit(p, path, change)
		all = append(all, Broken{Name: "manifest " + path + " " + name, Rule: rule, Files: p})
	}
	for _, s := range pack.Shapes() {
		path := strings.ReplaceAll(s.Path, "[]", ".0")
		for name, v := range wrongTypes("text") {
			add("is "+name, typed, path, always(v))
		}
		optional := slices.Contains([]string{"description", "license.code", "prompt.system", "prompt.template", "components[].schema"}, s.Path)
		switch {
		case strings.HasSuffix(s.Path, "[]"):
			add("is blank", typed, path, always("  "))
		case !optional:
			add("is absent", missing, path, nil)
			add("is blank", missing, path, always(" \t"))
			add("is empty", missing, path, always(""))
		}
		if s.Most > 0 {
			add("is too long", ranged, path, func(old any) any { return tooLong(s) })
		}
		for i, v := range badValues(s) {
			add(fmt.Sprintf("is bad %d", i), ranged, path, always(v))
		}
	}
	for _, path := range []string{"license", "grader", "limits", "components"} {
		add("is absent", missing, path, nil)
	}
	for _, path := range []string{"license", "prompt", "grader", "grader.options", "limits", "components.1"} {
		for name, v := range wrongTypes("object") {
			add("is "+name, typed, path, always(v))
		}
	}
	for _, path := range []string{"references", "metrics", "components"} {
		for name, v := range wrongTypes("array") {
			add("is "+name, typed, path, always(v))
		}
	}
	for _, path := range []string{"limits.max_output_tokens", "components.0.bytes"} {
		add("is absent", missing, path, nil)
		for name, v := range wrongTypes("number") {
			add("is "+name, typed, path, always(v))
		}
		for _, v := range []any{-1, 1.5, 1e12} {
			add(fmt.Sprintf("is %v", v), ranged, path, always(v))
		}
	}
	add("is 0", ranged, "limits.max_output_tokens", always(0))
	for name, v := range wrongTypes("bool") {
		add("is "+name, typed, "synthetic", always(v))
	}
	for _, path := range []string{"code", "Schema", "name ", "license.text", "prompt.user", "grader.script", "limits.seconds", "components.2.url"} {
		add("is there", unknown, path, always("x"))
	}
	add("are none", ranged, "components", always([]any{}))
	add("are many", ranged, "references", always(many("https://example.org/%d", pack.MaxReferences+1)))
	add("are many", ranged, "metrics", always(many("metric_%d", pack.MaxMetrics+1)))
	add("are many", ranged, "components", func(old any) any {
		list := old.([]any)
		for len(list) <= pack.MaxComponents {
			list = append(list, list[0])
		}
		return list
	})
	slices.SortFunc(all, func(a, b Broken) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func many(format string, n int) []any {
	var out []any
	for i := range n {
		out = append(out, fmt.Sprintf(format, i))
	}
	return out
}

// wrongTypes is a value of every JSON type but one.
func wrongTypes(but string) map[string]any {
	all := map[string]any{"null": nil, "text": "x", "number": 7, "bool": true, "array": []any{"x"}, "object": map[string]any{"x": "y"}}
	delete(all, but)
	return all
}

// tooLong has the shape of a field and one character too many.
func tooLong(s pack.Shape) string {
	switch {
	case strings.HasPrefix(s.Path, "references"):
		return "https://example.org/" + strings.Repeat("a", s.Most)
	case s.Path == "prompt.template":
		return "{{input}}" + strings.Repeat("é", s.Most)
	}
	return strings.Repeat("a", s.Most+1)
}

// badValues are texts that are not of a shape.
func badValues(s pack.Shape) []string {
	if len(s.Words) > 0 {
		return []string{"x", s.Words[0] + "2", strings.ToUpper(s.Words[0])}
	}
	switch s.Path {
	case "namespace", "name":
		return []string{"Upper", "two words", "under_score", "-a", "a-", "dot.dot", "é", "a/b", "..", "a\n", "\x1b[31m"}
	case "version":
		return []string{"1 0", "-1", "1.", "v/1", "1\n", "١"}
	case "license.data", "license.code":
		return []string{"MIT License", "(MIT)", "MIT OR", "MIT or Apache-2.0", "é", "MIT\n"}
	case "references[]":
		return []string{"http://example.org/", "https://user@example.org/", "https://example.org/a b", "https://", "javascript:alert(1)", "https://example.org/é", "//example.org"}
	case "grader.kind":
		return []string{"Exact", "exact match", "../exact", "1", "exact_match\n"}
	case "metrics[]":
		return []string{"Accuracy", "mean score", "1st", "f1-score"}
	case "components[].path":
		return []string{"../tasks.jsonl", "/tasks.jsonl", "./tasks.jsonl", "a//tasks.jsonl", "a/../tasks.jsonl", `a\tasks.jsonl`, "C:tasks.jsonl", ".tasks.jsonl", "tasks.jsonl/", "tasks.", "tasks ", "täsks.jsonl", "ta\x00sks", "tasks\u202egpj", "-tasks", "~tasks"}
	case "components[].sha256":
		return []string{"abc", strings.Repeat("A", 64), strings.Repeat("0", 63), strings.Repeat("0", 65), strings.Repeat("g", 64)}
	}
	return nil
}

// manifestBytes breaks the file as a file.
func manifestBytes() []Broken {
	good := string(Good(pack.TemplateText)[pack.ManifestFile])
	var all []Broken
	for _, c := range []struct{ name, rule, text string }{
		{"is empty", "manifest_json_syntax", ""},
		{"is blank", "manifest_json_syntax", " \n"},
		{"is cut off", "manifest_json_syntax", good[:len(good)/2]},
		{"has text behind it", "manifest_json_syntax", good + "{}"},
		{"has a byte order mark", "manifest_json_syntax", "\ufeff" + good},
		{"has a comment", "manifest_json_syntax", "// a comment\n" + good},
		{"has a comma at its end", "manifest_json_syntax", strings.TrimRight(good, "}\n") + ",}"},
		{"has a control character", "manifest_json_syntax", strings.Replace(good, "Good", "Go\x01od", 1)},
		{"has single quotes", "manifest_json_syntax", strings.ReplaceAll(good, `"`, `'`)},
		{"holds NaN", "manifest_json_syntax", strings.Replace(good, ": 256", ": NaN", 1)},
		{"holds a hexadecimal number", "manifest_json_syntax", strings.Replace(good, ": 256", ": 0x100", 1)},
		{"is Latin-1", "manifest_json_encoding", strings.Replace(good, "Good", "G\xe9", 1)},
		{"is UTF-16", "manifest_json_encoding", "\xff\xfe{\x00}\x00"},
		{"holds a surrogate in UTF-8", "manifest_json_encoding", strings.Replace(good, "Good", "\xed\xa0\x80", 1)},
		{"has a key twice", "manifest_json_duplicate_key", strings.Replace(good, "{", `{"title": "Other",`, 1)},
		{"has an inner key twice", "manifest_json_duplicate_key", strings.Replace(good, `"license": {`, `"license": {"data": "MIT",`, 1)},
		{"has an escaped key twice", "manifest_json_duplicate_key", strings.Replace(good, "{", `{"titl\u0065": "Other",`, 1)},
		{"is deep", "manifest_json_depth", strings.Replace(good, "{", `{"deep":`+strings.Repeat("[", 200)+strings.Repeat("]", 200)+",", 1)},
		{"is very deep", "manifest_json_depth", strings.Repeat("[", 100_000)},
		{"is an array", typed, "[" + good + "]"},
		{"is text", typed, `"evalrouter.package.v1"`},
		{"is null", typed, "null"},
		{"is too large", "manifest_too_large", good + strings.Repeat(" ", pack.MaxManifestBytes)},
	} {
		p := Good(pack.TemplateText)
		p[pack.ManifestFile] = []byte(c.text)
		all = append(all, Broken{Name: "manifest " + c.name, Rule: c.rule, Files: p})
	}
	return all
}

// manifestMeanings breaks what fields say together.
func manifestMeanings() []Broken {
	var all []Broken
	for _, c := range []struct {
		name, rule, template, path string
		value                      any
	}{
		{"an unknown placeholder", "manifest_prompt_placeholder", pack.TemplateText, "prompt.template", "{{input}} {{target}}"},
		{"no input in the template", "manifest_prompt_placeholder", pack.TemplateText, "prompt.template", "What is it?"},
		{"choices without choices", "manifest_prompt_placeholder", pack.TemplateText, "prompt.template", "{{input}} {{choices}}"},
		{"a bomb of placeholders", "manifest_prompt_placeholder", pack.TemplateText, "prompt.template", strings.Repeat("{{input}}", 7000)},
		{"an empty placeholder", "manifest_prompt_placeholder", pack.TemplateText, "prompt.template", "{{input}} {{}}"},
		{"code as a placeholder", "manifest_prompt_placeholder", pack.TemplateText, "prompt.template", "{{input}} {{ input.__class__ }}"},
		{"a template for conversations", "manifest_prompt_conversation", pack.TemplateConversation, "prompt.template", "{{input}}"},
		{"an unknown grader", "manifest_grader", pack.TemplateText, "grader.kind", "best_guess"},
		{"an unknown option", "manifest_grader", pack.TemplateText, "grader.options", map[string]any{"ignore_cases": true}},
		{"an option of the wrong type", "manifest_grader", pack.TemplateText, "grader.options", map[string]any{"ignore_case": "yes"}},
		{"a pattern that does not compile", "manifest_grader", pack.TemplateText, "grader.options", map[string]any{"answer_pattern": "("}},
		{"a pattern with look-behind", "manifest_grader", pack.TemplateText, "grader.options", map[string]any{"answer_pattern": "(?<=x)y"}},
		{"a pattern with two groups", "manifest_grader", pack.TemplateText, "grader.options", map[string]any{"answer_pattern": "(a)(b)"}},
		{"a pattern of a thousand bytes", "manifest_grader", pack.TemplateText, "grader.options", map[string]any{"answer_pattern": strings.Repeat("a", 1000)}},
		{"a tolerance that is no number", "manifest_grader", pack.TemplateNumeric, "grader.options", map[string]any{"tolerance": "little"}},
		{"a tolerance below zero", "manifest_grader", pack.TemplateNumeric, "grader.options", map[string]any{"tolerance": "-1"}},
		{"a field that is no pointer", "manifest_grader", pack.TemplateJSON, "grader.options", map[string]any{"fields": []any{"thing"}}},
		{"a hundred letters", "manifest_grader", pack.TemplateChoice, "grader.options", map[string]any{"letters": 100}},
		{"a metric twice", "manifest_metric_repeated", pack.TemplateText, "metrics", []any{"accuracy", "accuracy"}},
	} {
		p := Good(c.template)
		edit(p, c.path, always(c.value))
		all = append(all, Broken{Name: "manifest with " + c.name, Rule: c.rule, Files: p})
	}
	return all
}
