package re

import "strings"

// Escape is re.escape: a pattern that matches s literally.
func Escape(s string) string {
	const special = "()[]{}?*+-|^$\\.&~# \t\n\r\v\f"
	extra := 0
	for i := range len(s) {
		if strings.IndexByte(special, s[i]) >= 0 {
			extra++
		}
	}
	if extra == 0 {
		return s
	}
	b := make([]byte, 0, len(s)+extra)
	for i := range len(s) {
		if strings.IndexByte(special, s[i]) >= 0 {
			b = append(b, '\\')
		}
		b = append(b, s[i])
	}
	return string(b)
}

// escape parses from behind \r outside a class.
func (p *parser) escape(r rune, flags Flags) (*node, error) {
	ascii := flags&ASCII != 0
	switch r {
	case 'A':
		return &node{op: opAssert, place: atStart}, nil
	case 'Z':
		return &node{op: opAssert, place: atEnd}, nil
	case 'b':
		return &node{op: opAssert, place: atWordBound, ascii: ascii}, nil
	case 'B':
		return &node{op: opAssert, place: atNotWordBound, ascii: ascii}, nil
	}
	if c, ok := categoryOf(r, ascii); ok {
		return &node{op: opChar, set: (&set{cats: []category{c}}).finish()}, nil
	}
	if r >= '1' && r <= '9' {
		return p.numberEscape(r, flags)
	}
	lit, err := p.literalEscape(r)
	if err != nil {
		return nil, err
	}
	return p.literal(lit, flags), nil
}

func categoryOf(r rune, ascii bool) (category, bool) {
	switch r {
	case 'd', 's', 'w':
		return category{letter: byte(r), ascii: ascii}, true
	case 'D', 'S', 'W':
		return category{letter: byte(r | 0x20), negate: true, ascii: ascii}, true
	}
	return category{}, false
}

// literalEscape reads the escapes that mean one code point, inside a class
// and outside.
func (p *parser) literalEscape(r rune) (rune, error) {
	if c, ok := control(r); ok {
		return c, nil
	}
	switch {
	case r == 'x' || r == 'u' || r == 'U' || r == 'N':
		return p.codePoint(r)
	case r == '0':
		return rune(parseDigits(p.while(2, octDigits), 8)), nil
	case asciiLetter(r) || r >= '0' && r <= '9':
		return 0, p.fail(`bad escape \%c`, r)
	}
	return r, nil
}

// numberEscape reads \1 to \99 as groups and three octal digits as a code point.
func (p *parser) numberEscape(r rune, flags Flags) (*node, error) {
	text := string(r)
	if second := p.while(1, digits); second != "" {
		text += second
		if octal(r) && octal(rune(second[0])) {
			if third := p.while(1, octDigits); third != "" {
				n := parseDigits(text+third, 8)
				if n > 0o377 {
					return nil, p.fail(`octal escape value \%s outside of range 0-0o377`, text+third)
				}
				return p.literal(rune(n), flags), nil
			}
		}
	}
	n := parseDigits(text, 10)
	if n >= len(p.widths) {
		return nil, p.fail("invalid group reference %d", n)
	}
	return p.backref(n, flags)
}

// member is one element of a class: a code point or a category.
type member struct {
	r     rune
	cat   category
	isCat bool
}

// class parses from behind an opening bracket.
func (p *parser) class(flags Flags) (*node, error) {
	s := &set{negate: p.match('^')}
	seen := false
	for {
		t, ok := p.get()
		if !ok {
			return nil, p.fail("unterminated character set")
		}
		if t.is(']') && seen {
			break
		}
		seen = true
		first, err := p.member(t, flags)
		if err != nil {
			return nil, err
		}
		if !p.match('-') {
			s.add(first)
			continue
		}
		if t, ok = p.get(); !ok {
			return nil, p.fail("unterminated character set")
		}
		if t.is(']') {
			s.add(first)
			s.add(member{r: '-'})
			break
		}
		last, err := p.member(t, flags)
		if err != nil {
			return nil, err
		}
		if first.isCat || last.isCat || last.r < first.r {
			return nil, p.fail("bad character range")
		}
		s.ranges = append(s.ranges, interval{first.r, last.r})
	}
	if lit, ok := s.literal(); ok && !s.negate {
		return p.literal(lit, flags), nil
	}
	if flags&IgnoreCase != 0 {
		rule := caseRule{flags&ASCII != 0}
		if lit, ok := s.literal(); ok && rule.cased(lit) {
			s = rule.literal(lit)
			s.negate = true
		} else if !ok {
			rule.apply(s)
		}
	}
	return &node{op: opChar, set: s.finish()}, nil
}

func (s *set) add(m member) {
	if m.isCat {
		s.cats = append(s.cats, m.cat)
	} else {
		s.ranges = append(s.ranges, interval{m.r, m.r})
	}
}

// literal returns the one code point that the class lists, if it is only one.
func (s *set) literal() (rune, bool) {
	if len(s.cats) > 0 || len(s.ranges) == 0 {
		return 0, false
	}
	for _, at := range s.ranges {
		if at.lo != at.hi || at.lo != s.ranges[0].lo {
			return 0, false
		}
	}
	return s.ranges[0].lo, true
}

func (p *parser) member(t token, flags Flags) (member, error) {
	if !t.escaped {
		return member{r: t.r}, nil
	}
	if t.r == 'b' {
		return member{r: '\b'}, nil
	}
	if c, ok := categoryOf(t.r, flags&ASCII != 0); ok {
		return member{cat: c, isCat: true}, nil
	}
	if octal(t.r) {
		text := string(t.r) + p.while(2, octDigits)
		n := parseDigits(text, 8)
		if n > 0o377 {
			return member{}, p.fail(`octal escape value \%s outside of range 0-0o377`, text)
		}
		return member{r: rune(n)}, nil
	}
	r, err := p.literalEscape(t.r)
	return member{r: r}, err
}
