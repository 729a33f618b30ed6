// Package percent is Python's text % arguments, in the part that templates use:
// %s %r %d %i %f %e %g and %%, with width, precision, and the flags - and 0.
package percent

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// ErrUnsupported marks formats that Python has and this package has not.
var ErrUnsupported = errors.New("unsupported format")

// ErrTooLong reports that the result would exceed the limit.
var ErrTooLong = errors.New("the formatted text is too long")

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}

// Format is format % args, at most limit bytes long. A tuple gives one argument
// for each of its items, anything else is one argument; a list need not be used. All values are those of
// package value. Where Python raises, so does Format.
func Format(format string, args any, limit int) (string, error) {
	if _, ok := args.(*value.Dict); ok {
		return "", unsupported("by name")
	}
	items, ok := args.(value.Tuple)
	if !ok {
		items = value.Tuple{args}
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			b.WriteString(format)
			break
		}
		b.WriteString(format[:i])
		var v verb
		var err error
		if v, format, err = parseVerb(format[i+1:]); err != nil {
			return "", err
		}
		if v.letter == '%' {
			b.WriteByte('%')
			continue
		}
		if len(items) == 0 {
			return "", pycompat.Raise("TypeError", "there are fewer arguments than the format has")
		}
		s, err := v.format(items[0])
		if err != nil {
			return "", err
		}
		if b.Len()+len(s)+len(format) > limit {
			return "", ErrTooLong
		}
		b.WriteString(s)
		items = items[1:]
	}
	if _, list := args.([]any); len(items) > 0 && !list {
		return "", pycompat.Raise("TypeError", "not all arguments were formatted")
	}
	return b.String(), nil
}

type verb struct {
	left, zero       bool
	width, precision int // precision is -1 if not given
	letter           byte
}

func parseVerb(s string) (verb, string, error) {
	v := verb{precision: -1}
	for s != "" && (s[0] == '-' || s[0] == '0') {
		v.left, v.zero = v.left || s[0] == '-', v.zero || s[0] == '0'
		s = s[1:]
	}
	number := func() int {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		x, err := strconv.Atoi(s[:n])
		if err != nil {
			x = 0
		}
		s = s[n:]
		return x
	}
	v.width = number()
	if strings.HasPrefix(s, ".") {
		s = s[1:]
		v.precision = number()
	}
	if s == "" {
		return v, "", pycompat.Raise("ValueError", "incomplete format")
	}
	v.letter = s[0]
	if strings.IndexByte("srdifeg%", v.letter) < 0 || v.width > 10_000 || v.precision > 1_000 {
		return v, "", unsupported("the format %%%s", s)
	}
	if v.letter == '%' && (v.width > 0 || v.precision >= 0 || v.left || v.zero) {
		return v, "", unsupported("a padded %%%%")
	}
	return v, s[1:], nil
}

func (v verb) format(arg any) (string, error) {
	var s string
	var err error
	switch v.letter {
	case 's', 'r':
		if s = value.Str(arg); v.letter == 'r' {
			s = value.Repr(arg)
		}
		if v.precision >= 0 {
			s = str.Slice(s, 0, v.precision)
		}
		v.zero = false
	case 'd', 'i':
		s, err = v.integer(arg)
	default:
		s, err = v.float(arg)
	}
	if pad := v.width - str.Len(s); pad > 0 && err == nil {
		switch {
		case v.left:
			s += strings.Repeat(" ", pad)
		case v.zero && strings.HasPrefix(s, "-"):
			s = "-" + strings.Repeat("0", pad) + s[1:]
		case v.zero:
			s = strings.Repeat("0", pad) + s
		default:
			s = strings.Repeat(" ", pad) + s
		}
	}
	return s, err
}

func (v verb) integer(arg any) (string, error) {
	if v.precision >= 0 {
		return "", unsupported("an integer with a precision")
	}
	switch n := arg.(type) {
	case int64:
		return strconv.FormatInt(n, 10), nil
	case *big.Int:
		return n.String(), nil
	case bool:
		if n {
			return "1", nil
		}
		return "0", nil
	}
	f, ok := arg.(float64)
	switch {
	case !ok:
		return "", pycompat.Raise("TypeError", "%%d of %s", value.TypeName(arg))
	case math.IsNaN(f):
		return "", pycompat.Raise("ValueError", "%%d of NaN")
	case math.IsInf(f, 0):
		return "", pycompat.Raise("OverflowError", "%%d of infinity")
	}
	n, _ := new(big.Float).SetFloat64(f).Int(nil)
	return n.String(), nil
}

func (v verb) float(arg any) (string, error) {
	f, ok := value.Float(arg)
	switch {
	case !ok:
		return "", pycompat.Raise("TypeError", "%%%c of %s", v.letter, value.TypeName(arg))
	case math.IsInf(f, 0) || math.IsNaN(f):
		return "", unsupported("formatting NaN or infinity")
	}
	precision := v.precision
	if precision < 0 {
		precision = 6
	}
	switch v.letter {
	case 'f':
		return number.FormatF(f, precision), nil
	case 'e':
		return number.FormatE(f, precision), nil
	}
	return number.FormatG(f, precision), nil
}
