package loopback_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/scripts/internal/loopback"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		addr string
		ok   bool
	}{
		{"IPv4", "127.0.0.1:0", true}, {"all of the range", "127.9.9.9:80", true}, {"IPv6", "[::1]:0", true}, {"name", "localhost:0", true},
		{"every address", ":0", false}, {"unspecified", "0.0.0.0:0", false}, {"private", "10.0.0.1:80", false},
		{"other name", "localhost.example.org:80", false}, {"no port", "127.0.0.1", false},
	} {
		if err := loopback.Check(tt.addr); (err == nil) != tt.ok {
			t.Errorf("%s: Check(%q) = %v", tt.name, tt.addr, err)
		}
	}
}

// lines hands over each line that is written.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// An endpoint announces itself, finishes the open request when it is stopped, and then no longer listens.
func TestServe(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		cancel() // the stop arrives in the middle of the request
		_, _ = io.WriteString(w, "whole answer")
	})
	out := make(lines, 1)
	ready := filepath.Join(t.TempDir(), "ready")
	ended := make(chan error, 1)
	go func() {
		ended <- loopback.Endpoint{Addr: "127.0.0.1:0", Ready: ready, Handler: handler, Out: out}.Serve(ctx)
	}()
	base := strings.TrimSpace(<-out)
	if data, err := os.ReadFile(ready); err != nil || string(data) != base+"\n" {
		t.Errorf("ready file %q, %v; printed %q", data, err, base)
	}
	resp, err := http.Get(base)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "whole answer" {
		t.Errorf("body %q, %v", body, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := http.Get(base); err == nil {
		t.Error("it still listens after Serve returned")
	}
}

func TestServeRefuses(t *testing.T) {
	t.Parallel()
	for _, e := range []loopback.Endpoint{
		{Addr: "0.0.0.0:0"},
		{Addr: "127.0.0.1:0", Ready: filepath.Join(t.TempDir(), "absent", "ready")},
	} {
		e.Out = &bytes.Buffer{}
		if err := e.Serve(t.Context()); err == nil {
			t.Errorf("%+v was served", e)
		}
	}
}
