package dialect

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// parse reads an object, list or text of JSON as encoding/json does, numbers as
// they are spelt, and gives up on all that is unusual: whoever asks lets
// encoding/json decide then. Texts are parts of s where they have no escapes, so
// that a value of megabytes is not copied.
func parse(s string) (any, bool) {
	if !utf8.ValidString(s) {
		return nil, false
	}
	r := reader{in: s}
	v, ok := r.value(0)
	r.space()
	return v, ok && r.at == len(s)
}

// maxParsed bounds how deep parse goes.
const maxParsed = 100

type reader struct {
	in string
	at int
}

// space skips white space and returns what is next, 0 at the end.
func (r *reader) space() byte {
	for ; r.at < len(r.in); r.at++ {
		switch c := r.in[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (r *reader) value(depth int) (any, bool) {
	switch r.space() {
	case '{':
		return r.object(depth)
	case '[':
		return r.list(depth)
	case '"':
		s, ok := r.text()
		return s, ok
	case 't':
		return true, r.word("true")
	case 'f':
		return false, r.word("false")
	case 'n':
		return nil, r.word("null")
	}
	return r.number()
}

func (r *reader) word(w string) bool {
	ok := strings.HasPrefix(r.in[r.at:], w)
	r.at += len(w)
	return ok
}

func (r *reader) object(depth int) (any, bool) {
	out := map[string]any{}
	r.at++
	if r.space() == '}' {
		r.at++
		return out, true
	}
	for depth < maxParsed && r.space() == '"' {
		name, ok := r.text()
		if !ok || r.space() != ':' {
			return nil, false
		}
		r.at++
		if out[name], ok = r.value(depth + 1); !ok {
			return nil, false
		}
		switch r.space() {
		case ',':
			r.at++
		case '}':
			r.at++
			return out, true
		default:
			return nil, false
		}
	}
	return nil, false
}

func (r *reader) list(depth int) (any, bool) {
	out := []any{}
	r.at++
	if r.space() == ']' {
		r.at++
		return out, true
	}
	for depth < maxParsed {
		v, ok := r.value(depth + 1)
		if !ok {
			return nil, false
		}
		out = append(out, v)
		switch r.space() {
		case ',':
			r.at++
		case ']':
			r.at++
			return out, true
		default:
			return nil, false
		}
	}
	return nil, false
}

// text reads a text.
func (r *reader) text() (string, bool) {
	r.at++
	from := r.at
	escaped := false
	for {
		n := r.plain()
		if r.at += n; r.at >= len(r.in) {
			return "", false
		}
		switch r.in[r.at] {
		case '"':
			raw := r.in[from:r.at]
			r.at++
			if escaped {
				return unescape(raw)
			}
			return raw, true
		case '\\':
			escaped = true
			r.at += 2
		default:
			return "", false // a control character
		}
	}
}

// plain is how many bytes from here on are nothing special in a text.
func (r *reader) plain() int {
	for i := r.at; i < len(r.in); i++ {
		if c := r.in[i]; c == '"' || c == '\\' || c < ' ' {
			return i - r.at
		}
	}
	return len(r.in) - r.at
}

func unescape(raw string) (string, bool) {
	out := make([]byte, 0, len(raw))
	for {
		n := strings.IndexByte(raw, '\\')
		if n < 0 {
			return string(append(out, raw...)), true
		}
		out = append(out, raw[:n]...)
		at := strings.IndexByte(`"\/bfnrt`, raw[n+1])
		if at < 0 {
			var rest string
			ok := json.Unmarshal([]byte(`"`+raw[n:]+`"`), &rest) == nil
			return string(append(out, rest...)), ok
		}
		out, raw = append(out, "\"\\/\b\f\n\r\t"[at]), raw[n+2:]
	}
}

func (r *reader) number() (any, bool) {
	from := r.at
	r.skip("-")
	whole := r.digits()
	if whole == 0 || whole > 1 && r.in[r.at-whole] == '0' {
		return nil, false
	}
	if r.skip(".") && r.digits() == 0 {
		return nil, false
	}
	if r.skip("eE") {
		r.skip("+-")
		if r.digits() == 0 {
			return nil, false
		}
	}
	return json.Number(r.in[from:r.at]), true
}

func (r *reader) skip(any string) bool {
	if r.at < len(r.in) && strings.IndexByte(any, r.in[r.at]) >= 0 {
		r.at++
		return true
	}
	return false
}

func (r *reader) digits() (n int) {
	for ; r.at < len(r.in) && r.in[r.at] >= '0' && r.in[r.at] <= '9'; r.at++ {
		n++
	}
	return n
}
