package netguard

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// kept is how many idle connections to one endpoint are kept: as many as the
// largest ceiling of a route, so that a run at its ceiling dials each once.
const kept = 1024

// tlsTimeout bounds a handshake.
const tlsTimeout = 10 * time.Second

// Dialer connects within a policy.
type Dialer struct {
	Policy Policy
	// Resolver is net.DefaultResolver when nil.
	Resolver *net.Resolver
	// Attempt, where set, is told of every connection that the policy allows,
	// before it is made, and may refuse it. It sees what really is connected
	// to: the place to count connections, or to keep them inside a test.
	Attempt func(netip.AddrPort) error
}

// DialContext connects to host:port. Each address that the host resolves to
// is checked by itself when it is connected to, so a name cannot show one
// address to a check and another to the connection.
func (d Dialer) DialContext(ctx context.Context, network, hostport string) (net.Conn, error) {
	t := d.Policy.trustOf(hostport)
	nd := net.Dialer{
		Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Resolver: d.Resolver,
		ControlContext: func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(resolved)
			if err != nil {
				return refuse("an address could not be read")
			}
			if err := d.Policy.check(to, t); err != nil || d.Attempt == nil {
				return err
			}
			return d.Attempt(to)
		},
	}
	return nd.DialContext(ctx, network, hostport)
}

// dialPlain and dialTLS give connections on which one request has one answer.
func (d Dialer) dialPlain(ctx context.Context, network, hostport string) (net.Conn, error) {
	c, err := d.DialContext(ctx, network, hostport)
	if err != nil {
		return nil, err
	}
	return &Answers{Conn: c}, nil
}

func (d Dialer) dialTLS(ctx context.Context, network, hostport string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	c, err := d.DialContext(ctx, network, hostport)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, tlsTimeout)
	defer cancel()
	secure := tls.Client(c, &tls.Config{ServerName: host, NextProtos: []string{"http/1.1"}})
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &Answers{Conn: secure}, nil
}

// Transport makes HTTP requests within a policy. It belongs to one connection
// or route: kept connections are never shared between owners.
//
// It speaks HTTP/1.1, where a request either got a connection of its own or
// was not sent. No proxy of the environment is used: it would resolve names
// where the policy does not reach. Idle connections are given up before
// common servers give them up (5 seconds): a request on a connection that the
// server is just closing is lost, and nobody knows whether it was processed.
//
// It does not bound how many connections there are: the engine bounds the calls
// of a route before one is marked as sent, and a call that waited for a
// connection here would be marked though it had not left.
func Transport(p Policy) *http.Transport { return NewTransport(Dialer{Policy: p}) }

// NewTransport is Transport over a given dialer.
func NewTransport(d Dialer) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            d.dialPlain,
		DialTLSContext:         d.dialTLS,
		Protocols:              &protocols,
		DisableCompression:     true,
		MaxIdleConns:           kept,
		MaxIdleConnsPerHost:    kept,
		IdleConnTimeout:        3 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// Pool keeps one transport for each owner.
type Pool struct {
	dialer Dialer
	mu     sync.Mutex
	byName map[string]*http.Transport
}

// NewPool makes an empty pool.
func NewPool(d Dialer) *Pool { return &Pool{dialer: d, byName: map[string]*http.Transport{}} }

// For is the transport of a connection or route, by its name.
func (p *Pool) For(name string) *http.Transport {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := p.byName[name]
	if !ok {
		t = NewTransport(p.dialer)
		p.byName[name] = t
	}
	return t
}

// Forget drops the transport of a connection that was removed. Calls under
// way on it end undisturbed.
func (p *Pool) Forget(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t, ok := p.byName[name]; ok {
		t.CloseIdleConnections()
		delete(p.byName, name)
	}
}

// Close closes idle connections.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.byName {
		t.CloseIdleConnections()
	}
}
