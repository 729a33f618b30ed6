package engine

import (
	"sync"
	"testing"
)

// Everything that is spawned runs once, however many wait, and nothing is left
// waiting after the end.
func TestCrew(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	c := newCrew(done)
	for range 3 {
		var group sync.WaitGroup
		var mu sync.Mutex
		ran := map[int]int{}
		for i := range 2 * maxIdle {
			group.Add(1)
			c.spawn(func() {
				defer group.Done()
				mu.Lock()
				defer mu.Unlock()
				ran[i]++
			})
		}
		group.Wait()
		if len(ran) != 2*maxIdle {
			t.Fatalf("%d functions ran, want %d", len(ran), 2*maxIdle)
		}
		for i, n := range ran {
			if n != 1 {
				t.Errorf("function %d ran %d times", i, n)
			}
		}
	}
	close(done)
	for range cap(c.slots) { // every slot is given back
		c.slots <- struct{}{}
	}
}

// A function that spawns another does not wait for it.
func TestCrew_FromWithin(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	defer close(done)
	c := newCrew(done)
	second := make(chan struct{})
	c.spawn(func() { c.spawn(func() { close(second) }) })
	<-second
}
