package front

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// census knows which connections owe or are owed something.
type census struct {
	mu sync.Mutex
	// busy are connections that are new, or in a request.
	busy    map[net.Conn]http.ConnState
	changed chan struct{} // has one when busy has changed since it was read
}

func newCensus() *census {
	return &census{busy: map[net.Conn]http.ConnState{}, changed: make(chan struct{}, 1)}
}

// note follows a connection from state to state.
func (c *census) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == http.StateNew || state == http.StateActive {
		c.busy[conn] = state
	} else {
		delete(c.busy, conn)
	}
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// settle returns when no connection is busy or ctx ends. New ones that say
// nothing are hung up on after a while.
func (c *census) settle(ctx context.Context, hello time.Duration) {
	patience := time.NewTimer(hello)
	defer patience.Stop()
	for {
		c.mu.Lock()
		n := len(c.busy)
		c.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-c.changed:
		case <-patience.C:
			c.hangUp()
		case <-ctx.Done():
			return
		}
	}
}

// hangUp closes connections that have not said anything.
func (c *census) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn, state := range c.busy {
		if state == http.StateNew {
			_ = conn.Close() // its reader notes the end
		}
	}
}
