// Package plain makes text from elsewhere safe to show on a terminal.
//
// Model answers, task texts, names and error messages may contain anything,
// escape sequences included. A printer that takes Safe values only cannot
// show them raw: Line and Block are the ways to make one, and constants of
// the program convert by themselves. What is removed stays visible as text,
// so that nothing can hide: an escape character reads \x1b, a character that
// reorders or hides others reads <U+202E>.
//
// The package knows no escape sequences of its own. Colours belong to the
// printer, around Safe values.
package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe is text that moves no cursor, changes no state of a terminal and
// hides nothing. Make it with Line or Block, or from a constant; never by
// converting a variable.
type Safe string

// String is the text.
func (s Safe) String() string { return string(s) }

// maxMarks is how many combining marks one character keeps.
const maxMarks = 4

// Line makes one line: line breaks and tabs become single spaces.
func Line(s string) Safe { return clean(s, false) }

// Block keeps line breaks (CRLF becomes LF) and tabs.
func Block(s string) Safe { return clean(s, true) }

func clean(s string, block bool) Safe {
	if harmless(s) {
		return Safe(s)
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	marks := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if unicode.Is(unicode.M, r) {
			if marks++; marks <= maxMarks {
				b.WriteRune(r)
			}
			continue
		}
		marks = 0
		switch {
		case r == utf8.RuneError && n == 1:
			writeInvalid(&b, s[i-1])
		case r == '\r' && i < len(s) && s[i] == '\n':
			// The line feed speaks for both.
		case r == '\n' || r == '\t':
			if !block {
				r = ' '
			}
			b.WriteRune(r)
		case r < 0x20 || r >= 0x7F && r <= 0x9F:
			fmt.Fprintf(&b, `\x%02x`, r)
		case Hidden(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return Safe(b.String())
}

// writeInvalid shows a byte that is not part of any character. Terminals that
// are not in UTF-8 mode read 0x80 to 0x9F as controls, so these stay visible.
func writeInvalid(b *strings.Builder, c byte) {
	if c >= 0x80 && c <= 0x9F {
		fmt.Fprintf(b, `\x%02x`, c)
		return
	}
	b.WriteRune(utf8.RuneError)
}

func harmless(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7E {
			return false
		}
	}
	return true
}

// Hidden says that a character shows nothing, or changes the order or the
// look of others: bidirectional controls, zero-width characters, tags, line
// and paragraph separators, fillers.
func Hidden(r rune) bool {
	switch {
	case r < 0xAD:
		return false
	case r == 0x2028, r == 0x2029, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r == 0x2800:
		return true
	case r >= 0xE0000 && r <= 0xE0FFF: // tags, and what may join them
		return true
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
