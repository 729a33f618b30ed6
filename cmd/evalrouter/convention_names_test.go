package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/manual"
)

// Every line of the conventions has a test that is named for it: a test
// function, a row of a table, or a comment of a script.
func TestEveryConventionHasATest(t *testing.T) {
	t.Parallel()
	counts := map[string]int{"H": 10, "S": 12, "C": 6, "E": 7, "M": 6, "G": 8, "A": 4}
	named := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func Test(\w+)\(`)
	row := regexp.MustCompile(`\{(?:name: )?"([A-Z]+-?\d+[^"]*)"`)
	comment := regexp.MustCompile(`(?m)^# ([^:\n]*):?`)
	id := regexp.MustCompile(`^[HSCEMGA]\d+$`)
	for _, root := range []string{".", "../../lib"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			script := strings.HasSuffix(path, ".txtar")
			if err != nil || d.IsDir() || !script && !strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			patterns := []*regexp.Regexp{function, row}
			if script {
				patterns = []*regexp.Regexp{comment}
			}
			for _, p := range patterns {
				for _, m := range p.FindAllStringSubmatch(string(b), -1) {
					for _, w := range strings.FieldsFunc(strings.TrimPrefix(m[1], "Convention"), func(r rune) bool { return r == '_' || r == ' ' }) {
						named[w] = named[w] || id.MatchString(w)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for letter, n := range counts {
		for i := 1; i <= n; i++ {
			if name := fmt.Sprintf("%s%d", letter, i); !named[name] {
				t.Errorf("no test is named for %s", name)
			}
		}
	}
}

// A4: one document has every command with its flags, variables and codes.
func TestConventionA4(t *testing.T) {
	t.Parallel()
	a, out, _ := quietApp()
	root := tree(a)
	if code := command.Execute(t.Context(), a, root, []string{"help", "--json"}); code != 0 {
		t.Fatal(out)
	}
	var doc manual.Document
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	have := map[string]manual.Command{}
	for _, c := range doc.Commands {
		have[c.Name] = c
	}
	walk([]*argv.Command{root}, func(path []*argv.Command) {
		c, name := path[len(path)-1], strings.Join(words(path), " ")
		if len(c.Sub) > 0 {
			return
		}
		got, ok := have[name]
		if !ok {
			t.Errorf("%q is not in the document", name)
			return
		}
		if c.Flags != nil {
			for _, f := range c.Flags.List() {
				if !slices.ContainsFunc(got.Flags, func(g manual.Flag) bool { return strings.TrimLeft(g.Name, "-") == f.Long }) {
					t.Errorf("%q has no --%s", name, f.Long)
				}
			}
		}
	})
	if len(doc.Errors) != len(manual.Problems()) || len(doc.Exits) != len(manual.Exits()) || len(doc.Variables) != len(manual.Variables()) {
		t.Errorf("%d errors, %d exit codes, %d variables", len(doc.Errors), len(doc.Exits), len(doc.Variables))
	}
}
