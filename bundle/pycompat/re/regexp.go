// Package re is Python's re module for str patterns: its syntax, its errors at
// compile time, and the match that its backtracking engine finds.
//
// # Why an engine of our own
//
// Go's regexp has no look-around and no back-references, which the graders'
// patterns use. Backtracking libraries written for other dialects differ in
// \w, \d, \s, \b, case folding, empty matches and captures, and bound a search
// by the clock at best, so that a grade could depend on how busy the machine
// was. This engine counts steps instead: the same pattern on the same text
// gives the same result, or ErrBudget, everywhere.
//
// # What differs from CPython 3.11
//
// \N{...} is refused, because the table of names is not here. Bytes patterns
// and the LOCALE, DEBUG and TEMPLATE flags do not exist. In a possessive
// repetition of alternatives CPython can lose or misplace the captures of the
// last iteration, and sometimes raises SystemError; here they are what that
// iteration captured.
// Errors have the class "error" as in Python (OverflowError, RecursionError and
// ValueError where Python raises these), but not its wording.
package re

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
)

// DefaultBudget is how many steps a call may take unless WithBudget says
// otherwise. A step takes some nanoseconds.
const DefaultBudget = 20_000_000

// Regexp is a compiled pattern. It may be used by several goroutines.
type Regexp struct {
	pattern string
	prog    *program
	budget  int
	pool    *sync.Pool // of *machine, to reuse their stacks
}

// Compile is re.compile(pattern, flags).
func Compile(pattern string, flags Flags) (*Regexp, error) {
	p, root, err := parse(pattern, flags)
	if err != nil {
		return nil, fmt.Errorf("compile regex %q: %w", pattern, err)
	}
	return &Regexp{pattern: pattern, prog: compile(p, root), budget: DefaultBudget, pool: &sync.Pool{}}, nil
}

// MustCompile is Compile for patterns of the program itself; it panics.
func MustCompile(pattern string, flags Flags) *Regexp {
	r, err := Compile(pattern, flags)
	if err != nil {
		panic(err)
	}
	return r
}

// WithBudget returns r with another budget of steps for each call.
func (r *Regexp) WithBudget(steps int) *Regexp {
	out := *r
	out.budget = steps
	return &out
}

// String returns the pattern.
func (r *Regexp) String() string { return r.pattern }

// Groups is the number of groups, without the whole match.
func (r *Regexp) Groups() int { return r.prog.groups - 1 }

// GroupIndex returns the number of a named group, 0 if there is none.
func (r *Regexp) GroupIndex(name string) int { return r.prog.names[name] }

// Match is a match of a pattern in a text.
type Match struct {
	re   *Regexp
	text string
	regs []int32
}

// Span returns where group n begins and ends, in bytes; -1, -1 if it did not
// take part. Group 0 is the whole match. It panics if the pattern has no group n.
func (m *Match) Span(n int) (from, to int) { return int(m.regs[2*n]), int(m.regs[2*n+1]) }

// Group returns what group n matched; ok is false for Python's None.
func (m *Match) Group(n int) (text string, ok bool) {
	from, to := m.Span(n)
	if from < 0 || to < 0 {
		return "", false
	}
	return m.text[from:to], true
}

// Text returns what group n matched, "" if nothing.
func (m *Match) Text(n int) string {
	text, _ := m.Group(n)
	return text
}

// Named is Group for a name; it is false for a name that the pattern lacks.
func (m *Match) Named(name string) (text string, ok bool) {
	if n := m.re.GroupIndex(name); n > 0 {
		return m.Group(n)
	}
	return "", false
}

// Search is re.search: the first match anywhere. It returns nil if there is
// none and ErrBudget if the search was given up.
func (r *Regexp) Search(text string) (*Match, error) { return r.once(text, false, false) }

// Match is re.match: a match at the start of text.
func (r *Regexp) Match(text string) (*Match, error) { return r.once(text, true, false) }

// FullMatch is re.fullmatch: a match of all of text.
func (r *Regexp) FullMatch(text string) (*Match, error) { return r.once(text, true, true) }

