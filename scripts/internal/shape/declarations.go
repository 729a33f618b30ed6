package shape

import (
	"fmt"
	"go/ast"
	"go/token"
)

func (s source) line(p token.Pos) int { return s.set.Position(p).Line }

// declarations checks every function and interface of the file.
func (s source) declarations() []Finding {
	var found []Finding
	for _, decl := range s.ast.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if fn.Recv == nil && fn.Name.Name == "init" {
			found = append(found, Finding{s.rel, s.line(fn.Pos()), "init", "func init runs in an order that nobody reads; call it from main"})
		}
		if n := s.funcLines(fn); n > maxFunc {
			found = append(found, Finding{s.rel, s.line(fn.Pos()), "function",
				fmt.Sprintf("%s has %d lines without its tables, the cap is %d", fn.Name.Name, n, maxFunc)})
		}
	}
	ast.Inspect(s.ast, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if it, ok := spec.Type.(*ast.InterfaceType); ok && it.Methods.NumFields() > maxInterface {
			found = append(found, Finding{s.rel, s.line(spec.Pos()), "interface",
				fmt.Sprintf("%s has %d methods, the cap is %d; its users need smaller ones", spec.Name.Name, it.Methods.NumFields(), maxInterface)})
		}
		return true
	})
	return found
}

// funcLines counts the lines of a function without its outermost tables: literals of slices, arrays and maps.
func (s source) funcLines(fn *ast.FuncDecl) int {
	span := func(n ast.Node) int { return s.line(n.End()) - s.line(n.Pos()) + 1 }
	lines := span(fn)
	ast.Inspect(fn, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		switch lit.Type.(type) {
		case *ast.ArrayType, *ast.MapType:
			if d := span(lit); d >= minTableExempted {
				lines -= d - 1
				return false
			}
		}
		return true
	})
	return lines
}

// mutableVars finds assignments to package variables of files that are no tests. It goes by names as the parser
// resolves them, so a local variable that hides a package variable is not taken for it.
func mutableVars(sources []source) []Finding {
	vars := map[string]map[string]bool{} // by package name: a folder may hold package x and package main examples
	for _, s := range sources {
		if s.test {
			continue
		}
		pkg := s.ast.Name.Name
		if vars[pkg] == nil {
			vars[pkg] = map[string]bool{}
		}
		for _, name := range packageVars(s.ast) {
			vars[pkg][name] = true
		}
	}
	var found []Finding
	for _, s := range sources {
		for _, id := range assigned(s.ast) {
			if vars[s.ast.Name.Name][id.Name] && !local(s.ast, id) {
				found = append(found, Finding{s.rel, s.line(id.Pos()), "global",
					fmt.Sprintf("package variable %s is changed here; make it a field of what uses it", id.Name)})
			}
		}
	}
	return found
}

func packageVars(file *ast.File) []string {
	var names []string
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR {
			continue
		}
		for _, spec := range gen.Specs {
			for _, id := range spec.(*ast.ValueSpec).Names {
				if id.Name != "_" {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

// assigned returns the variables at the root of what the file assigns to: v for v = x, v.f = x, v[i] = x and v++.
func assigned(file *ast.File) []*ast.Ident {
	var ids []*ast.Ident
	add := func(e ast.Expr) {
		if id := root(e); id != nil {
			ids = append(ids, id)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, e := range n.Lhs {
					add(e)
				}
			}
		case *ast.IncDecStmt:
			add(n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				add(n.Key)
				add(n.Value)
			}
		}
		return true
	})
	return ids
}

func root(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return root(e.X)
	case *ast.IndexExpr:
		return root(e.X)
	case *ast.StarExpr:
		return root(e.X)
	case *ast.ParenExpr:
		return root(e.X)
	}
	return nil
}

// local reports whether id was resolved to something other than a declaration at package level.
func local(file *ast.File, id *ast.Ident) bool {
	if id.Obj == nil {
		return false // declared in another file of the package
	}
	return file.Scope.Lookup(id.Name) != id.Obj
}
