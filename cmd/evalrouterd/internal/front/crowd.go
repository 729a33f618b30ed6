package front

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// Open connections to the service.
const (
	maxConnections        = 2000
	maxConnectionsOfPeers = 64
	// maxUnread is about how much of its answers a client may leave unread before
	// its requests wait. The system would let it grow to megabytes, which many
	// clients that read nothing would have of the kernel.
	maxUnread = 128 << 10
)

// crowd is a listener that bounds open connections, in all and from one peer,
// and hangs up on peers that must not speak in the clear. Declared proxies have
// no bound of their own, for they speak for many; nor has loopback where none
// is declared, for one may stand there.
type crowd struct {
	net.Listener
	most, mostEach int
	proxies        Proxies
	// veiled says that only loopback and declared proxies may come: nothing else
	// hides what is said here.
	veiled bool
	// turned is told of each peer that is hung up on, and why.
	turned func(from netip.Addr, why string)

	refused atomic.Int64
	mu      sync.Mutex
	all     int
	each    map[netip.Addr]int
}

// Reasons for hanging up.
const (
	tooMany     = "too many connections"
	tooManyEach = "too many connections of one address"
	inTheClear  = "plain HTTP from an address that is no declared proxy"
)

// Accept waits for a connection that may stay.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from, known := peer(conn.RemoteAddr())
		leave, why := c.enter(from, known)
		if why == "" {
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetWriteBuffer(maxUnread) // the system's own bound is another bound
			}
			return &guest{Conn: conn, leave: sync.OnceFunc(leave)}, nil
		}
		c.refused.Add(1)
		c.turned(from, why)
		_ = conn.Close() // nothing was exchanged that could be lost
	}
}

// enter counts a peer in, or says why it may not come.
func (c *crowd) enter(from netip.Addr, known bool) (leave func(), why string) {
	speaker := !known || c.proxies.Has(from)
	if c.veiled && !speaker && !from.IsLoopback() {
		return nil, inTheClear
	}
	bounded := !speaker && !(from.IsLoopback() && len(c.proxies) == 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all >= c.most {
		return nil, tooMany
	}
	if bounded && c.each[from] >= c.mostEach {
		return nil, tooManyEach
	}
	c.all++
	if bounded {
		c.each[from]++
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all--
		if !bounded {
			return
		}
		if c.each[from]--; c.each[from] == 0 {
			delete(c.each, from)
		}
	}, ""
}

func (c *crowd) open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
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
