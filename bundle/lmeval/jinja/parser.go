package jinja

import (
	"slices"
)

// parser builds the tree of a template.
type parser struct {
	tokens []token
	at     int
	depth  int
}

// Parse reads a template. Whatever it cannot render exactly is refused here.
func Parse(src string) (*Template, error) {
	tokens, err := lex(src)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	body, end, err := p.body()
	if err != nil {
		return nil, err
	}
	if end != "" {
		return nil, p.fail("unexpected " + end)
	}
	return &Template{body}, nil
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) take() token {
	t := p.tokens[p.at]
	if t.kind != kEnd {
		p.at++
	}
	return t
}

func (p *parser) fail(message string) error {
	return &SyntaxError{p.tokens[max(p.at-1, 0)].line, message}
}

// op takes an operator if it comes next.
func (p *parser) op(text string) bool {
	if t := p.peek(); t.kind == kOp && t.text == text {
		p.at++
		return true
	}
	return false
}

// word takes a name if it comes next.
func (p *parser) word(text string) bool {
	if t := p.peek(); t.kind == kName && t.text == text {
		p.at++
		return true
	}
	return false
}

func (p *parser) need(text string) error {
	if !p.op(text) {
		p.take()
		return p.fail("expected " + text)
	}
	return nil
}

func (p *parser) closeTag() error {
	if p.take().kind != kClose {
		return p.fail("expected the end of the tag")
	}
	return nil
}

func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return p.fail("the template is nested too deeply")
	}
	return nil
}

// body reads statements up to a tag that it does not know to open anything,
// such as endif, and returns the name of that tag with the tag still open.
func (p *parser) body() ([]statement, string, error) {
	if err := p.enter(); err != nil {
		return nil, "", err
	}
	defer func() { p.depth-- }()
	var out []statement
	for {
		switch t := p.take(); t.kind {
		case kEnd:
			return out, "", nil
		case kText:
			out = append(out, text(t.text))
		case kOutput:
			e, err := p.tuple(true)
			if err != nil {
				return nil, "", err
			}
			if err := p.closeTag(); err != nil {
				return nil, "", err
			}
			out = append(out, output{e})
		case kTag:
			name := p.take()
			if slices.Contains([]string{"elif", "else", "endif", "endfor"}, name.text) && name.kind == kName {
				return out, name.text, nil
			}
			s, err := p.statement(name)
			if err != nil {
				return nil, "", err
			}
			out = append(out, s)
		default:
			return nil, "", p.fail("unexpected token")
		}
	}
}

func (p *parser) statement(name token) (statement, error) {
	if name.kind == kName {
		switch name.text {
		case "if":
			return p.condition()
		case "for":
			return p.loop()
		case "set":
			return p.assignment()
		}
	}
	return nil, p.fail("unsupported tag " + name.text)
}

func (p *parser) condition() (statement, error) {
	var out branches
	for {
		test, err := p.tuple(false)
		if err != nil {
			return nil, err
		}
		if err := p.closeTag(); err != nil {
			return nil, err
		}
		body, end, err := p.body()
		if err != nil {
			return nil, err
		}
		out.tests, out.bodies = append(out.tests, test), append(out.bodies, body)
		if end == "elif" {
			continue
		}
		if end == "else" {
			if err := p.closeTag(); err != nil {
				return nil, err
			}
			if out.otherwise, end, err = p.body(); err != nil {
				return nil, err
			}
		}
		if end != "endif" {
			return nil, p.fail("expected endif")
		}
		return out, p.closeTag()
	}
}

func (p *parser) loop() (statement, error) {
	var out loop
	var err error
	if out.targets, out.unpack, err = p.targets("in"); err != nil {
		return nil, err
	}
	if !p.word("in") {
		return nil, p.fail("expected in")
	}
	if out.over, err = p.tuple(false); err != nil {
		return nil, err
	}
	if p.word("if") {
		if out.filter, err = p.expr(); err != nil {
			return nil, err
		}
	}
	if p.word("recursive") {
		return nil, p.fail("recursive loops are unsupported")
	}
	if err := p.closeTag(); err != nil {
		return nil, err
	}
	var end string
	if out.body, end, err = p.body(); err != nil {
		return nil, err
	}
	if end == "else" {
		if err := p.closeTag(); err != nil {
			return nil, err
		}
		if out.otherwise, end, err = p.body(); err != nil {
			return nil, err
		}
	}
	if end != "endfor" {
		return nil, p.fail("expected endfor")
	}
	return out, p.closeTag()
}

// targets reads the names that a loop or an assignment binds.
func (p *parser) targets(what string) (names []string, unpack bool, err error) {
	bracket := p.op("(")
	for {
		t := p.take()
		if t.kind != kName || constant(t.text) || reserved(t.text) || t.text == "loop" {
			return nil, false, p.fail("expected a name before " + what)
		}
		names = append(names, t.text)
		if !p.op(",") {
			break
		}
		unpack = true
		if t := p.peek(); t.kind != kName || t.text == "in" {
			break
		}
	}
	if bracket {
		err = p.need(")")
	}
	return names, unpack, err
}

func (p *parser) assignment() (statement, error) {
	names, unpack, err := p.targets("=")
	if err != nil {
		return nil, err
	}
	if !p.op("=") {
		return nil, p.fail("only assignment of an expression to names is supported")
	}
	e, err := p.tuple(true)
	if err != nil {
		return nil, err
	}
	return assign{names, unpack, e}, p.closeTag()
}
