package jsonl

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Text is a JSON string as it stands in a line, without its quotes. It is
// valid as long as the line is.
type Text struct {
	raw     []byte
	escaped bool
}

// Empty says whether the text has no characters.
func (t Text) Empty() bool { return len(t.raw) == 0 }

// Runes counts the characters.
func (t Text) Runes() int {
	if !t.escaped {
		return utf8.RuneCount(t.raw)
	}
	return utf8.RuneCountInString(t.String())
}

// Is compares without making a string.
func (t Text) Is(s string) bool {
	if !t.escaped {
		return string(t.raw) == s
	}
	return t.String() == s
}

// Equal compares two texts with their escapes resolved.
func (t Text) Equal(u Text) bool {
	if !t.escaped && !u.escaped {
		return string(t.raw) == string(u.raw)
	}
	return t.String() == u.String()
}

// String is a copy of the text with its escapes resolved.
func (t Text) String() string {
	if !t.escaped {
		return string(t.raw)
	}
	return string(t.Append(make([]byte, 0, len(t.raw))))
}

// Append adds the text to b with its escapes resolved.
func (t Text) Append(b []byte) []byte {
	if !t.escaped {
		return append(b, t.raw...)
	}
	s := t.raw
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b = append(b, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r := hex4(s[i+1:])
			i += 4
			if utf16.IsSurrogate(r) { // the parser has seen that the other half follows
				r = utf16.DecodeRune(r, hex4(s[i+3:]))
				i += 6
			}
			b = utf8.AppendRune(b, r)
		default: // " \ /
			b = append(b, s[i])
		}
	}
	return b
}

// Blank says whether the text is nothing but ASCII white space.
func (t Text) Blank() bool {
	for i, c := range t.raw {
		if c == '\\' {
			return blank(Text{raw: t.raw[i:], escaped: true}.String())
		}
		if c > ' ' {
			return false
		}
	}
	return true
}

func blank(s string) bool {
	for i := range len(s) {
		if s[i] > ' ' {
			return false
		}
	}
	return true
}

// hex4 reads four hex digits, -1 if they are not.
func hex4(s []byte) rune {
	if len(s) < 4 {
		return -1
	}
	var r rune
	for _, c := range s[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
