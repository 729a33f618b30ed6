package changes

import (
	"sync"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Followers counts who waits for news, by workspace: each holds a connection and
// a handler for as long as it waits.
type Followers struct {
	most int
	mu   sync.Mutex
	each map[core.WorkspaceID]int
}

// NewFollowers lets so many wait in each workspace; 0 is as many as like to.
func NewFollowers(most int) *Followers {
	return &Followers{most: most, each: map[core.WorkspaceID]int{}}
}

// Follow counts one in until leave is called, or says that there are as many as
// there may be.
func (f *Followers) Follow(w core.WorkspaceID) (leave func(), ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.most > 0 && f.each[w] >= f.most {
		return func() {}, false
	}
	f.each[w]++
	return sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.each[w]--; f.each[w] == 0 {
			delete(f.each, w)
		}
	}), true
}
