// Package usd is money: US dollars as whole micro-dollars.
//
// A Micro is an int64 count of millionths of a dollar. On the wire it is a
// decimal string ("1000000" is one dollar), so that no JSON reader can round
// it. Nothing here uses floating point, and every operation that could
// overflow says so instead of wrapping.
package usd

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Micro is an amount in micro-dollars. The zero value is nothing.
type Micro int64

// Dollar is one US dollar.
const Dollar Micro = 1_000_000

// Max is the largest amount that Parse and the wire form accept: 16 digits.
const Max Micro = 9_999_999_999_999_999

var (
	// ErrSyntax is returned for text that is not a plain decimal amount.
	ErrSyntax = errors.New("not an amount in US dollars such as 5 or 0.25")
	// ErrPrecision is returned for more than six decimals: they cannot be kept.
	ErrPrecision = errors.New("more than six decimals; the smallest unit is $0.000001")
	// ErrRange is returned for an amount beyond Max or a sum that overflows.
	ErrRange = errors.New("amount out of range")
)

// Parse reads dollars as a person types them: "5", "5.25", "$0.000001".
// Signs, exponents, separators and more than six decimals are refused.
func Parse(s string) (Micro, error) {
	whole, frac, dotted := strings.Cut(strings.TrimPrefix(s, "$"), ".")
	if whole == "" && frac == "" || !digits(whole) || !digits(frac) || dotted && frac == "" {
		return 0, ErrSyntax
	}
	if len(frac) > 6 {
		if strings.Trim(frac[6:], "0") != "" {
			return 0, ErrPrecision
		}
		frac = frac[:6]
	}
	whole = strings.TrimLeft(whole, "0")
	if len(whole) > 10 {
		return 0, ErrRange
	}
	n, err := strconv.ParseInt("0"+whole+frac+strings.Repeat("0", 6-len(frac)), 10, 64)
	if err != nil || Micro(n) > Max {
		return 0, ErrRange
	}
	return Micro(n), nil
}

// ParseCeil reads dollars like Parse, with any number of decimals and an
// exponent, and rounds up to a micro-dollar: what somebody else has charged
// comes in such numbers. The text is at most 40 characters long.
func ParseCeil(s string) (Micro, error) {
	mantissa, exp := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		n, err := strconv.Atoi(s[i+1:])
		if err != nil {
			return 0, ErrSyntax
		}
		mantissa, exp = s[:i], n
	}
	whole, frac, dotted := strings.Cut(mantissa, ".")
	if len(s) > 40 || whole == "" || !digits(whole) || !digits(frac) || dotted && frac == "" {
		return 0, ErrSyntax
	}
	if exp < -40 || exp > 40 {
		return 0, ErrRange
	}
	all := whole + frac
	point := len(whole) + exp + 6 // micro-dollars
	if point < 0 {
		all, point = strings.Repeat("0", -point)+all, 0
	}
	for len(all) < point {
		all += "0"
	}
	head := strings.TrimLeft(all[:point], "0")
	if len(head) > 16 {
		return 0, ErrRange
	}
	n, err := strconv.ParseInt("0"+head, 10, 64)
	if err != nil {
		return 0, ErrRange
	}
	if strings.Trim(all[point:], "0") != "" {
		n++
	}
	if Micro(n) > Max {
		return 0, ErrRange
	}
	return Micro(n), nil
}

// ParseWire reads the wire form: a string of 1 to 16 digits without sign or
// leading zeros, counting micro-dollars.
func ParseWire(s string) (Micro, error) {
	if s == "" || !digits(s) || len(s) > 1 && s[0] == '0' {
		return 0, fmt.Errorf("%w: want a string of micro-dollars such as \"1000000\"", ErrSyntax)
	}
	if len(s) > 16 {
		return 0, ErrRange
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, ErrRange
	}
	return Micro(n), nil
}

// Wire is the decimal string of micro-dollars that JSON carries.
func (m Micro) Wire() string { return strconv.FormatInt(int64(m), 10) }

// String shows dollars with two decimals, or as many more as the amount
// needs: $5.00, $0.0042.
func (m Micro) String() string {
	sign, n := "", uint64(m)
	if m < 0 {
		sign, n = "-", -uint64(m)
	}
	frac := strings.TrimRight(fmt.Sprintf("%06d", n%1_000_000), "0")
	for len(frac) < 2 {
		frac += "0"
	}
	return fmt.Sprintf("%s$%d.%s", sign, n/1_000_000, frac)
}

// MarshalText is the wire form.
func (m Micro) MarshalText() ([]byte, error) { return []byte(m.Wire()), nil }

// UnmarshalText reads the wire form. A leading minus is accepted, for ledger
// entries that take money away.
func (m *Micro) UnmarshalText(b []byte) error {
	s, neg := strings.CutPrefix(string(b), "-")
	n, err := ParseWire(s)
	if err != nil {
		return err
	}
	if neg {
		n = -n
	}
	*m = n
	return nil
}

// Add is m+n, or ErrRange when the sum does not fit.
func (m Micro) Add(n Micro) (Micro, error) {
	s := m + n
	if (n > 0 && s < m) || (n < 0 && s > m) {
		return 0, ErrRange
	}
	return s, nil
}

// PerMillion is a price in micro-dollars for a million units (tokens, as a
// rule). Numerically it is also pico-dollars for one.
type PerMillion int64

// Term is a number of units at a price.
type Term struct {
	Units int64
	Price PerMillion
}

// Cost is the exact sum of the terms, rounded up once to a micro-dollar. A
// negative unit or price and a sum beyond int64 are ErrRange: a price that
// cannot be computed must never read as cheap.
func Cost(terms ...Term) (Micro, error) {
	var hi, lo uint64
	for _, t := range terms {
		if t.Units < 0 || t.Price < 0 {
			return 0, ErrRange
		}
		h, l := bits.Mul64(uint64(t.Units), uint64(t.Price))
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi, carry = bits.Add64(hi, h, carry)
		if carry != 0 {
			return 0, ErrRange
		}
	}
	const perMicro = 1_000_000
	if hi >= perMicro {
		return 0, ErrRange
	}
	q, r := bits.Div64(hi, lo, perMicro)
	if q > math.MaxInt64 || q == math.MaxInt64 && r != 0 {
		return 0, ErrRange
	}
	if r != 0 {
		q++
	}
	return Micro(q), nil
}

func digits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
