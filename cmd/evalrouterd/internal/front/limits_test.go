package front_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/front"
)

// pipes is a listener without a network, so that its time is the test's.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// drip sends a text for ever, one byte a second, until it is hung up on.
func drip(c net.Conn, text string) {
	for i := 0; ; i++ {
		time.Sleep(time.Second)
		if _, err := io.WriteString(c, text[i%len(text):i%len(text)+1]); err != nil {
			return
		}
	}
}

// TestLimits_Time hangs up on whoever is slow, at the moment that is promised.
// The clock is the test's.
func TestLimits_Time(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		if r.URL.Path == "/large" {
			w.Write(make([]byte, 1<<20))
		}
	})
	for _, tt := range []struct {
		name string
		do   func(net.Conn)
		want time.Duration
	}{
		{"says nothing", func(c net.Conn) { io.Copy(io.Discard, c) }, 5 * time.Second},
		{"drips its head", func(c net.Conn) { io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n"); drip(c, "X-A: b\r\n") }, 5 * time.Second},
		{"drips its body", func(c net.Conn) {
			go io.Copy(io.Discard, c)
			io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
			drip(c, " ")
		}, 30 * time.Second},
		{"takes nothing of its answer", func(c net.Conn) {
			io.WriteString(c, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
			time.Sleep(59 * time.Second)
			io.Copy(io.Discard, io.LimitReader(c, 1))
			time.Sleep(10 * time.Second)
			io.Copy(io.Discard, c)
		}, 69 * time.Second},
		{"stays idle", func(c net.Conn) { io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); io.Copy(io.Discard, c) }, 90 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
				s := front.New(front.Options{Handler: handler, Listener: p, Now: time.Now, Log: quietly()})
				done := make(chan error, 1)
				go func() { done <- s.Serve() }()
				mine, theirs := net.Pipe()
				began := time.Now()
				p.conns <- theirs
				tt.do(mine)
				if took := time.Since(began); took < tt.want || took > tt.want+time.Second {
					t.Errorf("it is hung up on after %s, want %s", took, tt.want)
				}
				mine.Close()
				s.Shutdown(context.Background())
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestLimits_Head refuses a head that is too large.
func TestLimits_Head(t *testing.T) {
	t.Parallel()
	_, addr := serve(t, front.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, len(r.Header.Get("X"))) })})
	for size, want := range map[int]int{32 << 10: 200, 80 << 10: 431} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n", strings.Repeat("x", size))
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || res.StatusCode != want {
			t.Errorf("a head of %d bytes: %v, %v; want %d", size, res, err, want)
		}
	}
}

// TestLimits_Streams tells clients of HTTP/2 how many requests one connection
// may have at once.
func TestLimits_Streams(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	issue(t, dir, "x")
	cert, err := front.LoadCertificate(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), time.Now, quietly())
	if err != nil {
		t.Fatal(err)
	}
	_, addr := serve(t, front.Options{Handler: http.NotFoundHandler(), Certificate: cert})
	c, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.Copy(c, bytes.NewReader([]byte(http2.ClientPreface))); err != nil {
		t.Fatal(err)
	}
	f := http2.NewFramer(c, c)
	if err := f.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	frame, err := f.ReadFrame()
	if err != nil {
		t.Fatal(err)
	}
	settings, ok := frame.(*http2.SettingsFrame)
	if !ok {
		t.Fatalf("the first frame is %v", frame)
	}
	if n, ok := settings.Value(http2.SettingMaxConcurrentStreams); !ok || n != 100 {
		t.Errorf("a connection may have %d requests at once (%v)", n, ok)
	}
}
