package re

import (
	"errors"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// ErrBudget reports that a search was given up because it took more than its
// budget of steps. It says nothing about whether the pattern matches.
var ErrBudget = errors.New("regex budget exhausted")

// maxStack bounds the memory of one search to about 64 MiB.
const maxStack = 4 << 20

// frame is an entry of the backtrack stack: a place to go back to, or the old
// value of a register that is put back on the way.
type frame struct {
	kind frameKind
	pc   int32 // where to go on; for undo, the register
	pos  int32 // position; for undo, the old value
	aux  int32 // the least position of a run, what is left of a lazy one
}

type frameKind int32

const (
	fChoice frameKind = iota
	fRun              // greedy run: give back one code point
	fLazy             // lazy run: take one more
	fUndo             // restore a register
)

// machine runs a program over one text. Captures, loop counters and loop
// positions are registers: changes are logged on the stack and undone when the
// search goes back.
type machine struct {
	prog    *program
	text    string
	regs    []int32 // captures, then two per loop: count and last position
	stack   []frame
	steps   int
	full    bool // the match has to end with the text
	advance int  // a match must not end here; -1 allows all
	err     error
}

func (m *machine) reset() {
	for i := range m.regs {
		m.regs[i] = -1
	}
	m.stack = m.stack[:0]
}

func (m *machine) set(reg int, value int32) {
	m.push(frame{kind: fUndo, pc: int32(reg), pos: m.regs[reg]})
	m.regs[reg] = value
}

func (m *machine) push(f frame) {
	if len(m.stack) >= maxStack {
		m.err = ErrBudget
	}
	m.stack = append(m.stack, f)
}

// spend takes n steps from the budget.
func (m *machine) spend(n int) {
	if m.steps -= n; m.steps < 0 {
		m.err = ErrBudget
	}
}

// run executes from pc at pos to an iAccept that matches. Choices stay on the
// stack, so that the caller has to cut them. depth counts enclosing parts: only
// the outermost is held to full and advance.
func (m *machine) run(pc, pos, depth int) (end int, ok bool) {
	base := len(m.stack)
	insts := m.prog.insts
	for {
		if m.spend(1); m.err != nil {
			return 0, false
		}
		in := &insts[pc]
		moved := true
		switch in.op {
		case iLit:
			if moved = strings.HasPrefix(m.text[pos:], in.text); moved {
				pos += len(in.text)
				pc++
			}
		case iSet:
			n := in.set.match(m.text, pos)
			if moved = n > 0; moved {
				pos += n
				pc++
			}
		case iRun:
			pos, moved = m.take(in, pc, pos)
			pc++
		case iSplit:
			m.push(frame{kind: fChoice, pc: int32(in.x), pos: int32(pos)})
			pc++
		case iJump:
			pc = in.x
		case iSave:
			if depth == 0 && len(m.stack) == 0 {
				m.regs[in.x] = int32(pos) // nothing to go back to
			} else {
				m.set(in.x, int32(pos))
			}
			pc++
		case iLoopInit, iLoop, iLazyLoop, iLazyMore:
			pc, moved = m.loop(in, pc, pos)
		case iAtomic, iLook:
			pos, moved = m.inner(in, pc, pos, depth)
			pc = in.x
		case iAccept:
			if depth > 0 || (!m.full || pos == len(m.text)) && pos != m.advance {
				return pos, true
			}
			moved = false
		case iBackref:
			pos, moved = m.backref(in, pos)
			pc++
		case iCond:
			pc++
			if !m.matched(in.x) {
				pc = in.y
			}
		case iAssert:
			moved = m.holds(in, pos)
			pc++
		default:
			moved = false
		}
		if !moved {
			if pc, pos, ok = m.back(base); !ok {
				return 0, false
			}
		}
	}
}

// back undoes to the latest choice above base and returns where to go on.
func (m *machine) back(base int) (pc, pos int, ok bool) {
	for len(m.stack) > base && m.err == nil {
		top := len(m.stack) - 1
		f := &m.stack[top]
		switch f.kind {
		case fUndo:
			m.regs[f.pc] = f.pos
			m.stack = m.stack[:top]
		case fChoice:
			m.stack = m.stack[:top]
			return int(f.pc), int(f.pos), true
		case fRun:
			if pos, ok = m.giveBack(f); ok {
				return int(f.pc), pos, true
			}
			m.stack = m.stack[:top]
		case fLazy:
			if pos, ok = m.takeMore(f); ok {
				return int(f.pc), pos, true
			}
			m.stack = m.stack[:top]
		}
	}
	return 0, 0, false
}

// undo puts back every register above base and drops the choices.
func (m *machine) undo(base int) {
	for i := len(m.stack) - 1; i >= base; i-- {
		if f := m.stack[i]; f.kind == fUndo {
			m.regs[f.pc] = f.pos
		}
	}
	m.stack = m.stack[:base]
}

// cut drops the choices above base and keeps the log, so that going back
// further still restores the registers.
func (m *machine) cut(base int) {
	kept := m.stack[:base]
	for _, f := range m.stack[base:] {
		if f.kind == fUndo {
			kept = append(kept, f)
		}
	}
	m.stack = kept
}

// inner runs an atomic part or a look-around.
func (m *machine) inner(in *inst, pc, pos, depth int) (int, bool) {
	from := pos
	if in.behind {
		for range in.min {
			if from == 0 {
				return pos, in.negate
			}
			_, size := str.DecodeLastRune(m.text[:from])
			from -= size
		}
	}
	base := len(m.stack)
	end, ok := m.run(pc+1, from, depth+1)
	if in.op == iAtomic {
		m.cut(base)
		return end, ok
	}
	if in.negate {
		m.undo(base)
	} else {
		m.cut(base)
	}
	return pos, ok != in.negate && m.err == nil
}

// loop executes the instructions of a counted loop. An iteration that would
// start where the one before it started is not tried: it matched nothing.
func (m *machine) loop(in *inst, pc, pos int) (int, bool) {
	count := 2*m.prog.groups + 2*in.x
	last := count + 1
	done := int(m.regs[count])
	switch in.op {
	case iLoopInit:
		m.set(count, 0)
		m.set(last, -1)
		return in.y, true
	case iLoop:
		if done < in.min {
			m.set(count, int32(done+1))
			return pc + 1, true
		}
		if done >= in.max && in.max != unlimited || int(m.regs[last]) == pos {
			return in.y, true
		}
		m.push(frame{kind: fChoice, pc: int32(in.y), pos: int32(pos)})
	case iLazyLoop:
		if done < in.min {
			m.set(count, int32(done+1))
			return pc + 2, true
		}
		m.push(frame{kind: fChoice, pc: int32(pc + 1), pos: int32(pos)})
		return in.y, true
	case iLazyMore:
		if done >= in.max && in.max != unlimited || int(m.regs[last]) == pos {
			return 0, false
		}
	}
	m.set(count, int32(done+1))
	m.set(last, int32(pos))
	return pc + 1, true
}

func (m *machine) matched(group int) bool {
	from, to := m.regs[2*group], m.regs[2*group+1]
	return from >= 0 && to >= from
}

func (m *machine) backref(in *inst, pos int) (int, bool) {
	if !m.matched(in.x) {
		return 0, false
	}
	want := m.text[m.regs[2*in.x]:m.regs[2*in.x+1]]
	m.spend(len(want) >> 4)
	if !in.fold {
		return pos + len(want), strings.HasPrefix(m.text[pos:], want)
	}
	rule := caseRule{in.ascii}
	for want != "" {
		a, n := str.DecodeRune(want)
		b, size := str.DecodeRune(m.text[pos:])
		if size == 0 || rule.lower(a) != rule.lower(b) {
			return 0, false
		}
		want, pos = want[n:], pos+size
	}
	return pos, true
}

func (m *machine) holds(in *inst, pos int) bool {
	switch in.place {
	case atStart:
		return pos == 0
	case atLineStart:
		return pos == 0 || m.text[pos-1] == '\n'
	case atEnd:
		return pos == len(m.text)
	case atLastEnd:
		return pos == len(m.text) || pos == len(m.text)-1 && m.text[pos] == '\n'
	case atLineEnd:
		return pos == len(m.text) || m.text[pos] == '\n'
	}
	if len(m.text) == 0 {
		return false // the re module of 3.11 finds neither \b nor \B in an empty text
	}
	before, after := false, false
	word := category{letter: 'w', ascii: in.ascii}
	if pos > 0 {
		r, _ := str.DecodeLastRune(m.text[:pos])
		before = word.has(r)
	}
	if pos < len(m.text) {
		r, _ := str.DecodeRune(m.text[pos:])
		after = word.has(r)
	}
	return (before != after) == (in.place == atWordBound)
}
