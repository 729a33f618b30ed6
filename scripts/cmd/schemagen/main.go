// Command schemagen writes the JSON Schemas of documents that people write:
// go run ./scripts/cmd/schemagen from the root of the repository. The schemas
// are committed; a test fails when they are behind the types and tables that
// they are made from, and holds them to the validators.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/evalrouter/evalrouter/bundle/pack"
	"github.com/evalrouter/evalrouter/lib/api"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	flags := flag.NewFlagSet("schemagen", flag.ContinueOnError)
	root := flags.String("root", ".", "folder of go.work")
	if flags.Parse(args) != nil || flags.NArg() > 0 {
		return 2
	}
	for _, d := range documents() {
		text, err := d.text()
		if err == nil {
			err = os.WriteFile(filepath.Join(*root, d.path), text, 0o644)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "schemagen: %s: %v\n", d.path, err)
			return 1
		}
		fmt.Println(d.path)
	}
	return 0
}

// document is one schema and where it is kept.
type document struct {
	path  string
	title string
	of    any
	// finish says what types cannot.
	finish func(*jsonschema.Schema)
}

func documents() []document {
	// The command line prints every schema and links none of the packages that
	// they are about, so that it has a copy.
	var out []document
	for _, dir := range []string{"bundle/pack/schema/", "cmd/evalrouter/internal/schema/"} {
		out = append(out,
			document{dir + "package.json", pack.Schema, pack.Manifest{}, finishManifest},
			document{dir + "tasks.json", pack.TasksSchema, pack.TaskLine{}, finishTask},
			document{dir + "fixtures.json", pack.FixturesSchema, pack.FixtureLine{}, finishFixture},
		)
	}
	return append(out, wireDocuments()...)
}

func (d document) text() ([]byte, error) {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true, Mapper: special}
	s := r.Reflect(d.of)
	s.Title = d.title
	if strings.HasPrefix(d.path, "cmd/evalrouter/") && reflect.TypeOf(d.of).PkgPath() == reflect.TypeFor[api.NewQuote]().PkgPath() {
		nullable(s, reflect.TypeOf(d.of))
	}
	d.finish(s)
	indent := "  "
	if strings.HasPrefix(d.path, "cmd/evalrouter/") {
		indent = "" // half of the text would be spaces, and it is in the program
	}
	b, err := json.MarshalIndent(s, "", indent)
	if err != nil {
		return nil, fmt.Errorf("write schema: %w", err)
	}
	return append(b, '\n'), nil
}

// at finds the schema of a field by its dotted path; [] stands for the items
// of an array.
func at(s *jsonschema.Schema, path string) *jsonschema.Schema {
	for _, name := range strings.Split(path, ".") {
		name, items := strings.CutSuffix(name, "[]")
		next, ok := s.Properties.Get(name)
		if !ok {
			panic("schemagen: no field " + path)
		}
		if s = next; items {
			s = s.Items
		}
	}
	return s
}

func count(n uint64) *uint64 { return &n }

func number(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// Patterns of texts that are not blank: one for the texts of the manifest,
// where every white space of Unicode is blank, and one for lines.
const (
	filled     = "[^\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
	filledLine = "[^\x00- ]"
)

func finishManifest(s *jsonschema.Schema) {
	for _, shape := range pack.Shapes() {
		f := at(s, shape.Path)
		if shape.Most > 0 {
			f.MaxLength = count(uint64(shape.Most))
		}
		f.Pattern = shape.Pattern
		if shape.Pattern == "" && !shape.Blank && len(shape.Words) == 0 {
			f.Pattern = filled
		}
		f.Enum = words(shape.Words)
	}
	limits := at(s, "limits.max_output_tokens")
	limits.Minimum, limits.Maximum = number(1), number(pack.MaxOutputTokens)
	size := at(s, "components[].bytes")
	size.Minimum, size.Maximum = number(0), number(pack.MaxPackageBytes)
	at(s, "components").MinItems, at(s, "components").MaxItems = count(1), count(pack.MaxComponents)
	at(s, "references").MaxItems = count(pack.MaxReferences)
	at(s, "metrics").MaxItems, at(s, "metrics").UniqueItems = count(pack.MaxMetrics), true
	options, ok := at(s, "grader").Properties.Get("options")
	if !ok {
		panic("schemagen: no grader.options")
	}
	*options = jsonschema.Schema{Type: "object"}
}

func words[W ~string](all []W) []any {
	var out []any
	for _, w := range all {
		out = append(out, string(w))
	}
	return out
}

func finishTask(s *jsonschema.Schema) {
	at(s, "id").Pattern = pack.IDPattern
	text := func() *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Pattern: filledLine} }
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true}
	turn := r.Reflect(pack.Turn{})
	turn.Version = ""
	at(turn, "role").Enum = []any{"user", "assistant", "system"}
	at(turn, "text").Pattern = filledLine
	*at(s, "input") = jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		text(), {Type: "array", Items: turn, MaxItems: count(pack.MaxTurns)},
	}}
	*at(s, "target") = jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		text(), {Type: "number"}, {Type: "array", MinItems: count(1)}, {Type: "object", MinProperties: count(1)},
	}}
	choices := at(s, "choices")
	choices.MinItems, choices.MaxItems, choices.UniqueItems = count(pack.MinChoices), count(pack.MaxChoices), true
	choices.Items.Pattern = filledLine
	group := at(s, "group")
	group.Pattern, group.MaxLength = filledLine, count(pack.MaxGroup)
}

func finishFixture(s *jsonschema.Schema) {
	task := at(s, "task")
	task.Pattern, task.MaxLength = filledLine, count(pack.MaxGroup)
	at(s, "finish").Enum = words(slices.Clone(pack.Finishes()))
	at(s, "expect").Enum = words(pack.Outcomes())
}
