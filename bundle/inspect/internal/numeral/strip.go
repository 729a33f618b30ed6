package numeral

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// edges is what StripPunctuation takes off: ASCII white space and punctuation.
const edges = " \t\n\r\v\f!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// StripPunctuation takes ASCII white space and punctuation off both ends.
func StripPunctuation(s string) string { return strings.Trim(s, edges) }

// StripDecoration takes out of s what models put around and into numbers:
// currency signs, commas, emphasis marks with a backslash before them, and
// every point that no digit follows. White space is neither added nor
// removed, so it may be applied to words one by one.
func StripDecoration(s string) string {
	if !strings.ContainsAny(s, "$,£€*_.") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if n := decoration(s[i:]); n > 0 {
			i += n
			continue
		}
		if s[i] == '.' && !digitFollows(s[i+1:]) {
			i++
			continue
		}
		out = append(out, s[i])
		i++
	}
	return string(out)
}

// decoration is the length of the mark that s begins with, with a backslash
// that escapes it, 0 if there is none.
func decoration(s string) int {
	at := 0
	if s[0] == '\\' && len(s) > 1 {
		at = 1
	}
	switch s[at] {
	case '$', ',', '*', '_':
		return at + 1
	}
	for _, sign := range [...]string{"£", "€"} {
		if strings.HasPrefix(s[at:], sign) {
			return at + len(sign)
		}
	}
	return 0
}

// digitFollows looks past decoration for the next character.
func digitFollows(s string) bool {
	for s != "" {
		n := decoration(s)
		if n == 0 {
			r, _ := str.DecodeRune(s)
			_, ok := str.Of(r).Decimal()
			return ok
		}
		s = s[n:]
	}
	return false
}
