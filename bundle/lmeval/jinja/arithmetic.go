package jinja

import (
	"errors"
	"math"
	"math/big"
	"strings"

	pct "github.com/evalrouter/evalrouter/bundle/lmeval/internal/percent"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// maxBits bounds the integers that a template can make.
const maxBits = 1 << 16

// arithmetic is a Python operator on ordinary values.
func arithmetic(op string, a, b any) (any, error) {
	x, xInt := integer(a)
	y, yInt := integer(b)
	if xInt && yInt {
		return integers(op, x, y, a, b)
	}
	f, fOK := value.Float(a)
	g, gOK := value.Float(b)
	if fOK && gOK {
		if math.IsInf(f, 0) && xInt || math.IsInf(g, 0) && yInt {
			return nil, pycompat.Raise("OverflowError", "an integer is too large for a float")
		}
		return floats(op, f, g)
	}
	if s, ok := a.(string); ok && op == "%" {
		return percent(s, b)
	}
	if op == "+" {
		return add(a, b)
	}
	if op == "*" {
		if xInt {
			a, b, y = b, a, x
			yInt = true
		}
		if yInt {
			return repeat(a, y)
		}
	}
	return nil, pycompat.Raise("TypeError", "%s of %s and %s", op, value.TypeName(a), value.TypeName(b))
}

// integer reads an int or bool of any size.
func integer(v any) (*big.Int, bool) {
	if n, ok := v.(*big.Int); ok {
		return n, true
	}
	n, ok := index(v)
	return big.NewInt(n), ok
}

// percent is text % arguments.
func percent(format string, args any) (any, error) {
	if err := plainThrough(args, 0); err != nil {
		return nil, err
	}
	s, err := pct.Format(format, args, maxOutput)
	switch {
	case errors.Is(err, pct.ErrUnsupported):
		return nil, unsupported("%v", err)
	case errors.Is(err, pct.ErrTooLong):
		return nil, ErrBudget
	}
	return s, err
}

func integers(op string, x, y *big.Int, a, b any) (any, error) {
	z := new(big.Int)
	switch op {
	case "+":
		z.Add(x, y)
	case "-":
		z.Sub(x, y)
	case "*":
		z.Mul(x, y)
	case "/":
		return value.Divide(a, b)
	case "//", "%":
		if y.Sign() == 0 {
			return nil, pycompat.Raise("ZeroDivisionError", "division by zero")
		}
		quotient, rest := new(big.Int).QuoRem(x, y, new(big.Int))
		if rest.Sign() != 0 && rest.Sign() != y.Sign() {
			quotient.Sub(quotient, big.NewInt(1))
			rest.Add(rest, y)
		}
		if z = quotient; op == "%" {
			z = rest
		}
	default:
		return power(x, y)
	}
	if z.BitLen() > maxBits {
		return nil, ErrBudget
	}
	return value.Int(z), nil
}

func power(x, y *big.Int) (any, error) {
	if y.Sign() < 0 {
		f, _ := new(big.Float).SetInt(x).Float64()
		g, _ := new(big.Float).SetInt(y).Float64()
		return floats("**", f, g)
	}
	// Of what is larger than one, each factor adds a bit: a larger exponent than
	// maxBits is refused before it is multiplied.
	if x.BitLen() > 1 && (y.Cmp(big.NewInt(maxBits)) > 0 || int64(x.BitLen())*y.Int64() > maxBits) {
		return nil, ErrBudget
	}
	if x.BitLen() <= 1 && !y.IsInt64() { // 0, 1 and -1 only look at whether y is even
		y = big.NewInt(2 + int64(y.Bit(0)))
	}
	return value.Int(new(big.Int).Exp(x, y, nil)), nil
}

func floats(op string, f, g float64) (any, error) {
	if g == 0 && (op == "/" || op == "//" || op == "%") {
		return nil, pycompat.Raise("ZeroDivisionError", "division by zero")
	}
	switch op {
	case "+":
		return f + g, nil
	case "-":
		return f - g, nil
	case "*":
		return f * g, nil
	case "/":
		return f / g, nil
	case "//", "%":
		return floorDivide(op, f, g), nil
	}
	switch {
	case f == 0 && g < 0:
		return nil, pycompat.Raise("ZeroDivisionError", "0 to a negative power")
	case f < 0 && g != math.Trunc(g) && !math.IsInf(g, 0):
		return nil, unsupported("complex numbers")
	}
	z := math.Pow(f, g)
	if math.IsInf(z, 0) && !math.IsInf(f, 0) && !math.IsInf(g, 0) {
		return nil, pycompat.Raise("OverflowError", "the power is too large")
	}
	return z, nil
}

// floorDivide is // and % of floats: the remainder has the sign of g.
func floorDivide(op string, f, g float64) float64 {
	rest := math.Mod(f, g)
	quotient := (f - rest) / g
	if rest != 0 {
		if (g < 0) != (rest < 0) {
			rest += g
			quotient--
		}
	} else {
		rest = math.Copysign(0, g)
	}
	if op == "%" {
		return rest
	}
	if quotient == 0 {
		return math.Copysign(0, f/g)
	}
	floor := math.Floor(quotient)
	if quotient-floor > 0.5 {
		floor++
	}
	return floor
}

func add(a, b any) (any, error) {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			if len(x)+len(y) > maxOutput {
				return nil, ErrBudget
			}
			return x + y, nil
		}
	case []any:
		if y, ok := b.([]any); ok {
			return join(x, y)
		}
	case value.Tuple:
		if y, ok := b.(value.Tuple); ok {
			out, err := join(x, y)
			return value.Tuple(out), err
		}
	}
	return nil, pycompat.Raise("TypeError", "+ of %s and %s", value.TypeName(a), value.TypeName(b))
}

func join(x, y []any) ([]any, error) {
	if len(x)+len(y) > maxItems {
		return nil, ErrBudget
	}
	return append(append([]any{}, x...), y...), nil
}

// repeat is a sequence times an integer.
func repeat(v any, times *big.Int) (any, error) {
	n := 0
	if times.Sign() > 0 {
		if !times.IsInt64() || times.Int64() > maxOutput {
			return nil, ErrBudget
		}
		n = int(times.Int64())
	}
	many := func(items []any) ([]any, error) {
		if len(items)*n > maxItems {
			return nil, ErrBudget
		}
		out := make([]any, 0, len(items)*n)
		for range n {
			out = append(out, items...)
		}
		return out, nil
	}
	switch x := v.(type) {
	case string:
		if len(x)*n > maxOutput {
			return nil, ErrBudget
		}
		return strings.Repeat(x, n), nil
	case []any:
		return many(x)
	case value.Tuple:
		out, err := many(x)
		return value.Tuple(out), err
	}
	return nil, pycompat.Raise("TypeError", "* of %s and an integer", value.TypeName(v))
}
