// Package modproxy makes of a copy of the tree what a module proxy serves after
// a release: for each released module its go.mod, its zip and its version.
//
// The decisions:
//
//   - What a release builds comes out of this, as `go install` gets it, and not
//     out of a checkout: a program of an archive and one that was installed have
//     the same modules and the same version.
//   - Siblings are required at the version of the release. Between releases they
//     are required at v0.0.0, which no proxy has, and go.work points at their
//     folders.
//   - A module without a LICENSE of its own carries that of the repository, as
//     the go command does when it makes the zip.
package modproxy

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/zip"
)

const (
	// Prefix is where the paths of our modules begin.
	Prefix = "github.com/evalrouter/evalrouter/"
	// unreleased is what siblings are required at between releases.
	unreleased = "v0.0.0"
	// kept is the module that is never released.
	kept = "scripts"
)

// Released are the folders of the modules that a release consists of, in the
// order of go.work.
func Released(root string) ([]string, error) {
	file := filepath.Join(root, "go.work")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	work, err := modfile.ParseWork(file, text, nil)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", file, err)
	}
	var dirs []string
	for _, u := range work.Use {
		if dir := path.Clean(u.Path); dir != kept {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// Release is one version of all modules.
type Release struct {
	Version string    // like v0.3.1
	Time    time.Time // of its commit
}

// Prepare sets the version in every go.mod of a tree that may be changed, and
// gives each module its licence.
func (r Release) Prepare(tree string) error {
	if !semver.IsValid(r.Version) || semver.Canonical(r.Version) != r.Version || r.Version == unreleased {
		return fmt.Errorf("%q is no version of a release; one looks like v0.3.1", r.Version)
	}
	if major := semver.Major(r.Version); major != "v0" && major != "v1" {
		return fmt.Errorf("%s would need module paths that end in /%s", r.Version, major)
	}
	dirs, err := Released(tree)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := r.prepare(tree, dir); err != nil {
			return err
		}
	}
	return nil
}

func (r Release) prepare(tree, dir string) error {
	name := filepath.Join(tree, dir, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	mod, err := modfile.Parse(name, text, nil)
	if err != nil {
		return fmt.Errorf("parse %s: %w", name, err)
	}
	if mod.Module == nil || mod.Module.Mod.Path != Prefix+dir {
		return fmt.Errorf("%s is not of the module %s", name, Prefix+dir)
	}
	for _, req := range mod.Require {
		if !strings.HasPrefix(req.Mod.Path, Prefix) {
			continue
		}
		if req.Mod.Version != unreleased {
			return fmt.Errorf("%s requires %s, and a sibling stands at %s until the release", name, req.Mod, unreleased)
		}
		if err := mod.AddRequire(req.Mod.Path, r.Version); err != nil {
			return fmt.Errorf("require %s in %s: %w", req.Mod.Path, name, err)
		}
	}
	text, err = mod.Format()
	if err != nil {
		return fmt.Errorf("format %s: %w", name, err)
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return license(tree, dir)
}

func license(tree, dir string) error {
	to := filepath.Join(tree, dir, "LICENSE")
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(tree, "LICENSE"))
	if err != nil {
		return fmt.Errorf("read the licence: %w", err)
	}
	if err := os.WriteFile(to, text, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", to, err)
	}
	return nil
}

// Publish writes a prepared tree into a folder that the go command reads as
// GOPROXY=file://FOLDER.
func (r Release) Publish(tree, folder string) error {
	dirs, err := Released(tree)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := r.publish(tree, dir, folder); err != nil {
			return fmt.Errorf("publish %s: %w", dir, err)
		}
	}
	return nil
}

func (r Release) publish(tree, dir, folder string) error {
	m := module.Version{Path: Prefix + dir, Version: r.Version}
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	at := filepath.Join(folder, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{r.Version, r.Time.UTC()})
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(tree, dir, "go.mod"))
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"list": []byte(r.Version + "\n"), r.Version + ".info": info, r.Version + ".mod": mod} {
		if err := os.WriteFile(filepath.Join(at, name), text, 0o644); err != nil {
			return err
		}
	}
	return write(filepath.Join(at, r.Version+".zip"), func(w io.Writer) error {
		return zip.CreateFromDir(w, m, filepath.Join(tree, dir))
	})
}

// write makes a file of what fill writes; a close that fails is an error.
func write(name string, fill func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	err = fill(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
