package str

import (
	"strings"
	"unicode/utf8"
)

const hex = "0123456789abcdef"

// Repr is repr(s): in single quotes, or in double quotes when s has a single
// quote and no double one; what is not printable is escaped.
func Repr(s string) string { return string(AppendRepr(nil, s)) }

// AppendRepr appends Repr(s) to b.
func AppendRepr(b []byte, s string) []byte {
	quote := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		quote = '"'
	}
	b = append(b, quote)
	for s != "" {
		r, size := DecodeRune(s)
		b = appendEscaped(b, r, quote)
		s = s[size:]
	}
	return append(b, quote)
}

func appendEscaped(b []byte, r rune, quote byte) []byte {
	switch {
	case r == rune(quote) || r == '\\':
		return append(b, '\\', byte(r))
	case r == '\n':
		return append(b, '\\', 'n')
	case r == '\r':
		return append(b, '\\', 'r')
	case r == '\t':
		return append(b, '\\', 't')
	case r >= ' ' && r < 0x7F:
		return append(b, byte(r))
	case r >= utf8.RuneSelf && record(r).flags&flagPrintable != 0:
		return AppendRune(b, r)
	case r < 0x100:
		return append(b, '\\', 'x', hex[r>>4], hex[r&15])
	case r < 0x10000:
		return append(b, '\\', 'u', hex[r>>12], hex[r>>8&15], hex[r>>4&15], hex[r&15])
	}
	b = append(b, '\\', 'U')
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, hex[r>>shift&15])
	}
	return b
}
