package daemon

import (
	"errors"
	"net"
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
	c := newCrowd(d)
	c.most, c.mostEach = 6, 2
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
