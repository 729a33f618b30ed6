// Command apidiff holds what the libraries export to docs/api, and tells what of
// it changed since a commit: scripts/apidiff builds and starts it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/evalrouter/evalrouter/scripts/internal/surface"
)

const usage = `usage: scripts/apidiff [-update] [-base REVISION]

Without a flag it fails where an exported name of a library differs from docs/api, and says how. -update writes docs/api
anew. -base compares with the libraries of another commit, a release say, and fails where something that is there
would break a program that imports it.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// job is what was asked for.
type job struct {
	root, base string
	update     bool
	out        io.Writer
}

// run returns 0 where nothing differs or breaks, 1 where something does, 2 for
// wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("scripts/apidiff", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprintln(stderr, usage) }
	j := job{out: stdout}
	flags.StringVar(&j.root, "root", ".", "")
	flags.StringVar(&j.base, "base", "", "")
	flags.BoolVar(&j.update, "update", false, "")
	if flags.Parse(args) != nil || flags.NArg() > 0 || (j.update && j.base != "") {
		flags.Usage()
		return 2
	}
	do := j.hold
	if j.base != "" {
		do = j.compare
	}
	fine, err := do(ctx)
	if err != nil {
		fmt.Fprintln(stderr, "apidiff:", err)
	}
	if err != nil || !fine {
		return 1
	}
	return 0
}

// libraries are the modules of a workspace that others may import, by folder.
func libraries(root string) (map[string]string, error) {
	path := filepath.Join(root, "go.work")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the workspace: %w", err)
	}
	work, err := modfile.ParseWork(path, text, nil)
	if err != nil {
		return nil, fmt.Errorf("read the workspace: %w", err)
	}
	modules := map[string]string{}
	for _, u := range work.Use {
		dir := strings.TrimPrefix(u.Path, "./")
		if strings.HasPrefix(dir, "cmd/") || dir == "scripts" {
			continue
		}
		mod, err := os.ReadFile(filepath.Join(root, dir, "go.mod"))
		if err != nil {
			return nil, fmt.Errorf("read a module: %w", err)
		}
		modules[dir] = modfile.ModulePath(mod)
	}
	return modules, nil
}

// surfaces are what the libraries of a tree export, by folder.
func surfaces(ctx context.Context, root string) (map[string]surface.Module, error) {
	modules, err := libraries(root)
	if err != nil {
		return nil, err
	}
	out := map[string]surface.Module{}
	for dir, path := range modules {
		if out[dir], err = surface.Load(ctx, filepath.Join(root, dir), path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// hold compares the libraries with what is written of them.
func (j job) hold(ctx context.Context) (bool, error) {
	now, err := surfaces(ctx, j.root)
	if err != nil {
		return false, err
	}
	fine := true
	for _, dir := range sorted(now) {
		path := filepath.Join(j.root, "docs", "api", dir+".txt")
		lines := now[dir].Lines()
		if j.update {
			if err := write(path, lines); err != nil {
				return false, err
			}
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return false, fmt.Errorf("%w: scripts/apidiff -update writes it", err)
		}
		written := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		fine = j.differ(dir, written, lines) && fine
	}
	if !fine {
		fmt.Fprintln(j.out, "what the libraries export changed: if that is meant, scripts/apidiff -update writes it down for the review")
	}
	return fine, nil
}

// differ prints what only one of two lists has.
func (j job) differ(dir string, written, now []string) bool {
	fine := true
	for _, l := range written {
		if !slices.Contains(now, l) {
			fmt.Fprintf(j.out, "- %s %s\n", dir, l)
			fine = false
		}
	}
	for _, l := range now {
		if !slices.Contains(written, l) {
			fmt.Fprintf(j.out, "+ %s %s\n", dir, l)
			fine = false
		}
	}
	return fine
}

func write(path string, lines []string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write the surface: %w", err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		return fmt.Errorf("write the surface: %w", err)
	}
	return nil
}

func sorted(m map[string]surface.Module) []string {
	var dirs []string
	for dir := range m {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return dirs
}
