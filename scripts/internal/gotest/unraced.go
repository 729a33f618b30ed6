package gotest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// unracedFile is how the name of a file ends that is built without the race detector alone.
const unracedFile = "norace_test.go"

// Unraced names the tests of a folder that do more without the race detector, in order: those of files named
// *norace_test.go, and those that depend on what such a file declares, also by way of other functions. A folder
// without such a file has none.
func Unraced(dir string) (tests []string, err error) {
	marked, err := filepath.Glob(filepath.Join(dir, "*"+unracedFile))
	if err != nil || len(marked) == 0 {
		return nil, err
	}
	all, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	depends := map[string]bool{} // names by which a test comes to depend
	var others []declaration
	for _, path := range all {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read which tests do more without the race detector: %w", err)
		}
		if !slices.Contains(marked, path) {
			others = append(others, declarations(f)...)
			continue
		}
		for _, d := range declarations(f) {
			for _, name := range d.names {
				depends[name] = true
			}
		}
	}
	for grown := true; grown; {
		grown = false
		for _, d := range others {
			for _, name := range d.names {
				if !depends[name] && d.mentions(depends) {
					depends[name], grown = true, true
				}
			}
		}
	}
	for name := range depends {
		if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") { // of a fuzz target, its corpus
			tests = append(tests, name)
		}
	}
	slices.Sort(tests)
	return tests, nil
}

// declaration is a function, a method by its name alone, or constants and variables that are declared together.
type declaration struct {
	names []string
	node  ast.Node
}

func declarations(f *ast.File) (out []declaration) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			out = append(out, declaration{[]string{d.Name.Name}, d})
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					all := declaration{node: v}
					for _, n := range v.Names {
						all.names = append(all.names, n.Name)
					}
					out = append(out, all)
				}
			}
		}
	}
	return out
}

// mentions says that a declaration holds one of some names.
func (d declaration) mentions(names map[string]bool) (found bool) {
	ast.Inspect(d.node, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && names[id.Name] && !slices.Contains(d.names, id.Name)
		return !found
	})
	return found
}
