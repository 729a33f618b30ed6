// Package str holds the methods of Python's str, on the Unicode 14.0.0 tables
// of CPython 3.11. Go's unicode package is newer and differs on the letters
// that were added since, and strings.ToLower maps one code point at a time,
// which is wrong for final sigma, ß and the ligatures; hence tables of our own.
//
// ASCII text takes a fast path that does not allocate when the result equals
// the argument.
package str

import (
	"strings"
	"unicode/utf8"
)

const (
	surrogateMin = 0xD800
	surrogateMax = 0xDFFF
)

// DecodeRune returns the first code point of s and its length in bytes. A
// lone surrogate comes back as itself, other bytes that are not UTF-8 as
// U+FFFD of length 1, an empty string as U+FFFD of length 0.
func DecodeRune(s string) (rune, int) {
	if len(s) > 0 && s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 && s[0] == 0xED && len(s) >= 3 && s[1]&0xE0 == 0xA0 && s[2]&0xC0 == 0x80 {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return r, n
}

// DecodeLastRune is DecodeRune for the end of s.
func DecodeLastRune(s string) (rune, int) {
	if len(s) > 0 && s[len(s)-1] < utf8.RuneSelf {
		return rune(s[len(s)-1]), 1
	}
	r, n := utf8.DecodeLastRuneInString(s)
	if r == utf8.RuneError && n == 1 && len(s) >= 3 {
		if r, n := DecodeRune(s[len(s)-3:]); n == 3 {
			return r, n
		}
	}
	return r, n
}

// AppendRune appends r, a surrogate as the three bytes that DecodeRune reads.
func AppendRune(b []byte, r rune) []byte {
	if r >= surrogateMin && r <= surrogateMax {
		return append(b, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0xBF, 0x80|byte(r&0x3F))
	}
	return utf8.AppendRune(b, r)
}

// Len counts the code points of s, as Python's len does.
func Len(s string) int {
	n := 0
	for len(s) > 0 {
		_, size := DecodeRune(s)
		s = s[size:]
		n++
	}
	return n
}

// Runes returns the code points of s.
func Runes(s string) []rune {
	out := make([]rune, 0, len(s))
	for len(s) > 0 {
		r, size := DecodeRune(s)
		out = append(out, r)
		s = s[size:]
	}
	return out
}

// FromRunes is the inverse of Runes.
func FromRunes(runes []rune) string {
	b := make([]byte, 0, len(runes))
	for _, r := range runes {
		b = AppendRune(b, r)
	}
	return string(b)
}

// Slice is s[from:to] in code points. Negative indices count from the end and
// indices outside the string are clipped, as in Python.
func Slice(s string, from, to int) string {
	if from < 0 || to < 0 {
		n := Len(s)
		from, to = fromEnd(from, n), fromEnd(to, n)
	}
	if from >= to {
		return ""
	}
	start := offset(s, from)
	return s[start : start+offset(s[start:], to-from)]
}

func fromEnd(i, n int) int {
	if i < 0 {
		return max(i+n, 0)
	}
	return i
}

// offset returns where code point n of s starts, len(s) if there are fewer.
func offset(s string, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := DecodeRune(s[at:])
		at += size
	}
	return at
}

// HasSurrogates reports whether s has a lone surrogate, which Python refuses
// to encode as UTF-8.
func HasSurrogates(s string) bool {
	for {
		i := strings.IndexByte(s, 0xED)
		if i < 0 {
			return false
		}
		if r, n := DecodeRune(s[i:]); n == 3 && r >= surrogateMin && r <= surrogateMax {
			return true
		}
		s = s[i+1:]
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
