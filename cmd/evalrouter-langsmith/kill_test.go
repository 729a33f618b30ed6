package main

import (
	"errors"
	"flag"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/langsmith/fakesmith"
)

var kills = flag.Int("kills", 12, "how often TestKill kills the program")

// LSM-04: the program is killed at random requests, before or after their
// effect, while runs keep coming. In the end every trace is there exactly once.
func TestKill_LSM04_ExactlyOnce(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, uint64(*kills)))
	var count, killAt atomic.Int64
	reached := make(chan struct{}, 1)
	on := func() {
		if count.Add(1) == killAt.Load() {
			select {
			case reached <- struct{}{}:
			default:
			}
			time.Sleep(2 * time.Millisecond) // the answer shall not be faster than the signal
		}
	}
	s := newSite(fakesmith.Options{On: on})
	s.sink.On = on
	t.Cleanup(s.close)
	state := filepath.Join(t.TempDir(), "state")
	args := []string{"sync", "--project", project, "--state", state, "--watch", "--poll", "0.02", "--settle", "0.02", "--allow-http"}
	traces := 0
	for range *kills {
		for range 3 {
			traces++
			s.smith.Add(trace(traces, time.Duration(1+rng.IntN(100))*time.Minute)...)
		}
		count.Store(0)
		killAt.Store(1 + rng.Int64N(24))
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
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
			t.Fatalf("the program ended by itself: %v", err)
		}
	}
	killAt.Store(0)
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
