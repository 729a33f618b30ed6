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

// number is one number in a text: sign, whole + mantissa × 10^exponent /
// divisor. The parts are ASCII; at covers sign, digits and percent sign.
type number struct {
	at       region
	negative bool
	whole    string // of a mixed number such as 2 1/2, else ""
	mantissa string // digits with at most one point
	exponent int
	divisor  string // of a fraction, else ""
	percent  bool
}

func (n number) value() *big.Rat {
	v := rat(n.mantissa + "e" + strconv.Itoa(n.exponent))
	if n.divisor != "" {
		v.Quo(v, rat(n.divisor)) // never zero: the lexer refuses it
	}
	if n.whole != "" {
		v.Add(v, rat(n.whole))
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
	if n.whole != "" || n.exponent != 0 || n.divisor != "" || n.percent {
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
