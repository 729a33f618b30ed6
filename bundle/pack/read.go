package pack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/internal/strict"
)

// MakeGrader builds a declared grader. A kind or an option that it does not
// know is refused with a *bundle.Refusal.
type MakeGrader func(bundle.GraderConfig) (bundle.Grader, error)

// ReadManifest reads evalrouter.json from its bytes. The manifest is good when
// no finding is an error.
func ReadManifest(raw []byte, graders MakeGrader) (Manifest, []Finding) {
	if len(raw) > MaxManifestBytes {
		return Manifest{}, []Finding{manifestFinding("manifest_too_large", 0, "", "the file is larger than 256 KiB")}
	}
	root, prob := strict.Parse(raw)
	if prob != nil {
		return Manifest{}, []Finding{manifestFinding("manifest_"+prob.Code, lineAt(raw, prob.At), prob.Path, prob.Message)}
	}
	r := &strict.Reader{}
	m := manifestOf(r, root, compiledShapes())
	if len(r.Problems) == 0 {
		checkManifest(r, m, graders)
	}
	var out []Finding
	for i, p := range r.Problems {
		rule := p.Code
		if !strings.HasPrefix(rule, "component_") && !strings.HasPrefix(rule, "license_") && !strings.HasPrefix(rule, "package_") {
			rule = "manifest_" + rule
		}
		line := 0
		if i < MaxFindings { // to find a line is a walk, and more are never shown
			line = lineAt(raw, root.Nearest(p.Path).At)
		}
		out = append(out, manifestFinding(rule, line, p.Path, p.Message))
	}
	return m, out
}

func manifestFinding(rule string, line int, field, message string) Finding {
	return Finding{Rule: rule, Path: ManifestFile, Line: line, Field: field, Message: message}
}

// lineAt is the line in which byte at of raw stands, counted from 1.
func lineAt(raw []byte, at int64) int {
	at = max(0, min(at-1, int64(len(raw)))) // the last byte of a token, not the one behind it
	return 1 + bytes.Count(raw[:at], []byte("\n"))
}

func manifestOf(r *strict.Reader, root *strict.Node, s shapes) Manifest {
	f := r.Fields(root)
	m := Manifest{
		Schema: f.Need("schema"), Namespace: f.Need("namespace"), Name: f.Need("name"), Version: f.Need("version"),
		Title: f.Need("title"), Description: f.Text("description"), Synthetic: f.Flag("synthetic", false),
		References: f.Texts("references"), Template: f.Need("template"), Metrics: f.Texts("metrics"),
	}
	if !f.Present() {
		return m
	}
	l := f.Nested("license", true)
	m.License = License{Data: l.Need("data"), Code: l.Text("code")}
	l.Close()
	if f.Has("prompt") {
		p := f.Nested("prompt", true)
		m.Prompt = &Prompt{System: p.Text("system"), Template: p.Text("template")}
		p.Close()
	}
	g := f.Nested("grader", true)
	m.Grader = Grader{Kind: g.Need("kind"), Options: g.Raw("options")}
	g.Close()
	lim := f.Nested("limits", true)
	if lim.Present() && !lim.Has("max_output_tokens") {
		r.Add("limits.max_output_tokens", strict.CodeMissing, "the field is required")
	}
	m.Limits.MaxOutputTokens = lim.Int("max_output_tokens", 1, MaxOutputTokens, 1)
	lim.Close()
	m.Components = componentsOf(r, f)
	f.Close()
	checkTexts(r, s, m)
	return m
}

func componentsOf(r *strict.Reader, f *strict.Fields) []Component {
	var out []Component
	for _, n := range f.List("components", 1, MaxComponents) {
		c := r.Fields(n)
		out = append(out, Component{
			Path: c.Need("path"), Role: c.Need("role"), Schema: c.Text("schema"), SHA256: c.Need("sha256"),
			Bytes: c.Int("bytes", 0, MaxPackageBytes, 0),
		})
		if c.Present() && !c.Has("bytes") {
			r.Add(c.Path("bytes"), strict.CodeMissing, "the field is required")
		}
		c.Close()
	}
	return out
}

// checkTexts holds every text that is there to its shape. A blank one has been
// reported where it may not be blank.
func checkTexts(r *strict.Reader, s shapes, m Manifest) {
	at := func(key, text string) {
		if strings.TrimSpace(text) != "" {
			s.check(r, key, key, text)
		}
	}
	at("schema", m.Schema)
	at("namespace", m.Namespace)
	at("name", m.Name)
	at("version", m.Version)
	at("title", m.Title)
	at("description", m.Description)
	at("template", m.Template)
	at("license.data", m.License.Data)
	at("license.code", m.License.Code)
	at("grader.kind", m.Grader.Kind)
	if m.Prompt != nil {
		at("prompt.system", m.Prompt.System)
		at("prompt.template", m.Prompt.Template)
	}
	for i, t := range m.References {
		s.check(r, "references[]", fmt.Sprintf("references[%d]", i), t)
	}
	for i, t := range m.Metrics {
		s.check(r, "metrics[]", fmt.Sprintf("metrics[%d]", i), t)
	}
	for _, b := range []struct {
		key   string
		n, is int
	}{{"references", MaxReferences, len(m.References)}, {"metrics", MaxMetrics, len(m.Metrics)}} {
		if b.is > b.n {
			r.Add(b.key, strict.CodeRange, "more than %d", b.n)
		}
	}
	for i, c := range m.Components {
		for _, f := range [][2]string{{"path", c.Path}, {"role", c.Role}, {"schema", c.Schema}, {"sha256", c.SHA256}} {
			if strings.TrimSpace(f[1]) != "" {
				s.check(r, "components[]."+f[0], fmt.Sprintf("components[%d].%s", i, f[0]), f[1])
			}
		}
	}
}

