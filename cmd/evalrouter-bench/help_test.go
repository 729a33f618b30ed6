package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-bench/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter-bench/internal/command"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func quiet() (*command.App, *bytes.Buffer, *bytes.Buffer) {
	var out, errs bytes.Buffer
	return &command.App{In: strings.NewReader(""), Out: &out, Err: &errs, Version: "0.0.0-test"}, &out, &errs
}

// Every command has a help page. The pages are golden.
func TestHelpPages(t *testing.T) {
	t.Parallel()
	names := []string{""}
	for _, c := range (&command.App{}).Commands() {
		names = append(names, c.Name)
	}
	for _, name := range names {
		t.Run("page "+name, func(t *testing.T) {
			t.Parallel()
			a, out, errs := quiet()
			if code := command.Execute(context.Background(), a, append(strings.Fields(name), "--help")); code != 0 || errs.Len() > 0 {
				t.Fatalf("exit code %d, %s", code, errs)
			}
			for l := range strings.Lines(out.String()) {
				if len(l) > 81 {
					t.Errorf("a line of %d characters: %s", len(l), l)
				}
			}
			path := filepath.Join("testdata", "help", strings.TrimSuffix("evalrouter-bench-"+name, "-")+".txt")
			if *update {
				if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), out.String()); d != "" {
				t.Error(d)
			}
		})
	}
}

// Every example of a help page is a command line that can be read.
func TestExamplesParse(t *testing.T) {
	t.Parallel()
	for _, c := range (&command.App{}).Commands() {
		if len(c.Examples) == 0 {
			t.Errorf("%s has no example", c.Name)
		}
		for _, e := range c.Examples {
			words := strings.Fields(e)
			if words[0] != command.Program || words[1] != c.Name {
				t.Errorf("%s has the example %q", c.Name, e)
			}
			if _, err := argv.Parse(c, []argv.Flag{{Long: "json", Set: func(string) error { return nil }}}, words[2:]); err != nil {
				t.Errorf("%q: %v", e, err)
			}
		}
	}
}
