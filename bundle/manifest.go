package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/internal/strict"
)

// ManifestSchema is the value of a manifest's field "schema".
const ManifestSchema = "evalrouter.benchmark_manifest.v1"

// Limits of a manifest and of the data that it describes.
const (
	MaxManifestBytes = 256 << 10
	MaxDataBytes     = 64 << 20
	MaxRowBytes      = 1 << 20
	MaxRows          = 100_000
	maxFindings      = 100
)

// Manifest declares a benchmark that is made from a data file: where the file
// comes from, how a row becomes a task, and how answers are graded. It holds
// no data. Two manifests with equal digests ask and grade the same.
type Manifest struct {
	Schema      string `json:"schema"`
	Slug        string `json:"slug"`
	Version     string `json:"version"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Category    string `json:"category,omitempty"`
	// Family is the scoring family whose rules the grader follows, "generic"
	// by default.
	Family  string  `json:"family"`
	Data    Data    `json:"data"`
	Source  Source  `json:"source"`
	License License `json:"license"`
	Columns Columns `json:"columns"`
	// TargetPattern is an RE2 expression with one group; the group of its last
	// match is the target. Without it the target column is the target.
	TargetPattern string `json:"target_pattern,omitempty"`
	// ChoicePattern does the same for each option.
	ChoicePattern   string       `json:"choice_pattern,omitempty"`
	Prompt          Prompt       `json:"prompt"`
	Grader          GraderConfig `json:"grader"`
	MaxOutputTokens int64        `json:"max_output_tokens"`
	Metrics         []string     `json:"metrics"`
}

// Data names the file as its source does, wherever its owner keeps it, and pins
// its exact bytes.
type Data struct {
	File   string `json:"file"`
	Format string `json:"format"`         // jsonl, json or csv
	Rows   string `json:"rows,omitempty"` // for json: the key of the array in a root object
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes,omitempty"` // 0 = not declared
}

// Source says where the file was published.
type Source struct {
	URL      string `json:"url"`
	Revision string `json:"revision,omitempty"`
	Path     string `json:"path,omitempty"`
}

// License holds SPDX identifiers.
type License struct {
	Data string `json:"data"`
	Code string `json:"code,omitempty"`
	URL  string `json:"url,omitempty"`
}

// Columns maps the columns of a row. For JSON a column is a top-level key, or a
// JSON Pointer into the row when its name starts with a slash.
type Columns struct {
	// Input lists the columns that the prompt may use.
	Input  []string `json:"input"`
	Target string   `json:"target"`
	// TargetFormat says what the target column holds: text (a JSON scalar),
	// list (an array of acceptable answers), json (any JSON value), letter
	// (of an option), index (of an option, from 0) or choice (an option's
	// words).
	TargetFormat string `json:"target_format"`
	// Choices is one column that holds an array, or one column per option.
	Choices []string `json:"choices,omitempty"`
	// ID names the column of task ids; without it the id is the position,
	// counted from 0 and padded to six digits.
	ID    string `json:"id,omitempty"`
	Group string `json:"group,omitempty"`
	// Schema names the column of JSON Schemas, an object or its text. In the
	// prompt its column stands as indented JSON.
	Schema string `json:"schema,omitempty"`
}

// Prompt is plain text with {{column}} in it; {{choices}} becomes the options
// with their letters, one a line. Substituted text is never searched again.
type Prompt struct {
	System   string `json:"system,omitempty"`
	Template string `json:"template"`
}

// ReadManifest reads and validates a manifest. Whatever is wrong with it comes
// back as one *Refusal that lists every finding. Options of the grader are for
// its own constructor to refuse.
func ReadManifest(r io.Reader) (Manifest, error) {
	raw, err := io.ReadAll(io.LimitReader(r, MaxManifestBytes+1))
	if err != nil {
		return Manifest{}, fmt.Errorf("read manifest: %w", err)
	}
	if len(raw) > MaxManifestBytes {
		return Manifest{}, refuse(Finding{Code: "manifest_too_large", Message: fmt.Sprintf("more than %d bytes", MaxManifestBytes)})
	}
	n, prob := strict.Parse(raw)
	if prob != nil {
		return Manifest{}, refuse(finding(prob))
	}
	rd := &strict.Reader{}
	m := readManifest(rd.Fields(n))
	if len(rd.Problems) == 0 {
		m.validate(rd)
	}
	if len(rd.Problems) == 0 {
		return m, nil
	}
	var all []Finding
	for _, p := range rd.Problems[:min(len(rd.Problems), maxFindings)] {
		all = append(all, finding(p))
	}
	return Manifest{}, refuse(all...)
}

