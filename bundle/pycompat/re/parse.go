package re

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// Flags are those of the re module that a str pattern can have.
type Flags uint8

const (
	IgnoreCase Flags = 1 << iota
	Multiline
	DotAll
	Verbose
	ASCII
)

// unicodeFlag is only ever added by (?u), against ASCII.
const unicodeFlag Flags = 1 << 7

const typeFlags = ASCII | unicodeFlag

// maxNesting is where Python runs into its recursion limit, about.
const maxNesting = 300

type parser struct {
	*scanner
	global  Flags // of the whole pattern; (?i) at its start adds to them
	names   map[string]int
	widths  []span // by group number; lo is -1 while the group is open
	asked   []int  // groups that conditions ask for before they may exist
	behind  int    // number of groups at the start of the outermost look-behind, -1 outside
	nesting int
}

func parse(pattern string, flags Flags) (*parser, *node, error) {
	s, err := newScanner(pattern)
	if err != nil {
		return nil, nil, err
	}
	p := &parser{scanner: s, global: flags, names: map[string]int{}, widths: []span{{-1, -1}}, behind: -1}
	root, err := p.alternatives(flags, true)
	if err != nil {
		return nil, nil, err
	}
	if p.at < len(p.text) {
		return nil, nil, p.fail("unbalanced parenthesis")
	}
	for _, n := range p.asked {
		if n >= len(p.widths) {
			return nil, nil, p.fail("invalid group reference %d", n)
		}
	}
	if p.global&typeFlags == typeFlags {
		return nil, nil, pycompat.Raise("ValueError", "ASCII and UNICODE flags are incompatible")
	}
	return p, root, nil
}

// alternatives parses a|b|c up to a closing parenthesis or the end.
func (p *parser) alternatives(flags Flags, top bool) (*node, error) {
	p.nesting++
	defer func() { p.nesting-- }()
	if p.nesting > maxNesting {
		return nil, pycompat.Raise("RecursionError", "maximum recursion depth exceeded while parsing a pattern")
	}
	alt := &node{op: opAlt}
	for {
		if top {
			flags = p.global
		}
		sub, err := p.sequence(flags, top && len(alt.subs) == 0)
		if err != nil {
			return nil, err
		}
		alt.subs = append(alt.subs, sub)
		if !p.match('|') {
			break
		}
	}
	if len(alt.subs) == 1 {
		return alt.subs[0], nil
	}
	return alt, nil
}

// sequence parses what stands between two bars. first says that global flags
// may stand here.
func (p *parser) sequence(flags Flags, first bool) (*node, error) {
	seq := &node{op: opCat}
	for {
		t, ok := p.peek()
		if !ok || t.is('|') || t.is(')') {
			return seq, nil
		}
		p.get()
		if flags&Verbose != 0 && !t.escaped {
			if strings.ContainsRune(" \t\n\r\v\f", t.r) {
				continue
			}
			if t.r == '#' {
				p.comment()
				continue
			}
		}
		var item *node
		var err error
		switch {
		case t.escaped:
			item, err = p.escape(t.r, flags)
		case t.r == '[':
			item, err = p.class(flags)
		case t.r == '(':
			added := Flags(0)
			item, added, err = p.paren(flags, first && len(seq.subs) == 0)
			flags |= added
		case strings.ContainsRune("*+?{", t.r):
			var literal bool
			if literal, err = p.repeat(seq, t.r); literal {
				item = p.literal('{', flags)
			}
		default:
			item = p.plain(t.r, flags)
		}
		if err != nil {
			return nil, err
		}
		if item != nil {
			seq.subs = append(seq.subs, item)
		}
	}
}

// comment skips to the end of the line.
func (p *parser) comment() {
	for {
		if t, ok := p.get(); !ok || t.is('\n') {
			return
		}
	}
}

// plain returns the node of an unescaped code point that opens nothing.
func (p *parser) plain(r rune, flags Flags) *node {
	line := flags&Multiline != 0
	switch {
	case r == '.' && flags&DotAll != 0:
		return &node{op: opChar, set: (&set{negate: true}).finish()}
	case r == '.':
		return &node{op: opChar, set: (&set{negate: true, ranges: []interval{{'\n', '\n'}}}).finish()}
	case r == '^' && line:
		return &node{op: opAssert, place: atLineStart}
	case r == '^':
		return &node{op: opAssert, place: atStart}
	case r == '$' && line:
		return &node{op: opAssert, place: atLineEnd}
	case r == '$':
		return &node{op: opAssert, place: atLastEnd}
	}
	return p.literal(r, flags)
}

