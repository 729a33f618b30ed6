package numeral

import (
	"math"
	"math/big"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

const (
	minusSigns   = "-−﹣－"
	plusSigns    = "+＋﹢"
	groupMarks   = ",，﹐、٬ \u00a0\u202f\u2009\u2007\u2008'’ʼ＇"
	superDigits  = "⁰¹²³⁴⁵⁶⁷⁸⁹"
	decimalMarks = "٫．"
)

func valueError(s string) error {
	return pycompat.Raise("ValueError", "could not parse number from %s", str.Repr(s))
}

func raisedValueError(err error) bool { return pycompat.Class(err) == "ValueError" }

// Unicode reads a number in the digits of any script, Chinese numerals, a
// single numeric character, an embedded vulgar fraction and a superscript
// exponent. The sign binds before the exponent: -2² is 4. It raises
// ValueError for what is no number, and OverflowError for Chinese digits
// beyond a double.
func Unicode(s string) (float64, error) {
	text := str.Strip(s)
	if text == "" {
		return 0, valueError(s)
	}
	text, negative := leadingSigns(text)
	if f, ok := single(text); ok {
		return signed(f, negative), nil
	}
	base, exponent, err := splitExponent(text)
	if err != nil {
		return 0, err
	}
	f, ok, err := withFraction(base)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, valueError(s)
	}
	f = signed(f, negative)
	if exponent == nil {
		return f, nil
	}
	f, err = power(f, exponent)
	if err != nil {
		return 0, valueError(s)
	}
	return f, nil
}

func signed(f float64, negative bool) float64 {
	if negative {
		return -f
	}
	return f
}

func leadingSigns(s string) (rest string, negative bool) {
	s = str.LStrip(s)
	for s != "" {
		r, n := str.DecodeRune(s)
		switch {
		case strings.ContainsRune(minusSigns+"负負", r):
			negative = !negative
		case strings.ContainsRune(plusSigns+"正", r):
		default:
			return s, negative
		}
		s = str.LStrip(s[n:])
	}
	return s, negative
}

func single(s string) (float64, bool) {
	r, n := str.DecodeRune(s)
	if s == "" || n != len(s) {
		return 0, false
	}
	return str.Of(r).Numeric()
}

// splitExponent takes superscript digits, with one superscript sign, off the
// end. They are no exponent when nothing stands before them.
func splitExponent(s string) (base string, exponent *big.Int, err error) {
	runes := str.Runes(s)
	end := len(runes) - 1
	for end >= 0 && (str.Of(runes[end]).Space() || strings.ContainsRune(groupMarks, runes[end])) {
		end--
	}
	j := end
	for j >= 0 && strings.ContainsRune(superDigits, runes[j]) {
		j--
	}
	start := j + 1
	if end < 0 || start > end {
		return str.Strip(s), nil, nil
	}
	digits := make([]byte, 0, end-start+2)
	if j >= 0 && (runes[j] == '⁻' || runes[j] == '⁺') {
		if runes[j] == '⁻' {
			digits = append(digits, '-')
		}
		j--
	}
	for _, r := range runes[start : end+1] {
		digits = append(digits, superDigit(r))
	}
	base = str.RStrip(str.FromRunes(runes[:j+1]))
	if base == "" {
		return str.Strip(s), nil, nil
	}
	exponent, err = number.ParseInt(string(digits))
	return base, exponent, err
}

// superDigit is the ASCII digit of a superscript digit.
func superDigit(r rune) byte {
	d, _ := str.Of(r).Digit()
	return byte('0' + d)
}

// power is Python's float ** int. The result is rounded once from an exact
// product, because math.Pow can be off in the last bit.
func power(base float64, exponent *big.Int) (float64, error) {
	const most = 1 << 16
	if base == 0 && exponent.Sign() < 0 {
		return 0, pycompat.Raise("ZeroDivisionError", "0.0 cannot be raised to a negative power")
	}
	e, _ := new(big.Float).SetInt(exponent).Float64()
	if math.IsInf(e, 0) {
		return 0, pycompat.Raise("OverflowError", "int too large to convert to float")
	}
	f := math.Pow(base, e)
	if math.Abs(e) <= most && finite(base) && finite(f) && f != 0 {
		f = exactPower(base, int(e))
	}
	if math.IsInf(f, 0) && finite(base) {
		return 0, pycompat.Raise("OverflowError", "result too large")
	}
	return f, nil
}