func (r *Regexp) once(text string, here, full bool) (*Match, error) {
	m, err := r.machine(text)
	if err != nil {
		return nil, err
	}
	defer r.release(m)
	m.full = full
	found := false
	if here {
		found = m.at(0)
	} else {
		found = m.search(0)
	}
	if m.err != nil {
		return nil, r.gaveUp(m)
	}
	if !found {
		return nil, nil
	}
	return r.result(m), nil
}

func (r *Regexp) machine(text string) (*machine, error) {
	if len(text) >= math.MaxInt32 {
		return nil, pycompat.Raise("OverflowError", "text of %d bytes is too long for a regex", len(text))
	}
	m, ok := r.pool.Get().(*machine)
	if !ok {
		m = &machine{prog: r.prog, regs: make([]int32, 2*r.prog.groups+2*r.prog.loops)}
	}
	m.text, m.steps, m.advance, m.full, m.err = text, r.budget, -1, false, nil
	return m, nil
}

// release gives m back for another call. What it refers to must be out of use.
func (r *Regexp) release(m *machine) {
	const keep = 1 << 14
	if cap(m.stack) > keep {
		m.stack = nil
	}
	m.text = ""
	r.pool.Put(m)
}

func (r *Regexp) gaveUp(m *machine) error {
	return fmt.Errorf("match regex %q on %d bytes: %w", r.pattern, len(m.text), m.err)
}

// result copies the captures out of the machine.
func (r *Regexp) result(m *machine) *Match {
	return &Match{re: r, text: m.text, regs: append([]int32(nil), m.regs[:2*r.prog.groups]...)}
}

// at tries the program at one position.
func (m *machine) at(pos int) bool {
	if m.prog.plain && !m.full {
		return m.atPlain(pos)
	}
	m.reset()
	end, ok := m.run(0, pos, 0)
	if ok {
		m.regs[0], m.regs[1] = int32(pos), int32(end)
	}
	return ok
}

// atPlain is at for a program of one set or run: whatever it matches first is
// the match, and there are no other captures.
func (m *machine) atPlain(pos int) bool {
	if m.spend(1); m.err != nil {
		return false
	}
	in := &m.prog.insts[0]
	end, ok := pos, false
	if in.op == iSet {
		n := in.set.match(m.text, pos)
		end, ok = pos+n, n > 0
	} else {
		end, ok = m.take(in, 0, pos)
		m.stack = m.stack[:0]
	}
	if !ok || end == m.advance || m.err != nil {
		return false
	}
	m.regs[0], m.regs[1] = int32(pos), int32(end)
	return true
}

// search tries positions from pos on.
func (m *machine) search(pos int) bool {
	for m.err == nil {
		if pos = m.candidate(pos); pos < 0 {
			return false
		}
		if m.at(pos) {
			return true
		}
		if pos >= len(m.text) || m.prog.anchor {
			return false
		}
		pos = m.after(pos)
	}
	return false
}

// candidate returns the next position where a match can begin, -1 for none.
func (m *machine) candidate(pos int) int {
	switch {
	case m.prog.anchor && pos > 0:
		return -1
	case m.prog.prefix != "":
		i := strings.Index(m.text[pos:], m.prog.prefix)
		if i < 0 {
			return -1
		}
		m.spend(i >> 6)
		return pos + i
	case m.prog.behind != "":
		from := max(pos-len(m.prog.behind), 0)
		i := strings.Index(m.text[from:], m.prog.behind)
		if i < 0 {
			return -1
		}
		m.spend(i >> 6)
		return from + i + len(m.prog.behind)
	case m.prog.first != nil:
		for i := pos; i < len(m.text); i++ {
			// Bytes that continue a code point are no place to begin.
			if m.prog.first[m.text[i]] && (m.text[i]&0xC0 != 0x80 || m.boundary(pos, i)) {
				m.spend((i - pos) >> 4)
				return i
			}
		}
		return -1
	}
	return pos
}
