package re

import (
	"iter"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// after returns the position behind the code point at pos.
func (m *machine) after(pos int) int {
	_, size := str.DecodeRune(m.text[pos:])
	return pos + size
}

// boundary reports whether a code point begins at i, counting from pos where
// one does. It is for texts that are not UTF-8, where a byte that would
// continue a code point can stand alone.
func (m *machine) boundary(pos, i int) bool {
	pos = max(pos, i-4)
	for pos > 0 && pos < i && m.text[pos]&0xC0 == 0x80 {
		pos++
	}
	for pos < i {
		pos = m.after(pos)
	}
	return pos == i
}

// Iter is re.finditer: the matches from left to right. An empty match may
// follow a match directly, but not another empty one. It ends after an error.
// The budget is for all matches together.
func (r *Regexp) Iter(text string) iter.Seq2[*Match, error] {
	return func(yield func(*Match, error) bool) {
		err := r.each(text, func(m *machine) bool { return yield(r.result(m), nil) })
		if err != nil {
			yield(nil, err)
		}
	}
}

// each calls f at every match until it returns false. The captures of the
// machine are only valid during the call.
func (r *Regexp) each(text string, f func(*machine) bool) error {
	m, err := r.machine(text)
	if err != nil {
		return err
	}
	defer r.release(m)
	for pos := 0; pos <= len(text) && m.search(pos); {
		from, to := int(m.regs[0]), int(m.regs[1])
		if !f(m) {
			return nil
		}
		m.advance = -1
		if from == to {
			m.advance = to
		}
		pos = to
	}
	if m.err != nil {
		return r.gaveUp(m)
	}
	return nil
}

func (m *machine) group(n int) string {
	from, to := m.regs[2*n], m.regs[2*n+1]
	if from < 0 || to < 0 {
		return ""
	}
	return m.text[from:to]
}

// FindAll is re.findall. Each element holds what findall gives for one match:
// the whole match if the pattern has no groups, else its groups, with "" for a
// group that took no part. Python returns a plain str where the element has
// length 1 and a tuple where it is longer.
func (r *Regexp) FindAll(text string) ([][]string, error) {
	var out [][]string
	first, width := 1, r.Groups()
	if width == 0 {
		first, width = 0, 1
	}
	var buf []string
	err := r.each(text, func(m *machine) bool {
		if len(buf) < width {
			buf = make([]string, width*min(max(len(out), 2), 64))
		}
		found := buf[:width:width]
		buf = buf[width:]
		for i := range found {
			found[i] = m.group(first + i)
		}
		out = append(out, found)
		return true
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Split is re.split without a limit: the texts between matches, with the
// groups of each match between them. A group that took no part is "", where
// Python has None.
func (r *Regexp) Split(text string) ([]string, error) {
	var out []string
	from := 0
	err := r.each(text, func(m *machine) bool {
		out = append(out, text[from:m.regs[0]])
		from = int(m.regs[1])
		for n := range r.Groups() {
			out = append(out, m.group(n+1))
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return append(out, text[from:]), nil
}

// Sub is re.sub(pattern, template, text). The template may refer to groups as
// \1, \g<1> and \g<name>; an error in it has class "error", or IndexError for
// an unknown name.
func (r *Regexp) Sub(template, text string) (string, error) { return r.SubN(template, text, 0) }

// SubN is Sub for the first n matches; 0 means all.
func (r *Regexp) SubN(template, text string, n int) (string, error) {
	t, err := r.parseTemplate(template)
	if err != nil {
		return "", err
	}
	return r.replace(text, n, t.append)
}

// SubFunc is re.sub with a function; n limits the matches, 0 means all.
func (r *Regexp) SubFunc(text string, n int, f func(*Match) string) (string, error) {
	return r.replace(text, n, func(b []byte, m *machine) []byte { return append(b, f(r.result(m))...) })
}

func (r *Regexp) replace(text string, n int, with func([]byte, *machine) []byte) (string, error) {
	var b []byte
	from, done := 0, 0
	err := r.each(text, func(m *machine) bool {
		if b == nil {
			b = make([]byte, 0, len(text)+32)
		}
		b = append(b, text[from:m.regs[0]]...)
		b = with(b, m)
		from = int(m.regs[1])
		done++
		return n <= 0 || done < n
	})
	if err != nil {
		return "", err
	}
	if done == 0 {
		return text, nil
	}
	return string(append(b, text[from:]...)), nil
}
