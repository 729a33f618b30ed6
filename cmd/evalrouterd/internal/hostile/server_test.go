package hostile_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// line is the network between service and provider with the provider at its
// end: a listener that reads real requests and does with each what a scenario
// says, down to single bytes.
type line struct {
	t  testing.TB
	l  net.Listener
	at func(request int) act
	// greet, when set, is done with a connection instead of reading from it.
	greet act
	// echo, when set, answers by what was asked.
	echo func(asked []byte) act

	mu       sync.Mutex
	requests int
	conns    map[net.Conn]bool
	group    sync.WaitGroup
}

// act does something with a connection. The request has been read. It says
// whether another request may follow.
type act func(net.Conn) (again bool)

func newLine(t testing.TB, s scenario) *line {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if s.secure {
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{certificate(t)}})
	}
	n := &line{t: t, l: l, greet: s.greet, echo: s.echo, conns: map[net.Conn]bool{}, at: func(request int) act {
		if request < len(s.answers) {
			return s.answers[request]
		}
		return s.after()
	}}
	n.group.Add(1)
	go func() {
		defer n.group.Done()
		n.accept()
	}()
	t.Cleanup(n.close)
	return n
}

// certificate is one that no system trusts.
func certificate(t testing.TB) tls.Certificate {
	t.Helper()
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	return srv.TLS.Certificates[0]
}

func (n *line) accept() {
	for {
		c, err := n.l.Accept()
		if err != nil {
			return
		}
		n.mu.Lock()
		n.conns[c] = true
		n.mu.Unlock()
		n.group.Add(1)
		go func() {
			defer n.group.Done()
			n.serve(c)
			n.mu.Lock()
			delete(n.conns, c)
			n.mu.Unlock()
		}()
	}
}

func (n *line) serve(c net.Conn) {
	defer c.Close()
	if n.greet != nil {
		// Once something has come, the client has begun to write. Before that a
		// reset proves that nothing was sent, which is another scenario.
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			return
		}
		n.greet(c)
		return
	}
	in := bufio.NewReader(c)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		asked, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		n.mu.Lock()
		do := n.at(n.requests)
		n.requests++
		n.mu.Unlock()
		if n.echo != nil {
			do = n.echo(asked)
		}
		if !do(c) {
			return
		}
	}
}

// count is how many requests were read whole.
func (n *line) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.requests
}

func (n *line) close() {
	n.l.Close()
	n.mu.Lock()
	for c := range n.conns {
		c.Close()
	}
	n.mu.Unlock()
	n.group.Wait()
}

// say writes bytes as they are and closes.
func say(text string) act {
	return func(c net.Conn) bool {
		_, _ = io.WriteString(c, text) // whoever reads may have gone: that is the scenario's
		return false
	}
}

// keep writes bytes and waits for another request.
func keep(text string) act {
	return func(c net.Conn) bool {
		_, err := io.WriteString(c, text)
		return err == nil
	}
}

// respond is a well-formed response with a length.
func respond(status int, body string, headers ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d Status\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", status, len(body))
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	return b.String() + "\r\n" + body
}

// chunked is a response in chunks of a few bytes; end is its last part.
func chunked(body string, size int, end string) string {
	var b strings.Builder
	b.WriteString("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
	for len(body) > 0 {
		k := min(size, len(body))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", k, body[:k])
		body = body[k:]
	}
	return b.String() + end
}

// cut is the first bytes of a response; a negative number counts from the end.
func cut(text string, at int) string {
	if at < 0 {
		return text[:len(text)+at]
	}
	return text[:at]
}

// hang writes bytes and then nothing, until the other side has gone.
func hang(text string) act {
	return func(c net.Conn) bool {
		if _, err := io.WriteString(c, text); err == nil {
			_, _ = io.Copy(io.Discard, c)
		}
		return false
	}
}

// drip writes byte by byte, each after a pause.
func drip(text string, pause time.Duration) act {
	return func(c net.Conn) bool {
		for i := range len(text) {
			if _, err := io.WriteString(c, text[i:i+1]); err != nil {
				return false
			}
			<-time.After(pause)
		}
		return false
	}
}

// reset writes bytes and breaks the connection without an orderly end.
func reset(text string) act {
	return func(c net.Conn) bool {
		_, _ = io.WriteString(c, text)
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		return false
	}
}

func repeat(n int, a act) []act {
	out := make([]act, n)
	for i := range out {
		out[i] = a
	}
	return out
}
