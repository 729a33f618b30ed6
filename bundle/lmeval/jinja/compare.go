package jinja

import (
	"cmp"
	"math"
	"math/big"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// compare is a comparison operator.
func compare(op string, a, b any) (bool, error) {
	switch op {
	case "in", "not in":
		yes, err := contains(b, a)
		return yes == (op == "in"), err
	}
	if err := plainThrough(a, 0); err != nil {
		return false, err
	}
	if err := plainThrough(b, 0); err != nil {
		return false, err
	}
	switch op {
	case "==":
		return equal(a, b), nil
	case "!=":
		return !equal(a, b), nil
	}
	c, known, err := order(a, b)
	if err != nil || !known {
		return false, err
	}
	switch op {
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case ">":
		return c > 0, nil
	}
	return c >= 0, nil
}

// equal is ==, under which a NaN at the top equals nothing.
func equal(a, b any) bool {
	if f, ok := a.(float64); ok && math.IsNaN(f) {
		return false
	}
	return value.Equal(a, b)
}

// contains is item in v.
func contains(v, item any) (bool, error) {
	if err := plainThrough(item, 0); err != nil {
		return false, err
	}
	switch x := v.(type) {
	case string:
		s, ok := item.(string)
		if !ok {
			return false, pycompat.Raise("TypeError", "%s in text", value.TypeName(item))
		}
		return strings.Contains(x, s), nil
	case *value.Dict:
		if _, err := value.Key(item); err != nil {
			return false, err
		}
		_, ok := x.Get(item)
		return ok, nil
	}
	items, err := iterate(v)
	if err != nil {
		return false, err
	}
	for _, x := range items {
		if err := plainThrough(x, 0); err != nil {
			return false, err
		}
		if value.Equal(x, item) {
			return true, nil
		}
	}
	return false, nil
}

// order compares two values that have an order; known is false if one is NaN.
func order(a, b any) (c int, known bool, err error) {
	if s, ok := a.(string); ok {
		if t, ok := b.(string); ok {
			return strings.Compare(s, t), true, nil
		}
	}
	x, xInt := integer(a)
	y, yInt := integer(b)
	if xInt && yInt {
		return x.Cmp(y), true, nil
	}
	f, fOK := value.Float(a)
	g, gOK := value.Float(b)
	if fOK && gOK {
		if math.IsNaN(f) || math.IsNaN(g) {
			return 0, false, nil
		}
		return exactly(a, f).Cmp(exactly(b, g)), true, nil
	}
	switch p := a.(type) {
	case []any:
		if q, ok := b.([]any); ok {
			return sequences(p, q)
		}
	case value.Tuple:
		if q, ok := b.(value.Tuple); ok {
			return sequences(p, q)
		}
	}
	return 0, false, pycompat.Raise("TypeError", "%s and %s have no order", value.TypeName(a), value.TypeName(b))
}

// exactly holds a number without rounding.
func exactly(v any, f float64) *big.Float {
	if n, ok := integer(v); ok {
		return new(big.Float).SetPrec(uint(max(n.BitLen(), 64))).SetInt(n)
	}
	return new(big.Float).SetFloat64(f)
}

func sequences(p, q []any) (int, bool, error) {
	for i := range min(len(p), len(q)) {
		if !value.Equal(p[i], q[i]) {
			return order(p[i], q[i])
		}
	}
	return cmp.Compare(len(p), len(q)), true, nil
}
