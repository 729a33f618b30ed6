package providertest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Ways in which an answer ends.
const (
	EOF           = "eof"                    // whole
	EarlyEOF      = "eof_early"              // closed before the promised length
	Reset         = "reset"                  // the connection breaks after the body
	ResetEarly    = "reset_before_headers"   // reset after the request was read
	SilentHeaders = "timeout_before_headers" // nothing, ever
	SilentBody    = "stall"                  // headers and a beginning, then nothing
	Drip          = "drip"                   // a byte now and then, without end
	DNSError      = "dns_error"
	TLSError      = "tls_error"
)

// Script is what a staged server does with each request.
type Script struct {
	Status int
	Header map[string]string
	Body   []byte
	End    string
}

// Staged is a real server behind a real transport that resolves every name to
// it, so that an adapter can be shown any host.
type Staged struct {
	server    *httptest.Server
	script    Script
	transport *http.Transport
	requests  atomic.Int64
	last      atomic.Pointer[http.Request]
	read      chan struct{} // closed once a request was read whole
	once      sync.Once
}

// Stage starts a server. It is closed when the test ends.
func Stage(t testing.TB, s Script) *Staged {
	st := &Staged{script: s, read: make(chan struct{})}
	st.server = httptest.NewServer(http.HandlerFunc(st.serve))
	st.transport = &http.Transport{DialContext: st.dial, DisableCompression: true, MaxResponseHeaderBytes: 64 << 10}
	t.Cleanup(func() {
		st.transport.CloseIdleConnections()
		st.server.CloseClientConnections()
		st.server.Close()
	})
	return st
}

// Transport is what an adapter is given.
func (s *Staged) Transport(core.Target) http.RoundTripper { return s.transport }

// Requests is how many requests the server has read.
func (s *Staged) Requests() int { return int(s.requests.Load()) }

// Last is the request that the server read last; its body is read.
func (s *Staged) Last() *http.Request { return s.last.Load() }

// Context ends soon after the request was read when the script never answers,
// and late otherwise. A deadline from the start would end before the request has
// left on a busy machine.
func (s *Staged) Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	if s.script.End != SilentHeaders && s.script.End != SilentBody && s.script.End != Drip {
		return ctx
	}
	e := ending{ctx, make(chan struct{})}
	go func() {
		defer close(e.over)
		select {
		case <-s.read:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}()
	return e
}

// ending is a context whose deadline begins late.
type ending struct {
	context.Context
	over chan struct{}
}

// Deadline is not known before.
func (e ending) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done implements context.Context.
func (e ending) Done() <-chan struct{} { return e.over }

// Err implements context.Context.
func (e ending) Err() error {
	select {
	case <-e.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func (s *Staged) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.script.End == DNSError {
		return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: address, IsNotFound: true}}
	}
	var d net.Dialer
	return d.DialContext(ctx, network, s.server.Listener.Addr().String())
}

func (s *Staged) serve(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	s.last.Store(r)
	if _, err := readAll(r); err != nil {
		return
	}
	s.once.Do(func() { close(s.read) })
	if s.script.End == ResetEarly {
		reset(w)
		return
	}
	if s.script.End == SilentHeaders {
		<-r.Context().Done()
		return
	}
	h := w.Header()
	h["Date"] = nil // only what the script says
	for k, v := range s.script.Header {
		h.Set(k, v)
	}
	if s.script.End == EarlyEOF || s.script.End == SilentBody {
		if h.Get("Content-Length") == "" {
			h.Set("Content-Length", strconv.Itoa(len(s.script.Body)+500))
		}
	}
	w.WriteHeader(s.script.Status)
	if s.script.End == Drip {
		drip(w, r)
		return
	}
	if _, err := w.Write(s.script.Body); err != nil {
		return
	}
	if s.script.End == Reset {
		hangUp(w)
		return
	}
	if s.script.End == SilentBody {
		if http.NewResponseController(w).Flush() == nil {
			<-r.Context().Done()
		}
	}
}

// drip sends a space every few milliseconds until the client has gone.
func drip(w http.ResponseWriter, r *http.Request) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := w.Write([]byte(" ")); err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}

// hangUp sends what was written and closes the connection without an end.
func hangUp(w http.ResponseWriter) {
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
	}
}

// reset closes the connection so that the client sees a reset, not an end.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a plain close is as good for the test
	}
	conn.Close()
}
