// Package surface tells what a module promises to those who import it: every
// exported name of its packages with its type, as lines that a person reads in
// a review, and what of it changed between two trees.
package surface

import (
	"context"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/tools/go/packages"
)

// Module is the public packages of one module.
type Module struct {
	Path     string
	Packages []*types.Package
}

// Load reads the packages of the module in a folder. Packages below an internal
// folder and commands are nobody's to import and are left out.
func Load(ctx context.Context, dir, module string) (Module, error) {
	loaded, err := packages.Load(&packages.Config{
		Context: ctx, Dir: dir, Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile,
	}, "./...")
	if err != nil {
		return Module{}, fmt.Errorf("load %s: %w", module, err)
	}
	m := Module{Path: module}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return Module{}, fmt.Errorf("load %s: %w", p.PkgPath, p.Errors[0])
		}
		if p.Name != "main" && !slices.Contains(strings.Split(p.PkgPath, "/"), "internal") {
			m.Packages = append(m.Packages, p.Types)
		}
	}
	slices.SortFunc(m.Packages, func(a, b *types.Package) int { return strings.Compare(a.Path(), b.Path()) })
	return m, nil
}

// Lines is the surface of a module, one line for each exported name, field and
// method, sorted, with packages named as seen from the module.
func (m Module) Lines() []string {
	var lines []string
	for _, p := range m.Packages {
		name := strings.TrimPrefix(strings.TrimPrefix(p.Path(), m.Path), "/")
		if name == "" {
			name = "."
		}
		for _, s := range declared(p) {
			lines = append(lines, name+": "+s)
		}
	}
	return lines
}

// Changes are the differences of two surfaces as a person reads them, those that
// break an importer apart from those that do not.
type Changes struct{ Breaking, Harmless []string }

// Compare holds a newer surface to an older one.
func Compare(before, after Module) Changes {
	report := apidiff.ModuleChanges(
		&apidiff.Module{Path: before.Path, Packages: before.Packages},
		&apidiff.Module{Path: after.Path, Packages: after.Packages},
	)
	var c Changes
	for _, change := range report.Changes {
		if change.Compatible {
			c.Harmless = append(c.Harmless, change.Message)
		} else {
			c.Breaking = append(c.Breaking, change.Message)
		}
	}
	return c
}
