package engine

import (
	"slices"
	"sync"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Runs share what they call. A place is the right to have one task in flight;
// each pool has as many as its limit: a pool for each route or connection, over
// all runs that call it, and one for each workspace. A task takes a place in
// every pool of its run, so that nobody holds one place and waits for another.
//
// A place that becomes free goes to the run with the fewest among those that
// wait and could use it; among equals to the one whose turn is longest ago. So
// places are shared evenly, none stays empty while somebody could use it, and no
// run waits longer than the calls in flight take. A call that waits to be made
// again has no place meanwhile.
//
// The limits are those of this process. A runner comes here once a turn, not
// once a call.

// Words for what a run waits for.
const (
	waitsForRoute     = "route_limit"
	waitsForJudge     = "judge_limit"
	waitsForWorkspace = "workspace_limit"
)

// gate gives out the places of a process.
type gate struct {
	workspaceCalls int

	mu      sync.Mutex
	pools   map[string]*pool
	waiting []*share
	turns   uint64
}

// pool is what several runs share.
type pool struct {
	key, word   string
	limit, held int
	members     int
	// asOf is when the quote was admitted that the limit is from: the newest
	// knows best what the operator or owner allows.
	asOf core.Micros
}

func (p *pool) free() int { return p.limit - p.held }

// share is what one run has of its pools.
type share struct {
	g     *gate
	pools []*pool
	poke  func() // tells the runner that there is a place for it
	held  int
	turn  uint64 // when it last got a place
	// want is how many more places the runner waits for, and told says that it
	// was told of one and has not come yet.
	want int
	told bool
	// resting are calls that want their place back. closed ends their wait.
	resting []Mail
	closed  bool
}

func newGate(workspaceCalls int) *gate {
	return &gate{workspaceCalls: workspaceCalls, pools: map[string]*pool{}}
}

// join opens the share of a run that was admitted at a time.
func (g *gate) join(ws core.WorkspaceID, q core.Quote, at core.Micros, poke func()) *share {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &share{g: g, poke: poke}
	g.enter(s, "route "+q.Target.Name(), waitsForRoute, q.Target.Ceiling, at)
	for _, j := range q.Judges {
		g.enter(s, "route "+j.Target.Name(), waitsForJudge, j.Target.Ceiling, at)
	}
	g.enter(s, "workspace "+string(ws), waitsForWorkspace, g.workspaceCalls, at)
	return s
}

func (g *gate) enter(s *share, key, word string, limit int, at core.Micros) {
	p := g.pools[key]
	if p == nil {
		p = &pool{key: key, word: word}
		g.pools[key] = p
	}
	if at >= p.asOf {
		p.limit, p.asOf = max(limit, 1), at
	}
	if !slices.Contains(s.pools, p) {
		p.members++
		s.pools = append(s.pools, p)
	}
}

// take gives back places that the runner does not use and asks for others. It
// gives how many there are now; short is a word for what the rest is waited
// for, and the runner is poked once there is a place.
func (s *share) take(back, want int) (n int, short string) {
	g := s.g
	g.mu.Lock()
	defer g.mu.Unlock()
	s.give(back)
	s.want, s.told = 0, false
	for n < want && len(s.resting) == 0 && g.may(s) {
		g.grant(s)
		n++
	}
	if !s.closed {
		s.want = want - n
	}
	if s.want > 0 {
		short = s.shortOf()
	}
	g.note(s)
	g.offer()
	return n, short
}

// rest gives up the place of a call that waits to be made again.
func (s *share) rest() {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	s.give(1)
	s.g.offer()
}

// back takes a place again after a rest, and waits for it if wait is set. It is
// false when the run makes no more calls; the place is had all the same, for
// whoever settles the task gives it back.
func (s *share) back(wait bool, newMail func() Mail) bool {
	g := s.g
	g.mu.Lock()
	if !wait || s.closed || len(s.resting) == 0 && g.may(s) {
		defer g.mu.Unlock()
		g.grant(s)
		return wait && !s.closed
	}
	mail := newMail()
	s.resting = append(s.resting, mail)
	g.note(s)
	g.offer()
	g.mu.Unlock()
	mail.Take()
	g.mu.Lock()
	defer g.mu.Unlock()
	return !s.closed
}

// close ends every wait for a place: the run makes no more calls.
func (s *share) close() {
	g := s.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if s.closed {
		return
	}
	s.closed, s.want = true, 0
	for _, m := range s.resting {
		g.grant(s)
		m.Put(poke)
	}
	s.resting = nil
	g.note(s)
	g.offer()
}

// leave gives back everything, when the run is not worked on any more.
func (s *share) leave() {
	s.close()
	g := s.g
	g.mu.Lock()
	defer g.mu.Unlock()
	s.give(s.held)
	for _, p := range s.pools {
		if p.members--; p.members == 0 {
			delete(g.pools, p.key)
		}
	}
	g.offer()
}

func (s *share) give(n int) {
	s.held -= n
	for _, p := range s.pools {
		p.held -= n
	}
}

// shortOf is a word for what the run waits for.
func (s *share) shortOf() string {
	for _, p := range s.pools {
		if p.free() <= 0 {
			return p.word
		}
	}
	return s.pools[0].word // what is free there is somebody else's turn
}

// fits is how many places every pool of a run has free.
func (s *share) fits() int {
	n := s.pools[0].free()
	for _, p := range s.pools[1:] {
		n = min(n, p.free())
	}
	return n
}

// ahead is how many places a run that waits may have before another one gets
// its next: as many as make it even, its own turn included.
func (s *share) ahead(o *share) int {
	even := o.held - s.held
	if s.turn < o.turn {
		even++
	}
	return max(min(even, s.want+len(s.resting), s.fits()), 0)
}

func (g *gate) grant(s *share) {
	s.give(-1)
	g.turns++
	s.turn = g.turns
}

// may says whether a run may have a place now: there is one beside those that
// belong to runs that wait and come before it.
func (g *gate) may(s *share) bool {
	for _, p := range s.pools {
		left := p.free()
		if left <= 0 {
			return false
		}
		for _, w := range g.waiting {
			if w != s && slices.Contains(w.pools, p) {
				left -= w.ahead(s)
			}
		}
		if left <= 0 {
			return false
		}
	}
	return true
}

// note keeps the list of those that wait.
func (g *gate) note(s *share) {
	waits, i := s.want > 0 || len(s.resting) > 0, slices.Index(g.waiting, s)
	switch {
	case waits && i < 0:
		g.waiting = append(g.waiting, s)
	case !waits && i >= 0:
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
}

// offer gives what is free to those that wait: to a call its place, to a runner
// word that there is one.
func (g *gate) offer() {
	for i := 0; i < len(g.waiting); i++ {
		switch w := g.waiting[i]; {
		case len(w.resting) > 0 && g.may(w):
			mail := w.resting[0]
			w.resting = w.resting[1:]
			g.grant(w)
			g.note(w)
			mail.Put(poke)
			i = -1 // it may be somebody else's turn now
		case w.want > 0 && !w.told && g.may(w):
			w.told = true
			w.poke()
		}
	}
}
