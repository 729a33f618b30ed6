// Package sim_test plays histories of the production engine over the
// production store: seeded, single-threaded, on a virtual clock, with a
// provider that loses, doubles and misreports, users who repeat and cancel,
// and a machine that dies at any point. After each death the store's own
// audit must find nothing, no prompt may have been worked on twice, and no
// graded task may be lost; at the end everything must have ended.
package sim_test

import (
	"flag"
	"fmt"
	"sort"
	"sync"
	"testing"
)

var (
	seeds = flag.Int("sim.seeds", someSeeds, "how many histories to play")
	first = flag.Uint64("sim.first", 1, "the first seed")
)

func TestHistories(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	crashes := 0
	t.Run("seeds", func(t *testing.T) {
		for i := range *seeds {
			seed := *first + uint64(i)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				one := history(t, seed)
				two := history(t, seed)
				if one.hash != two.hash {
					t.Errorf("seed %d gave two histories", seed)
				}
				mu.Lock()
				defer mu.Unlock()
				crashes += one.crashes
				for k, n := range one.seen {
					seen[k] += n
				}
			})
		}
	})
	var names []string
	for k := range seen {
		names = append(names, k)
	}
	sort.Strings(names)
	for _, k := range names {
		t.Logf("%8d  %s", seen[k], k)
	}
	t.Logf("%8d  crashes", crashes)
	checkSteps(t, seen, *seeds)
	if *seeds < 20 {
		return
	}
	var want []string
	for _, f := range fates {
		want = append(want, whose(true)+f.name)
		if !f.judge {
			want = append(want, f.name)
		}
	}
	for _, w := range append(append(append(want, judgeEdges...), partEdges...), resumeEdges...) {
		if seen[w] == 0 {
			t.Errorf("no history met %q", w)
		}
	}
}

type told struct {
	hash    string
	crashes int
	seen    map[string]int
}

func history(t *testing.T, seed uint64) told {
	t.Helper()
	w := newWorld(t, seed)
	w.play()
	return told{hash: w.end(), crashes: w.crashes, seen: w.seen}
}
