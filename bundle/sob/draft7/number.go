package draft7

import (
	"math"
	"math/big"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// compare orders two numbers by their exact values; bools count as 0 and 1.
// ordered is false when one of them is NaN.
func compare(a, b any) (c int, ordered bool) {
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			return order(x, y), true
		}
	}
	x, y := float(a), float(b)
	if math.IsNaN(x) || math.IsNaN(y) {
		return 0, false
	}
	if x != y || math.IsInf(x, 0) && isFloat(a) && isFloat(b) {
		// Rounding to a float keeps the order, unless it makes them equal.
		return order(x, y), true
	}
	if isFloat(a) && isFloat(b) {
		return 0, true
	}
	if math.IsInf(x, 0) { // an integer beyond the range of a float against infinity
		return orderHuge(a, b, x), true
	}
	return exact(a).Cmp(exact(b)), true
}

func order[T int64 | float64](x, y T) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// orderHuge orders numbers that both round to the infinity f, where at least
// one is an integer.
func orderHuge(a, b any, f float64) int {
	sign := 1
	if f < 0 {
		sign = -1
	}
	switch {
	case isFloat(a):
		return sign
	case isFloat(b):
		return -sign
	}
	return exact(a).Cmp(exact(b))
}

func isFloat(v any) bool {
	_, ok := v.(float64)
	return ok
}

func float(v any) float64 {
	f, _ := value.Float(v)
	return f
}

// exact is v as a fraction; v is finite.
func exact(v any) *big.Rat {
	switch v := v.(type) {
	case bool:
		if v {
			return big.NewRat(1, 1)
		}
	case int64:
		return new(big.Rat).SetInt64(v)
	case *big.Int:
		return new(big.Rat).SetInt(v)
	case float64:
		return new(big.Rat).SetFloat64(v)
	}
	return new(big.Rat)
}

// multiple reports whether x is a multiple of by, as the reference computes it.
func multiple(x, by any) (bool, error) {
	if step, ok := by.(float64); ok {
		return multipleOfFloat(x, step)
	}
	if value.Equal(by, int64(0)) {
		return false, pycompat.Raise("ZeroDivisionError", "modulo by zero")
	}
	f, ok := x.(float64)
	if !ok {
		return new(big.Int).Rem(exact(x).Num(), exact(by).Num()).Sign() == 0, nil
	}
	step := float(by)
	if math.IsInf(step, 0) {
		return false, pycompat.Raise("OverflowError", "int too large to convert to float")
	}
	return math.Mod(f, step) == 0, nil
}

func multipleOfFloat(x any, step float64) (bool, error) {
	f := float(x)
	switch {
	case math.IsInf(f, 0) && !isFloat(x):
		return false, pycompat.Raise("OverflowError", "int too large to convert to float")
	case step == 0:
		return false, pycompat.Raise("ZeroDivisionError", "float division by zero")
	}
	q := f / step
	switch {
	case math.IsNaN(q):
		return false, pycompat.Raise("ValueError", "cannot convert float NaN to integer")
	case !math.IsInf(q, 0):
		return q == math.Trunc(q), nil
	case math.IsInf(f, 0) || math.IsInf(step, 0):
		return false, pycompat.Raise("OverflowError", "cannot convert Infinity to integer ratio")
	}
	return new(big.Rat).Quo(exact(x), exact(step)).IsInt(), nil
}
