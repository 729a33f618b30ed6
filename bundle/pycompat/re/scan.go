package re

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// scanner reads a pattern or a template by tokens: a code point, or a
// backslash and what follows it.
type scanner struct {
	text []rune
	at   int
}

type token struct {
	r       rune
	escaped bool
}

func (t token) is(r rune) bool { return !t.escaped && t.r == r }

func (t token) String() string {
	if t.escaped {
		return `\` + string(t.r)
	}
	return string(t.r)
}

func newScanner(text string) (*scanner, error) {
	s := &scanner{text: str.Runes(text)}
	trailing := 0
	for i := len(s.text) - 1; i >= 0 && s.text[i] == '\\'; i-- {
		trailing++
	}
	if trailing%2 == 1 {
		return nil, s.fail("bad escape (end of pattern)")
	}
	return s, nil
}

func (s *scanner) fail(format string, args ...any) error {
	args = append(args, s.at)
	return pycompat.Raise("error", format+" at position %d", args...)
}

// peek returns the next token; ok is false at the end.
func (s *scanner) peek() (t token, ok bool) {
	switch {
	case s.at >= len(s.text):
		return token{}, false
	case s.text[s.at] == '\\':
		return token{s.text[s.at+1], true}, true
	}
	return token{s.text[s.at], false}, true
}

func (s *scanner) get() (token, bool) {
	t, ok := s.peek()
	if ok {
		s.at++
		if t.escaped {
			s.at++
		}
	}
	return t, ok
}

// match consumes the next token if it is r.
func (s *scanner) match(r rune) bool {
	if t, ok := s.peek(); ok && t.is(r) {
		s.at++
		return true
	}
	return false
}

// while consumes up to n code points of the given ASCII characters.
func (s *scanner) while(n int, of string) string {
	from := s.at
	for s.at < len(s.text) && s.at-from < n && s.text[s.at] < 0x80 && strings.IndexByte(of, byte(s.text[s.at])) >= 0 {
		s.at++
	}
	return string(s.text[from:s.at])
}

// until consumes a name and the terminator behind it.
func (s *scanner) until(terminator rune, what string) (string, error) {
	var b strings.Builder
	for {
		t, ok := s.get()
		switch {
		case !ok && b.Len() == 0:
			return "", s.fail("missing %s", what)
		case !ok:
			return "", s.fail("missing %c, unterminated name", terminator)
		case t.is(terminator):
			if b.Len() == 0 {
				return "", s.fail("missing %s", what)
			}
			return b.String(), nil
		}
		b.WriteString(t.String())
	}
}

const (
	digits    = "0123456789"
	octDigits = "01234567"
	hexDigits = "0123456789abcdefABCDEF"
)

func octal(r rune) bool { return r >= '0' && r <= '7' }

func asciiLetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' && r < 0x80 }

// control returns what the escapes \a \f \n \r \t \v and \\ stand for.
func control(r rune) (rune, bool) {
	if r < 0x80 {
		if i := strings.IndexByte(`afnrtv\`, byte(r)); i >= 0 {
			return rune("\a\f\n\r\t\v\\"[i]), true
		}
	}
	return 0, false
}

// codePoint reads the rest of \x, \u and \U. \N is refused: the names of all
// characters would weigh more than the package.
func (s *scanner) codePoint(letter rune) (rune, error) {
	size := 0
	switch letter {
	case 'x':
		size = 2
	case 'u':
		size = 4
	case 'U':
		size = 8
	case 'N':
		return 0, s.fail(`\N{...} is not supported`)
	}
	hex := s.while(size, hexDigits)
	if len(hex) != size {
		return 0, s.fail(`incomplete escape \%c%s`, letter, hex)
	}
	n := parseDigits(hex, 16)
	if n > 0x10FFFF {
		return 0, s.fail(`bad escape \%c%s`, letter, hex)
	}
	return rune(n), nil
}

// parseDigits reads digits of base 8, 10 or 16; more than fit stay huge.
func parseDigits(text string, base int) int {
	n := 0
	for _, c := range text {
		d := int(c - '0')
		if c > '9' {
			d = int(c|0x20-'a') + 10
		}
		if n > (unlimited-d)/base {
			n = unlimited
			continue
		}
		n = n*base + d
	}
	return n
}
