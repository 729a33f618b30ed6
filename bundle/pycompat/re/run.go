package re

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// take matches a repetition of one code point and leaves a choice if it could
// have been shorter or longer.
func (m *machine) take(in *inst, pc, pos int) (int, bool) {
	from := pos
	most := in.max
	if in.mode == lazy {
		most = in.min
	}
	n, least := 0, pos
	table := &in.set.table
	for n < most && pos < len(m.text) {
		if n == in.min {
			least = pos
		}
		switch table[m.text[pos]] {
		case inside:
			// The rest of a stretch of single bytes, without looking at min.
			stop := min(len(m.text), pos+most-n)
			if n < in.min {
				stop = min(stop, pos+in.min-n)
			}
			start := pos
			for pos++; pos < stop && table[m.text[pos]] == inside; pos++ {
			}
			n += pos - start
			continue
		case unsure:
			if size := in.set.match(m.text, pos); size > 0 {
				pos += size
				n++
				continue
			}
		}
		break
	}
	m.spend((pos - from) >> 4)
	if n < in.min {
		return 0, false
	}
	if n == in.min {
		least = pos
	}
	switch {
	case in.mode == lazy && in.max > in.min:
		left := int32(-1)
		if in.max != unlimited {
			left = int32(min(in.max-in.min, len(m.text)+1))
		}
		m.push(frame{kind: fLazy, pc: int32(pc + 1), pos: int32(pos), aux: left})
	case in.mode == greedy && pos > least:
		m.push(frame{kind: fRun, pc: int32(pc + 1), pos: int32(pos), aux: int32(least)})
	}
	return pos, true
}

// giveBack shortens a greedy run by one code point, or by as many as it takes
// to reach the byte that must follow.
func (m *machine) giveBack(f *frame) (int, bool) {
	pos, least := int(f.pos), int(f.aux)
	if pos <= least {
		return 0, false
	}
	if next := m.prog.insts[f.pc-1].next; next != 0 {
		i := strings.LastIndexByte(m.text[least:pos], next)
		m.spend((pos - least) >> 6)
		if i < 0 {
			return 0, false
		}
		pos = least + i
	} else {
		_, size := str.DecodeLastRune(m.text[:pos])
		pos -= size
	}
	f.pos = int32(pos)
	return pos, true
}

// takeMore lengthens a lazy run by one code point, or by as many as it takes
// to reach the byte that must follow.
func (m *machine) takeMore(f *frame) (int, bool) {
	in := &m.prog.insts[f.pc-1]
	pos := int(f.pos)
	start := pos
	for f.aux != 0 {
		size := in.set.match(m.text, pos)
		if size == 0 {
			m.spend((pos - start) >> 4)
			return 0, false
		}
		pos += size
		if f.aux > 0 {
			f.aux--
		}
		if in.next == 0 || pos < len(m.text) && m.text[pos] == in.next {
			m.spend((pos - start) >> 4)
			f.pos = int32(pos)
			return pos, true
		}
	}
	return 0, false
}
