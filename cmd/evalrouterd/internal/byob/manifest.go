package byob

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/bundle/generic"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Manifest says what a source means, as a workspace writes it.
type Manifest struct {
	Name   string
	Source string
	// SHA256 and Bytes pin the source, "" and 0 where they are not given.
	SHA256 string
	Bytes  int64
	Task   string
	// Columns are columns by name. answer, id, group and choices have a meaning,
	// every other name stands in the template.
	Columns         map[string][]string
	Template        string
	Options         json.RawMessage
	AnswerFormat    string
	MaxOutputTokens int64
	License         string
	Rights          bool
}

// Names of columns with a meaning.
const (
	answerName  = "answer"
	idName      = "id"
	groupName   = "group"
	choicesName = "choices"
)

var promptName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// problems collects what is wrong with a manifest.
type problems struct{ fields []Field }

func (p *problems) add(path, code string) {
	if f := (Field{path, code}); !slices.Contains(p.fields, f) && len(p.fields) < 20 {
		p.fields = append(p.fields, f)
	}
}

func (p *problems) err() error {
	if len(p.fields) == 0 {
		return nil
	}
	first := p.fields[0]
	return &Invalid{core.ManifestInvalid, "the manifest cannot be used: " + first.Path + " (" + first.Code + "); nothing was made", p.fields}
}

// common checks what every manifest says.
func (m Manifest) common(src core.DataSource, p *problems) {
	if strings.TrimSpace(m.Name) == "" || len(m.Name) > 200 {
		p.add("name", "out_of_range")
	}
	if !m.Rights {
		p.add("rights_attestation", "required")
	}
	if m.SHA256 != "" && m.SHA256 != src.SHA256 {
		p.add("sha256", "source_differs")
	}
	if m.Bytes != 0 && m.Bytes != src.Bytes {
		p.add("bytes", "source_differs")
	}
}

// mapping checks names, columns and template against the source's columns.
func (m Manifest) mapping(src core.DataSource, p *problems) {
	if !slices.Contains(generic.Kinds(), m.Task) {
		p.add("task", "unknown_value")
	}
	if len(m.Columns[answerName]) == 0 {
		p.add("columns.answer", "required")
	}
	reserved := map[string]bool{}
	for _, name := range []string{answerName, idName, groupName} {
		for _, c := range m.Columns[name] {
			reserved[c] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Columns)) {
		path := "columns." + name
		if !promptName.MatchString(name) {
			p.add("columns", "name_invalid")
			continue
		}
		if len(m.Columns[name]) > 1 && name != choicesName {
			p.add(path, "one_column")
		}
		for _, c := range m.Columns[name] {
			switch {
			case !known(src, c):
				p.add(path, "column_unknown")
			case name != answerName && name != idName && name != groupName && reserved[c]:
				p.add(path, "column_reserved")
			}
		}
	}
	m.choices(src, p)
	m.placeholders(p)
}

func (m Manifest) choices(src core.DataSource, p *problems) {
	columns, there := m.Columns[choicesName]
	switch {
	case !there:
	case m.Task != generic.MultipleChoice:
		p.add("columns.choices", "not_for_task")
	case len(columns) == 1 && src.Format == core.FormatCSV:
		p.add("columns.choices", "one_column_per_option")
	}
}

// placeholders holds the template to the prompt's names: each of them stands in
// it, and nothing else does.
func (m Manifest) placeholders(p *problems) {
	if strings.TrimSpace(m.Template) == "" {
		p.add("prompt_template", "required")
		return
	}
	used := bundle.Placeholders(m.Template)
	for _, name := range used {
		switch {
		case name == answerName || name == idName || name == groupName:
			p.add("prompt_template", "placeholder_reserved")
		case m.Columns[name] == nil:
			p.add("prompt_template", "placeholder_unknown")
		}
	}
	n := 0
	for _, name := range slices.Sorted(maps.Keys(m.Columns)) {
		if name == answerName || name == idName || name == groupName {
			continue
		}
		if n++; !slices.Contains(used, name) {
			p.add("columns."+name, "placeholder_missing")
		}
	}
	if n == 0 {
		p.add("prompt_template", "placeholder_missing")
	}
}

