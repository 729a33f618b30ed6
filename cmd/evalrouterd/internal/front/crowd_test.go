package front

import (
	"errors"
	"net"
	"net/netip"
	"testing"
)

// door is a listener whose visitors are at hand.
type door struct {
	net.Listener
	visitors []*visitor
}

type visitor struct {
	net.Conn
	from   string
	closed bool
}

func (v *visitor) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(v.from), Port: 1234} }

func (v *visitor) Close() error { v.closed = true; return nil }

var errNobody = errors.New("nobody comes")

func (d *door) Accept() (net.Conn, error) {
	if len(d.visitors) == 0 {
		return nil, errNobody
	}
	v := d.visitors[0]
	d.visitors = d.visitors[1:]
	return v, nil
}

// TestCrowd lets so many in from each peer and in all, and others when those
// have left.
func TestCrowd(t *testing.T) {
	t.Parallel()
	d := &door{}
	c := &crowd{Listener: d, most: 6, mostEach: 2, each: map[netip.Addr]int{}, turned: func(netip.Addr, string) {}}
	arrive := func(from string) net.Conn {
		v := &visitor{from: from}
		d.visitors = append(d.visitors, v)
		conn, err := c.Accept()
		if (err != nil) != v.closed {
			t.Errorf("%s: %v, hung up on: %v", from, err, v.closed)
		}
		return conn
	}
	a := arrive("198.51.100.7")
	arrive("::ffff:198.51.100.7")
	if arrive("198.51.100.7") != nil {
		t.Error("a third connection of one peer stays")
	}
	for range 2 { // closing twice counts once
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if arrive("198.51.100.7") == nil || arrive("198.51.100.7") != nil {
		t.Error("one place became free, not none and not two")
	}
	for range 4 {
		if arrive("127.0.0.1") == nil {
			t.Error("loopback has a bound of its own")
		}
	}
	if arrive("203.0.113.9") != nil || arrive("127.0.0.1") != nil {
		t.Error("more than all came in")
	}
	if c.all != 6 || len(c.each) != 1 {
		t.Errorf("%d are counted, of %d peers", c.all, len(c.each))
	}
}

// TestCrowd_Veiled hangs up on peers that would speak in the clear, and bounds
// loopback where a proxy is declared.
func TestCrowd_Veiled(t *testing.T) {
	t.Parallel()
	proxies, err := ParseProxies([]string{"10.1.2.3", "192.0.2.0/24"})
	if err != nil {
		t.Fatal(err)
	}
	var why []string
	d := &door{}
	c := &crowd{Listener: d, most: 100, mostEach: 1, each: map[netip.Addr]int{}, proxies: proxies, veiled: true, turned: func(_ netip.Addr, w string) { why = append(why, w) }}
	for _, tt := range []struct {
		name, from, why string
	}{
		{name: "the proxy", from: "10.1.2.3"},
		{name: "the proxy again", from: "10.1.2.3"},
		{name: "one of the network", from: "192.0.2.200"},
		{name: "its neighbour", from: "10.1.2.4", why: inTheClear},
		{name: "this machine", from: "127.0.0.1"},
		{name: "this machine again", from: "127.0.0.1", why: tooManyEach},
		{name: "another of this machine", from: "127.0.0.2"},
	} {
		why = nil
		v := &visitor{from: tt.from}
		d.visitors = append(d.visitors, v)
		_, _ = c.Accept()
		if v.closed != (tt.why != "") || v.closed && (len(why) != 1 || why[0] != tt.why) {
			t.Errorf("%s: hung up on: %v, because of %q", tt.name, v.closed, why)
		}
	}
	if n := c.refused.Load(); n != 2 {
		t.Errorf("%d are counted as refused", n)
	}
}
