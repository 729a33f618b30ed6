package re

import (
	"fmt"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// template is a parsed replacement: texts and groups in turn.
type template []part

type part struct {
	text  string
	group int // -1 for a text
}

func (t template) append(b []byte, m *machine) []byte {
	for _, p := range t {
		if p.group < 0 {
			b = append(b, p.text...)
		} else {
			b = append(b, m.group(p.group)...)
		}
	}
	return b
}

func (r *Regexp) parseTemplate(text string) (template, error) {
	s, err := newScanner(text)
	if err != nil {
		return nil, fmt.Errorf("parse replacement %q: %w", text, err)
	}
	var out template
	var lit []byte
	for {
		t, ok := s.get()
		if !ok {
			break
		}
		if !t.escaped {
			lit = str.AppendRune(lit, t.r)
			continue
		}
		literal, group, err := r.templateEscape(s, t.r)
		if err != nil {
			return nil, fmt.Errorf("parse replacement %q: %w", text, err)
		}
		if group < 0 {
			lit = append(lit, literal...)
			continue
		}
		if group > r.Groups() {
			return nil, fmt.Errorf("parse replacement %q: %w", text, s.fail("invalid group reference %d", group))
		}
		if len(lit) > 0 {
			out = append(out, part{text: string(lit), group: -1})
			lit = nil
		}
		out = append(out, part{group: group})
	}
	if len(lit) > 0 {
		out = append(out, part{text: string(lit), group: -1})
	}
	return out, nil
}

// templateEscape reads from behind \c: a text, or the number of a group.
func (r *Regexp) templateEscape(s *scanner, c rune) (literal string, group int, err error) {
	switch {
	case c == 'g':
		group, err = r.templateGroup(s)
		return "", group, err
	case c == '0':
		return string(rune(parseDigits(s.while(2, octDigits), 8) & 0xFF)), -1, nil
	case c >= '1' && c <= '9':
		text := string(c)
		if second := s.while(1, digits); second != "" {
			text += second
			if octal(c) && octal(rune(second[0])) {
				if third := s.while(1, octDigits); third != "" {
					n := parseDigits(text+third, 8)
					if n > 0o377 {
						return "", 0, s.fail(`octal escape value \%s outside of range 0-0o377`, text+third)
					}
					return string(rune(n)), -1, nil
				}
			}
		}
		return "", parseDigits(text, 10), nil
	case c == 'b':
		return "\b", -1, nil
	}
	if plain, ok := control(c); ok {
		return string(plain), -1, nil
	}
	if asciiLetter(c) {
		return "", 0, s.fail(`bad escape \%c`, c)
	}
	return `\` + string(str.AppendRune(nil, c)), -1, nil
}

func (r *Regexp) templateGroup(s *scanner) (int, error) {
	if !s.match('<') {
		return 0, s.fail("missing <")
	}
	name, err := s.until('>', "group name")
	if err != nil {
		return 0, err
	}
	if str.IsIdentifier(name) {
		if n := r.GroupIndex(name); n > 0 {
			return n, nil
		}
		return 0, pycompat.Raise("IndexError", "unknown group name %s", str.Repr(name))
	}
	p := parser{scanner: s}
	return p.numbered(name)
}
