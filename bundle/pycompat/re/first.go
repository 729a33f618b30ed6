package re

import (
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// prefix returns text that every match of n begins with.
func prefix(n *node) string {
	var b []byte
	for n.op == opCat && len(n.subs) > 0 {
		for _, sub := range n.subs[:len(n.subs)-1] {
			if sub.op != opLit {
				break
			}
			b = str.AppendRune(b, sub.r)
		}
		if n.subs[0].op == opLit {
			if last := n.subs[len(n.subs)-1]; last.op == opLit && allLiterals(n.subs) {
				b = str.AppendRune(b, last.r)
			}
			return string(b)
		}
		n = n.subs[0]
	}
	if n.op == opLit {
		b = str.AppendRune(b, n.r)
	}
	return string(b)
}

// literalBehind returns the literal that must stand before every match of n,
// because n begins with a look-behind for it.
func literalBehind(n *node) string {
	for n.op == opCat && len(n.subs) > 0 {
		n = n.subs[0]
	}
	if n.op != opLook || !n.behind || n.negate {
		return ""
	}
	sub := bare(n.subs[0])
	if sub.op == opLit || sub.op == opCat && allLiterals(sub.subs) {
		return prefix(sub)
	}
	return ""
}

func allLiterals(subs []*node) bool {
	for _, sub := range subs {
		if sub.op != opLit {
			return false
		}
	}
	return true
}

// anchored reports whether n matches at the start of the text only.
func anchored(n *node) bool {
	switch n.op {
	case opCat:
		return len(n.subs) > 0 && anchored(n.subs[0])
	case opGroup, opAtomic:
		return anchored(n.subs[0])
	case opAlt:
		for _, sub := range n.subs {
			if !anchored(sub) {
				return false
			}
		}
		return true
	}
	return n.op == opAssert && n.place == atStart
}

// firsts are the bytes that a match can begin with; empty says that it can
// also begin with none.
type firsts struct {
	bytes [256]bool
	empty bool
}

func (f *firsts) add(other *firsts) {
	for i, b := range other.bytes {
		f.bytes[i] = f.bytes[i] || b
	}
}

func firstBytes(n *node) *firsts {
	f := &firsts{}
	switch n.op {
	case opLit:
		f.bytes[str.AppendRune(nil, n.r)[0]] = true
		if n.r == utf8.RuneError {
			f.addNonASCII() // any byte that is not UTF-8 reads as this
		}
	case opChar:
		for b, in := range n.set.table {
			f.bytes[b] = in != outside
		}
	case opCat:
		f.empty = true
		for _, sub := range n.subs {
			next := firstBytes(sub)
			f.add(next)
			if !next.empty {
				f.empty = false
				break
			}
		}
	case opAlt, opCond:
		for _, sub := range n.subs {
			next := firstBytes(sub)
			f.add(next)
			f.empty = f.empty || next.empty
		}
	case opGroup, opAtomic:
		return firstBytes(n.subs[0])
	case opRepeat:
		f = firstBytes(n.subs[0])
		f.empty = f.empty || n.min == 0
	case opBackref: // a look-ahead may have set the group
		for b := range f.bytes {
			f.bytes[b] = true
		}
		f.empty = true
	default:
		f.empty = true
	}
	return f
}

func (f *firsts) addNonASCII() {
	for b := utf8.RuneSelf; b < 256; b++ {
		f.bytes[b] = true
	}
}
