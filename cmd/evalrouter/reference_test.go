package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command/guide"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/manual"
)

// docs is the folder of documents of the repository. A module that was
// downloaded alone has none.
func docs(t *testing.T) string {
	t.Helper()
	dir := filepath.Join("..", "..", "docs")
	if _, err := os.Stat(filepath.Join(dir, "architecture.md")); err != nil {
		t.Skip("the documents of the repository are not beside this module")
	}
	return dir
}

const reference = "<!-- reference: written by go test ./cmd/evalrouter -run Reference -update -->\n"

// docs/cli.md is the hand-written part, then the reference from the tree.
func TestReference(t *testing.T) {
	t.Parallel()
	path := filepath.Join(docs(t), "cli.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	prose, _, ok := strings.Cut(string(page), reference)
	if !ok {
		t.Fatalf("%s has no reference part", path)
	}
	a, _, _ := quietApp()
	golden(t, path, prose+reference+"\n"+manual.Markdown(tree(a), guide.Exit))
}

// The man pages stand in docs/man, one a command, and no program that reads
// them has anything to say about them.
func TestReferenceMan_H9(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(docs(t), "man")
	a, _, _ := quietApp()
	pages := manual.Man(tree(a))
	for name, page := range pages {
		golden(t, filepath.Join(dir, name), page)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if pages[e.Name()] == "" {
			t.Errorf("%s is the page of no command", e.Name())
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed, so that the pages are not read by it")
	}
	args := []string{"-man", "-ww", "-Tutf8", "-z"}
	for name := range pages {
		args = append(args, filepath.Join(dir, name))
	}
	if out, err := exec.Command(groff, args...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff: %v\n%s", err, out)
	}
}
