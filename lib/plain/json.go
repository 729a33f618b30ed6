package plain

import (
	"fmt"
	"unicode/utf8"
)

// JSON makes a valid JSON text safe for a terminal without changing what it
// says: characters that JSON writers leave alone but terminals do not, such
// as U+009B and U+202E, become \u escapes. Such characters can stand in
// strings only. The result is a fresh slice.
func JSON(b []byte) []byte {
	out := make([]byte, 0, len(b)+16)
	for i := 0; i < len(b); {
		if n := printable(b[i:]); n > 0 {
			out = append(out, b[i:i+n]...)
			i += n
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case r == '\r':
			out = append(out, ' ') // legal between tokens only, like a space
		case r == '\n' || r == '\t':
			out = append(out, byte(r))
		case r == utf8.RuneError && n == 1:
			out = append(out, `\ufffd`...)
		case r < 0x20 || r >= 0x7F && r <= 0x9F || Hidden(r):
			out = appendEscape(out, r)
		default:
			out = append(out, b[i:i+n]...)
		}
		i += n
	}
	return out
}

// printable is how many bytes at the front are letters, digits and marks of
// ASCII: most of any text, and fit for every terminal.
func printable(b []byte) int {
	for i, c := range b {
		if c < 0x20 || c >= 0x7F {
			return i
		}
	}
	return len(b)
}

func appendEscape(out []byte, r rune) []byte {
	if r < 0x10000 {
		return fmt.Appendf(out, `\u%04x`, r)
	}
	r -= 0x10000
	return fmt.Appendf(out, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
}
