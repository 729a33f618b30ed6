package jsonl

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// Kind is the type of a JSON value.
type Kind uint8

// The JSON types. None is no value: the line has a fault or is at its end.
const (
	None Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

func (k Kind) String() string {
	return [...]string{"nothing", "null", "true or false", "a number", "text", "an array", "an object"}[k]
}

// maxDepth bounds nesting, so that reading needs little stack.
const maxDepth = 64

// Parser reads one line at a time. It may be used for many; the zero value is
// ready for Reset.
type Parser struct {
	line  []byte
	pos   int
	fault *Fault
	steps []step
	keys  []Text // of the open objects, the innermost last
}

// Reset starts a line. The line must not change while it is read.
func (p *Parser) Reset(line []byte) {
	*p = Parser{line: line, steps: p.steps[:0], keys: p.keys[:0]}
	if !utf8.Valid(line) {
		p.fail(CodeEncoding, "the text is not valid UTF-8")
	}
}

// Close ends a line: it answers the first fault, text behind the value
// included.
func (p *Parser) Close() *Fault {
	if p.fault == nil {
		if p.space(); p.pos < len(p.line) {
			p.fail(CodeSyntax, "there is more text after the JSON value")
		}
	}
	return p.fault
}

// Fault is the first fault so far.
func (p *Parser) Fault() *Fault { return p.fault }

// Refuse is a fault of the caller's own, at the value that was read last or is
// being read. An earlier fault stays the first.
func (p *Parser) Refuse(code, format string, args ...any) {
	if p.fault == nil {
		p.fail(code, fmt.Sprintf(format, args...))
	}
}

func (p *Parser) fail(code, message string) {
	if p.fault == nil {
		p.fault = &Fault{Code: code, Path: path(p.steps), Byte: p.pos, Message: message}
	}
}

func (p *Parser) space() {
	for p.pos < len(p.line) {
		switch p.line[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return
		}
	}
}

// Kind is the type of the value that comes next, by its first character. It
// reads nothing.
func (p *Parser) Kind() Kind {
	if p.fault != nil {
		return None
	}
	p.space()
	if p.pos == len(p.line) {
		p.fail(CodeSyntax, "the JSON ends too early")
		return None
	}
	switch c := p.line[p.pos]; {
	case c == '"':
		return String
	case c == '{':
		return Object
	case c == '[':
		return Array
	case c == '-' || c >= '0' && c <= '9':
		return Number
	case c == 't' || c == 'f':
		return Bool
	case c == 'n':
		return Null
	}
	p.fail(CodeSyntax, "not valid JSON")
	return None
}

// want checks the type of the next value; another type is a fault.
func (p *Parser) want(k Kind) bool {
	got := p.Kind()
	if got != k && p.fault == nil {
		p.fail(CodeType, "want "+k.String()+", got "+got.String())
	}
	return got == k
}

// next takes the character c and the white space before it.
func (p *Parser) next(c byte) bool {
	p.space()
	if p.fault != nil || p.pos == len(p.line) || p.line[p.pos] != c {
		return false
	}
	p.pos++
	return true
}

func (p *Parser) broken() {
	if p.pos == len(p.line) {
		p.fail(CodeSyntax, "the JSON ends too early")
		return
	}
	p.fail(CodeSyntax, "not valid JSON")
}

// manyKeys is from how many keys on a set is faster than looking at each.
const manyKeys = 16

// Object reads an object. It calls member for every key in order; member must
// read the value, with Skip if it has no use for it.
func (p *Parser) Object(member func(key Text)) {
	if !p.want(Object) || !p.enter() {
		return
	}
	p.pos++
	base, depth := len(p.keys), len(p.steps)
	var seen map[string]bool
	p.steps = append(p.steps, step{})
	for first := true; ; first = false {
		if first && p.next('}') {
			break
		}
		p.space()
		if p.pos == len(p.line) || p.line[p.pos] != '"' {
			p.steps = p.steps[:depth]
			p.broken()
			return
		}
		key := p.text()
		p.steps[depth].key = key
		if p.fault == nil && p.repeated(base, key, &seen) {
			p.fail(CodeDuplicate, "the key stands twice")
		}
		if p.fault == nil && !p.next(':') {
			p.broken()
		}
		if p.fault != nil {
			return
		}
		p.keys = append(p.keys, key)
		if member(key); p.fault != nil {
			return
		}
		if p.next(',') {
			continue
		}
		if p.next('}') {
			break
		}
		p.steps = p.steps[:depth]
		p.broken()
		return
	}
	p.steps, p.keys = p.steps[:depth], p.keys[:base]
}

// repeated says whether an earlier key of the object is equal.
func (p *Parser) repeated(base int, key Text, seen *map[string]bool) bool {
	earlier := p.keys[base:]
	if len(earlier) < manyKeys {
		for _, k := range earlier {
			if k.Equal(key) {
				return true
			}
		}
		return false
	}
	if *seen == nil {
		*seen = map[string]bool{}
		for _, k := range earlier {
			(*seen)[k.String()] = true
		}
	}
	s := key.String()
	again := (*seen)[s]
	(*seen)[s] = true
	return again
}

// Array reads an array. It calls item for every position in order; item must
// read the value.
func (p *Parser) Array(item func(i int)) {
	if !p.want(Array) || !p.enter() {
		return
	}
	p.pos++
	if p.next(']') {
		return
	}
	depth := len(p.steps)
	p.steps = append(p.steps, step{array: true})
	for i := 0; ; i++ {
		p.steps[depth].index = i
		if item(i); p.fault != nil {
			return
		}
		if p.next(',') {
			continue
		}
		p.steps = p.steps[:depth]
		if !p.next(']') {
			p.broken()
		}
		return
	}
}

func (p *Parser) enter() bool {
	if len(p.steps) >= maxDepth {
		p.fail(CodeDepth, "nested deeper than 64 levels")
	}
	return p.fault == nil
}

// Text reads a string.
func (p *Parser) Text() Text {
	if !p.want(String) {
		return Text{}
	}
	return p.text()
}

// Number reads a number as the text that is written.
func (p *Parser) Number() Text {
	if !p.want(Number) {
		return Text{}
	}
	return Text{raw: p.number()}
}

// Skip reads the next value, whatever it is, as strictly as any other.
func (p *Parser) Skip() {
	switch p.Kind() {
	case String:
		p.text()
	case Number:
		p.number()
	case Object:
		p.Object(func(Text) { p.Skip() })
	case Array:
		p.Array(func(int) { p.Skip() })
	case Bool, Null:
		p.word()
	}
}

// Raw reads the next value and answers its bytes as written. They are valid
// as long as the line is.
func (p *Parser) Raw() []byte {
	p.Kind()
	from := p.pos
	if p.Skip(); p.fault != nil {
		return nil
	}
	return p.line[from:p.pos]
}

func (p *Parser) word() {
	rest := p.line[p.pos:]
	for _, w := range [...]string{"true", "false", "null"} {
		if len(rest) >= len(w) && string(rest[:len(w)]) == w {
			p.pos += len(w)
			return
		}
	}
	p.fail(CodeSyntax, "not valid JSON")
}

// Masks for looking at eight bytes at once.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks the bytes of eight that are a quote, a backslash or a control
// character. The first mark is exact; those behind it may be borrowed from it.
func special(w uint64) uint64 {
	quote := w ^ ones*'"'
	slash := w ^ ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w) & highs
}

