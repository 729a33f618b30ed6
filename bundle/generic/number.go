package generic

import (
	"math/big"
	"strconv"
	"strings"
)

// Bounds of a number, so that exact arithmetic on hostile text stays cheap.
const (
	maxDigits   = 100
	maxExponent = 400
)

// number is one number in a text: sign, (whole + mantissa × 10^exponent /
// divisor) × 10^scale. The parts are ASCII; at covers sign, digits and percent sign.
type number struct {
	at       region
	negative bool
	whole    string // of a mixed number such as 2 1/2, else ""
	mantissa string // digits with at most one point
	exponent int
	divisor  string // of a fraction, else ""
	scale    int    // power of ten of a scale word: 6 for million
	percent  bool
	unread   string // why it has no value; then only at holds
}

func (n number) value() *big.Rat {
	v := rat(n.mantissa + "e" + strconv.Itoa(n.exponent))
	if n.divisor != "" {
		v.Quo(v, rat(n.divisor)) // never zero: the lexer refuses it
	}
	if n.whole != "" {
		v.Add(v, rat(n.whole))
	}
	if n.scale != 0 {
		v.Mul(v, rat("1e"+strconv.Itoa(n.scale)))
	}
	if n.negative {
		v.Neg(v)
	}
	return v
}

// canonical is the one spelling of a number that is only digits with at most a
// point, so that most numbers are compared without arithmetic. Zero has no
// sign.
func (n number) canonical() (string, bool) {
	if n.whole != "" || n.exponent != 0 || n.divisor != "" || n.scale != 0 || n.percent {
		return "", false
	}
	s := strings.TrimLeft(n.mantissa, "0")
	if strings.IndexByte(s, '.') >= 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if n.negative && s != "" {
		s = "-" + s
	}
	return s, true
}

// share reads a percentage as a fraction of one.
func (n number) share() *big.Rat {
	v := n.value()
	if n.percent {
		v.Quo(v, big.NewRat(100, 1))
	}
	return v
}

// rat reads digits that the lexer made, which Rat always accepts.
func rat(s string) *big.Rat {
	v, ok := new(big.Rat).SetString(s)
	if !ok {
		panic("generic: the lexer passed " + strconv.Quote(s))
	}
	return v
}
