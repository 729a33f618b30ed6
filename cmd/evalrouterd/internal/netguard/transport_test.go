package netguard_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/netguard"
)

// trap is a listener that counts who connects.
type trap struct {
	net.Listener
	n    atomic.Int64
	done chan struct{}
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tr := &trap{Listener: l, done: make(chan struct{})}
	go func() {
		defer close(tr.done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			tr.n.Add(1)
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-tr.done })
	return tr
}

// caught waits until every connection that was made has been counted: the
// queue of a listener is in order, so a last one of our own comes last.
func (tr *trap) caught(t *testing.T) int64 {
	t.Helper()
	c, err := net.Dial("tcp", tr.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil { // closed once counted
		t.Fatal("the trap talks")
	}
	c.Close()
	return tr.n.Load() - 1
}

func (tr *trap) port() string {
	_, port, err := net.SplitHostPort(tr.Addr().String())
	if err != nil {
		return ""
	}
	return port
}

// No spelling of a loopback address gets through to a listener that waits
// there, by address or by a name that resolves to it.
func TestTransport_Trap(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	dns := newDNS(t, func(int64) netip.Addr { return netip.MustParseAddr("127.0.0.1") })
	d := netguard.Dialer{Policy: netguard.Policy{AllowPorts: []uint16{portNumber(t, tr.port())}}, Resolver: dns}
	rt := netguard.NewTransport(d)
	t.Cleanup(rt.CloseIdleConnections)
	for _, host := range []string{"127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0", "0", "[::ffff:127.0.0.1]", "[::]", "localhost", "inside.example"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+host+":"+tr.port()+"/", strings.NewReader("secret"))
		if err != nil {
			t.Fatal(err)
		}
		if res, err := rt.RoundTrip(req); err == nil {
			res.Body.Close()
			t.Errorf("%s answered", host)
		}
	}
	if n := tr.caught(t); n != 0 {
		t.Errorf("%d connections reached the trap", n)
	}
}

// A name that is public when it is checked and private when it is connected
// to reaches nothing: what counts is the address of the connection.
func TestTransport_Rebinding(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	port := portNumber(t, tr.port())
	dns := newDNS(t, func(n int64) netip.Addr {
		if n%2 == 1 {
			return netip.MustParseAddr("0.0.0.0")
		}
		return netip.MustParseAddr("127.0.0.1")
	})
	d := netguard.Dialer{Policy: netguard.Policy{AllowPorts: []uint16{port}}, Resolver: dns}
	for range 6 {
		c, err := d.DialContext(t.Context(), "tcp", "flips.example:"+tr.port())
		if err == nil {
			c.Close()
		}
		if !errors.Is(err, &core.Refusal{Code: core.EndpointRefused}) {
			t.Errorf("error %v", err)
		}
	}
	if n := tr.caught(t); n != 0 {
		t.Errorf("%d connections reached the trap", n)
	}
}

// localhost must lead to loopback, also where the resolver says otherwise;
// a listed name may lead to where it leads.
func TestDialer_Names(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	here := newDNS(t, func(int64) netip.Addr { return netip.MustParseAddr("127.0.0.1") })
	metadata := newDNS(t, func(int64) netip.Addr { return netip.MustParseAddr("169.254.169.254") })
	for _, c := range []struct {
		name, host string
		policy     netguard.Policy
		resolver   *net.Resolver
		ok         bool
	}{
		{"listed name", "vllm.example", netguard.Policy{AllowPrivate: []string{"vllm.example:" + tr.port()}}, here, true},
		{"listed name that leads to metadata", "vllm.example", netguard.Policy{AllowPrivate: []string{"vllm.example:" + tr.port()}}, metadata, false},
		{"another name", "other.example", netguard.Policy{AllowPrivate: []string{"vllm.example:" + tr.port()}}, here, false},
		{"loopback by name in the local service", "mine.example", netguard.Policy{AllowLoopback: true}, here, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn, err := netguard.Dialer{Policy: c.policy, Resolver: c.resolver}.DialContext(t.Context(), "tcp", c.host+":"+tr.port())
			if err == nil {
				conn.Close()
			}
			if (err == nil) != c.ok {
				t.Errorf("connected: %v", err)
			}
		})
	}
}

func TestTransport_Loopback(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }))
	t.Cleanup(srv.Close)
	pool := netguard.NewPool(netguard.Dialer{Policy: netguard.Policy{AllowLoopback: true}})
	t.Cleanup(pool.Close)
	rt := pool.For("a")
	if pool.For("a") != rt || pool.For("b") == rt {
		t.Error("a transport belongs to one name")
	}
	if rt.Proxy != nil || !rt.DisableCompression || rt.MaxIdleConnsPerHost < 256 || rt.MaxResponseHeaderBytes != 64<<10 {
		t.Errorf("transport %+v", rt)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); err != nil || string(b) != "HTTP/1.1" {
		t.Errorf("%s, %v", b, err)
	}
	pool.Forget("a")
	if pool.For("a") == rt {
		t.Error("a forgotten transport came back")
	}
}

// No request waits here for a connection: its call is marked as sent already.
func TestTransport_NoRequestWaits(t *testing.T) {
	t.Parallel()
	const calls = 300
	var arrived atomic.Int64
	all := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if arrived.Add(1) == calls {
			close(all)
		}
		select {
		case <-all:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(srv.Close)
	rt := netguard.Transport(netguard.Policy{AllowLoopback: true})
	t.Cleanup(rt.CloseIdleConnections)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var group sync.WaitGroup
	for range calls {
		group.Go(func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if res, err := rt.RoundTrip(req); err == nil {
				res.Body.Close()
			}
		})
	}
	group.Wait()
	if n := arrived.Load(); n != calls {
		t.Errorf("%d of %d requests left while the others were under way", n, calls)
	}
}

func portNumber(t *testing.T, port string) uint16 {
	t.Helper()
	n, err := net.LookupPort("tcp", port)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(n)
}

// newDNS is a resolver that answers every query for an A record with what
// answer says; n counts the answers from 1.
func newDNS(t *testing.T, answer func(n int64) netip.Addr) *net.Resolver {
	t.Helper()
	var n int64
	return serveDNS(t, func(_ string, v6 bool) ([]string, []netip.Addr) {
		if v6 {
			return nil, nil
		}
		n++
		return nil, []netip.Addr{answer(n)}
	})
}