// text reads a string whose opening quote is next.
func (p *Parser) text() Text {
	line, from, escaped := p.line, p.pos+1, false
	i := from
	for {
		for i+8 <= len(line) {
			if m := special(binary.LittleEndian.Uint64(line[i:])); m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		for i < len(line) && line[i] != '"' && line[i] != '\\' && line[i] >= 0x20 {
			i++
		}
		p.pos = i
		switch {
		case i == len(line):
			p.fail(CodeSyntax, "the JSON ends too early")
			return Text{}
		case line[i] == '"':
			p.pos = i + 1
			return Text{raw: line[from:i], escaped: escaped}
		case line[i] != '\\':
			p.fail(CodeSyntax, "a control character in a text")
			return Text{}
		}
		escaped = true
		if i = p.escape(i); p.fault != nil {
			return Text{}
		}
	}
}

// escape reads the escape at i and answers the byte behind it.
func (p *Parser) escape(i int) int {
	line := p.line
	if i+1 >= len(line) {
		p.pos = len(line)
		p.fail(CodeSyntax, "the JSON ends too early")
		return i
	}
	switch line[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		r := hex4(line[i+2:])
		switch {
		case r < 0:
			p.fail(CodeSyntax, "an escape that is not four hex digits")
			return i
		case r < 0xd800 || r > 0xdfff:
			return i + 6
		}
		next := line[min(i+6, len(line)):]
		if r < 0xdc00 && len(next) >= 6 && next[0] == '\\' && next[1] == 'u' {
			if low := hex4(next[2:]); low >= 0xdc00 && low <= 0xdfff {
				return i + 12
			}
		}
		p.fail(CodeEncoding, "half of a surrogate pair")
		return i
	}
	p.fail(CodeSyntax, "an escape that JSON does not have")
	return i
}

// maxExponent is the largest exponent, of either sign, in digits.
const maxExponent = 4

// number reads a number that begins here.
func (p *Parser) number() []byte {
	line, from := p.line, p.pos
	i := from
	if line[i] == '-' {
		i++
	}
	lead := i
	i = digits(line, i)
	whole := i - lead
	bad := whole == 0 || whole > 1 && line[lead] == '0'
	if !bad && i < len(line) && line[i] == '.' {
		frac := i + 1
		i = digits(line, frac)
		bad = i == frac
	}
	exponent := 0
	if !bad && i < len(line) && (line[i] == 'e' || line[i] == 'E') {
		if i++; i < len(line) && (line[i] == '+' || line[i] == '-') {
			i++
		}
		start := i
		i = digits(line, start)
		exponent = i - start
		bad = exponent == 0
	}
	p.pos = i
	switch {
	case bad:
		p.broken()
		return nil
	case exponent > maxExponent:
		p.fail(CodeNumber, "an exponent of more than 4 digits")
		return nil
	}
	return line[from:i]
}

func digits(line []byte, i int) int {
	for i < len(line) && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	return i
}
