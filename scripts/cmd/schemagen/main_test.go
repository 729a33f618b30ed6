package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/bundle/pack"
	"github.com/evalrouter/evalrouter/bundle/pack/packtest"
)

const root = "../../.."

func TestCommitted(t *testing.T) {
	t.Parallel()
	for _, d := range documents() {
		want, err := os.ReadFile(filepath.Join(root, d.path))
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.text()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is behind; run go run ./scripts/cmd/schemagen\n%s", d.path, diff)
		}
	}
}

func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	text, err := os.ReadFile(filepath.Join(root, "bundle/pack/schema", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("test:///"+name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("test:///" + name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// verdict says whether a schema accepts a text, and whether it is JSON that a
// schema can look at.
func verdict(s *jsonschema.Schema, text []byte) (accepts, readable bool) {
	if !json.Valid(text) {
		return false, false
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return false, false
	}
	return s.Validate(doc) == nil, true
}

func schemaRules() map[string]bool {
	all := map[string]bool{}
	for _, r := range pack.Rules() {
		all[r.ID] = r.Schema
	}
	return all
}

// The schema of manifests and the validator agree on every rule that a schema
// can say: a manifest that breaks one is refused by both, and any other is
// accepted by the schema.
func TestManifest_SchemaAgrees(t *testing.T) {
	t.Parallel()
	s, says := compile(t, "package"), schemaRules()
	refused := map[string]int{}
	check := func(name string, raw []byte) {
		accepts, readable := verdict(s, raw)
		_, findings := pack.ReadManifest(raw, families.Grader)
		want := true
		for _, f := range findings {
			if strings.HasPrefix(f.Rule, "manifest_json") || f.Rule == "manifest_too_large" {
				return // no document to look at
			}
			if says[f.Rule] {
				want = false
				refused[f.Rule]++
			}
		}
		if !readable || accepts != want {
			t.Errorf("%s: the schema accepts it: %v, the validator found %v", name, accepts, findings)
		}
	}
	for _, template := range pack.Templates() {
		check(template, packtest.Good(template)[pack.ManifestFile])
	}
	for _, c := range packtest.All() {
		if raw, ok := c.Files[pack.ManifestFile]; ok {
			check(c.Name, raw)
		}
	}
	for id, is := range says {
		if is && strings.HasPrefix(id, "manifest") && refused[id] == 0 {
			t.Errorf("no manifest breaks %s", id)
		}
	}
}

func TestLines_SchemaAgrees(t *testing.T) {
	t.Parallel()
	says := schemaRules()
	for _, c := range []struct{ name, file, prefix string }{{"tasks", pack.TasksFile, "task_"}, {"fixtures", pack.FixturesFile, "fixture_"}} {
		s := compile(t, c.name)
		for _, template := range pack.Templates() {
			for line := range strings.Lines(string(packtest.Good(template)[c.file])) {
				if accepts, _ := verdict(s, []byte(line)); !accepts {
					t.Errorf("refuses the good line %s", line)
				}
			}
		}
		seen := map[string]int{}
		for _, b := range packtest.All() {
			switch {
			case !strings.HasPrefix(b.Rule, c.prefix) || b.Line == "", strings.Contains(b.Rule, "_json_"), strings.Contains(b.Rule, "_line_"):
				continue
			}
			seen[b.Rule]++
			if accepts, readable := verdict(s, []byte(b.Line)); !readable || accepts == says[b.Rule] {
				t.Errorf("%s: the schema accepts it: %v, the rule is %s", b.Name, accepts, b.Rule)
			}
		}
		for id, is := range says {
			if is && strings.HasPrefix(id, c.prefix) && seen[id] == 0 {
				t.Errorf("no line breaks %s", id)
			}
		}
	}
}
