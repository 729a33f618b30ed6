package exchange_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	const month = 30 * 24 * time.Hour
	for _, c := range []struct {
		name, ms, after, date string
		want                  time.Duration
		ok                    bool
	}{
		{"none", "", "", "", 0, false},
		{"seconds", "", "2", "", 2 * time.Second, true},
		{"zero is a hint", "", "0", "", 0, true},
		{"fraction", "", "1.25", "", 1250 * time.Millisecond, true},
		{"rounded up", "", "0.0001", "", time.Millisecond, true},
		{"milliseconds win", "1234", "2", "", 1234 * time.Millisecond, true},
		{"fraction of a millisecond", "8.2", "", "", 9 * time.Millisecond, true},
		{"unreadable milliseconds", "soon", "2", "", 2 * time.Second, true},
		{"date against Date", "", "Sun, 29 Nov 2026 15:00:30 GMT", "Sun, 29 Nov 2026 15:00:00 GMT", 30 * time.Second, true},
		{"date against the clock", "", "Sun, 29 Nov 2026 12:01:00 GMT", "", time.Minute, true},
		{"date gone by", "", "Sun, 29 Nov 2026 11:00:00 GMT", "", 0, true},
		{"far away", "", "Sun, 29 Nov 2126 11:00:00 GMT", "", month, true},
		{"huge", "", "99999999999999999999999", "", month, true},
		{"large", "", "999999999", "", month, true},
		{"negative", "", "-1", "", 0, false},
		{"unit", "", "2s", "", 0, false},
		{"hexadecimal", "", "0x10", "", 0, false},
		{"two points", "", "1.2.3", "", 0, false},
		{"point alone", "", ".", "", 0, false},
		{"exponent", "", "1e3", "", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			for k, v := range map[string]string{"Retry-After-Ms": c.ms, "Retry-After": c.after, "Date": c.date} {
				if v != "" {
					h.Set(k, v)
				}
			}
			got, ok := exchange.RetryAfter(h, now)
			if got != c.want || ok != c.ok {
				t.Errorf("got %s, %v; want %s, %v", got, ok, c.want, c.ok)
			}
		})
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	key := provider.NewSecret("sk-0123456789")
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.String().Draw(rt, "before") + rapid.SampledFrom([]string{"", key.Reveal()}).Draw(rt, "key") + rapid.String().Draw(rt, "after")
		got := exchange.Message(s, key)
		if strings.Contains(got, key.Reveal()) || utf8.RuneCountInString(got) > 500 || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			rt.Fatalf("%q became %q", s, got)
		}
	})
	if got := exchange.Message("the model said none", provider.NewSecret("none")); got != "the model said none" {
		t.Errorf("a word was taken for a secret: %q", got)
	}
	if got := exchange.Message(strings.Repeat("\xff", 10_000), key); utf8.RuneCountInString(got) != 500 || !utf8.ValidString(got) {
		t.Errorf("bad bytes became %q", got)
	}
}