func refuse(f ...Finding) error { return &Refusal{What: "manifest", Findings: f} }

func finding(p *strict.Problem) Finding {
	return Finding{Code: p.Code, Path: p.Path, Message: p.Message}
}

func readManifest(f *strict.Fields) Manifest {
	m := Manifest{
		Schema:        f.Need("schema"),
		Slug:          f.Need("slug"),
		Version:       f.Need("version"),
		Name:          f.Need("name"),
		Description:   f.Text("description"),
		Category:      f.Text("category"),
		Family:        f.Text("family"),
		TargetPattern: f.Text("target_pattern"),
		ChoicePattern: f.Text("choice_pattern"),
		Metrics:       f.Texts("metrics"),
	}
	m.MaxOutputTokens = f.Int("max_output_tokens", 1, 1_000_000, 1024)
	if m.Family == "" {
		m.Family = "generic"
	}
	if len(m.Metrics) == 0 {
		m.Metrics = []string{"accuracy"}
	}
	d := f.Nested("data", true)
	m.Data = Data{File: d.Need("file"), Format: d.OneOf("format", "jsonl", "json", "csv"), Rows: d.Text("rows"),
		SHA256: d.Need("sha256"), Bytes: d.Int("bytes", 1, MaxDataBytes, 0)}
	d.Close()
	s := f.Nested("source", true)
	m.Source = Source{URL: s.Need("url"), Revision: s.Text("revision"), Path: s.Text("path")}
	s.Close()
	l := f.Nested("license", true)
	m.License = License{Data: l.Need("data"), Code: l.Text("code"), URL: l.Text("url")}
	l.Close()
	c := f.Nested("columns", true)
	m.Columns = Columns{Input: c.Texts("input"), Target: c.Need("target"), Choices: c.Texts("choices"), ID: c.Text("id"), Group: c.Text("group"), Schema: c.Text("schema")}
	if len(m.Columns.Choices) > 0 {
		m.Columns.TargetFormat = c.OneOf("target_format", "letter", "index", "choice")
	} else {
		m.Columns.TargetFormat = c.OneOf("target_format", "text", "list", "json")
	}
	c.Close()
	p := f.Nested("prompt", true)
	m.Prompt = Prompt{System: p.Text("system"), Template: p.Need("template")}
	p.Close()
	g := f.Nested("grader", true)
	m.Grader = GraderConfig{Kind: g.Need("kind"), Options: g.Raw("options")}
	g.Close()
	f.Close()
	return m
}

// Digest is the SHA-256, in lower-case hex, of the manifest's canonical JSON:
// keys sorted, defaults filled in, no white space.
func (m Manifest) Digest() string {
	sum := sha256.Sum256(m.Canonical())
	return hex.EncodeToString(sum[:])
}

// Canonical is the JSON that Digest is taken of. ReadManifest reads it back to
// an equal manifest.
func (m Manifest) Canonical() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		panic("bundle: a manifest has options that are not JSON: " + err.Error())
	}
	n, prob := strict.Parse(b.Bytes())
	if prob != nil {
		panic("bundle: a manifest has options that are not JSON: " + prob.Error())
	}
	return strict.Canonical(n)
}

// Shapes of the fields that have one.
var (
	slugShape     = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	versionShape  = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]{0,31}$`)
	familyShape   = regexp.MustCompile(`^[a-z0-9][a-z0-9@._-]{0,31}$`)
	sha256Shape   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	fileShape     = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_. -]*(?:/[A-Za-z0-9_][A-Za-z0-9_. -]*)*$`)
	revisionShape = regexp.MustCompile(`^[A-Za-z0-9._/-]{1,100}$`)
	spdxShape     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+-]*(?: (?:AND|OR|WITH) [A-Za-z0-9][A-Za-z0-9.+-]*)*$`)
	urlShape      = regexp.MustCompile(`^https://[A-Za-z0-9.-]+(?::\d+)?(?:/[^\s\x00-\x1f\x7f]*)?$`)
	sourceShape   = regexp.MustCompile(urlShape.String() + `|^(?:workspace|hf)://[A-Za-z0-9_.@/ -]+$`)
	metricShape   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
)

// maxSource bounds what stands behind hf:// and workspace://, in bytes.
const maxSource = 500

