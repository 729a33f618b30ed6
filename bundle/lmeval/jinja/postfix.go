package jinja

import (
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// postfix reads attributes, subscripts and calls.
func (p *parser) postfix(e expression) (expression, error) {
	var err error
	for err == nil {
		switch {
		case p.op("."):
			e, err = p.attribute(e)
		case p.op("["):
			e, err = p.subscript(e)
		case p.op("("):
			e, err = p.call(e)
		default:
			return e, nil
		}
	}
	return nil, err
}

func (p *parser) attribute(e expression) (expression, error) {
	switch t := p.take(); t.kind {
	case kName:
		return attribute{e, t.text}, nil
	case kInt:
		n, err := number.ParseInt(t.text)
		if err != nil {
			return nil, p.fail("bad index")
		}
		return item{e, literal{value.Int(n)}}, nil
	}
	return nil, p.fail("expected a name after the dot")
}

func (p *parser) subscript(e expression) (expression, error) {
	s := slice{of: e}
	parts := []*expression{&s.from, &s.to, &s.step}
	colons := 0
	for !p.op("]") {
		if p.op(":") {
			if colons++; colons > 2 {
				return nil, p.fail("a slice has three parts at most")
			}
			continue
		}
		if *parts[colons] != nil {
			return nil, p.fail("expected ] or :")
		}
		index, err := p.expr()
		if err != nil {
			return nil, err
		}
		*parts[colons] = index
	}
	switch {
	case colons > 0:
		return s, nil
	case s.from == nil:
		return nil, p.fail("expected an index")
	}
	return item{e, s.from}, nil
}

// call reads the arguments of a call. Only methods and functions that the
// engine has may be called.
func (p *parser) call(e expression) (expression, error) {
	a, err := p.arguments()
	if err != nil {
		return nil, err
	}
	switch f := e.(type) {
	case attribute:
		if !methodKnown(f.name) {
			return nil, p.fail("unsupported method " + f.name)
		}
		return method{f.of, f.name, a}, nil
	case name:
		if f == "range" || f == "dict" {
			return function{string(f), a}, nil
		}
		return nil, p.fail("unsupported function " + string(f))
	}
	return nil, p.fail("only methods and functions can be called")
}

// arguments reads up to the closing bracket; the opening one is taken.
func (p *parser) arguments() (arguments, error) {
	var a arguments
	for first := true; !p.op(")"); first = false {
		if !first {
			if err := p.need(","); err != nil {
				return a, err
			}
			if p.op(")") {
				break
			}
		}
		if t := p.peek(); t.kind == kName && p.tokens[p.at+1] == (token{kOp, "=", t.line}) {
			p.at += 2
			e, err := p.expr()
			if err != nil {
				return a, err
			}
			a.names, a.named = append(a.names, t.text), append(a.named, e)
			continue
		}
		if len(a.named) > 0 {
			return a, p.fail("a positional argument follows a named one")
		}
		e, err := p.expr()
		if err != nil {
			return a, err
		}
		a.items = append(a.items, e)
	}
	return a, nil
}

// filters reads | filter and is test.
func (p *parser) filters(e expression) (expression, error) {
	var err error
	for err == nil {
		switch {
		case p.op("|"):
			e, err = p.filter(e)
		case p.word("is"):
			e, err = p.test(e)
		case p.peek() == token{kOp, "(", p.peek().line}:
			p.at++
			e, err = p.call(e)
		default:
			return e, nil
		}
	}
	return nil, err
}

func (p *parser) filter(e expression) (expression, error) {
	t := p.take()
	if t.kind != kName {
		return nil, p.fail("expected the name of a filter")
	}
	f := lookupFilter(t.text)
	if f == nil {
		return nil, p.fail("unsupported filter " + t.text)
	}
	var a arguments
	if p.op("(") {
		var err error
		if a, err = p.arguments(); err != nil {
			return nil, err
		}
	}
	if err := p.checkNested(t.text, a); err != nil {
		return nil, err
	}
	return filtered{e, f, a}, nil
}

// checkNested refuses names of filters and tests that are given to other
// filters as constants, such as map('title').
func (p *parser) checkNested(filter string, a arguments) error {
	at, known := 0, func(s string) bool { return lookupTest(s) != nil }
	switch filter {
	case "map":
		known = func(s string) bool { return lookupFilter(s) != nil }
	case "select", "reject":
	case "selectattr", "rejectattr":
		at = 1
	default:
		return nil
	}
	if len(a.items) <= at {
		return nil
	}
	l, ok := a.items[at].(literal)
	if s, text := l.v.(string); !ok || !text || !known(s) {
		return p.fail(filter + " needs the name of a filter or test that is supported")
	}
	return nil
}

func (p *parser) test(e expression) (expression, error) {
	not := p.word("not")
	t := p.take()
	if t.kind != kName {
		return nil, p.fail("expected the name of a test")
	}
	f := lookupTest(t.text)
	if f == nil {
		return nil, p.fail("unsupported test " + t.text)
	}
	var a arguments
	var err error
	switch next := p.peek(); {
	case p.op("("):
		a, err = p.arguments()
	case next.kind == kName && (next.text == "is" || next.text == "not" || next.text == "in" || next.text == "if"):
		return nil, p.fail("unexpected " + next.text + " behind a test; use brackets")
	case next.kind == kString || next.kind == kInt || next.kind == kFloat,
		next.kind == kName && !reserved(next.text), next.kind == kOp && (next.text == "[" || next.text == "{"):
		var arg expression
		if arg, err = p.primary(); err == nil {
			arg, err = p.postfix(arg)
		}
		a.items = []expression{arg}
	}
	if err != nil {
		return nil, err
	}
	out := expression(tested{e, f, a})
	if not {
		out = negation{out}
	}
	return out, nil
}
