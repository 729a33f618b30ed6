// Package numeral reads numbers as the Inspect scorers do: what counts as a
// number, how it is written for comparison, and which decoration around it is
// taken off first.
//
// Two readings exist on purpose. Plain is the permissive prefix reading of
// Inspect's text tools; Parse is what match(numeric) uses. They disagree on
// "1,234", "1e3" and much else, and neither is changed here, because scores
// depend on both.
package numeral

import (
	"math"

	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
)

// Precision is how many significant digits Inspect compares numbers by.
const Precision = 5

// Parse reads all of s as a finite number: Python's float syntax first, then
// the scripts and fractions of Unicode. ok is false when s is no number; err
// is set where the reference itself raises.
func Parse(s string) (f float64, ok bool, err error) {
	if hopeless(s) {
		return 0, false, nil
	}
	if f, ok := Float(s); ok {
		return f, true, nil
	}
	f, err = Unicode(s)
	switch {
	case raisedValueError(err):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	}
	return f, finite(f), nil
}

// Normalize writes a number with five significant digits; text that is no
// number comes back as it is, with isNumber false.
func Normalize(s string) (text string, isNumber bool, err error) {
	f, ok, err := Parse(s)
	if err != nil || !ok {
		return s, false, err
	}
	return number.FormatG(f, Precision), true, nil
}

// Finite reports whether Python's float reads all of s as a finite number.
func Finite(s string) bool {
	_, ok := Float(s)
	return ok
}

// Float is Python's float(s) where that is a finite number.
func Float(s string) (float64, bool) {
	if hopeless(s) {
		return 0, false
	}
	f, err := number.ParseFloat(s)
	return f, err == nil && finite(f)
}

func finite(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) }

// hopeless spares the common word of a sentence the two parsers: an ASCII text
// with a character that stands in no ASCII number. Infinities and NaN count as
// no number, so their letters do too.
func hopeless(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 0x80:
			return false
		case c >= '0' && c <= '9', c == '.', c == ',', c == '-', c == '+', c == '_', c == '\'',
			c == 'e', c == 'E', c == ' ', c >= '\t' && c <= '\r', c >= 0x1c && c <= 0x1f:
		default:
			return !hasHigh(s[i:])
		}
	}
	return false
}

func hasHigh(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return true
		}
	}
	return false
}
