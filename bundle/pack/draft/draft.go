// Package draft writes the first files of a new benchmark.
//
// A draft is valid, can be bundled and run, and says of itself that it is
// synthetic and that nobody has granted a licence: whoever forgets to replace
// its parts publishes no false claim.
package draft

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pack"
)

//go:embed files
var files embed.FS

// Draft is what the author chooses.
type Draft struct {
	Namespace, Name string
	// Template is one of pack.Templates.
	Template string
}

// File is one file of the draft.
type File struct {
	Path string
	Data []byte
}

const answerLine = "End with a line of the form \"ANSWER: X\", where X is the answer alone."

// Files makes the files of a draft, the manifest first. Names are not checked
// here: pack.ReadManifest refuses what is not a name.
func Files(d Draft) ([]File, error) {
	m := pack.Manifest{
		Schema: pack.Schema, Namespace: d.Namespace, Name: d.Name, Version: "0.1.0",
		Title:       "Draft: " + d.Name,
		Description: "A synthetic draft. Replace the tasks, rights, references and limits before submitting.",
		Synthetic:   true, License: pack.License{Data: pack.NotGranted},
		Template: d.Template, Metrics: []string{"accuracy"},
	}
	if err := fill(&m); err != nil {
		return nil, err
	}
	var out []File
	for _, c := range []pack.Component{
		{Path: pack.TasksFile, Role: pack.RoleDataset, Schema: pack.TasksSchema},
		{Path: pack.FixturesFile, Role: pack.RoleFixtures, Schema: pack.FixturesSchema},
		{Path: pack.RightsFile, Role: pack.RoleLicense},
		{Path: pack.ReadmeFile, Role: pack.RoleDocumentation},
	} {
		data, err := content(d, c.Path)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		c.SHA256, c.Bytes = hex.EncodeToString(sum[:]), int64(len(data))
		m.Components = append(m.Components, c)
		out = append(out, File{c.Path, data})
	}
	return append([]File{{pack.ManifestFile, m.Write()}}, out...), nil
}

func content(d Draft, path string) ([]byte, error) {
	from := "files/" + path
	if path == pack.TasksFile || path == pack.FixturesFile {
		from = "files/" + d.Template + "/" + path
	}
	data, err := files.ReadFile(from)
	if err != nil {
		return nil, fmt.Errorf("read draft file %s: %w", path, err)
	}
	if path == pack.TasksFile || path == pack.FixturesFile {
		return data, nil
	}
	text := strings.NewReplacer("{{namespace}}", d.Namespace, "{{name}}", d.Name, "{{template}}", d.Template).Replace(string(data))
	return []byte(text), nil
}

// fill sets what depends on the template.
func fill(m *pack.Manifest) error {
	const line = `{"answer_pattern":"(?m)^[*_ ]*ANSWER:(.*)$","ignore_case":true,"ignore_punctuation":true}`
	options := ""
	switch m.Template {
	case pack.TemplateText:
		m.Grader.Kind, options = "exact_match", line
		m.Prompt = &pack.Prompt{Template: "{{input}}\n\n" + answerLine}
		m.Limits.MaxOutputTokens = 256
	case pack.TemplateChoice:
		m.Grader.Kind = "multiple_choice"
		m.Prompt = &pack.Prompt{Template: "{{input}}\n\n{{choices}}\n\nEnd with a line of the form \"Answer: X\", where X is the letter of one option."}
		m.Limits.MaxOutputTokens = 256
	case pack.TemplateNumeric:
		m.Grader.Kind, options = "numeric", `{"take":"last","percent":"face"}`
		m.Prompt = &pack.Prompt{Template: "{{input}}\n\nWork it out step by step. End with the number alone on the last line."}
		m.Limits.MaxOutputTokens = 512
	case pack.TemplateJSON:
		m.Grader.Kind, options = "json_field_match", `{"extra":"forbid","ignore_case":true}`
		m.Prompt = &pack.Prompt{Template: "{{input}}\n\nAnswer with one JSON object with the fields order (a number), customer (text) and items (a number), and nothing else."}
		m.Limits.MaxOutputTokens = 512
	case pack.TemplateConversation:
		m.Grader.Kind, options = "exact_match", line
		m.Limits.MaxOutputTokens = 256
	default:
		return fmt.Errorf("write draft: there is no template of this name")
	}
	if options != "" {
		m.Grader.Options = json.RawMessage(bytes.TrimSpace([]byte(options)))
	}
	return nil
}
