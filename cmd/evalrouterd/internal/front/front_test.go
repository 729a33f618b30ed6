package front_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/front"
)

func quietly() *slog.Logger { return slog.New(slog.DiscardHandler) }

// serve starts a server on loopback and gives its address.
func serve(t *testing.T, o front.Options) (*front.Server, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.Listener, o.Log = l, quietly()
	if o.Now == nil {
		o.Now = time.Now
	}
	s := front.New(o)
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	t.Cleanup(func() {
		s.Shutdown(context.Background())
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s, l.Addr().String()
}

// TestClient asks whose request it is, from addresses that are this machine's.
func TestClient(t *testing.T) {
	t.Parallel()
	saw := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		fmt.Fprintf(w, "%s%v%v", host, r.Header["X-Forwarded-For"], r.Header["X-Forwarded-Proto"])
	})
	proxies, err := front.ParseProxies([]string{"127.0.0.2", "10.0.0.0/8", "2001:db8:ffff::/48"})
	if err != nil {
		t.Fatal(err)
	}
	_, addr := serve(t, front.Options{Handler: saw, Proxies: proxies})
	for _, tt := range []struct {
		name, from string
		forwarded  []string
		want       string
	}{
		{"a proxy", "127.0.0.2", []string{"198.51.100.7"}, "198.51.100.7[198.51.100.7][https]"},
		{"a proxy behind another", "127.0.0.2", []string{"198.51.100.7, 10.1.1.1"}, "198.51.100.7[198.51.100.7, 10.1.1.1][https]"},
		{"in two lines", "127.0.0.2", []string{"198.51.100.7", "10.1.1.1"}, "198.51.100.7[198.51.100.7 10.1.1.1][https]"},
		{"what a client wrote itself", "127.0.0.2", []string{"10.9.9.9, 203.0.113.5, 198.51.100.7"}, "198.51.100.7[10.9.9.9, 203.0.113.5, 198.51.100.7][https]"},
		{"garbage left of it", "127.0.0.2", []string{"<script>, 198.51.100.7"}, "198.51.100.7[<script>, 198.51.100.7][https]"},
		{"garbage right of it", "127.0.0.2", []string{"198.51.100.7, unknown"}, "127.0.0.2[198.51.100.7, unknown][https]"},
		{"IPv6 with a port", "127.0.0.2", []string{"[2001:db8::7]:443"}, "2001:db8::7[[2001:db8::7]:443][https]"},
		{"IPv4 with a port", "127.0.0.2", []string{"198.51.100.7:443"}, "198.51.100.7[198.51.100.7:443][https]"},
		{"nobody but proxies", "127.0.0.2", []string{"10.1.1.1"}, "127.0.0.2[10.1.1.1][https]"},
		{"not a proxy", "127.0.0.3", []string{"198.51.100.7"}, "127.0.0.3[][]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			client := http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(tt.from)}}).DialContext, DisableKeepAlives: true}}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header["X-Forwarded-For"], req.Header["X-Forwarded-Proto"] = tt.forwarded, []string{"https"}
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if b, err := io.ReadAll(res.Body); err != nil || string(b) != tt.want {
				t.Errorf("%s, want %s (%v)", b, tt.want, err)
			}
		})
	}
}