func exactPower(base float64, e int) float64 {
	const precision = 320 // far more than a double needs after 16 squarings
	n := max(e, -e)
	result := new(big.Float).SetPrec(precision).SetInt64(1)
	square := new(big.Float).SetPrec(precision).SetFloat64(base)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result.Mul(result, square)
		}
		square.Mul(square, square)
	}
	if e < 0 {
		result.Quo(new(big.Float).SetPrec(precision).SetInt64(1), result)
	}
	f, _ := result.Float64()
	return f
}

// withFraction reads digits that may end in one vulgar fraction character.
func withFraction(s string) (float64, bool, error) {
	at, width, fraction := -1, 0, 0.0
	for i := 0; i < len(s); {
		r, n := str.DecodeRune(s[i:])
		if r >= 0x80 { // no ASCII character is a fraction
			if v, ok := str.Of(r).Numeric(); ok && v > 0 && v < 1 {
				if at >= 0 {
					return 0, false, valueError(s)
				}
				at, width, fraction = i, n, v
			}
		}
		i += n
	}
	if at < 0 {
		return core(s)
	}
	for _, r := range str.Runes(str.Strip(s[at+width:])) {
		if !str.Of(r).Space() && !strings.ContainsRune(groupMarks, r) {
			return 0, false, valueError(s)
		}
	}
	head := str.Strip(s[:at])
	if head == "" {
		return fraction, true, nil
	}
	f, ok, err := core(head)
	if err == nil && !ok {
		err = valueError(s)
	}
	return f + fraction, ok, err
}

// core reads a number without sign, fraction and exponent.
func core(s string) (float64, bool, error) {
	s = str.Strip(s)
	if s == "" {
		return 0, false, nil
	}
	if looksChinese(s) {
		if f, ok, err := chinese(s); ok || err != nil {
			return f, ok, err
		}
	}
	if f, ok := anyScript(s); ok {
		return f, true, nil
	}
	f, ok := single(s)
	return f, ok, nil
}

// decimalChar guesses which of . and , separates decimals in s; 0 for none.
// Of two different marks the last does. A lone comma does when one to three
// digits follow it.
func decimalChar(s string) rune {
	dot, comma := strings.LastIndexByte(s, '.'), strings.LastIndexByte(s, ',')
	switch {
	case dot >= 0 && comma >= 0:
		if dot > comma {
			return '.'
		}
		return ','
	case dot >= 0:
		return '.'
	case comma >= 0:
		digits := 0
		for _, r := range str.Runes(s[comma+1:]) {
			if _, ok := digit(r); ok {
				digits++
			}
		}
		if digits >= 1 && digits <= 3 {
			return ','
		}
	}
	return 0
}

// anyScript reads digits of any script with grouping marks and an exponent.
func anyScript(s string) (float64, bool) {
	decimal := decimalChar(s)
	var out []byte
	digits, point, exponent := false, false, false
	runes := str.Runes(s)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case (r == 'e' || r == 'E') && !exponent:
			if len(out) == 0 {
				return 0, false
			}
			out, exponent = append(out, 'e'), true
			if i+1 < len(runes) && strings.ContainsRune(plusSigns+minusSigns, runes[i+1]) {
				i++
				if strings.ContainsRune(minusSigns, runes[i]) {
					out = append(out, '-')
				}
			}
		case strings.ContainsRune(decimalMarks, r) || decimal != 0 && r == decimal:
			if point {
				return 0, false
			}
			out, point = append(out, '.'), true
		case strings.ContainsRune(groupMarks, r) || str.Of(r).Space() || decimal != 0 && (r == ',' || r == '.'):
		default:
			d, ok := digit(r)
			if !ok {
				return 0, false
			}
			out, digits = append(out, d), true
		}
	}
	if !digits {
		return 0, false
	}
	f, err := number.ParseFloat(string(out))
	return f, err == nil
}
