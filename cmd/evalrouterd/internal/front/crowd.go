package daemon

import (
	"net"
	"net/netip"
	"sync"
)

// Open connections to the service.
const (
	maxConnections        = 2000
	maxConnectionsOfPeers = 64
)

// crowd is a listener that bounds open connections, in all and from one peer.
// Whoever comes too many is hung up on: an answer would cost what the bound is
// to save. Loopback has no bound of its own, for proxies speak from there.
type crowd struct {
	net.Listener
	most, mostEach int

	mu   sync.Mutex
	all  int
	each map[netip.Addr]int
}

func newCrowd(l net.Listener) *crowd {
	return &crowd{Listener: l, most: maxConnections, mostEach: maxConnectionsOfPeers, each: map[netip.Addr]int{}}
}

// Accept waits for a connection that may stay.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if leave, ok := c.enter(conn.RemoteAddr()); ok {
			return &guest{Conn: conn, leave: sync.OnceFunc(leave)}, nil
		}
		_ = conn.Close() // nothing was exchanged that could be lost
	}
}

func (c *crowd) enter(from net.Addr) (leave func(), ok bool) {
	at, err := netip.ParseAddrPort(from.String())
	peer := at.Addr().Unmap()
	bounded := err == nil && !peer.IsLoopback()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all >= c.most || bounded && c.each[peer] >= c.mostEach {
		return nil, false
	}
	c.all++
	if bounded {
		c.each[peer]++
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all--
		if !bounded {
			return
		}
		if c.each[peer]--; c.each[peer] == 0 {
			delete(c.each, peer)
		}
	}, true
}

// guest is a connection that is counted until it is closed.
type guest struct {
	net.Conn
	leave func()
}

// Close ends the connection and its place in the count.
func (g *guest) Close() error {
	g.leave()
	return g.Conn.Close()
}
