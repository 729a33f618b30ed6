package pack

import (
	"regexp"
	"sync"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle/internal/strict"
)

// Shape is what a text of the manifest must look like. The validator and the
// generated schema use the same table.
type Shape struct {
	// Path is the field, dotted; [] stands for any position of an array.
	Path string
	// Pattern is RE2 without look-around, so that every reader of schemas
	// understands it. "" allows any text.
	Pattern string
	// Most is the greatest number of characters, 0 for no bound but the file's.
	Most int
	// Blank allows a text of white space.
	Blank bool
	// Words are the only values, if any.
	Words []string
	// Want says in words what is wanted.
	Want string
}

// Whole numbers and counts that the table of texts does not hold.
const (
	MaxOutputTokens = 1_000_000
	MaxReferences   = 50
	MaxMetrics      = 20
)

// Shapes lists the texts of the manifest.
func Shapes() []Shape {
	const (
		spdx = `^[A-Za-z0-9][A-Za-z0-9.+-]*( (AND|OR|WITH) [A-Za-z0-9][A-Za-z0-9.+-]*)*$`
		name = `^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`
		file = `^[A-Za-z0-9_]([A-Za-z0-9_. -]*[A-Za-z0-9_-])?(/[A-Za-z0-9_]([A-Za-z0-9_. -]*[A-Za-z0-9_-])?)*$`
		hex  = `^[0-9a-f]{64}$`
	)
	return []Shape{
		{Path: "schema", Words: []string{Schema}},
		{Path: "namespace", Pattern: name, Most: 40, Want: "lower-case letters, digits and inner dashes"},
		{Path: "name", Pattern: name, Most: 64, Want: "lower-case letters, digits and inner dashes"},
		{Path: "version", Pattern: `^[0-9A-Za-z]([0-9A-Za-z._-]*[0-9A-Za-z])?$`, Most: 32, Want: "letters and digits with inner dots, dashes and underscores"},
		{Path: "title", Most: 200},
		{Path: "description", Most: 4000, Blank: true},
		{Path: "license.data", Pattern: spdx, Most: 200, Want: "an SPDX identifier or expression"},
		{Path: "license.code", Pattern: spdx, Most: 200, Want: "an SPDX identifier or expression"},
		{Path: "references[]", Pattern: `^https://[A-Za-z0-9.-]+(:[0-9]+)?(/[!-~]*)?$`, Most: 500, Want: "an https address in ASCII, without user information"},
		{Path: "template", Words: Templates()},
		{Path: "prompt.system", Most: 65536, Blank: true},
		{Path: "prompt.template", Most: 65536, Blank: true},
		{Path: "grader.kind", Pattern: `^[a-z][a-z0-9_/@.-]*$`, Most: 64, Want: "the kind of a built-in grader"},
		{Path: "metrics[]", Pattern: `^[a-z][a-z0-9_]*$`, Most: 64, Want: "a metric name in lower case"},
		{Path: "components[].path", Pattern: file, Most: 200, Want: "a relative path of ASCII names in slashes, without . and .. and hidden names"},
		{Path: "components[].role", Words: []string{RoleDataset, RoleFixtures, RoleLicense, RoleDocumentation}},
		{Path: "components[].schema", Words: []string{TasksSchema, FixturesSchema}},
		{Path: "components[].sha256", Pattern: hex, Want: "64 lower-case hex digits"},
	}
}

// shapes is the table with its patterns compiled.
type shapes map[string]compiled

type compiled struct {
	Shape
	re *regexp.Regexp
}

// compiledShapes is the table for looking up; nobody changes it.
var compiledShapes = sync.OnceValue(func() shapes {
	out := shapes{}
	for _, s := range Shapes() {
		c := compiled{Shape: s}
		if s.Pattern != "" {
			c.re = regexp.MustCompile(s.Pattern)
		}
		out[s.Path] = c
	}
	return out
})

// check holds one text to its shape. place is its path in the document, key
// the path in the table.
func (s shapes) check(r *strict.Reader, key, place, text string) {
	c := s[key]
	switch {
	case len(c.Words) > 0:
		for _, w := range c.Words {
			if text == w {
				return
			}
		}
		r.Add(place, strict.CodeRange, "want one of %s", list(c.Words))
	case c.Most > 0 && utf8.RuneCountInString(text) > c.Most:
		r.Add(place, strict.CodeRange, "longer than %d characters", c.Most)
	case c.re != nil && !c.re.MatchString(text):
		r.Add(place, strict.CodeRange, "want %s", c.Want)
	}
}

func list(words []string) string {
	s := ""
	for i, w := range words {
		if i > 0 {
			s += ", "
		}
		s += w
	}
	return s
}
