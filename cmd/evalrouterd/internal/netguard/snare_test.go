package netguard_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// snare listens on one port of several loopback addresses, answers whoever
// connects, and counts.
type snare struct {
	t         *testing.T
	port      uint16
	listeners map[netip.AddrPort]net.Listener
	answer    *answer
	n         atomic.Int64
	group     sync.WaitGroup
}

func newSnare(t *testing.T, with *answer) *snare {
	t.Helper()
	s := &snare{t: t, listeners: map[netip.AddrPort]net.Listener{}, answer: with}
	first, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.add(first)
	s.port = first.Addr().(*net.TCPAddr).AddrPort().Port()
	for _, host := range []string{"::1", "127.8.9.10", "127.255.255.254"} {
		// Not every system has them; the first one always counts.
		if l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(int(s.port)))); err == nil {
			s.add(l)
		}
	}
	t.Cleanup(s.close)
	return s
}

func (s *snare) add(l net.Listener) {
	s.listeners[l.Addr().(*net.TCPAddr).AddrPort()] = l
	s.group.Add(1)
	go func() {
		defer s.group.Done()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.n.Add(1)
			s.talk(c)
		}
	}()
}

func (s *snare) talk(c net.Conn) {
	defer c.Close()
	if s.answer == nil {
		return
	}
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return
	}
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return
	}
	fmt.Fprintf(c, "HTTP/1.1 %d Said\r\nConnection: close\r\nContent-Length: 0\r\n", s.answer.Status)
	for k, v := range s.answer.Header {
		fmt.Fprintf(c, "%s: %s\r\n", k, s.fill(v))
	}
	io.WriteString(c, "\r\n")
}

func (s *snare) listens(to netip.AddrPort) bool { _, ok := s.listeners[to]; return ok }

// fill puts the port where a vector leaves it open.
func (s *snare) fill(text string) string {
	return strings.ReplaceAll(text, "{port}", strconv.Itoa(int(s.port)))
}

// caught counts the connections that were made. The queue of a listener is in
// order, so a last one of our own comes last.
func (s *snare) caught() int {
	s.t.Helper()
	before := 0
	for at := range s.listeners {
		c, err := net.Dial("tcp", at.String())
		if err != nil {
			s.t.Fatal(err)
		}
		io.WriteString(c, "GET / HTTP/1.1\r\nHost: last\r\n\r\n")
		io.Copy(io.Discard, c) // until it is closed, so it has been counted
		c.Close()
		before++
	}
	return int(s.n.Load()) - before
}

func (s *snare) close() {
	for _, l := range s.listeners {
		l.Close()
	}
	s.group.Wait()
}

// zone answers queries as a hostile name server does, and reads every old
// spelling of an address as the C library would.
type zone struct {
	v vector

	mu      sync.Mutex
	queries int // for addresses of flips.example
}

func newZone(t *testing.T, v vector) *net.Resolver {
	z := &zone{v: v}
	return serveDNS(t, z.answer)
}

// answer gives the aliases of a name and the addresses of their end.
func (z *zone) answer(name string, v6 bool) (aliases []string, addrs []netip.Addr) {
	switch name {
	case "flips.example":
		if v6 {
			return nil, nil
		}
		z.mu.Lock()
		round := z.v.Flips[z.queries%len(z.v.Flips)]
		z.queries++
		z.mu.Unlock()
		return nil, pick(round, false)
	case "start.example":
		if n := len(z.v.Alias); n > 0 {
			return z.v.Alias, pick(z.v.Zone[z.v.Alias[n-1]], v6)
		}
	}
	if found := pick(z.v.Zone[name], v6); len(found) > 0 || z.v.Zone[name] != nil {
		return nil, found
	}
	if a, ok := oldForm(name); ok && !v6 {
		return nil, []netip.Addr{a}
	}
	return nil, nil
}

// pick takes the addresses of one family. A mapped one is of the newer.
func pick(all []string, v6 bool) (out []netip.Addr) {
	for _, s := range all {
		if a := netip.MustParseAddr(s); a.Is6() == v6 {
			out = append(out, a)
		}
	}
	return out
}

// oldForm reads one to four numbers in decimal, octal or hex, the last of
// which fills the rest.
func oldForm(name string) (netip.Addr, bool) {
	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var n uint64
	for i, p := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		b, err := strconv.ParseUint(p, 0, bits)
		if err != nil {
			return netip.Addr{}, false
		}
		n = n<<bits | b
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(n))
	return netip.AddrFrom4(b), true
}

// serveDNS is a resolver whose server answers with what answer says.
func serveDNS(t *testing.T, answer func(name string, v6 bool) ([]string, []netip.Addr)) *net.Resolver {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			size, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			if out := respond(buf[:size], answer); out != nil {
				pc.WriteTo(out, from)
			}
		}
	}()
	t.Cleanup(func() { pc.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
}

// Types of DNS records.
const (
	typeA     = 1
	typeCNAME = 5
	typeAAAA  = 28
)

// respond answers one query: its question again, and the records.
func respond(query []byte, answer func(string, bool) ([]string, []netip.Addr)) []byte {
	var labels []string
	end := 12
	for end < len(query) && query[end] != 0 {
		next := end + 1 + int(query[end])
		if next > len(query) {
			return nil
		}
		labels = append(labels, string(query[end+1:next]))
		end = next
	}
	end += 5 // root label, type, class
	if end > len(query) {
		return nil
	}
	name := strings.ToLower(strings.Join(labels, "."))
	kind := binary.BigEndian.Uint16(query[end-4:])
	out := append([]byte{}, query[:end]...)
	out[2], out[3] = 0x81, 0x80 // a response, recursion done
	binary.BigEndian.PutUint32(out[8:], 0)
	count := uint16(0)
	record := func(owner string, kind uint16, data []byte) {
		out = append(append(out, wire(owner)...), byte(kind>>8), byte(kind), 0, 1, 0, 0, 0, 0, byte(len(data)>>8), byte(len(data)))
		out = append(out, data...)
		count++
	}
	if kind == typeA || kind == typeAAAA {
		aliases, addrs := answer(name, kind == typeAAAA)
		for _, a := range aliases {
			record(name, typeCNAME, wire(a))
			name = a
		}
		for _, a := range addrs {
			record(name, kind, a.AsSlice())
		}
	}
	binary.BigEndian.PutUint16(out[6:], count)
	return out
}

// wire writes a name without compression.
func wire(name string) (out []byte) {
	for l := range strings.SplitSeq(name, ".") {
		out = append(append(out, byte(len(l))), l...)
	}
	return append(out, 0)
}
