package crash_test

import (
	"slices"
	"sync"
	"syscall"
)

// recorder names every point that a process passes where it could die, and
// dies at one of them.
type recorder struct {
	mu    sync.Mutex
	phase string // stands before every name
	die   string
	hit   int // dies at the hit-th time
	seen  map[string]int
	order []string
}

func newRecorder(die string, hit int) *recorder {
	return &recorder{die: die, hit: max(hit, 1), seen: map[string]int{}}
}

// point is passed. It never returns in the process that is to die here.
func (r *recorder) point(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name = r.phase + name
	if r.seen[name]++; r.seen[name] == 1 {
		r.order = append(r.order, name)
	}
	if name == r.die && r.seen[name] == r.hit {
		// What a power button does to a process: nothing runs after it, here
		// or in any other goroutine, nothing is flushed or closed.
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func (r *recorder) enter(phase string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phase = phase
}

// passed are the points in the order in which they came first, and how often
// each came.
func (r *recorder) passed() []passed {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]passed, 0, len(r.order))
	for _, name := range slices.Clone(r.order) {
		out = append(out, passed{name, r.seen[name]})
	}
	return out
}

type passed struct {
	Name  string
	Times int
}
