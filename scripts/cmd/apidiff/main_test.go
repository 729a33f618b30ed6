package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const first = `// Package box holds things.
package box

const Size = 3

type Box struct {
	Name string
	seen int
}

func (b *Box) Open(key string) error { return nil }
`

// library is a small repository with one library, one command and one folder
// of scripts, committed.
func library(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.work":              "go 1.26.0\n\nuse (\n\t./box\n\t./cmd/tool\n\t./scripts\n)\n",
		"box/go.mod":           "module example.org/box\n\ngo 1.26.0\n",
		"box/box.go":           first,
		"box/internal/in/a.go": "package in\n\nfunc Hidden() {}\n",
		"cmd/tool/go.mod":      "module example.org/tool\n\ngo 1.26.0\n",
		"cmd/tool/main.go":     "package main\n\nfunc main() {}\n",
		"scripts/go.mod":       "module example.org/scripts\n\ngo 1.26.0\n",
	} {
		put(t, root, name, text)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "first"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return root
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		box  string
		args []string
		code int
		want []string
	}{
		{"the same", first, nil, 0, nil},
		{"a name more", first + "\nfunc New() *Box { return nil }\n", nil, 1, []string{"+ box .: func New() *Box", "scripts/apidiff -update"}},
		{"what is inside differs", strings.Replace(first, "seen int", "seen, heard int", 1), nil, 0, nil},
		{"a constant of another value", strings.Replace(first, "= 3", "= 4", 1), nil, 1, []string{"- box .: const Size untyped int = 3", "+ box .: const Size untyped int = 4"}},
		{"a name more breaks nobody", first + "\nfunc New() *Box { return nil }\n", []string{"-base", "HEAD"}, 0, []string{"new    box: New: added", "nothing that imports"}},
		{"a method with another parameter breaks", strings.Replace(first, "key string", "key []byte", 1), []string{"-base", "HEAD"}, 1, []string{"breaks box: ", "Open", "[]byte"}},
		{"a field that is gone breaks", strings.Replace(first, "\tName string\n", "", 1), []string{"-base", "HEAD"}, 1, []string{"Box.Name", "removed"}},
		{"no such commit", first, []string{"-base", "nowhere"}, 1, []string{"apidiff: read nowhere:"}},
		{"a flag for a commit", first, []string{"-base", "-rf"}, 1, []string{`"-rf" names no commit`}},
		{"both", first, []string{"-base", "HEAD", "-update"}, 2, []string{"usage: scripts/apidiff"}},
		{"it does not compile", first + "\nvar X Unknown\n", nil, 1, []string{"undefined: Unknown"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := library(t)
			var out bytes.Buffer
			if code := run(t.Context(), []string{"-root", root, "-update"}, &out, &out); code != 0 {
				t.Fatalf("-update: exit %d\n%s", code, &out)
			}
			written, err := os.ReadFile(filepath.Join(root, "docs", "api", "box.txt"))
			if err != nil {
				t.Fatal(err)
			}
			if s := string(written); strings.Contains(s, "Hidden") || strings.Contains(s, "seen") || !strings.Contains(s, "type Box, method Open(key string) error") {
				t.Errorf("docs/api has\n%s", s)
			}
			put(t, root, "box/box.go", tt.box)
			if code := run(t.Context(), append([]string{"-root", root}, tt.args...), &out, &out); code != tt.code {
				t.Errorf("exit %d, want %d", code, tt.code)
			}
			for _, w := range tt.want {
				if !strings.Contains(out.String(), w) {
					t.Errorf("%q is not in\n%s", w, &out)
				}
			}
		})
	}
}
