package jinja

import (
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// quoted reads a string literal with its escapes.
func (l *lexer) quoted(s string) error {
	var b []byte
	for i := 1; i < len(s); {
		switch {
		case s[i] == s[0]:
			l.add(kString, string(b))
			l.skip(i + 1)
			return nil
		case s[i] == '\\' && i+1 < len(s):
			n, err := unescape(&b, s[i:])
			if err != "" {
				return l.fail(err)
			}
			i += n
		default:
			b = append(b, s[i])
			i++
		}
	}
	return l.fail("a string is not closed")
}

// unescape appends what the escape at the start of s stands for and returns its
// length. An unknown escape stands for itself.
func unescape(b *[]byte, s string) (int, string) {
	if i := strings.IndexByte(`\'"abfnrtv`, s[1]); i >= 0 {
		*b = append(*b, "\\'\"\a\b\f\n\r\t\v"[i])
		return 2, ""
	}
	switch s[1] {
	case '\n':
		return 2, ""
	case 'x':
		return code(b, s, 2)
	case 'u':
		return code(b, s, 4)
	case 'U':
		return code(b, s, 8)
	case 'N':
		return 0, "named characters are unsupported"
	}
	n := 1
	for n < 4 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
		n++
	}
	if n == 1 {
		*b = append(*b, '\\')
		return 1, ""
	}
	v, err := strconv.ParseUint(s[1:n], 8, 32)
	if err != nil {
		return 0, "bad octal escape"
	}
	*b = str.AppendRune(*b, rune(v))
	return n, ""
}

func code(b *[]byte, s string, digits int) (int, string) {
	if len(s) < 2+digits {
		return 0, "a character escape is too short"
	}
	v, err := strconv.ParseUint(s[2:2+digits], 16, 32)
	if err != nil || v > 0x10FFFF {
		return 0, "bad character escape"
	}
	*b = str.AppendRune(*b, rune(v))
	return 2 + digits, ""
}