// known says whether a source has a column. A name with a slash in front is a
// JSON Pointer, of which the first part is one.
func known(src core.DataSource, column string) bool {
	if rest, pointer := strings.CutPrefix(column, "/"); pointer && src.Format != core.FormatCSV {
		column, _, _ = strings.Cut(rest, "/")
		column = strings.NewReplacer("~1", "/", "~0", "~").Replace(column)
	}
	return column != "" && slices.Contains(src.Columns, column)
}

// translate is the manifest as bundle has it. data is the file that is read.
func (m Manifest) translate(src core.DataSource, slug string, data bundle.Data) bundle.Manifest {
	out := bundle.Manifest{
		Schema: bundle.ManifestSchema, Slug: slug, Version: "1", Name: m.Name, Category: "private", Family: "generic", Data: data,
		Source: bundle.Source{URL: src.URI}, License: bundle.License{Data: m.License}, Grader: bundle.GraderConfig{Kind: m.Task, Options: m.Options},
		MaxOutputTokens: m.MaxOutputTokens, Metrics: []string{"accuracy"},
	}
	first := func(name string) string {
		if c := m.Columns[name]; len(c) > 0 {
			return c[0]
		}
		return ""
	}
	c := bundle.Columns{Target: first(answerName), ID: first(idName), Group: first(groupName), Choices: m.Columns[choicesName], TargetFormat: m.AnswerFormat}
	for _, name := range slices.Sorted(maps.Keys(m.Columns)) {
		if name == answerName || name == idName || name == groupName || name == choicesName || slices.Contains(c.Input, first(name)) {
			continue
		}
		c.Input = append(c.Input, first(name))
	}
	switch {
	case c.TargetFormat != "":
	case m.Task == generic.JSONFieldMatch:
		c.TargetFormat = "json"
	case len(c.Choices) > 0:
		c.TargetFormat = "letter"
	default:
		c.TargetFormat = "text"
	}
	out.Columns = c
	out.Prompt.Template = bundle.Fill(m.Template, func(name string) string {
		if name == choicesName {
			return "{{" + name + "}}"
		}
		return "{{" + first(name) + "}}"
	})
	return out
}

// readBack holds a translated manifest to bundle's own rules, and makes its
// grader.
func readBack(m bundle.Manifest, p *problems) (bundle.Manifest, bundle.Grader, error) {
	doc, err := json.Marshal(m)
	if err != nil {
		p.add("grader_options", "not_json")
		return m, nil, p.err()
	}
	read, err := bundle.ReadManifest(bytes.NewReader(doc))
	refusals(err, p, ours)
	if p.err() != nil {
		return m, nil, p.err()
	}
	if err != nil {
		return m, nil, err
	}
	g, err := families.Grader(read.Grader)
	refusals(err, p, func(path string) string { return "grader_options." + path })
	if p.err() != nil {
		return m, nil, p.err()
	}
	return read, g, err
}

func refusals(err error, p *problems, path func(string) string) {
	var r *bundle.Refusal
	if errors.As(err, &r) {
		for _, f := range r.Findings {
			p.add(path(f.Path), f.Code)
		}
	}
}

// ours is the field of a manifest of ours that became a field of bundle's.
func ours(path string) string {
	switch {
	case strings.HasPrefix(path, "prompt.template"):
		return "prompt_template"
	case path == "columns.target_format":
		return "answer_format"
	case path == "columns.target":
		return "columns.answer"
	case strings.HasPrefix(path, "columns.input"):
		return "columns"
	case strings.HasPrefix(path, "license"):
		return "data_license"
	case strings.HasPrefix(path, "grader.options"):
		return "grader_options" + strings.TrimPrefix(path, "grader.options")
	}
	return path
}
