package number

import (
	"math"
	"math/big"
	"strconv"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
)

// Repr is repr(f), which is also str(f): the shortest digits that read back as
// f, with an exponent below 1e-4 and from 1e16 on.
func Repr(f float64) string { return string(AppendRepr(nil, f)) }

// AppendRepr appends Repr(f) to b.
func AppendRepr(b []byte, f float64) []byte {
	if word := special(f); word != "" {
		return append(b, word...)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	from := len(b)
	b = strconv.AppendFloat(b, f, 'f', -1, 64)
	for _, c := range b[from:] {
		if c == '.' {
			return b
		}
	}
	return append(b, '.', '0')
}

func special(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return ""
}

// FormatG is '%.<precision>g' % f: precision significant digits, trailing
// zeros dropped, an exponent when it is below -4 or not below precision. A
// precision of 0 counts as 1.
func FormatG(f float64, precision int) string {
	if word := special(f); word != "" {
		return word
	}
	precision = max(precision, 1)
	var buf [32]byte
	b := strconv.AppendFloat(buf[:0], f, 'e', precision-1, 64)
	cut := len(b) - 1
	for b[cut] != 'e' {
		cut--
	}
	exponent, _ := strconv.Atoi(string(b[cut+1:])) // digits that strconv wrote
	if exponent < -4 || exponent >= precision {
		return string(append(trimZeros(b[:cut:cut]), b[cut:]...))
	}
	return string(trimZeros(strconv.AppendFloat(buf[:0], f, 'f', precision-1-exponent, 64)))
}

// trimZeros drops the zeros that end a fraction, and the point if none is left.
func trimZeros(b []byte) []byte {
	for _, c := range b {
		if c != '.' {
			continue
		}
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
		if b[len(b)-1] == '.' {
			b = b[:len(b)-1]
		}
		return b
	}
	return b
}

// FormatF is '%.<precision>f' % f, rounded half to even on the exact value.
func FormatF(f float64, precision int) string {
	if word := special(f); word != "" {
		return word
	}
	return strconv.FormatFloat(f, 'f', precision, 64)
}

// FormatE is '%.<precision>e' % f.
func FormatE(f float64, precision int) string {
	if word := special(f); word != "" {
		return word
	}
	return strconv.FormatFloat(f, 'e', precision, 64)
}

// Round is round(f, digits) for a float: half to even on the exact binary
// value, digits before the point when negative.
func Round(f float64, digits int) (float64, error) {
	if special(f) != "" || digits > 323 {
		return f, nil
	}
	if digits < -308 {
		return 0 * f, nil
	}
	if digits < 0 {
		return roundTens(f, -digits)
	}
	out, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64)
	if err != nil {
		return 0, pycompat.Raise("OverflowError", "rounded value too large to represent")
	}
	return out, nil
}

func roundTens(f float64, tens int) (float64, error) {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(tens)), nil)
	x := new(big.Rat).SetFloat64(math.Abs(f))
	x.Quo(x, new(big.Rat).SetInt(unit))
	n, rest := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	twice := rest.Lsh(rest, 1).Cmp(x.Denom())
	if twice > 0 || twice == 0 && n.Bit(0) == 1 {
		n.Add(n, big.NewInt(1))
	}
	out, _ := new(big.Rat).SetInt(n.Mul(n, unit)).Float64()
	if math.IsInf(out, 0) {
		return 0, pycompat.Raise("OverflowError", "rounded value too large to represent")
	}
	return math.Copysign(out, f), nil
}
