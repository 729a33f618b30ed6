// Package number holds float() and int() of text, float repr and the %-formats,
// round, and the sums of builtins, math and statistics.
package number

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// MaxIntDigits is the length from which int() refuses a text, as CPython does
// since 3.11 because the conversion is quadratic.
const MaxIntDigits = 4300

// ParseFloat is float(s). White space around the number, digits of any
// script, single underscores between digits, and inf, infinity and nan in any
// case are accepted; hexadecimal is not. Values out of range are infinite or
// zero, not errors.
func ParseFloat(s string) (float64, error) {
	text, ok := clean(s)
	if ok && floatSyntax(text) {
		// strconv takes no sign before nan. Else the syntax is Python's, so the
		// only error left is the range, where strconv returns the infinity that
		// Python does.
		if text[len(text)-1]|0x20 == 'n' {
			return math.NaN(), nil
		}
		f, _ := strconv.ParseFloat(text, 64)
		return f, nil
	}
	return 0, pycompat.Raise("ValueError", "could not convert string to float: %s", excerpt(s))
}

// ParseInt is int(s) in base 10.
func ParseInt(s string) (*big.Int, error) {
	text, ok := clean(s)
	digits := strings.TrimPrefix(text, "-")
	if digits == text {
		digits = strings.TrimPrefix(text, "+")
	}
	if !ok || digits == "" || countDigits(digits) != len(digits) {
		return nil, pycompat.Raise("ValueError", "invalid literal for int() with base 10: %s", excerpt(s))
	}
	if len(digits) > MaxIntDigits {
		return nil, pycompat.Raise("ValueError", "exceeds the limit (%d digits) for integer string conversion", MaxIntDigits)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return big.NewInt(n), nil
	}
	n, _ := new(big.Int).SetString(text, 10)
	return n, nil
}

func excerpt(s string) string {
	const most = 60
	if str.Len(s) > most {
		s = str.Slice(s, 0, most) + "..."
	}
	return str.Repr(s)
}

// clean brings s to ASCII without space and underscores. Only a text with
// characters beyond ASCII has its separators U+001C to U+001F taken for
// space: CPython converts such a text first and strips by C's isspace after.
func clean(s string) (string, bool) {
	s, ok := toASCII(s)
	if !ok {
		return "", false
	}
	s = strings.Trim(s, " \t\n\v\f\r")
	if strings.IndexByte(s, '_') < 0 {
		return s, true
	}
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] != '_' {
			b = append(b, s[i])
			continue
		}
		if i == 0 || !digit(s[i-1]) || i+1 == len(s) || !digit(s[i+1]) {
			return "", false
		}
	}
	return string(b), true
}

func toASCII(s string) (string, bool) {
	i := 0
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	if i == len(s) {
		return s, true
	}
	b := make([]byte, 0, len(s))
	for s != "" {
		r, size := str.DecodeRune(s)
		s = s[size:]
		if r < 0x7F {
			b = append(b, byte(r))
			continue
		}
		info := str.Of(r)
		if info.Space() {
			b = append(b, ' ')
		} else if d, ok := info.Decimal(); ok {
			b = append(b, '0'+byte(d))
		} else {
			return "", false
		}
	}
	return string(b), true
}

func digit(c byte) bool { return c-'0' < 10 }

func countDigits(s string) int {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	return n
}

func floatSyntax(s string) bool {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	if s == "" {
		return false
	}
	if c := s[0] | 0x20; c == 'i' || c == 'n' {
		return strings.EqualFold(s, "inf") || strings.EqualFold(s, "infinity") || strings.EqualFold(s, "nan")
	}
	whole := countDigits(s)
	s = s[whole:]
	fraction := 0
	if s != "" && s[0] == '.' {
		fraction = countDigits(s[1:])
		s = s[1+fraction:]
	}
	if whole+fraction == 0 {
		return false
	}
	if s != "" && s[0]|0x20 == 'e' {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n := countDigits(s)
		return n > 0 && n == len(s)
	}
	return s == ""
}