func (m Manifest) validate(r *strict.Reader) {
	shape := func(path, value string, re *regexp.Regexp, want string) {
		if value != "" && !re.MatchString(value) {
			r.Add(path, strict.CodeRange, "want %s", want)
		}
	}
	if m.Schema != ManifestSchema {
		r.Add("schema", "schema_unknown", "want %s", ManifestSchema)
	}
	shape("slug", m.Slug, slugShape, "lower-case letters, digits, - and _, at most 64")
	shape("version", m.Version, versionShape, "letters, digits, dot, - and _, at most 32")
	shape("family", m.Family, familyShape, "lower-case letters, digits, @, dot, - and _, at most 32")
	shape("data.sha256", m.Data.SHA256, sha256Shape, "64 lower-case hex digits")
	shape("data.file", m.Data.File, fileShape, "a relative path in slashes, without . or .. and hidden names")
	shape("source.url", m.Source.URL, sourceShape, "an https, hf or workspace address without user information")
	if scheme, rest, _ := strings.Cut(m.Source.URL, "://"); (scheme == "hf" || scheme == "workspace") && len(rest) > maxSource {
		r.Add("source.url", strict.CodeRange, "longer than %d bytes", maxSource)
	}
	shape("source.revision", m.Source.Revision, revisionShape, "a revision name or hash")
	shape("license.data", m.License.Data, spdxShape, "an SPDX identifier or expression")
	shape("license.code", m.License.Code, spdxShape, "an SPDX identifier or expression")
	shape("license.url", m.License.URL, urlShape, "an https address without user information")
	for i, s := range m.Metrics {
		shape(fmt.Sprintf("metrics[%d]", i), s, metricShape, "a metric name in lower case")
	}
	for _, t := range []struct {
		path, text string
		most       int
	}{{"name", m.Name, 200}, {"description", m.Description, 2000}, {"category", m.Category, 64}, {"prompt.system", m.Prompt.System, 64 << 10}, {"prompt.template", m.Prompt.Template, 64 << 10}} {
		if len(t.text) > t.most {
			r.Add(t.path, strict.CodeRange, "longer than %d bytes", t.most)
		}
	}
	if m.Data.Rows != "" && m.Data.Format != "json" {
		r.Add("data.rows", strict.CodeRange, "only data in format json has a rows key")
	}
	if len(m.Columns.Choices) == 1 && m.Data.Format == "csv" {
		r.Add("columns.choices", strict.CodeRange, "CSV has no arrays: name one column per option")
	}
	m.validatePattern(r, "target_pattern", m.TargetPattern)
	m.validatePattern(r, "choice_pattern", m.ChoicePattern)
	m.validateTemplate(r)
}

func (m Manifest) validatePattern(r *strict.Reader, path, pattern string) {
	if pattern == "" {
		return
	}
	re, err := regexp.Compile(pattern)
	switch {
	case len(pattern) > 500:
		r.Add(path, strict.CodeRange, "longer than 500 bytes")
	case err != nil:
		r.Add(path, "pattern_invalid", "not an RE2 pattern")
	case re.NumSubexp() != 1:
		r.Add(path, "pattern_invalid", "want exactly one group")
	}
}

func (m Manifest) validateTemplate(r *strict.Reader) {
	used := map[string]bool{}
	known := map[string]bool{}
	for i, c := range m.Columns.Input {
		if known[c] {
			r.Add(fmt.Sprintf("columns.input[%d]", i), strict.CodeDuplicate, "the column stands twice")
		}
		if c == choicesPlaceholder || strings.ContainsAny(c, "{}") {
			r.Add(fmt.Sprintf("columns.input[%d]", i), strict.CodeRange, "a column of this name cannot stand in a prompt")
		}
		known[c] = true
	}
	if len(m.Columns.Choices) > 0 {
		known[choicesPlaceholder] = true
	}
	for _, part := range splitTemplate(m.Prompt.Template) {
		if !part.placeholder {
			continue
		}
		if !known[part.text] {
			r.Add("prompt.template", "placeholder_unknown", "the template uses a column that columns.input does not list")
		}
		used[part.text] = true
	}
	if len(known) == 0 {
		r.Add("columns.input", strict.CodeMissing, "list at least one column for the prompt")
	}
	for _, c := range m.Columns.Input {
		if !used[c] {
			r.Add("columns.input", "placeholder_missing", "the template does not use every listed column")
			break
		}
	}
	if known[choicesPlaceholder] && !used[choicesPlaceholder] && m.Grader.Kind != LikelyChoices {
		r.Add("prompt.template", "placeholder_missing", "the template does not show the choices")
	}
}