func TestParseProxies(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "proxy.example", "0.0.0.0/0", "::/0", "10.0.0.0/33", "fe80::1%eth0"} {
		if _, err := front.ParseProxies([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// issue writes a certificate with a name of its own over the one before, as a
// program that renews does.
func issue(t *testing.T, dir, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "cert.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	put(t, filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs}))
}

func put(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// TestCertificate replaces the files under a connection that stays, spoils them,
// and mends them.
func TestCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	issue(t, dir, "first")
	var now atomic.Int64
	cert, err := front.LoadCertificate(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), func() time.Time { return time.Unix(now.Load(), 0) }, quietly())
	if err != nil {
		t.Fatal(err)
	}
	_, addr := serve(t, front.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }), Certificate: cert})
	shown := func(c *http.Client) (name string) {
		res, err := c.Get("https://" + addr)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if b, err := io.ReadAll(res.Body); err != nil || string(b) != "HTTP/2.0" {
			t.Errorf("the protocol is %s (%v)", b, err)
		}
		return res.TLS.PeerCertificates[0].Subject.CommonName
	}
	client := func() *http.Client {
		tr := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
		t.Cleanup(tr.CloseIdleConnections)
		return &http.Client{Transport: tr}
	}
	stays := client()
	see := func(when, want string) {
		t.Helper()
		now.Add(10)
		if name := shown(client()); name != want {
			t.Errorf("%s a new connection is shown %s", when, name)
		}
		if name := shown(stays); name != "first" {
			t.Errorf("%s the old connection is another one, with %s", when, name)
		}
	}
	see("at the start", "first")
	issue(t, dir, "second")
	see("after renewal", "second")
	good, err := os.ReadFile(filepath.Join(dir, "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "key.pem"), []byte("half a k"))
	see("with a spoilt key", "second")
	if err := os.Remove(filepath.Join(dir, "key.pem")); err != nil {
		t.Fatal(err)
	}
	see("without a key", "second")
	put(t, filepath.Join(dir, "key.pem"), good)
	see("with the key again", "second")
	issue(t, dir, "third")
	see("after another renewal", "third")
	if left := time.Until(cert.Expires()); left < 50*time.Minute || left > time.Hour {
		t.Errorf("it expires in %s", left)
	}
	if err := os.Chmod(filepath.Join(dir, "key.pem"), 0o604); err != nil {
		t.Fatal(err)
	}
	if _, err := front.LoadCertificate(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), time.Now, quietly()); err == nil || !strings.Contains(err.Error(), "everybody") {
		t.Errorf("a key that everybody can read: %v", err)
	}
}

// TestDrain asks during the drain and shuts down under a long poll and a request
// that is being answered: the one ends, the other is answered.
func TestDrain(t *testing.T) {
	t.Parallel()
	inside, finish := make(chan string, 2), make(chan struct{})
	s, addr := serve(t, front.Options{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/poll":
			inside <- r.URL.Path
			<-r.Context().Done()
			close(finish)
			fmt.Fprint(w, "no news")
		case "/work":
			inside <- r.URL.Path
			<-finish
			fmt.Fprint(w, "done")
		}
	})})
	get := func(path string) (close bool, body string, err error) {
		res, err := http.Get("http://" + addr + path)
		if err != nil {
			return false, "", err
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return res.Close, string(b), err
	}
	if end, _, err := get("/"); err != nil || end {
		t.Errorf("before the drain the connection ends: %v (%v)", end, err)
	}
	s.Drain()
	if end, _, err := get("/"); err != nil || !end || !s.Draining() {
		t.Errorf("in the drain the connection stays (%v)", err)
	}
	if end, _, err := get("/healthz"); err != nil || end {
		t.Errorf("in the drain a client that asks for a proof loses its connection (%v)", err)
	}
	said := make(chan string, 2)
	for _, path := range []string{"/poll", "/work"} {
		go func() {
			_, body, err := get(path)
			if err != nil {
				body = err.Error()
			}
			said <- path + " " + body
		}()
		<-inside
	}
	s.Shutdown(t.Context())
	got := map[string]bool{<-said: true, <-said: true}
	if !got["/poll no news"] || !got["/work done"] {
		t.Errorf("the answers are %v", got)
	}
	if _, _, err := get("/"); err == nil {
		t.Error("after the shutdown it answers")
	}
}

func TestInherited(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		env  map[string]string
		err  bool
	}{
		{name: "nothing", env: map[string]string{}},
		{name: "another process's", env: map[string]string{"LISTEN_FDS": "1", "LISTEN_PID": "41"}},
		{name: "two", env: map[string]string{"LISTEN_FDS": "2", "LISTEN_PID": "42"}, err: true},
		{name: "no number", env: map[string]string{"LISTEN_FDS": "x", "LISTEN_PID": "42"}, err: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, err := front.Inherited(func(name string) string { return tt.env[name] }, 42)
			if (err != nil) != tt.err || l != nil {
				t.Errorf("%v, %v", l, err)
			}
		})
	}
}

func TestNotify(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := front.Notify(func(string) string { return path }, "READY=1"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	n, err := l.Read(b)
	if err != nil || string(b[:n]) != "READY=1" {
		t.Errorf("it hears %q (%v)", b[:n], err)
	}
	if err := front.Notify(func(string) string { return "" }, "READY=1"); err != nil {
		t.Errorf("without a manager: %v", err)
	}
}
