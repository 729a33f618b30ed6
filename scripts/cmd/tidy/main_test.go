package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// workspaceFiles is a workspace whose module "app" uses its sibling "base" and a published module without
// requiring either, and whose go.sum holds the hash of a sibling that no proxy has.
func workspaceFiles() map[string]string {
	return map[string]string{
		"go.work":      "go 1.26.0\n\nuse (\n\t./app\n\t./base\n)\n",
		"app/go.mod":   "module example.org/app\n\ngo 1.26.0\n",
		"app/go.sum":   "example.org/base v0.0.0/go.mod h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
		"app/main.go":  "package main\n\nimport \"example.org/base\"\n\nfunc main() { println(base.Name) }\n",
		"base/go.mod":  "module example.org/base\n\ngo 1.26.0\n",
		"base/base.go": "package base\n\nconst Name = \"base\"\n",
	}
}

func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "a tree")
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func tidy(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func read(t *testing.T, elem ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestCheckPrintsDiffAndWritesNothing(t *testing.T) {
	t.Parallel()
	root := lay(t, workspaceFiles())
	code, stdout, stderr := tidy(t, "-check", "-root", root)
	if code != 1 {
		t.Fatalf("exit %d, want 1; stderr: %s", code, stderr)
	}
	for _, want := range []string{"app/go.mod\n", "+require example.org/base v0.0.0\n", "app/go.sum\n", "-example.org/base"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the diff lacks %q:\n%s", want, stdout)
		}
	}
	for name, text := range workspaceFiles() {
		if got := read(t, root, name); got != text {
			t.Errorf("%s was changed to:\n%s", name, got)
		}
	}
}

func TestFixKeepsSiblingsUnreleased(t *testing.T) {
	t.Parallel()
	root := lay(t, workspaceFiles())
	if code, _, stderr := tidy(t, "-root", root); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	want := "module example.org/app\n\ngo 1.26.0\n\nrequire example.org/base v0.0.0\n"
	if got := read(t, root, "app", "go.mod"); got != want {
		t.Errorf("go.mod is:\n%s\nwant:\n%s", got, want)
	}
	if _, err := os.Stat(filepath.Join(root, "app", "go.sum")); !os.IsNotExist(err) {
		t.Errorf("go.sum with only a sibling's hash is still there (%v)", err)
	}
	if code, stdout, stderr := tidy(t, "-check", "-root", root); code != 0 {
		t.Errorf("check after fix: exit %d\n%s%s", code, stdout, stderr)
	}
}

func TestFixOnlyNamedModules(t *testing.T) {
	t.Parallel()
	files := workspaceFiles()
	files["base/go.mod"] += "\nrequire example.org/app v0.0.0\n" // needless
	root := lay(t, files)
	if code, _, stderr := tidy(t, "-root", root, "app"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if got := read(t, root, "base", "go.mod"); got != files["base/go.mod"] {
		t.Errorf("base was not named but is now:\n%s", got)
	}
	if code, _, _ := tidy(t, "-root", root, "absent"); code != 2 {
		t.Errorf("an unknown folder gave exit %d, want 2", code)
	}
}

func TestOneBrokenModuleDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	files := workspaceFiles()
	files["base/base.go"] = "package base\n\nimport _ \"example.org/app/absent\"\n\nconst Name = \"\"\n"
	files["go.work"] = "go 1.26.0\n\nuse (\n\t./base\n\t./app\n\t./alone\n)\n"
	files["alone/go.mod"] = "module example.org/alone\n\ngo 1.26.0\n\nrequire example.org/base v0.0.0\n"
	root := lay(t, files)
	code, _, stderr := tidy(t, "-root", root)
	if code != 1 || !strings.Contains(stderr, "tidy base") {
		t.Errorf("exit %d, want 1 and a message about base; stderr: %s", code, stderr)
	}
	if got := read(t, root, "alone", "go.mod"); strings.Contains(got, "base") {
		t.Errorf("alone was not tidied after base failed:\n%s", got)
	}
}