// checkManifest looks at what several fields say together. It is made only of
// a manifest whose fields are good.
func checkManifest(r *strict.Reader, m Manifest, graders MakeGrader) {
	checkPrompt(r, m)
	checkComponents(r, m.Components)
	for i, t := range m.Metrics {
		if slices.Contains(m.Metrics[:i], t) {
			r.Add(fmt.Sprintf("metrics[%d]", i), "metric_repeated", "the metric stands twice")
		}
	}
	if _, err := graders(m.Config()); err != nil {
		r.Add("grader", "grader", "%s", graderProblem(err))
	}
	if m.License.Data == NotGranted {
		r.Add("license.data", "license_not_granted", "the package grants no licence for its tasks")
	}
	if m.Synthetic {
		r.Add("synthetic", "package_synthetic", "the tasks are declared synthetic")
	}
}

// graderProblem words the refusal of a grader's constructor by its first
// finding: those of our own packages hold no value of the document.
func graderProblem(err error) string {
	if ref, ok := err.(*bundle.Refusal); ok && len(ref.Findings) > 0 {
		f := ref.Findings[0]
		if f.Path == "" {
			return f.Message
		}
		return f.Path + ": " + f.Message
	}
	return "the grader cannot be built"
}

// maxFilled bounds how often a template may show the same text: a small one
// that shows a long input a thousand times would be a bomb.
const maxFilled = 4

func checkPrompt(r *strict.Reader, m Manifest) {
	if m.Prompt == nil || m.Prompt.Template == "" {
		return
	}
	if m.Template == TemplateConversation {
		r.Add("prompt.template", "prompt_conversation", "the tasks of a conversation have no template")
		return
	}
	filled := map[string]int{}
	for _, p := range bundle.Placeholders(m.Prompt.Template) {
		if p != "input" && (p != "choices" || m.Template != TemplateChoice) {
			r.Add("prompt.template", "prompt_placeholder", "the template has a placeholder that nothing fills")
			return
		}
		if filled[p]++; filled[p] > maxFilled {
			r.Add("prompt.template", "prompt_placeholder", "a placeholder stands more than %d times", maxFilled)
			return
		}
	}
	if filled["input"] == 0 {
		r.Add("prompt.template", "prompt_placeholder", "the template does not show the input")
	}
}

func checkComponents(r *strict.Reader, all []Component) {
	roles := map[string]int{}
	paths := map[string]bool{}
	for i, c := range all {
		at := fmt.Sprintf("components[%d]", i)
		if roles[c.Role]++; roles[c.Role] == 2 && c.Role != RoleDocumentation {
			r.Add(at+".role", "component_role_repeated", "an earlier component has the role %s", c.Role)
		}
		low := strings.ToLower(c.Path)
		if paths[low] {
			r.Add(at+".path", "component_path_repeated", "an earlier component has the same path")
		}
		paths[low] = true
		if low == ManifestFile || reserved(low) {
			r.Add(at+".path", "component_path_reserved", "a component cannot have this path")
		}
		want := map[string]string{RoleDataset: TasksSchema, RoleFixtures: FixturesSchema}[c.Role]
		if c.Schema != want {
			r.Add(at+".schema", "component_schema", "not the schema of the role %s", c.Role)
		}
	}
	for _, role := range []string{RoleDataset, RoleFixtures, RoleLicense, RoleDocumentation} {
		if roles[role] == 0 {
			r.Add("components", "component_role_missing", "no component has the role %s", role)
		}
	}
	for i, c := range all {
		for up := path.Dir(strings.ToLower(c.Path)); up != "."; up = path.Dir(up) {
			if paths[up] {
				r.Add(fmt.Sprintf("components[%d].path", i), "component_path_repeated", "another component is a file where this one needs a folder")
			}
		}
	}
}

// reserved says whether a part of a lower-case path names a device on Windows.
func reserved(file string) bool {
	for part := range strings.SplitSeq(file, "/") {
		stem, _, _ := strings.Cut(part, ".")
		switch stem = strings.TrimSpace(stem); {
		case stem == "con", stem == "prn", stem == "aux", stem == "nul":
			return true
		case len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) && stem[3] >= '0' && stem[3] <= '9':
			return true
		}
	}
	return false
}

// Write is the manifest as a file: indented JSON with a line feed at its end.
// A manifest that ReadManifest accepted is read back equal.
func (m Manifest) Write() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		panic("pack: a manifest has grader options that are not JSON: " + err.Error())
	}
	return b.Bytes()
}

// readManifestFile reads the bytes of evalrouter.json, one more than allowed
// at most.
func readManifestFile(fsys fs.FS) ([]byte, error) {
	f, err := fsys.Open(ManifestFile)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	return io.ReadAll(io.LimitReader(f, MaxManifestBytes+1))
}
