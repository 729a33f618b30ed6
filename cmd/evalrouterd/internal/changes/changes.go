// Package changes tells the followers of a run that there is something to read.
package changes

import (
	"sync"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Changes wakes whoever follows a run. It is safe for concurrent use.
type Changes struct {
	*Followers
	mu      sync.Mutex
	watched map[core.RunID]map[*watcher]bool
}

type watcher struct {
	changed chan struct{}
	runs    []core.RunID
}

// New has nobody to wake.
func New(f *Followers) *Changes {
	return &Changes{Followers: f, watched: map[core.RunID]map[*watcher]bool{}}
}

// Watch gives a channel that is closed at the next change of one of the runs.
func (c *Changes) Watch(runs ...core.RunID) (<-chan struct{}, func()) {
	w := &watcher{make(chan struct{}), runs}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, run := range runs {
		if c.watched[run] == nil {
			c.watched[run] = map[*watcher]bool{}
		}
		c.watched[run][w] = true
	}
	return w.changed, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.forget(w)
	}
}

// Publish wakes every watcher of a run.
func (c *Changes) Publish(run core.RunID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.watched[run] {
		close(w.changed)
		c.forget(w)
	}
}

func (c *Changes) forget(w *watcher) {
	for _, run := range w.runs {
		delete(c.watched[run], w)
		if len(c.watched[run]) == 0 {
			delete(c.watched, run)
		}
	}
}
