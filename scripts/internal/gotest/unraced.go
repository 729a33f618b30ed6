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
	var others []*ast.FuncDecl
	for _, path := range all {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read which tests do more without the race detector: %w", err)
		}
		if slices.Contains(marked, path) {
			for _, name := range declared(f) {
				depends[name] = true
			}
			continue
		}
		others = append(others, functions(f)...)
	}
	for grown := true; grown; {
		grown = false
		for _, f := range others {
			if !depends[f.Name.Name] && mentions(f, depends) {
				depends[f.Name.Name], grown = true, true
			}
		}
	}
	for name := range depends {
		if strings.HasPrefix(name, "Test") {
			tests = append(tests, name)
		}
	}
	slices.Sort(tests)
	return tests, nil
}

// declared are the names of constants, variables and functions of a file.
func declared(f *ast.File) (names []string) {
	for _, fn := range functions(f) {
		names = append(names, fn.Name.Name)
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				for _, n := range v.Names {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}

func functions(f *ast.File) (out []*ast.FuncDecl) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
			out = append(out, fn)
		}
	}
	return out
}

func mentions(f *ast.FuncDecl, names map[string]bool) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id != f.Name && names[id.Name]
		return !found
	})
	return found
}
