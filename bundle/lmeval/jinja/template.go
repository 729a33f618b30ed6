package jinja

import (
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Template is a parsed template. It may be rendered by several goroutines.
type Template struct{ body []statement }

// Render renders the template with the members of doc as variables. It does
// not change doc.
func (t *Template) Render(doc *value.Dict) (string, error) {
	e := &env{doc: doc, scopes: []map[string]any{{}}}
	if err := e.run(t.body); err != nil {
		return "", err
	}
	return string(e.out), nil
}

// env is the state of one rendering.
type env struct {
	doc    *value.Dict
	scopes []map[string]any // innermost last
	out    []byte
	steps  int
}

// statement writes to the output or binds names.
type statement interface{ run(*env) error }

// expression has a value: one of package value, or of value.go here.
type expression interface{ eval(*env) (any, error) }

func (e *env) step() error {
	return e.charge(1)
}

func (e *env) run(body []statement) error {
	for _, s := range body {
		if err := e.step(); err != nil {
			return err
		}
		if err := s.run(e); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) eval(x expression) (any, error) {
	if err := e.step(); err != nil {
		return nil, err
	}
	v, err := x.eval(e)
	if err != nil {
		return nil, err
	}
	return v, e.charge(weight(v))
}

// charge counts work beyond one step.
func (e *env) charge(n int) error {
	if e.steps += n; e.steps > maxSteps {
		return ErrBudget
	}
	return nil
}

// weight is what handling a value once costs in steps. Whatever an operation
// does, its operands have been charged for before.
func weight(v any) int {
	switch x := v.(type) {
	case string:
		return len(x) / 1024
	case []any:
		return len(x) / 8
	case value.Tuple:
		return len(x) / 8
	case *value.Dict:
		return x.Len() / 8
	case view:
		return len(x.items) / 8
	case span:
		return int(x.length / 8)
	case *stream:
		return len(x.items) / 8
	}
	return 0
}

func (e *env) write(s string) error {
	if len(e.out)+len(s) > maxOutput {
		return ErrBudget
	}
	e.out = append(e.out, s...)
	return nil
}

// lookup finds a variable: assigned names, then the document, then globals.
func (e *env) lookup(name string) any {
	for i := len(e.scopes) - 1; i >= 0; i-- {
		if v, ok := e.scopes[i][name]; ok {
			return v
		}
	}
	if e.doc != nil {
		if v, ok := e.doc.Get(name); ok {
			return v
		}
	}
	switch name {
	case "range", "dict", "lipsum", "cycler", "joiner", "namespace":
		return global(name)
	}
	return undefined(name)
}

// bind sets a name in the innermost scope, or several by unpacking.
func (e *env) bind(names []string, unpack bool, v any) error {
	scope := e.scopes[len(e.scopes)-1]
	if !unpack {
		scope[names[0]] = v
		return nil
	}
	items, err := iterate(v)
	if err != nil {
		return err
	}
	if len(items) != len(names) {
		return pycompat.Raise("ValueError", "%d values for %d names", len(items), len(names))
	}
	for i, n := range names {
		scope[n] = items[i]
	}
	return nil
}

type text string

func (t text) run(e *env) error { return e.write(string(t)) }

type output struct{ of expression }

func (o output) run(e *env) error {
	v, err := e.eval(o.of)
	if err != nil {
		return err
	}
	if m, ok := v.(markup); ok {
		return e.write(string(m))
	}
	s, err := toText(v)
	if err != nil {
		return err
	}
	return e.write(s)
}

type branches struct {
	tests     []expression
	bodies    [][]statement
	otherwise []statement
}

func (b branches) run(e *env) error {
	for i, t := range b.tests {
		v, err := e.eval(t)
		if err != nil {
			return err
		}
		yes, err := truth(v)
		if err != nil {
			return err
		}
		if yes {
			return e.run(b.bodies[i])
		}
	}
	return e.run(b.otherwise)
}

type assign struct {
	names  []string
	unpack bool
	of     expression
}

func (a assign) run(e *env) error {
	v, err := e.eval(a.of)
	if err != nil {
		return err
	}
	return e.bind(a.names, a.unpack, v)
}

type loop struct {
	targets   []string
	unpack    bool
	over      expression
	filter    expression
	body      []statement
	otherwise []statement
}

func (l loop) run(e *env) error {
	items, err := l.items(e)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return l.inScope(e, nil, nil, l.otherwise)
	}
	for i := range items {
		if err := l.inScope(e, items, &i, l.body); err != nil {
			return err
		}
	}
	return nil
}

// inScope runs a body with names of its own, which end with it.
func (l loop) inScope(e *env, items []any, at *int, body []statement) error {
	if err := e.step(); err != nil {
		return err
	}
	e.scopes = append(e.scopes, map[string]any{})
	defer func() { e.scopes = e.scopes[:len(e.scopes)-1] }()
	if at != nil {
		if err := e.bind(l.targets, l.unpack, items[*at]); err != nil {
			return err
		}
		e.scopes[len(e.scopes)-1]["loop"] = cursor{items, *at}
	}
	return e.run(body)
}

// items are what the loop runs over, after its filter.
func (l loop) items(e *env) ([]any, error) {
	v, err := e.eval(l.over)
	if err != nil {
		return nil, err
	}
	items, err := iterate(v)
	if err != nil || l.filter == nil {
		return items, err
	}
	var kept []any
	for i := range items {
		e.scopes = append(e.scopes, map[string]any{})
		err := e.bind(l.targets, l.unpack, items[i])
		var v any
		if err == nil {
			v, err = e.eval(l.filter)
		}
		e.scopes = e.scopes[:len(e.scopes)-1]
		if err != nil {
			return nil, err
		}
		yes, err := truth(v)
		if err != nil {
			return nil, err
		}
		if yes {
			kept = append(kept, items[i])
		}
	}
	return kept, nil
}
