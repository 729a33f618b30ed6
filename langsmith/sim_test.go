package langsmith_test

import (
	"flag"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/langsmith"
)

var (
	simSeeds  = flag.Int("sim.seeds", 1, "how many histories to play")
	simFirst  = flag.Uint64("sim.first", 1, "the first seed")
	simRoots  = flag.Int("sim.roots", 600, "root runs in each history")
	simStride = flag.Int("sim.stride", 37, "of the boundaries to crash at, take every n-th")
)

// LSM-04: histories of two days and what comes after, with crashes, faults,
// wrong clocks and late runs: no run is missed and none is stored again without
// news. scripts/prove langsmith plays many and long ones.
func TestHistories_LSM04(t *testing.T) {
	t.Parallel()
	const span = 48 * time.Hour
	for i := range *simSeeds {
		seed := *simFirst + uint64(i)
		w := newWorld(seed, *simRoots, span)
		w.faults = 0.01
		crashes := 0
		err := w.play(langsmith.Config{}, w.epoch.Add(span+lookback+7*time.Hour), func() int {
			crashes++
			if crashes > 60 {
				return 0
			}
			return 1 + w.rng.IntN(2*(800+*simRoots/12)) // all over the history
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		v := w.verdict()
		t.Logf("seed %d: %s", seed, v)
		if len(v.Missed) > 0 || len(v.Twice) > 0 || len(v.Incomplete) > 0 {
			t.Errorf("seed %d: missed %.5v, stored twice %.5v, incomplete %.5v", seed, v.Missed, v.Twice, v.Incomplete)
		}
		if v.P99 > 3*time.Minute {
			t.Errorf("seed %d: the lag is %s at the 99th percentile, want at most 3 minutes", seed, v.P99)
		}
		if v.Loads < 30 {
			t.Errorf("seed %d: only %d processes; the crashes did not happen", seed, v.Loads)
		}
	}
}

// A small history, once for every boundary of its steps: the process dies
// there, and the next one ends with the same result.
func TestCrashAtEveryBoundary_LSM04(t *testing.T) {
	t.Parallel()
	const span = 20 * time.Minute
	history := func(crashAt int) (*world, error) {
		w := newWorld(7, 40, span)
		first := true
		err := w.play(langsmith.Config{}, w.epoch.Add(3*time.Hour), func() int {
			if !first {
				return 0
			}
			first = false
			return crashAt
		})
		return w, err
	}
	quiet, err := history(0)
	if err != nil {
		t.Fatal(err)
	}
	want := quiet.verdict()
	boundaries := quiet.steps
	if boundaries < 500 || want.Ended < 30 || len(want.Missed)+len(want.Twice)+len(want.Incomplete) > 0 {
		t.Fatalf("%d boundaries, %s", boundaries, want)
	}
	repeated := 0
	for at := 1; at <= boundaries; at += *simStride {
		w, err := history(at)
		if err != nil {
			t.Fatalf("crash at boundary %d: %v", at, err)
		}
		v := w.verdict()
		if len(v.Missed)+len(v.Twice)+len(v.Incomplete) > 0 || v.Stored != want.Stored || v.Loads != 2 {
			t.Fatalf("crash at boundary %d: %s; want %d stored", at, v, want.Stored)
		}
		repeated += v.Duplicates
	}
	t.Logf("%d boundaries, %d repeated deliveries, all recognised", boundaries, repeated)
	if repeated == 0 {
		t.Error("no crash fell between a delivery and its mark")
	}
}

// Idle, a poll costs one request, and never more than two.
func TestIdleRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(1, 30, time.Hour)
	w.now = w.epoch.Add(100 * time.Hour)
	state, err := w.load()
	if err != nil {
		t.Fatal(err)
	}
	s := langsmith.New(langsmith.Config{}, state, w, w, w, w)
	most, polls := 0, 0
	for range 300 {
		if err := s.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.now = w.now.Add(30 * time.Second)
	}
	from := w.requests
	for range 1600 { // more than two of the longest intervals
		before := w.requests
		if err := s.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		most = max(most, w.requests-before)
		w.now = w.now.Add(30 * time.Second)
		polls++
	}
	t.Logf("%d polls, %d requests, at most %d in one", polls, w.requests-from, most)
	if most > 2 {
		t.Errorf("a poll made %d requests, want at most 2", most)
	}
}

// A process that was away for longer than the look-back comes back to
// everything, and one that dies in a back-fill keeps what is behind it.
func TestLongAbsence_LSM04(t *testing.T) {
	t.Parallel()
	const span = 20 * 24 * time.Hour
	w := newWorld(3, 1000, span)
	w.page = 20 // many pages, so that windows are halved
	if err := w.play(langsmith.Config{}, w.epoch.Add(5*24*time.Hour), func() int { return 0 }); err != nil {
		t.Fatal(err)
	}
	w.now = w.epoch.Add(span + 24*time.Hour)
	deaths := 0
	err := w.play(langsmith.Config{}, w.now.Add(lookback), func() int {
		if deaths++; deaths > 10 {
			return 0
		}
		return 300
	})
	if err != nil {
		t.Fatal(err)
	}
	v := w.verdict()
	t.Log(v)
	if len(v.Missed)+len(v.Twice)+len(v.Incomplete) > 0 {
		t.Errorf("missed %.5v, twice %.5v, incomplete %.5v", v.Missed, v.Twice, v.Incomplete)
	}
}