func (p *parser) literal(r rune, flags Flags) *node {
	if flags&IgnoreCase != 0 {
		if rule := (caseRule{flags&ASCII != 0}); rule.cased(r) {
			return &node{op: opChar, set: rule.literal(r).finish()}
		}
	}
	return &node{op: opLit, r: r}
}

// repeat wraps the last item of seq. It returns true if a brace turned out to
// be no quantifier.
func (p *parser) repeat(seq *node, kind rune) (literal bool, err error) {
	lo, hi := 0, unlimited
	switch kind {
	case '?':
		hi = 1
	case '+':
		lo = 1
	case '{':
		var ok bool
		if lo, hi, ok, err = p.bounds(); err != nil || !ok {
			return !ok && err == nil, err
		}
	}
	if len(seq.subs) == 0 || seq.subs[len(seq.subs)-1].op == opAssert {
		return false, p.fail("nothing to repeat")
	}
	last := &seq.subs[len(seq.subs)-1]
	if (*last).op == opRepeat {
		return false, p.fail("multiple repeat")
	}
	m := greedy
	if p.match('?') {
		m = lazy
	} else if p.match('+') {
		m = possessive
	}
	*last = &node{op: opRepeat, min: lo, max: hi, mode: m, subs: []*node{*last}}
	return false, nil
}

// bounds reads {m}, {m,}, {,n} or {m,n} from behind the brace. If it is none
// of these, nothing is consumed and ok is false.
func (p *parser) bounds() (lo, hi int, ok bool, err error) {
	if t, have := p.peek(); have && t.is('}') {
		return 0, 0, false, nil
	}
	start := p.at
	first := p.while(len(p.text), digits)
	second := first
	if p.match(',') {
		second = p.while(len(p.text), digits)
	}
	if !p.match('}') {
		p.at = start
		return 0, 0, false, nil
	}
	lo, hi = 0, unlimited
	if first != "" {
		lo = parseDigits(first, 10)
	}
	if second != "" {
		hi = parseDigits(second, 10)
	}
	if first != "" && lo >= unlimited || second != "" && hi >= unlimited {
		return 0, 0, false, pycompat.Raise("OverflowError", "the repetition number is too large")
	}
	if hi < lo {
		return 0, 0, false, p.fail("min repeat greater than max repeat")
	}
	return lo, hi, true, nil
}

// groupRef checks a reference to group n, which may be open only if a
// condition asks.
func (p *parser) groupRef(n int) error {
	if p.widths[n].lo < 0 {
		return p.fail("cannot refer to an open group")
	}
	return p.lookBehindRef(n)
}

func (p *parser) lookBehindRef(n int) error {
	if p.behind < 0 {
		return nil
	}
	if n < len(p.widths) && p.widths[n].lo < 0 {
		return p.fail("cannot refer to an open group")
	}
	if n >= p.behind {
		return p.fail("cannot refer to group defined in the same lookbehind subpattern")
	}
	return nil
}

func (p *parser) backref(n int, flags Flags) (*node, error) {
	if err := p.groupRef(n); err != nil {
		return nil, err
	}
	return &node{op: opBackref, n: n, fold: flags&IgnoreCase != 0, ascii: flags&ASCII != 0}, nil
}

func (p *parser) named(name string) (int, error) {
	if !str.IsIdentifier(name) {
		return 0, p.fail("bad character in group name %s", str.Repr(name))
	}
	n, ok := p.names[name]
	if !ok {
		return 0, p.fail("unknown group name %s", str.Repr(name))
	}
	return n, nil
}

// numbered reads a group number as int() does.
func (p *parser) numbered(name string) (int, error) {
	n, err := number.ParseInt(name)
	if err != nil || n.Sign() < 0 {
		return 0, p.fail("bad character in group name %s", str.Repr(name))
	}
	if !n.IsInt64() || n.Int64() > 1<<30 {
		return 0, p.fail("invalid group reference %s", name)
	}
	return int(n.Int64()), nil
}
