package sim_test

import (
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
)

// sched runs the engine's functions one at a time. Each is a goroutine that
// gives way at every point where a real one could be interrupted: around each
// commit, while a provider works, while it waits. Who goes on is drawn from
// the seed, so a seed is one history.
type sched struct {
	random *rand.Rand
	procs  []*proc
	cur    *proc
	back   chan struct{}
	now    time.Time
}

// proc is one function on its way. ready is nil when it can go on.
type proc struct {
	resume chan bool
	ready  func() bool
	until  time.Time // set while it sleeps
	done   bool
}

func newSched(seed uint64) *sched {
	return &sched{
		random: rand.New(rand.NewPCG(seed, 0x5eed)), back: make(chan struct{}),
		now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC),
	}
}

func (s *sched) spawn(f func()) {
	p := &proc{resume: make(chan bool)}
	s.procs = append(s.procs, p)
	go func() {
		defer func() { p.done = true; s.back <- struct{}{} }()
		if <-p.resume {
			f()
		}
	}()
}

// yield gives way until ready says so. A crash ends the function here.
func (s *sched) yield(ready func() bool) {
	p := s.cur
	p.ready = ready
	s.back <- struct{}{}
	if !<-p.resume {
		runtime.Goexit()
	}
	p.ready, p.until = nil, time.Time{}
}

// step lets one function go on until it gives way. Time moves to the next
// sleeper when nobody else can go on; false means that nobody ever will.
func (s *sched) step() bool {
	s.now = s.now.Add(time.Duration(s.random.IntN(2000)) * time.Microsecond)
	able := s.able()
	if len(able) == 0 {
		if !s.wakeSleeper() {
			return false
		}
		able = s.able()
	}
	s.let(able[s.random.IntN(len(able))], true)
	return true
}

func (s *sched) let(p *proc, on bool) {
	s.cur = p
	p.resume <- on
	<-s.back
	s.cur = nil
	if p.done {
		for i, q := range s.procs {
			if q == p {
				s.procs = append(s.procs[:i], s.procs[i+1:]...)
				return
			}
		}
	}
}

func (s *sched) able() (out []*proc) {
	for _, p := range s.procs {
		if p.ready == nil || p.ready() {
			out = append(out, p)
		}
	}
	return out
}

func (s *sched) wakeSleeper() bool {
	var next time.Time
	for _, p := range s.procs {
		if !p.until.IsZero() && (next.IsZero() || p.until.Before(next)) {
			next = p.until
		}
	}
	if next.IsZero() {
		return false
	}
	s.now = next
	return true
}

// crash ends every function where it stands.
func (s *sched) crash() {
	for len(s.procs) > 0 {
		s.let(s.procs[0], false)
	}
}

// mail is engine.Mail between functions of the scheduler.
type mail struct {
	s     *sched
	queue []engine.Message
}

func (m *mail) Put(x engine.Message) { m.queue = append(m.queue, x) }

func (m *mail) Take() []engine.Message {
	m.s.yield(func() bool { return len(m.queue) > 0 })
	all := m.queue
	m.queue = nil
	return all
}
