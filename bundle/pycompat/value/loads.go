package value

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// maxDepth is how deep JSON may nest. CPython raises RecursionError near its
// limit of 1000 frames; the exact depth depends on who calls.
const maxDepth = 990

// Loads is json.loads(text) for a str. It raises JSONDecodeError for what is
// not JSON, ValueError for an integer of more than 4300 digits, and
// RecursionError for nesting beyond 990. NaN, Infinity and -Infinity are read.
// Strings without escapes share memory with text.
func Loads(text string) (any, error) {
	text = decoded(text)
	d := decoder{text: text}
	d.space()
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	d.space()
	if d.at < len(text) {
		return nil, d.fail("extra data")
	}
	return v, nil
}

// decoded is text as Python has it, once bytes are read with errors="replace":
// two keys that differ only in bytes that are no UTF-8 are one. Surrogates
// stay.
func decoded(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := str.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			b.WriteRune(utf8.RuneError)
		} else {
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

type decoder struct {
	text string
	at   int
}

func (d *decoder) fail(what string) error {
	return pycompat.Raise("JSONDecodeError", "%s at byte %d", what, d.at)
}

func (d *decoder) space() {
	for d.at < len(d.text) {
		switch d.text[d.at] {
		case ' ', '\t', '\n', '\r':
			d.at++
		default:
			return
		}
	}
}

// peek returns the next byte, 0 at the end: a NUL byte is no JSON either.
func (d *decoder) peek() byte {
	if d.at < len(d.text) {
		return d.text[d.at]
	}
	return 0
}

func (d *decoder) word(w string) bool {
	if strings.HasPrefix(d.text[d.at:], w) {
		d.at += len(w)
		return true
	}
	return false
}

func (d *decoder) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, pycompat.Raise("RecursionError", "maximum recursion depth exceeded while decoding a JSON document")
	}
	switch c := d.peek(); {
	case c == '"':
		d.at++
		return d.str()
	case c == '{':
		d.at++
		return d.object(depth)
	case c == '[':
		d.at++
		return d.array(depth)
	case c == '-' || c-'0' < 10:
		return d.number()
	case c == 'n' && d.word("null"):
		return nil, nil
	case c == 't' && d.word("true"):
		return true, nil
	case c == 'f' && d.word("false"):
		return false, nil
	case c == 'N' && d.word("NaN"):
		return nan, nil
	case c == 'I' && d.word("Infinity"):
		return infinity, nil
	}
	return nil, d.fail("expecting value")
}

func (d *decoder) object(depth int) (any, error) {
	out := &Dict{}
	d.space()
	if d.peek() == '}' {
		d.at++
		return out, nil
	}
	for {
		if d.peek() != '"' {
			return nil, d.fail("expecting property name enclosed in double quotes")
		}
		d.at++
		key, err := d.str()
		if err != nil {
			return nil, err
		}
		d.space()
		if d.peek() != ':' {
			return nil, d.fail("expecting ':' delimiter")
		}
		d.at++
		d.space()
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out.put(key, v)
		d.space()
		switch d.peek() {
		case '}':
			d.at++
			return out, nil
		case ',':
			d.at++
			d.space()
		default:
			return nil, d.fail("expecting ',' delimiter")
		}
	}
}

func (d *decoder) array(depth int) (any, error) {
	out := []any{}
	d.space()
	if d.peek() == ']' {
		d.at++
		return out, nil
	}
	for {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		d.space()
		switch d.peek() {
		case ']':
			d.at++
			return out, nil
		case ',':
			d.at++
			d.space()
		default:
			return nil, d.fail("expecting ',' delimiter")
		}
	}
}

// number reads the longest number at the position; "1." and "1e" leave the
// rest, which then fails as extra data.
func (d *decoder) number() (any, error) {
	start, isFloat := d.at, false
	if d.peek() == '-' {
		d.at++
		if d.peek() == 'I' && d.word("Infinity") {
			return -infinity, nil
		}
	}
	switch c := d.peek(); {
	case c == '0':
		d.at++
	case c-'1' < 9:
		d.digits()
	default:
		d.at = start
		return nil, d.fail("expecting value")
	}
	if d.peek() == '.' && d.at+1 < len(d.text) && d.text[d.at+1]-'0' < 10 {
		isFloat = true
		d.at++
		d.digits()
	}
	if d.peek()|0x20 == 'e' {
		mark := d.at
		d.at++
		if c := d.peek(); c == '+' || c == '-' {
			d.at++
		}
		if d.peek()-'0' < 10 {
			isFloat = true
			d.digits()
		} else {
			d.at = mark
		}
	}
	text := d.text[start:d.at]
	if isFloat {
		f, _ := strconv.ParseFloat(text, 64) // out of range: the infinity that Python gives
		return f, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	if len(strings.TrimPrefix(text, "-")) > number.MaxIntDigits {
		return nil, pycompat.Raise("ValueError", "exceeds the limit (%d digits) for integer string conversion", number.MaxIntDigits)
	}
	n, _ := new(big.Int).SetString(text, 10)
	return n, nil
}

func (d *decoder) digits() {
	for d.at < len(d.text) && d.text[d.at]-'0' < 10 {
		d.at++
	}
}

// str reads a string from behind its opening quote.
func (d *decoder) str() (string, error) {
	start := d.at
	for d.at < len(d.text) {
		switch c := d.text[d.at]; {
		case c == '"':
			d.at++
			return d.text[start : d.at-1], nil
		case c == '\\':
			return d.escaped(start)
		case c < ' ':
			return "", d.fail("invalid control character")
		}
		d.at++
	}
	return "", d.fail("unterminated string")
}

func (d *decoder) escaped(start int) (string, error) {
	b := append(make([]byte, 0, d.at-start+32), d.text[start:d.at]...)
	for d.at < len(d.text) {
		c := d.text[d.at]
		d.at++
		switch {
		case c == '"':
			return string(b), nil
		case c < ' ':
			d.at--
			return "", d.fail("invalid control character")
		case c != '\\':
			b = append(b, c)
			continue
		}
		e := d.peek()
		d.at++
		if e == 'u' {
			r, ok := d.unicode()
			if !ok {
				return "", d.fail("invalid \\uXXXX escape")
			}
			b = str.AppendRune(b, r)
			continue
		}
		i := strings.IndexByte(`"\/bfnrt`, e)
		if i < 0 {
			d.at--
			return "", d.fail("invalid \\escape")
		}
		b = append(b, "\"\\/\b\f\n\r\t"[i])
	}
	return "", d.fail("unterminated string")
}

// unicode reads the code point of a \u escape, both halves of a surrogate pair.
func (d *decoder) unicode() (rune, bool) {
	hi, ok := d.hex4()
	if !ok || hi < 0xD800 || hi > 0xDBFF || !strings.HasPrefix(d.text[d.at:], `\u`) {
		return hi, ok
	}
	mark := d.at
	d.at += 2
	lo, ok := d.hex4()
	if ok && lo >= 0xDC00 && lo <= 0xDFFF {
		return (hi-0xD800)<<10 + (lo - 0xDC00) + 0x10000, true
	}
	d.at = mark
	return hi, true
}

func (d *decoder) hex4() (rune, bool) {
	if d.at+4 > len(d.text) {
		return utf8.RuneError, false
	}
	var r rune
	for _, c := range []byte(d.text[d.at : d.at+4]) {
		switch {
		case c-'0' < 10:
			r = r<<4 | rune(c-'0')
		case c|0x20-'a' < 6 && c >= 'A':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return utf8.RuneError, false
		}
	}
	d.at += 4
	return r, true
}
