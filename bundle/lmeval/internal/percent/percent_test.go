package percent_test

import (
	"errors"
	"math/big"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/lmeval/internal/percent"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	tests := []struct {
		name, format string
		args         any
		want         string
	}{
		{"one argument", "<%s>", "x", "<x>"},
		{"values as Python writes them", "%s %s %s %r", value.Tuple{nil, true, []any{"a"}, "it's"}, `None True ['a'] "it's"`},
		{"integers", "%d %i %d %d", value.Tuple{int64(-3), true, 2.9, huge}, "-3 1 2 123456789012345678901234567890"},
		{"floats", "%f %.2f %e %g", value.Tuple{1.5, 2.675, 12345.678, 1e-5}, "1.500000 2.67 1.234568e+04 1e-05"},
		{"width", "[%5s|%-5s|%05d|%5.1f|%05d]", value.Tuple{"é", "b", int64(42), 2.25, int64(-7)}, "[    é|b    |00042|  2.2|-0007]"},
		{"precision of text", "%.2s", "abc", "ab"},
		{"list that is not used", "x", []any{int64(1)}, "x"},
		{"percent sign", "100%%", value.Tuple{}, "100%"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, err := percent.Format(tt.format, tt.args, 1000); err != nil || got != tt.want {
				t.Errorf("Format = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestFormat_Errors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, format string
		args         any
		class        string
		is           error
	}{
		{"too few arguments", "%s %s", "x", "TypeError", nil},
		{"too many arguments", "%s", value.Tuple{"x", "y"}, "TypeError", nil},
		{"text as an integer", "%d", "x", "TypeError", nil},
		{"incomplete", "%", "x", "ValueError", nil},
		{"by name", "%(a)s", value.DictOf("a", int64(1)), "", percent.ErrUnsupported},
		{"hexadecimal", "%x", int64(1), "", percent.ErrUnsupported},
		{"sign", "%+d", int64(1), "", percent.ErrUnsupported},
		{"too long", "%900s%900s", value.Tuple{"x", "y"}, "", percent.ErrTooLong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := percent.Format(tt.format, tt.args, 1000)
			if err == nil || pycompat.Class(err) != tt.class || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("Format = %q, %v", got, err)
			}
		})
	}
}
