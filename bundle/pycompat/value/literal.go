package value

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// maxBrackets is how deep CPython's tokenizer lets brackets nest.
const maxBrackets = 200

// LiteralEval is ast.literal_eval(text): strings with any prefix but b and
// with implicit concatenation, numbers, lists, tuples, dicts, True, False and
// None.
//
// A text that is no expression raises SyntaxError, an expression that is no
// literal ValueError. The line between the two is drawn for names, operators,
// attributes, calls and subscripts; rarer expressions (lambda, comprehensions,
// conditionals, slices) raise SyntaxError here. Bytes, sets, complex numbers
// and \N{...} are not supported and raise ValueError.
func LiteralEval(text string) (any, error) {
	text = strings.TrimLeft(text, " \t")
	switch {
	case strings.IndexByte(text, 0) >= 0:
		return nil, pycompat.Raise("SyntaxError", "source code string cannot contain null bytes")
	case str.HasSurrogates(text):
		return nil, pycompat.Raise("UnicodeEncodeError", "surrogates not allowed")
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	p := &literalParser{text: text}
	p.blankLines()
	if i := strings.LastIndexByte(text[:p.at], '\n'); i >= 0 && i+1 < p.at {
		return nil, pycompat.Raise("IndentationError", "unexpected indent")
	}
	v, err := p.list(0)
	if err != nil {
		return nil, err
	}
	p.blankLines()
	if p.at < len(p.text) {
		return nil, p.syntax("invalid syntax")
	}
	if p.malformed {
		return nil, pycompat.Raise("ValueError", "malformed node or string")
	}
	return v, nil
}

type literalParser struct {
	text      string
	at        int
	brackets  int
	malformed bool // an expression, but no literal
	typeError error
}

func (p *literalParser) syntax(what string) error {
	return pycompat.Raise("SyntaxError", "%s at byte %d", what, p.at)
}

// blankLines skips space, comments and newlines; within brackets space does too.
func (p *literalParser) blankLines() { p.skip(" \t\f\n") }

func (p *literalParser) space() {
	if p.brackets > 0 {
		p.skip(" \t\f\n")
	} else {
		p.skip(" \t\f")
	}
}

func (p *literalParser) skip(blank string) {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case strings.IndexByte(blank, c) >= 0:
			p.at++
		case c == '#':
			for p.at < len(p.text) && p.text[p.at] != '\n' {
				p.at++
			}
		case c == '\\' && p.at+2 < len(p.text) && p.text[p.at+1] == '\n':
			p.at += 2
		default:
			return
		}
	}
}

func (p *literalParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *literalParser) token(c byte) bool {
	if p.peek() == c {
		p.at++
		p.space()
		return true
	}
	return false
}

// list parses expressions at the top or in parentheses: one, or a tuple.
func (p *literalParser) list(closing byte) (any, error) {
	items, comma, err := p.items(closing)
	if err != nil {
		return nil, err
	}
	if len(items) == 1 && !comma {
		return items[0], nil
	}
	if len(items) == 0 && closing == 0 {
		return nil, p.syntax("invalid syntax")
	}
	return Tuple(items), nil
}

// items parses expressions up to closing, which it leaves; 0 stands for the end.
func (p *literalParser) items(closing byte) (items []any, comma bool, err error) {
	items = []any{}
	for p.at < len(p.text) && p.peek() != '\n' && (closing == 0 || p.peek() != closing) {
		v, err := p.expression()
		if err != nil {
			return nil, false, err
		}
		items = append(items, v)
		if comma = p.token(','); !comma {
			break
		}
	}
	return items, comma, nil
}

// expression parses operands and operators. Anything but a signed number or
// another literal is malformed; its value does not matter then.
func (p *literalParser) expression() (any, error) {
	v, err := p.operand()
	if err != nil {
		return nil, err
	}
	for {
		op := p.operator()
		if op == "" {
			return v, nil
		}
		p.malformed = true
		p.space()
		if _, err := p.operand(); err != nil {
			return nil, err
		}
	}
}

// operator consumes a binary operator.
func (p *literalParser) operator() string {
	rest := p.text[p.at:]
	for _, op := range []string{
		"**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+", "-", "*", "/", "%", "@", "&", "|", "^", "<", ">",
	} {
		if strings.HasPrefix(rest, op) {
			p.at += len(op)
			return op
		}
	}
	for _, op := range []string{"and", "or", "in", "is not", "is", "not in"} {
		if strings.HasPrefix(rest, op) && !p.identifierAt(p.at+len(op)) {
			p.at += len(op)
			return op
		}
	}
	return ""
}

func (p *literalParser) identifierAt(at int) bool {
	if at >= len(p.text) {
		return false
	}
	r, _ := str.DecodeRune(p.text[at:])
	return str.IsIdentifier("a" + string(r))
}

func (p *literalParser) operand() (any, error) {
	switch c := p.peek(); {
	case c == '-' || c == '+':
		return p.signed(c)
	case c == '~':
		p.malformed = true
		p.token(c)
		return p.operand()
	}
	v, err := p.atom()
	if err != nil {
		return nil, err
	}
	return v, p.trailers()
}

// signed parses a sign. literal_eval takes one sign before a number.
func (p *literalParser) signed(sign byte) (any, error) {
	p.token(sign)
	if c := p.peek(); c == '-' || c == '+' {
		p.malformed = true
	}
	v, err := p.operand()
	if err != nil {
		return nil, err
	}
	switch n := v.(type) {
	case int64:
		if sign == '-' {
			return Int(new(big.Int).Neg(big.NewInt(n))), nil
		}
		return n, nil
	case *big.Int:
		if sign == '-' {
			return Int(new(big.Int).Neg(n)), nil
		}
		return n, nil
	case float64:
		if sign == '-' {
			return -n, nil
		}
		return n, nil
	}
	p.malformed = true
	return v, nil
}

