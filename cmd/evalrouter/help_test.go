package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// quietApp has no terminal, no environment and no service: whatever a command
// does with it stays in its buffers.
func quietApp() (*command.App, *bytes.Buffer, *bytes.Buffer) {
	var out, err bytes.Buffer
	return &command.App{
		Version: "0.0.0-test",
		Term: &term.Term{
			In: strings.NewReader(""), Out: &out, Err: &err, Columns: func() int { return 80 },
			Env: func(string) (string, bool) { return "", false }, Home: "/nowhere", Dir: "/nowhere",
		},
	}, &out, &err
}

func walk(path []*argv.Command, visit func([]*argv.Command)) {
	visit(path)
	for _, c := range path[len(path)-1].Sub {
		if c.Hidden {
			continue
		}
		walk(append(append([]*argv.Command{}, path...), c), visit)
	}
}

func words(path []*argv.Command) (out []string) {
	for _, c := range path[1:] {
		out = append(out, c.Name)
	}
	return out
}

// PKG-05: every command has a help page with its flags. The pages are golden.
func TestHelpPages_PKG05(t *testing.T) {
	t.Parallel()
	a, _, _ := quietApp()
	walk([]*argv.Command{tree(a)}, func(path []*argv.Command) {
		name := strings.Join(append([]string{"evalrouter"}, words(path)...), "-")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app, out, errs := quietApp()
			root := tree(app)
			if code := command.Execute(context.Background(), app, root, append(words(path), "--help")); code != 0 || errs.Len() > 0 {
				t.Fatalf("--help: exit code %d, stderr %q", code, errs)
			}
			short := out.String()
			checkPage(t, short, path[len(path)-1])
			if n := strings.Count(short, "\n"); n > 24 && len(path) > 1 {
				t.Errorf("the short page has %d lines", n)
			}
			app, out, _ = quietApp()
			command.Execute(context.Background(), app, tree(app), append(words(path), "--help", "--all"))
			checkPage(t, out.String(), nil)
			golden(t, filepath.Join("testdata", "help", name+".txt"), short+"\n==== --all\n\n"+out.String())
		})
	})
}

func checkPage(t *testing.T, page string, c *argv.Command) {
	t.Helper()
	for _, l := range strings.Split(page, "\n") {
		if len(l) > 80 {
			t.Errorf("a line of %d characters: %q", len(l), l)
		}
	}
	if c != nil && c.Exec != nil && len(c.Sub) == 0 && len(c.Examples) == 0 {
		t.Error("no example")
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// The tree keeps the rules that parsing and help rely on.
func TestTree(t *testing.T) {
	t.Parallel()
	a, _, _ := quietApp()
	root := tree(a)
	name := regexp.MustCompile(`^[a-z][a-z-]*$`)
	walk([]*argv.Command{root}, func(path []*argv.Command) {
		c := path[len(path)-1]
		where := strings.Join(words(path), " ")
		if len(path) <= 2 && len(c.Examples) < 2 {
			t.Errorf("%s: its page has %d examples, want at least two", where, len(c.Examples))
		}
		if !name.MatchString(c.Name) || c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: name %q or sentence %q", where, c.Name, c.Short)
		}
		seen := map[string]bool{}
		for _, fs := range []*argv.Flags{c.Flags, root.Shared} {
			if fs == nil {
				continue
			}
			for _, f := range fs.List() {
				if !name.MatchString(f.Long) || seen[f.Long] || f.Long == "help" || f.Short == 'h' {
					t.Errorf("%s: flag %q", where, f.Long)
				}
				seen[f.Long] = true
				if f.Repeat && (strings.Contains(f.Long, "cost") || f.Long == "yes" || f.Long == "new") {
					t.Errorf("%s: --%s may be repeated", where, f.Long)
				}
			}
		}
	})
}

// Every example of a help page is a command line that can be read.
func TestExamplesParse(t *testing.T) {
	t.Parallel()
	a, _, _ := quietApp()
	walk([]*argv.Command{tree(a)}, func(path []*argv.Command) {
		for _, e := range path[len(path)-1].Examples {
			app, _, _ := quietApp()
			if p, err := argv.Parse(tree(app), strings.Fields(e)[1:]); err != nil {
				t.Errorf("%q: %v", e, err)
			} else if p.Command().Name == "evalrouter" {
				t.Errorf("%q selects no command", e)
			}
		}
	})
}

// PKG-04: the help page names every command, without any service.
func TestRootHelp_PKG04(t *testing.T) {
	t.Parallel()
	a, out, _ := quietApp()
	root := tree(a)
	if code := command.Execute(context.Background(), a, root, []string{"--help"}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	for _, c := range root.Sub {
		if c.Hidden {
			continue
		}
		if !strings.Contains(out.String(), "\n  "+c.Name+" ") {
			t.Errorf("%s is not on the page", c.Name)
		}
	}
}
