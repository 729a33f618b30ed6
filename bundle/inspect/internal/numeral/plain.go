package numeral

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// vulgar is the value of the fraction characters that Plain knows.
func vulgar(r rune) (float64, bool) {
	if !strings.ContainsRune("½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒", r) {
		return 0, false
	}
	return str.Of(r).Numeric()
}

// Plain reads the number that s begins with: digits with a decimal part, one
// vulgar fraction anywhere and superscript digits as an exponent. Whatever
// follows the number is ignored. It raises ValueError when there is none.
func Plain(s string) (float64, error) {
	base, fraction, exponent, err := plainParts(s)
	if err != nil {
		return 0, err
	}
	f := 0.0
	switch {
	case base == "-" || base == "+":
		if fraction == 0 && exponent == "" {
			return 0, valueError(s)
		}
		if fraction == 0 {
			f = signed(1, base == "-")
		}
	case base != "":
		if base = plainPrefix(base); base == "" {
			return 0, valueError(s)
		}
		if f, err = number.ParseFloat(base); err != nil {
			return 0, valueError(s)
		}
	}
	switch {
	case fraction != 0 && (f < 0 || base == "-"):
		f -= fraction
	case fraction != 0:
		f += fraction
	case base == "":
		f = 1
	}
	if exponent == "" {
		return f, nil
	}
	n, err := number.ParseInt(exponent)
	if err != nil {
		return 0, valueError(s)
	}
	return power(f, n)
}

// plainParts takes fraction and exponent out of s. The exponent begins at the
// first superscript digit and must be all superscript digits.
func plainParts(s string) (base string, fraction float64, exponent string, err error) {
	if s == "" {
		return "", 0, "", valueError(s)
	}
	var b []byte
	runes := str.Runes(s)
	for i, r := range runes {
		if strings.ContainsRune(superDigits, r) {
			digits := make([]byte, 0, len(runes)-i)
			for _, r := range runes[i:] {
				if strings.ContainsRune(superDigits, r) {
					r = rune(superDigit(r))
				}
				digits = str.AppendRune(digits, r)
			}
			return string(b), fraction, string(digits), nil
		}
		v, ok := vulgar(r)
		switch {
		case ok && fraction != 0:
			return "", 0, "", valueError(s)
		case ok:
			fraction = v
		default:
			b = str.AppendRune(b, r)
		}
	}
	return string(b), fraction, "", nil
}

// plainPrefix is the longest beginning of s that is a signed decimal in digits
// of any script, "" if there is none.
func plainPrefix(s string) string {
	i := 0
	if s[0] == '+' || s[0] == '-' {
		i++
	}
	whole := decimals(s[i:])
	if whole == 0 {
		return ""
	}
	i += whole
	if i < len(s) && s[i] == '.' {
		if part := decimals(s[i+1:]); part > 0 {
			i += 1 + part
		}
	}
	return s[:i]
}

// decimals is the length of the run of decimal digits that s begins with.
func decimals(s string) int {
	i := 0
	for i < len(s) {
		r, n := str.DecodeRune(s[i:])
		if _, ok := str.Of(r).Decimal(); !ok {
			break
		}
		i += n
	}
	return i
}
