package value

import (
	"math/big"
	"strconv"

	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// Repr is repr(v).
func Repr(v any) string { return string(AppendRepr(nil, v)) }

// Str is str(v): repr, but for a str the text itself.
func Str(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return Repr(v)
}

// AppendRepr appends Repr(v) to b.
func AppendRepr(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "None"...)
	case bool:
		if v {
			return append(b, "True"...)
		}
		return append(b, "False"...)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case *big.Int:
		return v.Append(b, 10)
	case float64:
		return number.AppendRepr(b, v)
	case string:
		return str.AppendRepr(b, v)
	case []any:
		return append(appendItems(append(b, '['), v), ']')
	case Tuple:
		b = appendItems(append(b, '('), v)
		if len(v) == 1 {
			b = append(b, ',')
		}
		return append(b, ')')
	case *Dict:
		b = append(b, '{')
		for i, it := range v.items {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(AppendRepr(b, it.key), ": "...)
			b = AppendRepr(b, it.value)
		}
		return append(b, '}')
	}
	return append(b, "<object>"...)
}

func appendItems(b []byte, items []any) []byte {
	for i, v := range items {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = AppendRepr(b, v)
	}
	return b
}
