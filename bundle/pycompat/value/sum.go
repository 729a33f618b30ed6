package value

import (
	"math"
	"math/big"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
)

// Sum is sum(vs) of CPython 3.12 and later for numbers and bools: integers add
// up exactly until the first float, floats are compensated from there on. An
// integer beyond 64 bits ends both ways, and the rest is added plainly. Other
// types raise TypeError, integers too large for a double OverflowError.
func Sum(vs []any) (any, error) {
	sum := int64(0)
	for i, v := range vs {
		var n int64
		switch v := v.(type) {
		case bool:
			if v {
				n = 1
			}
		case int64:
			n = v
		case float64:
			return sumFloats(float64(sum), v, vs[i+1:])
		default:
			return sumPlain(sum, vs[i:])
		}
		next := sum + n
		if (next > sum) != (n > 0) && n != 0 {
			return sumPlain(sum, vs[i:])
		}
		sum = next
	}
	return sum, nil
}

func sumFloats(start, first float64, rest []any) (any, error) {
	var a number.Adder
	a.Start(start, first)
	for i, v := range rest {
		switch v := v.(type) {
		case float64:
			a.Add(v)
		case int64:
			a.AddInt(v)
		case bool:
			if v {
				a.AddInt(1)
			}
		default:
			return sumPlain(a.Sum(), rest[i:])
		}
	}
	return a.Sum(), nil
}

// sumPlain adds rest to sum, an int or a float, one by one.
func sumPlain(sum any, rest []any) (any, error) {
	for _, v := range rest {
		a, okA := toBig(sum)
		b, okB := toBig(v)
		if okA && okB {
			sum = Int(new(big.Int).Add(a, b))
			continue
		}
		x, _ := Float(sum)
		y, ok := Float(v)
		if !ok {
			return nil, pycompat.Raise("TypeError", "unsupported operand type(s) for +: '%s' and '%s'", TypeName(sum), TypeName(v))
		}
		if okA && math.IsInf(x, 0) || okB && math.IsInf(y, 0) {
			return nil, pycompat.Raise("OverflowError", "int too large to convert to float")
		}
		sum = x + y
	}
	return sum, nil
}

// Divide is a / b for numbers and bools. Two integers are divided exactly and
// rounded once.
func Divide(a, b any) (float64, error) {
	x, okX := Float(a)
	y, okY := Float(b)
	if !okX || !okY {
		return 0, pycompat.Raise("TypeError", "unsupported operand type(s) for /: '%s' and '%s'", TypeName(a), TypeName(b))
	}
	if y == 0 {
		return 0, pycompat.Raise("ZeroDivisionError", "division by zero")
	}
	m, okM := toBig(a)
	n, okN := toBig(b)
	const exact = 1 << 53
	if okM && okN && (math.Abs(x) >= exact || math.Abs(y) >= exact) {
		f, _ := new(big.Rat).SetFrac(m, n).Float64()
		if math.IsInf(f, 0) {
			return 0, pycompat.Raise("OverflowError", "integer division result too large for a float")
		}
		return f, nil
	}
	if (math.IsInf(x, 0) && okM) || (math.IsInf(y, 0) && okN) {
		return 0, pycompat.Raise("OverflowError", "int too large to convert to float")
	}
	return x / y, nil
}

func toBig(v any) (*big.Int, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return big.NewInt(1), true
		}
		return new(big.Int), true
	case int64:
		return big.NewInt(v), true
	case *big.Int:
		return v, true
	}
	return nil, false
}