func TestFailure(t *testing.T) {
	t.Parallel()
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, c := range []struct {
		name      string
		connected bool
		err       error
		class     provider.Class
		code      string
		reason    string
		message   string
	}{
		{"refused by policy", false, dial(core.Refuse(core.EndpointRefused, "not there")), provider.Rejected, core.CodeProviderError, "endpoint_refused", "not there"},
		{"no listener", false, dial(syscall.ECONNREFUSED), provider.NotSent, core.CodeProviderError, "not_sent", "the connection was refused: nothing listens there"},
		{"no name", false, dial(&net.DNSError{IsNotFound: true, Name: "secret.internal"}), provider.NotSent, core.CodeProviderError, "not_sent", "the host name was not found"},
		{"no lookup", false, dial(&net.DNSError{IsTimeout: true, Server: "10.0.0.2"}), provider.NotSent, core.CodeProviderError, "not_sent", "the host name could not be looked up"},
		{"stopped before", false, context.Canceled, provider.NotSent, core.CodeProviderError, "not_sent", "the call was stopped before it was sent"},
		{"late before", false, context.DeadlineExceeded, provider.NotSent, core.CodeProviderError, "not_sent", "no connection in time"},
		{"certificate", false, &tls.CertificateVerificationError{Err: errors.New("x")}, provider.NotSent, core.CodeProviderError, "not_sent", "the endpoint's certificate is not accepted"},
		{"something else", false, errors.New("10.0.0.7 says no"), provider.NotSent, core.CodeProviderError, "not_sent", "no connection to the endpoint"},
		{"stopped during", true, context.Canceled, provider.Unknown, core.CodeOutcomeUnknown, "interrupted", "the call was interrupted while it was under way"},
		{"late during", true, context.DeadlineExceeded, provider.Unknown, core.CodeProviderTimeout, "timeout", "no complete answer in time"},
		{"cut", true, io.ErrUnexpectedEOF, provider.Unknown, core.CodeOutcomeUnknown, "cut", "the connection broke before the answer was complete"},
		{"too large", true, exchange.ErrBodyLimit, provider.Unknown, core.CodeOutcomeUnknown, "body_over_limit", "the answer is larger than 8 MiB, or than 64 MiB as a stream"},
		{"policy error after a connection", true, core.Refuse(core.EndpointRefused, "x"), provider.Unknown, core.CodeOutcomeUnknown, "cut", "the connection broke before the answer was complete"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := exchange.Reply{Connected: c.connected, Err: c.err}.Failure()
			if o.Class != c.class || o.Code != c.code || o.Reason != c.reason || o.Message != c.message {
				t.Errorf("got %+v", o)
			}
		})
	}
}

// A key that a server repeats is taken out of what is kept; a short one is a
// word and stays.
func TestDo_Scrubs(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }))
	t.Cleanup(srv.Close)
	rt := &http.Transport{}
	t.Cleanup(rt.CloseIdleConnections)
	for _, c := range []struct{ name, key, want string }{
		{"a secret", "sk-0123456789abcdef", "it is [redacted] twice [redacted]"},
		{"a word", "none", "it is none twice none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := exchange.Do(t.Context(), rt, exchange.Post{URL: srv.URL, Body: []byte("it is " + c.key + " twice " + c.key), Key: provider.NewSecret(c.key)})
			if r.Err != nil || !r.OK() || string(r.Raw) != c.want {
				t.Errorf("got %q, %v", r.Raw, r.Err)
			}
		})
	}
}

// The limit is exact, and what is beyond it is not kept.
func TestDo_BodyLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		size int
		err  error
		kept int
	}{
		{"at the limit", exchange.MaxBody, nil, exchange.MaxBody},
		{"one more", exchange.MaxBody + 1, exchange.ErrBodyLimit, 64 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, c.size)) }))
			t.Cleanup(srv.Close)
			rt := &http.Transport{}
			t.Cleanup(rt.CloseIdleConnections)
			r := exchange.Do(t.Context(), rt, exchange.Post{URL: srv.URL})
			if !errors.Is(r.Err, c.err) || len(r.Raw) != c.kept {
				t.Errorf("kept %d bytes, %v", len(r.Raw), r.Err)
			}
		})
	}
}

// A body without an end is read up to the limit, and then let go.
func TestDo_Endless(t *testing.T) {
	t.Parallel()
	written := make(chan int, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		total, block := 0, make([]byte, 64<<10)
		for {
			n, err := w.Write(block)
			if total += n; err != nil {
				written <- total
				return
			}
		}
	}))
	t.Cleanup(srv.Close)
	rt := &http.Transport{}
	t.Cleanup(rt.CloseIdleConnections)
	r := exchange.Do(t.Context(), rt, exchange.Post{URL: srv.URL})
	if !errors.Is(r.Err, exchange.ErrBodyLimit) || r.Status != http.StatusOK {
		t.Errorf("status %d, %v", r.Status, r.Err)
	}
	// What the kernel buffers on both sides comes on top.
	if n := <-written; n > 3*exchange.MaxBody {
		t.Errorf("the server could write %d bytes", n)
	}
}
