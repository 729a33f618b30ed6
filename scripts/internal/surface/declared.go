package surface

import (
	"go/types"
	"slices"
	"strings"
)

// declared is what a package exports.
func declared(p *types.Package) []string {
	short := func(q *types.Package) string {
		if q == p {
			return ""
		}
		return q.Name()
	}
	var lines []string
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		t, ok := o.(*types.TypeName)
		if !ok {
			lines = append(lines, line(o, short))
			continue
		}
		lines = append(lines, typed(t, short)...)
	}
	slices.Sort(lines)
	return lines
}

func line(o types.Object, short types.Qualifier) string {
	if c, ok := o.(*types.Const); ok {
		return types.ObjectString(o, short) + " = " + c.Val().ExactString()
	}
	return types.ObjectString(o, short)
}

// typed is a type with its exported fields and methods.
func typed(t *types.TypeName, short types.Qualifier) []string {
	if t.IsAlias() {
		return []string{types.ObjectString(t, short)}
	}
	lines := []string{heading(t, short)}
	switch u := t.Type().Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if f.Exported() {
				lines = append(lines, "type "+t.Name()+", field "+f.Name()+" "+types.TypeString(f.Type(), short))
			}
		}
	case *types.Interface:
		for m := range u.Methods() {
			lines = append(lines, "type "+t.Name()+", method "+signature(m, short))
		}
	}
	if types.IsInterface(t.Type()) {
		return lines
	}
	methods := types.NewMethodSet(types.NewPointer(t.Type()))
	for m := range methods.Methods() {
		if f, ok := m.Obj().(*types.Func); ok && f.Exported() {
			lines = append(lines, "type "+t.Name()+", method "+signature(f, short))
		}
	}
	return lines
}

// heading is a type without what is in it: fields and methods have lines of
// their own.
func heading(t *types.TypeName, short types.Qualifier) string {
	switch t.Type().Underlying().(type) {
	case *types.Struct:
		return "type " + t.Name() + " struct"
	case *types.Interface:
		return "type " + t.Name() + " interface"
	}
	return types.ObjectString(t, short)
}

func signature(f *types.Func, short types.Qualifier) string {
	return f.Name() + strings.TrimPrefix(types.TypeString(f.Type(), short), "func")
}
