package kittest

import (
	"sync"
	"time"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// Clock stands still until it is moved.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock stands at a time.
func NewClock(at time.Time) *Clock { return &Clock{now: at} }

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock and gives the new time.
func (c *Clock) Advance(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

func wide(r []rune) bool {
	return len(r) > 0 && plain.Width(plain.Safe(string(r[:1]))) == 2
}
