package str

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// Lower is str.lower: full mappings, and a capital sigma at the end of a word
// becomes a final sigma.
func Lower(s string) string { return convert(s, toLower) }

// Upper is str.upper: full mappings, so ß gives SS.
func Upper(s string) string { return convert(s, toUpper) }

// Casefold is str.casefold: the full folding, for comparison without case.
func Casefold(s string) string { return convert(s, toFold) }

// Capitalize is str.capitalize: the first code point in title case, the rest
// in lower case.
func Capitalize(s string) string {
	if s == "" {
		return ""
	}
	first, size := DecodeRune(s)
	b := appendMapped(make([]byte, 0, len(s)+2), first, toTitle)
	return string(appendConverted(b, s, size, toLower))
}

func convert(s string, kind int) string {
	i := unchangedASCII(s, kind)
	if i == len(s) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	out.WriteString(s[:i])
	for i < len(s) {
		var chunk [64]byte
		size := copy(chunk[:], s[i:])
		n := mapASCII(chunk[:size], kind)
		out.Write(chunk[:n])
		if i += n; n < size {
			out.Write(appendConverted(nil, s, i, kind))
			break
		}
	}
	return out.String()
}

// mapASCII maps the ASCII letters of b in place, eight bytes at a time, up to
// the first word with a byte beyond ASCII. It returns how many bytes it did.
func mapASCII(b []byte, kind int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	low := uint64('A')
	if kind == toUpper {
		low = 'a'
	}
	n := 0
	for ; n+8 <= len(b); n += 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		if w&tops != 0 {
			return n
		}
		// The top bit of each byte says: not below the first letter, and not
		// beyond the last. No byte carries into the next.
		letters := (w + ones*(0x80-low)) &^ (w + ones*(0x80-low-26)) & tops
		binary.LittleEndian.PutUint64(b[n:], w^letters>>2)
	}
	for ; n < len(b) && b[n] < utf8.RuneSelf; n++ {
		if b[n]-byte(low) < 26 {
			b[n] ^= 0x20
		}
	}
	return n
}

// unchangedASCII returns the length of the prefix of s that is ASCII and maps
// to itself.
func unchangedASCII(s string, kind int) int {
	low := byte('A')
	if kind == toUpper {
		low = 'a'
	}
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c-low < 26 {
			return i
		}
	}
	return len(s)
}

// appendConverted appends the mapping of s[from:]; what stands before from is
// context for the sigma rule.
func appendConverted(b []byte, s string, from, kind int) []byte {
	low := byte('A')
	if kind == toUpper {
		low = 'a'
	}
	for i := from; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c-low < 26 {
				c ^= 0x20
			}
			b = append(b, c)
			i++
			continue
		}
		r, size := DecodeRune(s[i:])
		if r == 'Σ' && kind == toLower && finalSigma(s, i, i+size) {
			b = append(b, "ς"...)
		} else {
			b = appendMapped(b, r, kind)
		}
		i += size
	}
	return b
}

func appendMapped(b []byte, r rune, kind int) []byte {
	m := record(r).mapping[kind]
	if m < longMapping {
		return AppendRune(b, r+m)
	}
	for _, to := range unicode14().long[m-longMapping] {
		b = AppendRune(b, to)
	}
	return b
}

// finalSigma reports whether the sigma at s[from:to] follows a cased letter
// and precedes none, case-ignorable characters aside.
func finalSigma(s string, from, to int) bool {
	before := false
	for rest := s[:from]; rest != ""; {
		r, size := DecodeLastRune(rest)
		rest = rest[:len(rest)-size]
		if flags := record(r).flags; flags&flagCaseIgnorable == 0 {
			before = flags&flagCased != 0
			break
		}
	}
	if !before {
		return false
	}
	for rest := s[to:]; rest != ""; {
		r, size := DecodeRune(rest)
		rest = rest[size:]
		if flags := record(r).flags; flags&flagCaseIgnorable == 0 {
			return flags&flagCased == 0
		}
	}
	return true
}
