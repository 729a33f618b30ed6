package postgres

import (
	"sync"
	"time"
)

// Clock tells the database's time between two looks at it: what it was
// then and how much has passed here since. A clock of this machine that is
// wrong, or that is set meanwhile, changes nothing.
type Clock struct {
	mu         sync.Mutex
	then, seen time.Time
}

// Set notes what the database's time was when this process's was seen.
func (c *Clock) Set(then, seen time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.then, c.seen = then, seen
}

// Now is the time at local, which it is when no database's clock is known.
func (c *Clock) Now(local time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.then.IsZero() {
		return local
	}
	return c.then.Add(local.Sub(c.seen))
}
