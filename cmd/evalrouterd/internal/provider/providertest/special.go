package providertest

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// toServer makes a transport that resolves every name to one server.
func toServer(t *testing.T, h http.Handler) (transport func(core.Target) http.RoundTripper) {
	srv := httptest.NewServer(h)
	tr := &http.Transport{DisableCompression: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, srv.Listener.Addr().String())
	}}
	t.Cleanup(func() { tr.CloseIdleConnections(); srv.Close() })
	return func(core.Target) http.RoundTripper { return tr }
}

// reused: the second request goes out on a kept connection, is read, and the
// connection is closed without a word. Go's transport repeats such a request
// when it thinks that it may.
func reused(t *testing.T, s Subject) {
	var n atomic.Int64
	a := s.New(toServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := readAll(r); err != nil {
			return
		}
		if n.Add(1) > 1 {
			reset(w)
			return
		}
		w.Write(s.Good)
	})))
	if o := a.Call(t.Context(), s.Request); o.Class != provider.Answered {
		t.Fatalf("first call: %+v", o)
	}
	o := a.Call(t.Context(), s.Request)
	if o.Class != provider.Unknown || o.Code != core.CodeOutcomeUnknown {
		t.Errorf("second call: %+v", o)
	}
	if n.Load() != 2 {
		t.Errorf("the server read %d requests for two calls: a paid call was repeated", n.Load())
	}
}

// rendered: the journal has the hash of what Render gave, so that is what leaves.
func rendered(t *testing.T, s Subject) {
	var sent [][]byte
	a := s.New(toServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := readAll(r)
		if err != nil {
			return
		}
		sent = append(sent, b)
		w.Write(s.Good)
	})))
	body, err := a.Render(s.Request)
	if err != nil {
		t.Fatal(err)
	}
	kept := s.Request
	kept.Body = append(bytes.Clone(body), ' ')
	for _, r := range []provider.Request{s.Request, kept} {
		if o := a.Call(t.Context(), r); o.Class != provider.Answered {
			t.Fatalf("%+v", o)
		}
	}
	if len(sent) != 2 || !bytes.Equal(sent[0], body) || !bytes.Equal(sent[1], kept.Body) {
		t.Errorf("sent %q, rendered %q", sent, body)
	}
}

// redirect: following one would hand the task, and the key, to another host.
func redirect(t *testing.T, s Subject) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		var n atomic.Int64
		a := s.New(toServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n.Add(1)
			http.Redirect(w, r, "http://elsewhere.example/steal", status)
		})))
		o := a.Call(t.Context(), s.Request)
		if o.Class != provider.Rejected || o.Reach != provider.Connection || o.Reason != "provider_redirect" || !strings.Contains(o.Message, "redirects are never followed") {
			t.Errorf("%d: %+v", status, o)
		}
		if n.Load() != 1 {
			t.Errorf("%d: %d requests", status, n.Load())
		}
	}
}

// echoedKey: some proxies repeat the request's headers in their errors.
func echoedKey(t *testing.T, s Subject) {
	key := s.Request.Key.Reveal()
	for _, status := range []int{200, 400, 401, 429, 500} {
		a := s.New(toServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Request-Id", "req-1")
			w.WriteHeader(status)
			w.Write([]byte(`{"error":{"message":"bad\u0007 key ` + key + ` given","code":"` + key + `"}}`))
		})))
		o := a.Call(t.Context(), s.Request)
		if strings.Contains(o.Message, key) || bytes.Contains(o.Raw, []byte(key)) || strings.Contains(o.Reason+o.Code+o.Model, key) {
			t.Errorf("%d: the key came through: %q, %s", status, o.Message, o.Raw)
		}
		if strings.ContainsFunc(o.Message, func(r rune) bool { return r < ' ' }) {
			t.Errorf("%d: control characters in %q", status, o.Message)
		}
		if o.Message == "" {
			t.Errorf("%d: no message", status)
		}
	}
}
