package jinja

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

func constant(name string) bool {
	switch name {
	case "true", "True", "false", "False", "none", "None":
		return true
	}
	return false
}

func reserved(name string) bool {
	switch name {
	case "and", "or", "not", "in", "is", "if", "else":
		return true
	}
	return false
}

// tuple reads expressions separated by commas; one without a comma stands for
// itself. conditional allows a if b else c at the top.
func (p *parser) tuple(conditional bool) (expression, error) {
	item := p.expr
	if !conditional {
		item = p.or
	}
	var items list
	comma := false
	for !p.tupleEnds() {
		e, err := item()
		if err != nil {
			return nil, err
		}
		items = append(items, e)
		if !p.op(",") {
			break
		}
		comma = true
	}
	switch {
	case len(items) == 0:
		return nil, p.fail("expected an expression")
	case !comma:
		return items[0], nil
	}
	return tuple(items), nil
}

func (p *parser) tupleEnds() bool {
	t := p.peek()
	return t.kind == kClose || t.kind == kEnd || t.kind == kOp && (t.text == ")" || t.text == "=")
}

// expr reads any expression, a conditional one included.
func (p *parser) expr() (expression, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	e, err := p.or()
	for err == nil && p.word("if") {
		c := conditional{then: e}
		if c.test, err = p.or(); err != nil {
			return nil, err
		}
		if p.word("else") {
			if c.otherwise, err = p.expr(); err != nil {
				return nil, err
			}
		}
		e = c
	}
	return e, err
}

func (p *parser) or() (expression, error) {
	return p.logic("or", func() (expression, error) { return p.logic("and", p.not) })
}

func (p *parser) logic(word string, next func() (expression, error)) (expression, error) {
	left, err := next()
	for err == nil && p.word(word) {
		var right expression
		if right, err = next(); err == nil {
			left = either{word == "or", left, right}
		}
	}
	return left, err
}

func (p *parser) not() (expression, error) {
	if !p.word("not") {
		return p.compare()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	e, err := p.not()
	return negation{e}, err
}

func (p *parser) compare() (expression, error) {
	first, err := p.sum()
	if err != nil {
		return nil, err
	}
	c := comparison{first: first}
	for {
		op := p.comparator()
		if op == "" {
			break
		}
		e, err := p.sum()
		if err != nil {
			return nil, err
		}
		c.ops, c.rest = append(c.ops, op), append(c.rest, e)
	}
	if len(c.ops) == 0 {
		return first, nil
	}
	return c, nil
}

func (p *parser) comparator() string {
	for _, op := range []string{"==", "!=", "<", "<=", ">", ">="} {
		if p.op(op) {
			return op
		}
	}
	if p.word("in") {
		return "in"
	}
	if t := p.peek(); t.kind == kName && t.text == "not" {
		if n := p.tokens[p.at+1]; n.kind == kName && n.text == "in" {
			p.at += 2
			return "not in"
		}
	}
	return ""
}

// binary reads a left-associative chain of operators.
func (p *parser) binary(ops string, next func() (expression, error)) (expression, error) {
	left, err := next()
	for err == nil {
		t := p.peek()
		if t.kind != kOp || !strings.Contains(" "+ops+" ", " "+t.text+" ") {
			break
		}
		p.at++
		var right expression
		if right, err = next(); err == nil {
			left = operation{t.text, left, right}
		}
	}
	return left, err
}

func (p *parser) sum() (expression, error)     { return p.binary("+ -", p.concat) }
func (p *parser) concat() (expression, error)  { return p.binary("~", p.product) }
func (p *parser) product() (expression, error) { return p.binary("* / // %", p.power) }
func (p *parser) power() (expression, error) {
	return p.binary("**", func() (expression, error) { return p.unary(true) })
}

func (p *parser) unary(filters bool) (expression, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	var e expression
	var err error
	switch {
	case p.op("-"):
		e, err = p.unary(false)
		e = sign{true, e}
	case p.op("+"):
		e, err = p.unary(false)
		e = sign{false, e}
	default:
		e, err = p.primary()
	}
	if err == nil {
		e, err = p.postfix(e)
	}
	if err == nil && filters {
		e, err = p.filters(e)
	}
	return e, err
}

func (p *parser) primary() (expression, error) {
	switch t := p.take(); t.kind {
	case kName:
		switch {
		case t.text == "true" || t.text == "True":
			return literal{true}, nil
		case t.text == "false" || t.text == "False":
			return literal{false}, nil
		case constant(t.text):
			return literal{nil}, nil
		case reserved(t.text):
			return nil, p.fail("unexpected " + t.text)
		}
		return name(t.text), nil
	case kString:
		s := t.text
		for p.peek().kind == kString {
			s += p.take().text
		}
		return literal{s}, nil
	case kInt:
		n, err := number.ParseInt(t.text)
		if err != nil {
			return nil, p.fail("bad integer")
		}
		return literal{value.Int(n)}, nil
	case kFloat:
		f, err := number.ParseFloat(t.text)
		if err != nil {
			return nil, p.fail("bad number")
		}
		return literal{f}, nil
	case kOp:
		return p.bracket(t.text)
	}
	return nil, p.fail("expected an expression")
}

func (p *parser) bracket(open string) (expression, error) {
	switch open {
	case "(":
		if p.op(")") {
			return tuple(nil), nil
		}
		e, err := p.tuple(true)
		if err != nil {
			return nil, err
		}
		return e, p.need(")")
	case "[":
		var items list
		for !p.op("]") {
			if len(items) > 0 {
				if err := p.need(","); err != nil {
					return nil, err
				}
				if p.op("]") {
					break
				}
			}
			e, err := p.expr()
			if err != nil {
				return nil, err
			}
			items = append(items, e)
		}
		return items, nil
	case "{":
		return p.dict()
	}
	return nil, p.fail("unexpected " + open)
}

func (p *parser) dict() (expression, error) {
	var d dict
	for !p.op("}") {
		if len(d) > 0 {
			if err := p.need(","); err != nil {
				return nil, err
			}
			if p.op("}") {
				break
			}
		}
		key, err := p.expr()
		if err != nil {
			return nil, err
		}
		if err := p.need(":"); err != nil {
			return nil, err
		}
		v, err := p.expr()
		if err != nil {
			return nil, err
		}
		d = append(d, [2]expression{key, v})
	}
	return d, nil
}
