package score

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// Case folding of ASCII is lowering, so most texts can be compared eight bytes
// at a time and without a folded copy on the heap.

const (
	high  = 0x8080808080808080
	fromA = 0x3f3f3f3f3f3f3f3f // 0x80 - 'A' in every byte
	pastZ = 0x2525252525252525 // 0x80 - 'Z' - 1
)

func word(s string, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

func isASCII(s string) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if word(s, i)&high != 0 {
			return false
		}
	}
	for ; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// lowerASCII writes the lower case of s to dst, which holds it, and reports
// whether s is ASCII; if not, dst is of no use.
func lowerASCII(dst []byte, s string) bool {
	i, seen := 0, uint64(0)
	for ; i+8 <= len(s); i += 8 {
		x := word(s, i)
		seen |= x
		upper := (x + fromA) &^ (x + pastZ) & high
		binary.LittleEndian.PutUint64(dst[i:], x|upper>>2)
	}
	for ; i < len(s); i++ {
		seen |= uint64(s[i])
		dst[i] = lowerByte(s[i])
	}
	return seen&high == 0
}

// equalASCII compares two ASCII texts without case.
func equalASCII(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i++ {
		if lowerByte(a[i]) != lowerByte(b[i]) {
			return false
		}
	}
	return true
}

// indexFold is where casefold(part) stands in casefold(s), -1 if nowhere. The
// place is one of s itself only when both are ASCII; inPlace says so. A text is
// lowered in pieces that overlap by a byte less than part.
func indexFold(s, part string) (at int, inPlace bool) {
	if caseless(part) {
		return strings.Index(s, part), true
	}
	const piece, longest = 1024, 256
	var text [piece]byte
	var want [longest]byte
	if len(part) > longest || !lowerASCII(want[:], part) {
		return indexFolded(s, part)
	}
	for base := 0; ; {
		n := min(len(s)-base, piece)
		if !lowerASCII(text[:], s[base:base+n]) {
			return indexFolded(s, part)
		}
		if i := bytes.Index(text[:n], want[:len(part)]); i >= 0 {
			if !isASCII(s[base+n:]) {
				return indexFolded(s, part)
			}
			return base + i, true
		}
		if base+n == len(s) {
			return -1, true
		}
		base += n - max(len(part)-1, 0)
	}
}

// caseless says whether a text is ASCII without letters. Folding neither changes
// such characters nor makes them out of others, so a text holds them where its
// folded form does.
func caseless(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; s[i] >= 0x80 || 'a' <= c && c <= 'z' {
			return false
		}
	}
	return s != ""
}

func indexFolded(s, part string) (at int, inPlace bool) {
	inPlace = isASCII(s) && isASCII(part)
	return strings.Index(str.Casefold(s), str.Casefold(part)), inPlace
}
