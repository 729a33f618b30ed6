package re

import "math"

// op is the kind of a node of a parsed pattern.
type op uint8

const (
	opChar    op = iota // one code point out of set
	opLit               // one code point, case matters
	opCat               // subs one after another
	opAlt               // one of subs, tried in order
	opGroup             // subs[0], captured as group n
	opRepeat            // subs[0], min to max times, in the given mode
	opAtomic            // subs[0], never entered again once it has matched
	opLook              // subs[0] matches here, or does not if negate; behind looks back by width
	opBackref           // what group n matched
	opCond              // subs[0] if group n has matched, else subs[1]
	opAssert            // a place between code points
)

type mode uint8

const (
	greedy mode = iota
	lazy
	possessive
)

type place uint8

const (
	atStart     place = iota // \A, and ^ without MULTILINE
	atLineStart              // ^ with MULTILINE
	atEnd                    // \Z
	atLastEnd                // $ without MULTILINE: the end, or before a newline that ends the text
	atLineEnd                // $ with MULTILINE
	atWordBound
	atNotWordBound
)

// unlimited is the maximum of *, + and {n,}, and the least count that Python
// refuses in a pattern, as far as an int holds it.
const unlimited = min(1<<32-1, math.MaxInt)

type node struct {
	op       op
	subs     []*node
	r        rune  // opLit
	set      *set  // opChar
	n        int   // group number
	min, max int   // opRepeat
	mode     mode  // opRepeat
	place    place // opAssert
	ascii    bool  // opAssert, opBackref: the ASCII flag
	fold     bool  // opBackref: IGNORECASE
	negate   bool  // opLook
	behind   bool  // opLook
	width    int   // opLook behind, in code points
}

// single reports whether the node matches exactly one code point, so that a
// repetition of it needs no counters and no captures.
func (n *node) single() bool { return n.op == opChar || n.op == opLit }

// maxWidth is the width that stands for any greater one; two of them add up.
const maxWidth = min(1<<40, math.MaxInt/2)

// width returns the least and the greatest number of code points that n can
// match; groups holds the widths of the groups that are closed.
func (n *node) widths(groups []span) (lo, hi int) {
	switch n.op {
	case opChar, opLit:
		return 1, 1
	case opCat:
		for _, sub := range n.subs {
			l, h := sub.widths(groups)
			lo, hi = min(lo+l, maxWidth), min(hi+h, maxWidth)
		}
	case opAlt, opCond:
		lo = maxWidth
		for _, sub := range n.subs {
			l, h := sub.widths(groups)
			lo, hi = min(lo, l), max(hi, h)
		}
	case opGroup, opAtomic:
		return n.subs[0].widths(groups)
	case opRepeat:
		l, h := n.subs[0].widths(groups)
		lo, hi = capped(l, n.min), capped(h, n.max)
		if n.max == unlimited && h > 0 {
			hi = maxWidth
		}
	case opBackref:
		return groups[n.n].lo, groups[n.n].hi
	}
	return min(lo, maxWidth), min(hi, maxWidth)
}

func capped(width, times int) int {
	if width > 0 && times > maxWidth/width {
		return maxWidth
	}
	return width * times
}

type span struct{ lo, hi int }
