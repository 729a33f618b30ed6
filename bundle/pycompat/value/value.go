// Package value holds Python objects as far as graders meet them: what
// json.loads and ast.literal_eval return, with the equality, hashing and repr
// that Python gives them.
//
// # Representation
//
// A value is an any of exactly these types:
//
//	nil       None
//	bool      bool
//	int64     int
//	*big.Int  int outside the range of int64, and only there
//	float64   float
//	string    str (see package pycompat on surrogates)
//	[]any     list
//	Tuple     tuple
//	*Dict     dict, in insertion order
//
// Integers and floats are never mixed up: 1 and 1.0 are equal, as in Python,
// but print differently and have different types. Sets, bytes and complex
// numbers are left out, because no grader needs them.
package value

import (
	"math"
	"math/big"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
)

// Tuple is a Python tuple.
type Tuple []any

// Int returns n as a value: int64 if it fits.
func Int(n *big.Int) any {
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}

// TypeName is type(v).__name__.
func TypeName(v any) string {
	switch v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case []any:
		return "list"
	case Tuple:
		return "tuple"
	case *Dict:
		return "dict"
	}
	return "object"
}

// Truth is bool(v).
func Truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case Tuple:
		return len(v) > 0
	case *Dict:
		return v.Len() > 0
	}
	return true
}

// Float is float(v) for a number or bool; ok is false for other types. An int
// beyond the range of a double gives an infinity, where Python raises
// OverflowError.
func Float(v any) (f float64, ok bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int64:
		return float64(v), true
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f, true
	case float64:
		return v, true
	}
	return 0, false
}

// Equal is a == b: numbers and bools by value across their types, lists and
// tuples by order, dicts without it, a str never equal to a number. Within a
// container NaN equals NaN, because Python compares elements by identity first
// and json.loads always returns the same NaN.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case string:
		b, ok := b.(string)
		return ok && a == b
	case []any:
		b, ok := b.([]any)
		return ok && equalItems(a, b)
	case Tuple:
		b, ok := b.(Tuple)
		return ok && equalItems(a, b)
	case *Dict:
		b, ok := b.(*Dict)
		return ok && a.equal(b)
	case int64:
		if b, ok := b.(int64); ok {
			return a == b
		}
	case float64:
		if b, ok := b.(float64); ok {
			return a == b
		}
	}
	return equalNumbers(a, b)
}

func equalItems(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !equalInside(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalInside(a, b any) bool {
	if x, ok := a.(float64); ok && math.IsNaN(x) {
		y, ok := b.(float64)
		return ok && math.IsNaN(y)
	}
	return Equal(a, b)
}

func equalNumbers(a, b any) bool {
	switch b.(type) {
	case bool, int64, float64, *big.Int:
		x, okX := numberKey(a)
		y, okY := numberKey(b)
		return okX && okY && x == y
	}
	return false
}

// bigKey is the key of an integer outside the range of int64, in decimal.
type bigKey string

// numberKey maps numbers that are equal in Python to Go values that are.
func numberKey(v any) (any, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return int64(1), true
		}
		return int64(0), true
	case int64:
		return v, true
	case *big.Int:
		if v.IsInt64() {
			return v.Int64(), true
		}
		return bigKey(v.String()), true
	case float64:
		if v != math.Trunc(v) || math.IsInf(v, 0) {
			return v, true
		}
		if v >= -(1<<63) && v < 1<<63 {
			return int64(v), true
		}
		n, _ := new(big.Float).SetFloat64(v).Int(nil)
		return bigKey(n.String()), true
	}
	return nil, false
}

// tupleKey is the encoded key of a tuple.
type tupleKey string

// Key returns a Go value that can be a map key and is equal for values that
// are equal in Python: 1, 1.0 and True share one. It is for dicts, counters
// and sets in Go code. Lists and dicts raise TypeError; each NaN is its own.
func Key(v any) (any, error) {
	switch v := v.(type) {
	case nil, string:
		return v, nil
	case Tuple:
		b, err := appendTupleKey(nil, v)
		return tupleKey(b), err
	}
	if k, ok := numberKey(v); ok {
		return k, nil
	}
	return nil, pycompat.Raise("TypeError", "unhashable type: '%s'", TypeName(v))
}
