package main

import (
	"errors"
	"flag"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/langsmith/fakesmith"
)

var kills = flag.Int("kills", 6, "how often TestKill kills the program")

// moment is the event at which a program is to die: the n-th one, or the n-th
// of a delivery. Every request has two, before and after its effect; its answer
// is held back until the program is dead.
type moment struct {
	mu            sync.Mutex
	deliveries    bool
	left          int
	reached, dead chan struct{}
}

func (m *moment) set(deliveries bool, n int) (reached, dead chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if deliveries {
		n = 1 + n%2
	}
	m.deliveries, m.left, m.reached, m.dead = deliveries, n, make(chan struct{}), make(chan struct{})
	return m.reached, m.dead
}

func (m *moment) on(delivery bool) func() {
	return func() {
		m.mu.Lock()
		hit := false
		dead := m.dead
		if m.left > 0 && (delivery || !m.deliveries) {
			m.left--
			if hit = m.left == 0; hit {
				close(m.reached)
			}
		}
		m.mu.Unlock()
		if hit {
			<-dead
		}
	}
}

// LSM-04: the program is killed at random requests, before or after their
// effect, while runs keep coming. In the end every trace is there exactly once.
func TestKill_LSM04_ExactlyOnce(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, uint64(*kills)))
	var m moment
	s := newSite(fakesmith.Options{On: m.on(false)})
	s.sink.On = m.on(true)
	t.Cleanup(s.close)
	state := filepath.Join(t.TempDir(), "state")
	args := []string{"sync", "--project", project, "--state", state, "--watch", "--poll", "0.02", "--settle", "0.02", "--allow-http"}
	traces := 0
	for range *kills {
		for range 3 {
			traces++
			s.smith.Add(trace(traces, time.Duration(1+rng.IntN(100))*time.Minute)...)
		}
		// Every other time it dies at a delivery, just before or just after it.
		reached, dead := m.set(rng.IntN(2) == 0, 1+rng.IntN(24))
		cmd := exec.Command(program(t), args...)
		cmd.Env = append(s.env(), "TEST_UNPACED=1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-reached:
		case <-time.After(time.Minute):
			t.Error("the program does not make its requests")
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		err := cmd.Wait()
		close(dead)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Exited() {
			t.Fatalf("the program ended by itself: %v", err)
		}
	}
	m.set(false, 0)
	runIn(t, s, 0, args[0], args[1], args[2], args[3], args[4], "--settle", "0")
	revisions := s.sink.Revisions()
	for i := range traces {
		if n := revisions[traceID(i+1)]; n != 1 {
			t.Errorf("trace %d is stored %d times", i+1, n)
		}
	}
	_, repeated := s.sink.Counts()
	t.Logf("%d kills, %d traces, each stored once; %d were delivered again and recognised", *kills, traces, repeated)
}