// trailers consumes attributes, calls and subscripts: no literal has them.
func (p *literalParser) trailers() error {
	for {
		switch c := p.peek(); c {
		case '.':
			p.malformed = true
			p.token(c)
			if p.name() == "" {
				return p.syntax("invalid syntax")
			}
			p.space()
		case '(', '[':
			p.malformed = true
			if _, err := p.bracketed(c); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

func (p *literalParser) atom() (any, error) {
	switch c := p.peek(); {
	case c == '(' || c == '[' || c == '{':
		return p.bracketed(c)
	case c == '"' || c == '\'':
		return p.strings()
	case c-'0' < 10 || c == '.':
		return p.number()
	}
	start := p.at
	name := p.name()
	if name == "" {
		return nil, p.syntax("invalid syntax")
	}
	if q := p.peek(); q == '"' || q == '\'' {
		p.at = start
		return p.strings()
	}
	p.space()
	switch name {
	case "None":
		return nil, nil
	case "True":
		return true, nil
	case "False":
		return false, nil
	}
	if keyword(name) {
		p.at = start
		return nil, p.syntax("invalid syntax")
	}
	p.malformed = true
	return nil, nil
}

func keyword(name string) bool {
	switch name {
	case "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
		"finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass",
		"raise", "return", "try", "while", "with", "yield":
		return true
	}
	return false
}

func (p *literalParser) name() string {
	start := p.at
	for p.at < len(p.text) {
		_, size := str.DecodeRune(p.text[p.at:])
		if !str.IsIdentifier(p.text[start : p.at+size]) {
			break
		}
		p.at += size
	}
	return p.text[start:p.at]
}

func (p *literalParser) bracketed(open byte) (any, error) {
	closing := map[byte]byte{'(': ')', '[': ']', '{': '}'}[open]
	if p.brackets++; p.brackets > maxBrackets {
		return nil, p.syntax("too many nested parentheses")
	}
	p.token(open)
	var v any
	var err error
	switch open {
	case '(':
		v, err = p.list(closing)
	case '[':
		v, _, err = p.items(closing)
	default:
		v, err = p.dict()
	}
	if err != nil {
		return nil, err
	}
	if p.peek() != closing {
		return nil, p.syntax("bracket was never closed or does not match")
	}
	p.at++
	p.brackets--
	p.space()
	return v, nil
}

func (p *literalParser) dict() (any, error) {
	out := &Dict{}
	for p.at < len(p.text) && p.peek() != '}' {
		key, err := p.expression()
		if err != nil {
			return nil, err
		}
		if !p.token(':') {
			if p.peek() != ',' && p.peek() != '}' {
				return nil, p.syntax("invalid syntax")
			}
			p.malformed = true // a set
		} else if v, err := p.expression(); err != nil {
			return nil, err
		} else if p.malformed {
			// no dict to fill
		} else if err := out.Set(key, v); err != nil && p.typeError == nil {
			p.typeError = err
		}
		if !p.token(',') {
			break
		}
	}
	if p.typeError != nil && !p.malformed {
		return nil, p.typeError
	}
	return out, nil
}

// number parses an int or float literal.
func (p *literalParser) number() (any, error) {
	start := p.at
	if p.peek() == '0' && p.at+1 < len(p.text) {
		if i := strings.IndexByte("xob", p.text[p.at+1]|0x20); i >= 0 {
			return p.radix([]int{16, 8, 2}[i])
		}
	}
	isFloat := false
	for p.at < len(p.text) {
		c := p.text[p.at]
		if c == '.' || c|0x20 == 'e' && p.exponent() {
			isFloat = true
			if c != '.' {
				p.at++ // the letter; the sign or digit is next
			}
		} else if c-'0' >= 10 && c != '_' {
			break
		}
		p.at++
	}
	text := p.text[start:p.at]
	if p.identifierAt(p.at) {
		if c := p.peek(); c|0x20 == 'j' && !p.identifierAt(p.at+1) {
			p.at++
			p.space()
			p.malformed = true // complex
			return 0.0, nil
		}
		return nil, p.syntax("invalid decimal literal")
	}
	p.space()
	if isFloat {
		f, err := number.ParseFloat(text)
		if err != nil || text == "." {
			return nil, p.syntax("invalid syntax")
		}
		return f, nil
	}
	n, err := number.ParseInt(text)
	if err != nil || text[0] == '0' && n.Sign() != 0 {
		return nil, p.syntax("invalid decimal literal")
	}
	return Int(n), nil
}

// exponent reports whether digits follow the e at the position.
func (p *literalParser) exponent() bool {
	rest := p.text[p.at+1:]
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		rest = rest[1:]
	}
	return rest != "" && rest[0]-'0' < 10
}

func (p *literalParser) radix(base int) (any, error) {
	start := p.at + 2
	p.at = start
	for p.at < len(p.text) && (p.text[p.at] == '_' || p.identifierAt(p.at)) {
		p.at++
	}
	body := p.text[start:p.at]
	clean := strings.ReplaceAll(body, "_", "")
	n, ok := new(big.Int).SetString(clean, base)
	if !ok || strings.Contains(body, "__") || strings.HasSuffix(body, "_") || clean[0] == '+' || clean[0] == '-' {
		return nil, p.syntax("invalid literal in base " + strconv.Itoa(base))
	}
	p.space()
	return Int(n), nil
}
