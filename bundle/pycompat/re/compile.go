package re

import "github.com/evalrouter/evalrouter/bundle/pycompat/str"

type code uint8

const (
	iFail     code = iota
	iLit           // text
	iSet           // set
	iRun           // set, min to max times in mode
	iSplit         // go on here, come back to x
	iJump          // to x
	iSave          // position into capture slot x
	iLoop          // loop x of the program; its body follows, y is behind it
	iLazyLoop      // the same, the way out first
	iLazyMore      // one more iteration of the lazy loop x
	iLoopInit      // resets loop x and jumps to y, its iLoop
	iAtomic        // runs to iAccept, cuts its choices, goes on at x
	iLook          // the same without moving; back by width if behind
	iAccept        // end of the program, or of an atomic part
	iBackref       // group x
	iCond          // goes on if group x has matched, else at y
	iAssert        // place
)

type inst struct {
	op             code
	mode           mode
	place          place
	ascii, fold    bool
	negate, behind bool
	next           byte // iRun: the ASCII byte that must follow, 0 if unknown
	x, y           int
	min, max       int
	text           string
	set            *set
}

type program struct {
	insts  []inst
	groups int // with group 0
	loops  int
	names  map[string]int

	// Where a match can begin, for the search: at a literal, right behind one,
	// or at one of the bytes of first. Without any every position is tried.
	prefix string
	behind string
	first  *[256]bool
	anchor bool // matches at the start of the text only
	plain  bool // one set, or one run that is not lazy, and nothing else
}

// compile turns a parsed pattern into a program.
func compile(p *parser, root *node) *program {
	c := &compiler{prog: &program{groups: len(p.widths), names: p.names}}
	c.node(root)
	c.emit(inst{op: iAccept})
	c.followers()
	c.prog.prefix = prefix(root)
	c.prog.behind = literalBehind(root)
	if c.prog.prefix == "" {
		f := firstBytes(root)
		if !f.empty {
			c.prog.first = &f.bytes
		}
	}
	c.prog.anchor = anchored(root)
	if head := c.prog.insts[0]; len(c.prog.insts) == 2 {
		c.prog.plain = head.op == iSet || head.op == iRun && head.mode != lazy
	}
	return c.prog
}

type compiler struct{ prog *program }

func (c *compiler) emit(i inst) int {
	c.prog.insts = append(c.prog.insts, i)
	return len(c.prog.insts) - 1
}

func (c *compiler) here() int { return len(c.prog.insts) }

func (c *compiler) node(n *node) {
	switch n.op {
	case opChar:
		c.emit(inst{op: iSet, set: n.set})
	case opLit:
		c.literal(string(str.AppendRune(nil, n.r)))
	case opCat:
		for i := 0; i < len(n.subs); {
			i += c.run(n.subs[i:])
		}
	case opAlt:
		c.alternatives(n.subs)
	case opGroup:
		c.emit(inst{op: iSave, x: 2 * n.n})
		c.node(n.subs[0])
		c.emit(inst{op: iSave, x: 2*n.n + 1})
	case opRepeat:
		c.repeat(n)
	case opAtomic:
		c.inner(inst{op: iAtomic}, n.subs[0])
	case opLook:
		c.inner(inst{op: iLook, negate: n.negate, behind: n.behind, min: n.width}, n.subs[0])
	case opBackref:
		c.emit(inst{op: iBackref, x: n.n, fold: n.fold, ascii: n.ascii})
	case opCond:
		c.condition(n)
	case opAssert:
		c.emit(inst{op: iAssert, place: n.place, ascii: n.ascii})
	}
}

func (c *compiler) literal(text string) { c.emit(inst{op: iLit, text: text}) }

// run compiles the first of subs, literals that follow each other as one. It
// returns how many it took.
func (c *compiler) run(subs []*node) int {
	var text []byte
	n := 0
	for n < len(subs) && subs[n].op == opLit {
		text = str.AppendRune(text, subs[n].r)
		n++
	}
	if n > 0 {
		c.literal(string(text))
		return n
	}
	c.node(subs[0])
	return 1
}

