package strict

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Canonical writes a value in the one form that digests are taken of: keys
// sorted by their UTF-8 bytes, no white space, the shortest string escapes,
// numbers as they were written.
func Canonical(n *Node) []byte { return appendNode(nil, n, true) }

// Written is Canonical with the keys in the order that they were written in.
func Written(n *Node) []byte { return appendNode(nil, n, false) }

func appendNode(b []byte, n *Node, sorted bool) []byte {
	switch n.Kind {
	case Null:
		return append(b, "null"...)
	case Bool, Number:
		return append(b, n.Text...)
	case String:
		return appendText(b, n.Text)
	case Array:
		b = append(b, '[')
		for i, it := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendNode(b, it, sorted)
		}
		return append(b, ']')
	}
	members := n.Members
	if sorted {
		members = slices.Clone(members)
		slices.SortFunc(members, func(x, y Member) int { return strings.Compare(x.Key, y.Key) })
	}
	b = append(b, '{')
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, m.Key), ':')
		b = appendNode(b, m.Value, sorted)
	}
	return append(b, '}')
}

func appendText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r == '\t':
			b = append(b, '\\', 't')
		case r < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
