package str

import (
	"strings"
	"unicode/utf8"
)

func space(r rune) bool { return record(r).flags&flagSpace != 0 }

// spaceByte is space for ASCII: \t to \r, the four separators, and the blank.
func spaceByte(c byte) bool { return c == ' ' || c-'\t' < 5 || c-0x1C < 4 }

// Strip is str.strip: white space off both ends.
func Strip(s string) string { return RStrip(LStrip(s)) }

// LStrip is str.lstrip.
func LStrip(s string) string {
	for s != "" {
		if c := s[0]; c < utf8.RuneSelf {
			if !spaceByte(c) {
				return s
			}
			s = s[1:]
			continue
		}
		r, size := DecodeRune(s)
		if !space(r) {
			return s
		}
		s = s[size:]
	}
	return s
}

// RStrip is str.rstrip.
func RStrip(s string) string {
	for s != "" {
		if c := s[len(s)-1]; c < utf8.RuneSelf {
			if !spaceByte(c) {
				return s
			}
			s = s[:len(s)-1]
			continue
		}
		r, size := DecodeLastRune(s)
		if !space(r) {
			return s
		}
		s = s[:len(s)-size]
	}
	return s
}

// StripSet is s.strip(set): any code points of set off both ends.
func StripSet(s, set string) string { return RStripSet(LStripSet(s, set), set) }

// LStripSet is s.lstrip(set).
func LStripSet(s, set string) string {
	for s != "" {
		r, size := DecodeRune(s)
		if !contains(set, r) {
			return s
		}
		s = s[size:]
	}
	return s
}

// RStripSet is s.rstrip(set).
func RStripSet(s, set string) string {
	for s != "" {
		r, size := DecodeLastRune(s)
		if !contains(set, r) {
			return s
		}
		s = s[:len(s)-size]
	}
	return s
}

func contains(set string, r rune) bool {
	if r < utf8.RuneSelf {
		return strings.IndexByte(set, byte(r)) >= 0
	}
	for set != "" {
		have, size := DecodeRune(set)
		if have == r {
			return true
		}
		set = set[size:]
	}
	return false
}

// Split is str.split without arguments: the runs that are not white space.
// Split at a separator is strings.Split, which agrees with Python.
func Split(s string) []string { return AppendSplit(nil, s) }

// AppendSplit appends the parts of Split to dst, which a caller may reuse.
func AppendSplit(dst []string, s string) []string {
	start := -1
	for i := 0; i < len(s); {
		c, size := s[i], 1
		blank := false
		if c < utf8.RuneSelf {
			blank = spaceByte(c)
		} else {
			var r rune
			r, size = DecodeRune(s[i:])
			blank = space(r)
		}
		if blank && start >= 0 {
			dst = append(dst, s[start:i])
			start = -1
		} else if !blank && start < 0 {
			start = i
		}
		i += size
	}
	if start >= 0 {
		dst = append(dst, s[start:])
	}
	return dst
}

// SplitLines is str.splitlines: it ends lines at \r\n and at every character
// that Python takes for a line boundary, and drops them.
func SplitLines(s string) []string {
	var lines []string
	for s != "" {
		end, size := lineEnd(s)
		lines = append(lines, s[:end])
		s = s[end+size:]
	}
	return lines
}

// SplitLinesKeep is str.splitlines(keepends=True).
func SplitLinesKeep(s string) []string {
	var lines []string
	for s != "" {
		end, size := lineEnd(s)
		lines = append(lines, s[:end+size])
		s = s[end+size:]
	}
	return lines
}

// lineEnd returns where the first line of s ends and how long its boundary is.
func lineEnd(s string) (end, size int) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
			return i, 2
		case c-'\n' < 4, c-0x1C < 3:
			return i, 1
		case c == 0xC2 && i+1 < len(s) && s[i+1] == 0x85: // U+0085
			return i, 2
		case c == 0xE2 && i+2 < len(s) && s[i+1] == 0x80 && s[i+2]&^1 == 0xA8: // U+2028, U+2029
			return i, 3
		}
	}
	return len(s), 0
}