func (c *compiler) alternatives(subs []*node) {
	var ends []int
	for i, sub := range subs {
		if i == len(subs)-1 {
			c.node(sub)
			break
		}
		split := c.emit(inst{op: iSplit})
		c.node(sub)
		ends = append(ends, c.emit(inst{op: iJump}))
		c.prog.insts[split].x = c.here()
	}
	for _, end := range ends {
		c.prog.insts[end].x = c.here()
	}
}

// inner compiles a part that runs on its own and is never entered again.
func (c *compiler) inner(head inst, sub *node) {
	at := c.emit(head)
	c.node(sub)
	c.emit(inst{op: iAccept})
	c.prog.insts[at].x = c.here()
}

func (c *compiler) condition(n *node) {
	at := c.emit(inst{op: iCond, x: n.n})
	c.node(n.subs[0])
	jump := c.emit(inst{op: iJump})
	c.prog.insts[at].y = c.here()
	c.node(n.subs[1])
	c.prog.insts[jump].x = c.here()
}

// bare removes the wrapping of groups that capture nothing.
func bare(n *node) *node {
	for n.op == opCat && len(n.subs) == 1 {
		n = n.subs[0]
	}
	return n
}

func (c *compiler) repeat(n *node) {
	body := bare(n.subs[0])
	if body.single() {
		s := body.set
		if body.op == opLit {
			s = (&set{ranges: []interval{{body.r, body.r}}}).finish()
		}
		c.emit(inst{op: iRun, set: s, min: n.min, max: n.max, mode: n.mode})
		return
	}
	if n.mode == possessive {
		// No iteration gives back what it took, not even to reach the minimum.
		each := &node{op: opAtomic, subs: []*node{body}}
		loop := &node{op: opRepeat, min: n.min, max: n.max, subs: []*node{each}}
		c.inner(inst{op: iAtomic}, loop)
		return
	}
	if n.min == 0 && n.max == 1 {
		c.optional(n, body)
		return
	}
	loop := c.prog.loops
	c.prog.loops++
	init := c.emit(inst{op: iLoopInit, x: loop})
	op := iLoop
	if n.mode == lazy {
		op = iLazyLoop
	}
	at := c.emit(inst{op: op, x: loop, min: n.min, max: n.max})
	if n.mode == lazy {
		c.emit(inst{op: iLazyMore, x: loop, max: n.max})
	}
	c.prog.insts[init].y = at
	c.node(body)
	c.emit(inst{op: iJump, x: at})
	c.prog.insts[at].y = c.here()
}

// optional compiles ? without a counter. The body runs once at most, so that
// an empty match of it needs no guard.
func (c *compiler) optional(n, body *node) {
	if n.mode == greedy {
		split := c.emit(inst{op: iSplit})
		c.node(body)
		c.prog.insts[split].x = c.here()
		return
	}
	split := c.emit(inst{op: iSplit})
	jump := c.emit(inst{op: iJump})
	c.prog.insts[split].x = c.here()
	c.node(body)
	c.prog.insts[jump].x = c.here()
}

// followers notes for each run which ASCII byte must come after it, so that
// backtracking can skip the places that have another.
func (c *compiler) followers() {
	for i := range c.prog.insts {
		if c.prog.insts[i].op != iRun {
			continue
		}
		at := i + 1
		for c.prog.insts[at].op == iSave || c.prog.insts[at].op == iJump {
			if c.prog.insts[at].op == iJump {
				if c.prog.insts[at].x <= at {
					break
				}
				at = c.prog.insts[at].x
				continue
			}
			at++
		}
		if next := c.prog.insts[at]; next.op == iLit && next.text[0] < 0x80 {
			c.prog.insts[i].next = next.text[0]
		}
	}
}
