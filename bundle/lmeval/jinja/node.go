package jinja

import (
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

type literal struct{ v any }

func (l literal) eval(*env) (any, error) { return l.v, nil }

type name string

func (n name) eval(e *env) (any, error) { return e.lookup(string(n)), nil }

type list []expression

func (l list) eval(e *env) (any, error) {
	out := make([]any, len(l))
	for i, x := range l {
		v, err := e.eval(x)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

type tuple []expression

func (t tuple) eval(e *env) (any, error) {
	v, err := list(t).eval(e)
	if err != nil {
		return nil, err
	}
	return value.Tuple(v.([]any)), nil
}

type dict [][2]expression

func (d dict) eval(e *env) (any, error) {
	out := value.DictOf()
	for _, pair := range d {
		k, err := e.eval(pair[0])
		if err != nil {
			return nil, err
		}
		if err := need(k); err != nil {
			return nil, err
		}
		v, err := e.eval(pair[1])
		if err != nil {
			return nil, err
		}
		if err := out.Set(k, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

type conditional struct{ then, test, otherwise expression }

func (c conditional) eval(e *env) (any, error) {
	v, err := e.eval(c.test)
	if err != nil {
		return nil, err
	}
	yes, err := truth(v)
	if err != nil {
		return nil, err
	}
	switch {
	case yes:
		return e.eval(c.then)
	case c.otherwise == nil:
		return silent{}, nil
	}
	return e.eval(c.otherwise)
}

type either struct {
	or          bool
	left, right expression
}

func (x either) eval(e *env) (any, error) {
	v, err := e.eval(x.left)
	if err != nil {
		return nil, err
	}
	yes, err := truth(v)
	if err != nil || yes == x.or {
		return v, err
	}
	return e.eval(x.right)
}

type negation struct{ of expression }

func (n negation) eval(e *env) (any, error) {
	v, err := e.eval(n.of)
	if err != nil {
		return nil, err
	}
	yes, err := truth(v)
	return !yes, err
}

type comparison struct {
	first expression
	ops   []string
	rest  []expression
}

func (c comparison) eval(e *env) (any, error) {
	left, err := e.eval(c.first)
	if err != nil {
		return nil, err
	}
	for i, op := range c.ops {
		right, err := e.eval(c.rest[i])
		if err != nil {
			return nil, err
		}
		yes, err := compare(op, left, right)
		if err != nil || !yes {
			return false, err
		}
		left = right
	}
	return true, nil
}

type operation struct {
	op          string
	left, right expression
}

func (o operation) eval(e *env) (any, error) {
	a, err := e.eval(o.left)
	if err != nil {
		return nil, err
	}
	b, err := e.eval(o.right)
	if err != nil {
		return nil, err
	}
	if o.op == "~" {
		return concat(a, b)
	}
	if err := need(a); err != nil {
		return nil, err
	}
	if err := need(b); err != nil {
		return nil, err
	}
	return arithmetic(o.op, a, b)
}

// concat is ~, which joins the texts of both sides.
func concat(a, b any) (any, error) {
	if _, ok := a.(markup); ok {
		return nil, unsupported("joining escaped text")
	}
	if _, ok := b.(markup); ok {
		return nil, unsupported("joining escaped text")
	}
	s, err := toText(a)
	if err != nil {
		return nil, err
	}
	t, err := toText(b)
	if err != nil {
		return nil, err
	}
	if len(s)+len(t) > maxOutput {
		return nil, ErrBudget
	}
	return s + t, nil
}

type sign struct {
	minus bool
	of    expression
}

func (s sign) eval(e *env) (any, error) {
	v, err := e.eval(s.of)
	if err != nil {
		return nil, err
	}
	if err := need(v); err != nil {
		return nil, err
	}
	if _, ok := value.Float(v); !ok {
		return nil, pycompat.Raise("TypeError", "the sign of %s", value.TypeName(v))
	}
	if f, ok := v.(float64); ok {
		if s.minus {
			return -f, nil
		}
		return f, nil
	}
	if s.minus {
		return arithmetic("-", int64(0), v)
	}
	return arithmetic("+", int64(0), v)
}

// arguments of a call, a filter or a test.
type arguments struct {
	items []expression
	names []string
	named []expression
}

// given are evaluated arguments.
type given struct {
	items []any
	named map[string]any
	order []string
}

func (a arguments) eval(e *env) (given, error) {
	out := given{named: map[string]any{}, order: a.names}
	for _, x := range a.items {
		v, err := e.eval(x)
		if err != nil {
			return out, err
		}
		out.items = append(out.items, v)
	}
	for i, x := range a.named {
		v, err := e.eval(x)
		if err != nil {
			return out, err
		}
		if _, twice := out.named[a.names[i]]; twice {
			return out, pycompat.Raise("SyntaxError", "argument %s is given twice", a.names[i])
		}
		out.named[a.names[i]] = v
	}
	return out, nil
}

// bind matches arguments to parameter names; those not given are nil in ok.
func (g given) bind(names ...string) (values []any, ok []bool, err error) {
	values, ok = make([]any, len(names)), make([]bool, len(names))
	if len(g.items) > len(names) {
		return nil, nil, pycompat.Raise("TypeError", "%d arguments, %d are taken", len(g.items), len(names))
	}
	for i, v := range g.items {
		values[i], ok[i] = v, true
	}
	used := 0
	for i, n := range names {
		v, there := g.named[n]
		if !there {
			continue
		}
		if ok[i] {
			return nil, nil, pycompat.Raise("TypeError", "argument %s is given twice", n)
		}
		values[i], ok[i] = v, true
		used++
	}
	if used != len(g.named) {
		return nil, nil, pycompat.Raise("TypeError", "an argument has an unknown name")
	}
	for i, v := range values {
		if ok[i] {
			if err := need(v); err != nil {
				return nil, nil, err
			}
		}
	}
	return values, ok, nil
}

type filtered struct {
	of   expression
	with filterFunc
	args arguments
}

func (f filtered) eval(e *env) (any, error) {
	v, err := e.eval(f.of)
	if err != nil {
		return nil, err
	}
	a, err := f.args.eval(e)
	if err != nil {
		return nil, err
	}
	return f.with(e, v, a)
}

type tested struct {
	of   expression
	with testFunc
	args arguments
}

func (t tested) eval(e *env) (any, error) {
	v, err := e.eval(t.of)
	if err != nil {
		return nil, err
	}
	a, err := t.args.eval(e)
	if err != nil {
		return nil, err
	}
	return t.with(v, a)
}

type function struct {
	name string
	args arguments
}

func (f function) eval(e *env) (any, error) {
	if _, ok := e.lookup(f.name).(global); !ok {
		return nil, unsupported("calling the variable %s", f.name)
	}
	a, err := f.args.eval(e)
	if err != nil {
		return nil, err
	}
	if f.name == "range" {
		if len(a.named) > 0 {
			return nil, pycompat.Raise("TypeError", "range takes no named arguments")
		}
		return newRange(a.items)
	}
	if len(a.items) > 0 {
		return nil, unsupported("dict of anything but names")
	}
	out := value.DictOf()
	for _, n := range a.order {
		if err := out.Set(n, a.named[n]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
