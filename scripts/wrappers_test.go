package scripts_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tree is a small repository with the real setup script, in a folder whose name has a space. Its evalrouter prints
// how it was called.
func tree(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "a tree")
	write(t, root, "go.work", "go 1.26.0\n\nuse (\n\t./cmd/evalrouter\n\t./cmd/evalrouterd\n)\n", 0o644)
	for _, name := range []string{"evalrouter", "evalrouterd"} {
		write(t, root, "cmd/"+name+"/go.mod", "module example.org/"+name+"\n\ngo 1.26.0\n", 0o644)
		write(t, root, "cmd/"+name+"/main.go", "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\""+name+" \" + os.Args[1] + \"\\n\") }\n", 0o644)
	}
	for _, name := range []string{"setup", "toolchain"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, root, "scripts/"+name, string(text), 0o755)
	}
	return root
}

func write(t *testing.T, root, name, text string, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// setup runs the script from a foreign folder.
func setup(ctx context.Context, t *testing.T, root string, env ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(ctx, filepath.Join(root, "scripts", "setup"))
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestSetupBuildsAndRunsTheDemoTwice(t *testing.T) {
	t.Parallel()
	root := tree(t)
	for range 2 {
		out, err := setup(t.Context(), t, root)
		want := "building bin/evalrouter\nbuilding bin/evalrouterd\nrunning bin/evalrouter demo\nevalrouter demo\n"
		if err != nil || out != want {
			t.Fatalf("%v, output:\n%s\nwant:\n%s", err, out, want)
		}
	}
	entries, err := os.ReadDir(filepath.Join(root, "bin"))
	if err != nil || len(entries) != 2 {
		t.Errorf("bin holds %v, want the two binaries (%v)", entries, err)
	}
}

func TestSetupStopsAtABrokenBuild(t *testing.T) {
	t.Parallel()
	root := tree(t)
	write(t, root, "cmd/evalrouterd/main.go", "package main\n\nfunc main() { undefined() }\n", 0o644)
	out, err := setup(t.Context(), t, root)
	if err == nil || !strings.Contains(out, "evalrouterd did not build; nothing was run") || strings.Contains(out, "evalrouter demo\n") {
		t.Errorf("%v, output:\n%s", err, out)
	}
	entries, err := os.ReadDir(filepath.Join(root, "bin"))
	if err != nil || len(entries) != 1 {
		t.Errorf("bin holds %v, want the one good binary (%v)", entries, err)
	}
}

// path makes a folder with the few tools that the script needs, and the given program as go when there is one.
func path(t *testing.T, goProgram string) string {
	t.Helper()
	dir := t.TempDir()
	for _, tool := range []string{"bash", "sed", "basename", "dirname", "mkdir", "mv", "rm"} {
		found, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(found, filepath.Join(dir, tool)); err != nil {
			t.Fatal(err)
		}
	}
	if goProgram != "" {
		write(t, dir, "go", "#!/usr/bin/env bash\n"+goProgram+"\n", 0o755)
	}
	return "PATH=" + dir
}

func TestSetupExplainsTheToolchain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, program, want string }{
		{"missing", "", "setup: Go is not on PATH. Install Go 1.26.0 or newer"},
		{"too old", "echo go1.25.9", "needs Go 1.26.0 or newer, but go on PATH is go1.25.9"},
		{"much too old", `[ "$GOTOOLCHAIN" = local ] && echo go1.9`, "needs Go 1.26.0 or newer, but go on PATH is go1.9"},
		{"broken", "exit 1", "but go on PATH is an unknown version"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := setup(t.Context(), t, tree(t), path(t, tt.program))
			if err == nil || !strings.Contains(out, tt.want) || strings.Count(out, "\n") != 1 {
				t.Errorf("%v, output:\n%s\nwant one line with: %s", err, out, tt.want)
			}
		})
	}
}

func TestVersionAtLeast(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		have, want string
		ok         bool
	}{
		{"go1.26.0", "1.26.0", true}, {"go1.26.8", "1.26.0", true}, {"go1.27rc1", "1.26.3", true}, {"go2.0", "1.26.0", true},
		{"devel go1.27-abcdef Mon", "1.26.0", true}, {"go1.26", "1.26.0", true}, {"go1.26.9-custom", "1.26.10", false},
		{"go1.25.99", "1.26.0", false}, {"go1.3", "1.26.0", false}, {"", "1.26.0", false},
	} {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", `source ./toolchain; version_at_least "$1" "$2"`, "test", tt.have, tt.want)
		if err := cmd.Run(); (err == nil) != tt.ok {
			t.Errorf("version_at_least %q %q is not %v (%v)", tt.have, tt.want, tt.ok, err)
		}
	}
}
