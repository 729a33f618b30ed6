package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// unreleased is the version of every sibling requirement until the first release.
const unreleased = "v0.0.0"

type module struct {
	path string // module path
	dir  string // absolute folder
	rel  string // folder relative to the root
}

type workspace struct {
	root    string
	modules []module
}

// openWorkspace reads the module list from go.work itself: `go list -m` would refuse a workspace with a broken go.mod.
func openWorkspace(ctx context.Context, root string) (*workspace, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", root, err)
	}
	var work struct{ Use []struct{ DiskPath string } }
	if err := goJSON(ctx, root, &work, "work", "edit", "-json", filepath.Join(root, "go.work")); err != nil {
		return nil, err
	}
	ws := &workspace{root: root}
	for _, use := range work.Use {
		dir := filepath.Join(root, filepath.FromSlash(use.DiskPath))
		var mod struct{ Module struct{ Path string } }
		if err := goJSON(ctx, root, &mod, "mod", "edit", "-json", filepath.Join(dir, "go.mod")); err != nil {
			return nil, err
		}
		ws.modules = append(ws.modules, module{mod.Module.Path, dir, filepath.Clean(use.DiskPath)})
	}
	return ws, nil
}

// files are the two files that tidying owns. A nil sum means that the module needs no go.sum.
type files struct{ mod, sum []byte }

// tidied computes the tidy form of m on copies in a temporary folder; the tree is only read.
func (ws *workspace) tidied(ctx context.Context, m module) (files, error) {
	tmp, err := os.MkdirTemp("", "tidy-")
	if err != nil {
		return files{}, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer os.RemoveAll(tmp)
	mod, sum := filepath.Join(tmp, "tidy.mod"), filepath.Join(tmp, "tidy.sum")
	for _, c := range []struct{ from, to string }{{m.file("go.mod"), mod}, {m.file("go.sum"), sum}} {
		if err := copyIfThere(c.from, c.to); err != nil {
			return files{}, err
		}
	}
	edit := []string{"mod", "edit"}
	for _, sibling := range ws.modules {
		if sibling != m {
			edit = append(edit, "-replace="+sibling.path+"="+sibling.dir)
		}
	}
	if _, err := goCommand(ctx, m.dir, append(edit, mod)...); err != nil {
		return files{}, err
	}
	if _, err := goCommand(ctx, m.dir, "mod", "tidy", "-modfile="+mod); err != nil {
		return files{}, fmt.Errorf("tidy %s: %w", m.rel, err)
	}
	if err := ws.restore(ctx, m, mod); err != nil {
		return files{}, err
	}
	return readFiles(mod, sum)
}

// restore drops the replacements from the temporary go.mod and sets its sibling requirements back to the
// unreleased version: tidy invents a pseudo-version for a sibling that it adds itself.
func (ws *workspace) restore(ctx context.Context, m module, mod string) error {
	var parsed struct{ Require []struct{ Path string } }
	if err := goJSON(ctx, m.dir, &parsed, "mod", "edit", "-json", mod); err != nil {
		return err
	}
	required := map[string]bool{}
	for _, r := range parsed.Require {
		required[r.Path] = true
	}
	edit := []string{"mod", "edit"}
	for _, sibling := range ws.modules {
		if sibling == m {
			continue
		}
		edit = append(edit, "-dropreplace="+sibling.path)
		if required[sibling.path] {
			edit = append(edit, "-require="+sibling.path+"@"+unreleased)
		}
	}
	_, err := goCommand(ctx, m.dir, append(edit, mod)...)
	return err
}

func (m module) file(name string) string { return filepath.Join(m.dir, name) }

// differs reports whether the files on disk are not these. An unreadable file differs; write will name the reason.
func (f files) differs(m module) bool {
	now, err := readFiles(m.file("go.mod"), m.file("go.sum"))
	return err != nil || !bytes.Equal(now.mod, f.mod) || !bytes.Equal(now.sum, f.sum)
}

func (f files) write(m module) error {
	if err := replaceFile(m.file("go.mod"), f.mod); err != nil {
		return err
	}
	if f.sum != nil {
		return replaceFile(m.file("go.sum"), f.sum)
	}
	if err := os.Remove(m.file("go.sum")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove needless go.sum: %w", err)
	}
	return nil
}

// diff returns a unified diff from the files on disk to these, empty when they are equal.
func (f files) diff(ctx context.Context, m module) (string, error) {
	if !f.differs(m) {
		return "", nil
	}
	tmp, err := os.MkdirTemp("", "tidy-")
	if err != nil {
		return "", fmt.Errorf("make a temporary folder: %w", err)
	}
	defer os.RemoveAll(tmp)
	var out strings.Builder
	for _, side := range []struct {
		name string
		want []byte
	}{{"go.mod", f.mod}, {"go.sum", f.sum}} {
		now := m.file(side.name)
		if _, err := os.Stat(now); errors.Is(err, fs.ErrNotExist) {
			now = os.DevNull
		}
		want := filepath.Join(tmp, side.name)
		if err := os.WriteFile(want, side.want, 0o600); err != nil {
			return "", fmt.Errorf("write %s: %w", want, err)
		}
		text, err := unifiedDiff(ctx, now, want)
		if err != nil {
			return "", err
		}
		if text != "" {
			fmt.Fprintf(&out, "%s\n%s", filepath.ToSlash(filepath.Join(m.rel, side.name)), text)
		}
	}
	return out.String(), nil
}

// unifiedDiff lets git compare two files and keeps the hunks, without the header that names temporary paths.
func unifiedDiff(ctx context.Context, now, want string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", "diff", "--no-index", "--no-color", "--no-ext-diff", "--", now, want)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return "", fmt.Errorf("compare %s: %w", now, err)
	}
	if i := bytes.Index(out, []byte("\n@@")); i >= 0 {
		return string(out[i+1:]), nil
	}
	return "", nil
}

func readFiles(mod, sum string) (files, error) {
	var f files
	var err error
	if f.mod, err = os.ReadFile(mod); err != nil {
		return files{}, fmt.Errorf("read module file: %w", err)
	}
	if f.sum, err = os.ReadFile(sum); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return files{}, fmt.Errorf("read checksums: %w", err)
	}
	if len(f.sum) == 0 {
		f.sum = nil
	}
	return f, nil
}

func copyIfThere(from, to string) error {
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", from, err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	return nil
}

// replaceFile writes through a rename, so that a go command running beside this one never reads half a file.
func replaceFile(path string, data []byte) error {
	tmp := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	if err := os.WriteFile(tmp, data, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(fmt.Errorf("replace %s: %w", path, err), os.Remove(tmp))
	}
	return nil
}

func goJSON(ctx context.Context, dir string, v any, args ...string) error {
	out, err := goCommand(ctx, dir, args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, v); err != nil {
		return fmt.Errorf("decode the output of go %s: %w", args[0], err)
	}
	return nil
}

// goCommand runs the go command in dir outside the workspace, with the caller's proxy settings.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "PWD="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0]+" "+args[1], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}
