package value

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

var (
	nan      = math.NaN()
	infinity = math.Inf(1)
)

// Dump says how Dumps writes. The zero value is json.dumps without arguments.
type Dump struct {
	Unicode  bool // ensure_ascii=False: characters beyond ASCII as they are
	Compact  bool // separators=(",", ":")
	SortKeys bool // sort_keys=True
	Indent   int  // spaces per level; 0 writes one line
}

// Dumps is json.dumps(v). NaN and infinities are written as in Python. It
// raises TypeError for a dict whose keys JSON cannot have or cannot be sorted.
func (o Dump) Dumps(v any) (string, error) {
	b, err := o.Append(nil, v)
	return string(b), err
}

// Append appends Dumps(v) to b. On an error b is of no use.
func (o Dump) Append(b []byte, v any) ([]byte, error) { return o.append(b, v, 0) }

func (o Dump) append(b []byte, v any, level int) ([]byte, error) {
	switch v := v.(type) {
	case string:
		return o.appendString(b, v), nil
	case []any:
		return o.appendArray(b, v, level)
	case Tuple:
		return o.appendArray(b, v, level)
	case *Dict:
		return o.appendObject(b, v, level)
	}
	if b, ok := appendScalar(b, v); ok {
		return b, nil
	}
	return nil, pycompat.Raise("TypeError", "Object of type %s is not JSON serializable", TypeName(v))
}

func appendScalar(b []byte, v any) ([]byte, bool) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), true
	case bool:
		return strconv.AppendBool(b, v), true
	case int64:
		return strconv.AppendInt(b, v, 10), true
	case *big.Int:
		return v.Append(b, 10), true
	case float64:
		switch {
		case math.IsNaN(v):
			return append(b, "NaN"...), true
		case math.IsInf(v, 1):
			return append(b, "Infinity"...), true
		case math.IsInf(v, -1):
			return append(b, "-Infinity"...), true
		}
		return number.AppendRepr(b, v), true
	}
	return b, false
}

func (o Dump) appendArray(b []byte, items []any, level int) ([]byte, error) {
	if len(items) == 0 {
		return append(b, "[]"...), nil
	}
	b = append(b, '[')
	for i, v := range items {
		b = o.separate(b, i, level+1)
		var err error
		if b, err = o.append(b, v, level+1); err != nil {
			return nil, err
		}
	}
	return append(o.newline(b, level), ']'), nil
}

func (o Dump) appendObject(b []byte, d *Dict, level int) ([]byte, error) {
	if d.Len() == 0 {
		return append(b, "{}"...), nil
	}
	items := d.items
	if o.SortKeys {
		var err error
		if items, err = sorted(items); err != nil {
			return nil, err
		}
	}
	colon := ": "
	if o.Compact {
		colon = ":"
	}
	b = append(b, '{')
	for i, it := range items {
		b = o.separate(b, i, level+1)
		var err error
		if b, err = o.appendKey(b, it.key); err != nil {
			return nil, err
		}
		if b, err = o.append(append(b, colon...), it.value, level+1); err != nil {
			return nil, err
		}
	}
	return append(o.newline(b, level), '}'), nil
}

func (o Dump) appendKey(b []byte, key any) ([]byte, error) {
	if s, ok := key.(string); ok {
		return o.appendString(b, s), nil
	}
	b = append(b, '"')
	b, ok := appendScalar(b, key)
	if !ok {
		return nil, pycompat.Raise("TypeError", "keys must be str, int, float, bool or None, not %s", TypeName(key))
	}
	return append(b, '"'), nil
}

// separate writes what stands before item i.
func (o Dump) separate(b []byte, i, level int) []byte {
	if i > 0 {
		b = append(b, ',')
		if o.Indent == 0 && !o.Compact {
			b = append(b, ' ')
		}
	}
	return o.newline(b, level)
}

func (o Dump) newline(b []byte, level int) []byte {
	if o.Indent == 0 {
		return b
	}
	b = append(b, '\n')
	for range level * o.Indent {
		b = append(b, ' ')
	}
	return b
}

// sorted returns items by key: all str, or all numbers, else TypeError.
func sorted(items []item) ([]item, error) {
	strs, numbers := 0, 0
	for _, it := range items {
		if _, ok := it.key.(string); ok {
			strs++
		} else if _, ok := Float(it.key); ok {
			numbers++
		}
	}
	out := slices.Clone(items)
	switch {
	case strs == len(items):
		slices.SortStableFunc(out, func(a, b item) int { return strings.Compare(a.key.(string), b.key.(string)) })
	case numbers == len(items):
		slices.SortStableFunc(out, func(a, b item) int { return compareNumbers(a.key, b.key) })
	case len(items) > 1:
		return nil, pycompat.Raise("TypeError", "'<' not supported between the keys of a dict")
	}
	return out, nil
}

func compareNumbers(a, b any) int {
	m, okM := toBig(a)
	n, okN := toBig(b)
	if okM && okN {
		return m.Cmp(n)
	}
	x, _ := Float(a)
	y, _ := Float(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

const hexDigits = "0123456789abcdef"

func (o Dump) appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && (c < 0x7F || o.Unicode) {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		if c < utf8.RuneSelf {
			b = appendEscape(b, rune(c))
			i++
		} else {
			r, size := str.DecodeRune(s[i:])
			if r >= 0x10000 {
				r -= 0x10000
				b = appendEscape(b, 0xD800+r>>10)
				r = 0xDC00 + r&0x3FF
			}
			b = appendEscape(b, r)
			i += size
		}
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

func appendEscape(b []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		if i := strings.IndexByte("\"\\\b\f\n\r\t", byte(r)); i >= 0 {
			return append(b, '\\', `"\bfnrt`[i])
		}
	}
	return append(b, '\\', 'u', hexDigits[r>>12], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
