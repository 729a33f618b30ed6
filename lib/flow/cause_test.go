package flow_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/local"
)

// A proxy that wants to know who asks is no missing service.
func TestCauseProxy(t *testing.T) {
	t.Parallel()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusProxyAuthRequired) }))
	t.Cleanup(proxy.Close)
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	c, err := evalrouter.New(evalrouter.Config{
		BaseURL: "https://eval.example", APIKey: "k", HTTPClient: &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(u)}},
		Sleep: func(context.Context, time.Duration) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Credits.Get(t.Context())
	if got := flow.Cause(err); got != "the proxy wants a user name and password" {
		t.Errorf("%v is put as %q", err, got)
	}
}

// The words for a failed connection come from real failures.
func TestCause(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {})
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	t.Cleanup(func() { plain.Close(); secure.Close() })
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			c.Close()
		}
	}))
	t.Cleanup(cut.Close)
	closed := httptest.NewServer(handler)
	closed.Close()
	tests := []struct{ name, url, want string }{
		{"nothing listens", closed.URL, "connection refused"},
		{"plain http behind https", strings.Replace(plain.URL, "http:", "https:", 1), "plain http there"},
		{"an unknown authority", secure.URL, "authority"},
		{"cut", cut.URL, "cut"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := evalrouter.New(evalrouter.Config{BaseURL: tt.url, AllowHTTP: true, APIKey: "k", Sleep: func(context.Context, time.Duration) error { return nil }})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, err = c.Credits.Get(t.Context())
			if got := flow.Cause(err); err == nil || !strings.Contains(got, tt.want) {
				t.Errorf("%v is put as %q, want %q", err, got, tt.want)
			}
		})
	}
	if got := flow.Cause(&net.DNSError{IsNotFound: true}); !strings.Contains(got, "no host") {
		t.Errorf("an unknown name is put as %q", got)
	}
	if err := fmt.Errorf("dial: %w", local.ErrAbsent); flow.Cause(err) != "another program has its port by now" || !flow.Refused(err) {
		t.Errorf("a stranger on the port is put as %q, refused %v", flow.Cause(err), flow.Refused(err))
	}
	if got := flow.Cause(&local.Error{Message: "the token cannot be read"}); got != "the token cannot be read" {
		t.Errorf("a local failure is put as %q", got)
	}
	if got := flow.Cause(errors.New("x")); got != "" {
		t.Errorf("an unknown failure is put as %q", got)
	}
}
