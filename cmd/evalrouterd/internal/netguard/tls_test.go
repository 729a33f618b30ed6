package netguard_test

import (
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/netguard"
)

// A certificate counts for the name that was asked for, and one connection
// serves many requests.
func TestTransport_TLS(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only here can a test add to the certificates that the system trusts, by SSL_CERT_FILE")
	}
	var conns, requests atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		io.WriteString(w, r.Proto)
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	file := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", file) // read when the first certificate is checked
	rt := netguard.Transport(netguard.Policy{AllowLoopback: true})
	t.Cleanup(rt.CloseIdleConnections)
	ask := func(url string) (string, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := rt.RoundTrip(req)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return string(b), err
	}
	for range 5 {
		if got, err := ask(srv.URL); err != nil || got != "HTTP/1.1" {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if conns.Load() != 1 || requests.Load() != 5 {
		t.Errorf("%d requests took %d connections", requests.Load(), conns.Load())
	}
	if _, err := ask(strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)); err == nil || !strings.Contains(err.Error(), "localhost") {
		t.Errorf("a certificate for another name: %v", err)
	}
	if requests.Load() != 5 {
		t.Error("a request went to a server with the certificate of another name")
	}
}
