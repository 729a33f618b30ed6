package re

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// paren parses from behind an opening parenthesis. It returns no node for
// comments and global flags, and the global flags that were added.
func (p *parser) paren(flags Flags, first bool) (*node, Flags, error) {
	if !p.match('?') {
		n, err := p.capture("", flags)
		return n, 0, err
	}
	t, ok := p.get()
	if !ok {
		return nil, 0, p.fail("unexpected end of pattern")
	}
	if t.escaped {
		return nil, 0, p.fail("unknown extension ?%s", t)
	}
	var n *node
	var err error
	switch t.r {
	case 'P':
		n, err = p.python(flags)
	case ':':
		n, err = p.closed(flags)
	case '#':
		err = p.remark()
	case '=', '!':
		n, err = p.look(flags, false, t.r == '!')
	case '<':
		t, ok = p.get()
		switch {
		case !ok:
			err = p.fail("unexpected end of pattern")
		case t.is('='), t.is('!'):
			n, err = p.look(flags, true, t.r == '!')
		default:
			err = p.fail("unknown extension ?<%s", t)
		}
	case '(':
		n, err = p.condition(flags)
	case '>':
		if n, err = p.closed(flags); err == nil {
			n = &node{op: opAtomic, subs: []*node{n}}
		}
	default:
		if _, known := flagOf(t.r); !known && t.r != '-' {
			return nil, 0, p.fail("unknown extension ?%s", t)
		}
		return p.inlineFlags(t.r, flags, first)
	}
	return n, 0, err
}

// closed parses alternatives and the closing parenthesis.
func (p *parser) closed(flags Flags) (*node, error) {
	n, err := p.alternatives(flags, false)
	if err != nil {
		return nil, err
	}
	if !p.match(')') {
		return nil, p.fail("missing ), unterminated subpattern")
	}
	// A group is one item, so that a quantifier behind it repeats all of it,
	// whatever it holds.
	return &node{op: opCat, subs: []*node{n}}, nil
}

func (p *parser) capture(name string, flags Flags) (*node, error) {
	n := len(p.widths)
	p.widths = append(p.widths, span{-1, -1})
	if name != "" {
		if !str.IsIdentifier(name) {
			return nil, p.fail("bad character in group name %s", str.Repr(name))
		}
		if old, ok := p.names[name]; ok {
			return nil, p.fail("redefinition of group name %s as group %d; was group %d", str.Repr(name), n, old)
		}
		p.names[name] = n
	}
	sub, err := p.closed(flags)
	if err != nil {
		return nil, err
	}
	lo, hi := sub.widths(p.widths)
	p.widths[n] = span{lo, hi}
	return &node{op: opGroup, n: n, subs: []*node{sub}}, nil
}

// python parses the (?P extensions.
func (p *parser) python(flags Flags) (*node, error) {
	if p.match('<') {
		name, err := p.until('>', "group name")
		if err != nil {
			return nil, err
		}
		return p.capture(name, flags)
	}
	if p.match('=') {
		name, err := p.until(')', "group name")
		if err != nil {
			return nil, err
		}
		n, err := p.named(name)
		if err != nil {
			return nil, err
		}
		return p.backref(n, flags)
	}
	t, ok := p.get()
	if !ok {
		return nil, p.fail("unexpected end of pattern")
	}
	return nil, p.fail("unknown extension ?P%s", t)
}

// remark skips a comment in parentheses.
func (p *parser) remark() error {
	for {
		t, ok := p.get()
		if !ok {
			return p.fail("missing ), unterminated comment")
		}
		if t.is(')') {
			return nil
		}
	}
}

func (p *parser) look(flags Flags, behind, negate bool) (*node, error) {
	outer := p.behind
	if behind && outer < 0 {
		p.behind = len(p.widths)
	}
	sub, err := p.closed(flags)
	p.behind = outer
	if err != nil {
		return nil, err
	}
	n := &node{op: opLook, behind: behind, negate: negate, subs: []*node{sub}}
	if behind {
		lo, hi := sub.widths(p.widths)
		if lo != hi {
			return nil, p.fail("look-behind requires fixed-width pattern")
		}
		n.width = lo
	}
	return n, nil
}

// condition parses (?(group)yes|no) from behind the second parenthesis.
func (p *parser) condition(flags Flags) (*node, error) {
	name, err := p.until(')', "group name")
	if err != nil {
		return nil, err
	}
	group := 0
	if str.IsIdentifier(name) {
		group, err = p.named(name)
	} else if group, err = p.numbered(name); err == nil {
		if group == 0 {
			return nil, p.fail("bad group number")
		}
		p.asked = append(p.asked, group)
	}
	if err == nil {
		err = p.lookBehindRef(group)
	}
	if err != nil {
		return nil, err
	}
	n := &node{op: opCond, n: group, subs: make([]*node, 2)}
	if n.subs[0], err = p.branch(flags); err != nil {
		return nil, err
	}
	n.subs[1] = &node{op: opCat}
	if p.match('|') {
		if n.subs[1], err = p.branch(flags); err != nil {
			return nil, err
		}
		if t, ok := p.peek(); ok && t.is('|') {
			return nil, p.fail("conditional backref with more than two branches")
		}
	}
	if !p.match(')') {
		return nil, p.fail("missing ), unterminated subpattern")
	}
	return n, nil
}

func (p *parser) branch(flags Flags) (*node, error) { return p.sequence(flags, false) }

func flagOf(r rune) (Flags, bool) {
	if r >= 0x80 {
		return 0, false
	}
	i := strings.IndexByte("imsxau", byte(r))
	if i < 0 {
		return 0, false
	}
	return [...]Flags{IgnoreCase, Multiline, DotAll, Verbose, ASCII, unicodeFlag}[i], true
}

// inlineFlags parses (?i), which needs first, and (?i-m:...), from its first
// letter.
func (p *parser) inlineFlags(letter rune, flags Flags, first bool) (*node, Flags, error) {
	var add, del Flags
	t := token{r: letter}
	for ok := true; !t.is('-'); {
		flag, known := flagOf(t.r)
		if !known || t.escaped {
			return nil, 0, p.fail("unknown flag %s", t)
		}
		if add |= flag; add&typeFlags == typeFlags {
			return nil, 0, p.fail("bad inline flags: flags 'a', 'u' and 'L' are incompatible")
		}
		if t, ok = p.get(); !ok {
			return nil, 0, p.fail("missing -, : or )")
		}
		if t.is(')') {
			if !first {
				return nil, 0, p.fail("global flags not at the start of the expression")
			}
			p.global |= add
			return nil, add, nil
		}
		if t.is(':') {
			break
		}
	}
	if t.is('-') {
		var err error
		if del, err = p.removedFlags(); err != nil {
			return nil, 0, err
		}
	}
	if add&del != 0 {
		return nil, 0, p.fail("bad inline flags: flag turned on and off")
	}
	if add&typeFlags != 0 {
		flags &^= typeFlags
	}
	n, err := p.closed((flags | add) &^ del)
	return n, 0, err
}

func (p *parser) removedFlags() (Flags, error) {
	var del Flags
	for {
		t, ok := p.get()
		if !ok {
			return 0, p.fail("missing flag")
		}
		if t.is(':') && del != 0 {
			return del, nil
		}
		flag, known := flagOf(t.r)
		if !known || t.escaped {
			return 0, p.fail("unknown flag %s", t)
		}
		if flag&typeFlags != 0 {
			return 0, p.fail("bad inline flags: cannot turn off flags 'a', 'u' and 'L'")
		}
		del |= flag
	}
}
