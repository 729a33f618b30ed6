package re

import (
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// category is one of \d \s \w, with the ASCII flag resolved.
type category struct {
	letter byte // d, s or w
	negate bool
	ascii  bool
}

func (c category) has(r rune) bool {
	in := false
	if c.ascii || r < utf8.RuneSelf {
		in = asciiCategory(c.letter, r) && !(c.ascii && c.letter == 's' && r >= 0x1C && r <= 0x1F)
	} else {
		info := str.Of(r)
		switch c.letter {
		case 'd':
			_, in = info.Decimal()
		case 's':
			in = info.Space()
		default:
			in = info.Alnum()
		}
	}
	return in != c.negate
}

func asciiCategory(letter byte, r rune) bool {
	digit := r >= '0' && r <= '9'
	switch letter {
	case 'd':
		return digit
	case 's':
		return r == ' ' || r >= '\t' && r <= '\r' || r >= 0x1C && r <= 0x1F
	}
	return digit || r == '_' || r|0x20 >= 'a' && r|0x20 <= 'z' && r < utf8.RuneSelf
}

// interval is a range of code points, both ends included.
type interval struct{ lo, hi rune }

// set is a class of code points. Its fields are those of the class as written
// until finish computes the table.
type set struct {
	ranges   []interval
	cats     []category
	negate   bool
	fold     func(rune) rune // the lower-case mapping under IGNORECASE, else nil
	unmapped []interval      // ranges beyond the BMP under IGNORECASE: compared by lower and upper case

	table [256]uint8 // by first byte: out, in, or look closer
}

const (
	outside = iota
	inside
	unsure
)

// finish sorts the ranges and computes the table. A set must not change after.
func (s *set) finish() *set {
	slices.SortFunc(s.ranges, func(a, b interval) int { return int(a.lo - b.lo) })
	merged := s.ranges[:0]
	for _, next := range s.ranges {
		if last := len(merged) - 1; last >= 0 && next.lo <= merged[last].hi+1 {
			merged[last].hi = max(merged[last].hi, next.hi)
			continue
		}
		merged = append(merged, next)
	}
	s.ranges = merged
	for c := range s.table {
		switch {
		case c >= utf8.RuneSelf:
			s.table[c] = unsure
		case s.has(rune(c)):
			s.table[c] = inside
		}
	}
	return s
}

// has reports whether r belongs to the set.
func (s *set) has(r rune) bool {
	if s.fold != nil {
		r = s.fold(r)
	}
	return s.listed(r) != s.negate
}

func (s *set) listed(r rune) bool {
	lo, hi := 0, len(s.ranges)
	for lo < hi {
		mid := (lo + hi) / 2
		switch at := s.ranges[mid]; {
		case r < at.lo:
			hi = mid
		case r > at.hi:
			lo = mid + 1
		default:
			return true
		}
	}
	for _, c := range s.cats {
		if c.has(r) {
			return true
		}
	}
	for _, at := range s.unmapped {
		if r >= at.lo && r <= at.hi {
			return true
		}
		if up := str.Of(r).Upper(); up >= at.lo && up <= at.hi {
			return true
		}
	}
	return false
}

// match returns the length of the code point at text[at:] if it belongs to the
// set, else 0.
func (s *set) match(text string, at int) int {
	if at >= len(text) {
		return 0
	}
	switch s.table[text[at]] {
	case inside:
		return 1
	case outside:
		return 0
	}
	r, size := str.DecodeRune(text[at:])
	if s.has(r) {
		return size
	}
	return 0
}

// foldings lists lower-case letters that share an upper-case letter. Under
// IGNORECASE the re module takes them for equal although their lower-case
// mappings differ.
const foldings = "i\u0131 s\u017f \u00b5\u03bc \u0345\u03b9\u1fbe \u0390\u1fd3 \u03b0\u1fe3 \u03b2\u03d0 \u03b5\u03f5 \u03b8\u03d1 \u03ba\u03f0 \u03c0\u03d6 \u03c1\u03f1 \u03c2\u03c3 \u03c6\u03d5 \u0432\u1c80 \u0434\u1c81 \u043e\u1c82 \u0441\u1c83 \u0442\u1c84\u1c85 \u044a\u1c86 \u0463\u1c87 \u1c88\ua64b \u1e61\u1e9b \ufb05\ufb06"

// alike maps a letter of foldings to the others of its group.
var alike = sync.OnceValue(func() map[rune][]rune {
	out := map[rune][]rune{}
	for _, group := range str.Split(foldings) {
		runes := []rune(group)
		for i, r := range runes {
			out[r] = append(slices.Clone(runes[:i]), runes[i+1:]...)
		}
	}
	return out
})

// caseRule is how IGNORECASE compares: by Unicode's simple mappings, or by
// ASCII letters only.
type caseRule struct{ ascii bool }

func (c caseRule) lower(r rune) rune {
	if r < utf8.RuneSelf {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	if c.ascii {
		return r
	}
	return str.Of(r).Lower()
}

func (c caseRule) cased(r rune) bool {
	if c.ascii || r < utf8.RuneSelf {
		return r|0x20 >= 'a' && r|0x20 <= 'z' && r < utf8.RuneSelf
	}
	info := str.Of(r)
	return info.Lower() != r || info.Upper() != r
}

func (c caseRule) alike(r rune) []rune {
	if c.ascii {
		return nil
	}
	return alike()[r]
}

// literal returns the set of what equals r without case.
func (c caseRule) literal(r rune) *set {
	lo := c.lower(r)
	s := &set{fold: c.lower, ranges: []interval{{lo, lo}}}
	for _, other := range c.alike(lo) {
		s.ranges = append(s.ranges, interval{other, other})
	}
	return s
}

// casedBMP lists the code points up to U+FFFF that have case. Ranges are looked
// up in it, because a class of hostile length would else cost milliseconds.
var casedBMP = sync.OnceValue(func() []rune {
	var out []rune
	for r := rune(0); r <= bmp; r++ {
		if (caseRule{}).cased(r) {
			out = append(out, r)
		}
	}
	return out
})

const bmp = 0xFFFF

// casedIn returns the cased code points of the BMP within a range.
func (c caseRule) casedIn(at interval) []rune {
	all := casedBMP()
	from, _ := slices.BinarySearch(all, at.lo)
	to, _ := slices.BinarySearch(all, min(at.hi, bmp)+1)
	if c.ascii {
		last, _ := slices.BinarySearch(all, rune(utf8.RuneSelf))
		from, to = min(from, last), min(to, last)
	}
	return all[from:max(from, to)]
}

// apply rewrites the ranges of a class for comparison with lower-case code
// points. A class without cased letters is left alone. Upper-case letters may
// stay in it: no lower-case mapping gives one.
func (c caseRule) apply(s *set) {
	mapped, cased := []interval{}, false
	for _, at := range s.ranges {
		if at.lo <= bmp {
			mapped = append(mapped, interval{at.lo, min(at.hi, bmp)})
		}
		for _, r := range c.casedIn(at) {
			cased = true
			lo := c.lower(r)
			mapped = appendRune(mapped, lo)
			for _, other := range c.alike(lo) {
				mapped = appendRune(mapped, other)
			}
		}
		switch {
		case at.hi <= bmp:
		case at.lo == at.hi: // Python compares such a literal as it is written
			cased = true
			mapped = append(mapped, at)
		default:
			cased = true
			s.unmapped = append(s.unmapped, at)
		}
	}
	if !cased {
		s.unmapped = nil
		return
	}
	s.ranges, s.fold = mapped, c.lower
}

// appendRune appends r, as part of the last interval if it follows that.
func appendRune(to []interval, r rune) []interval {
	if last := len(to) - 1; last >= 0 && to[last].hi+1 == r {
		to[last].hi = r
		return to
	}
	return append(to, interval{r, r})
}
