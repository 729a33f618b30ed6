package daemon_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// startServe starts the service of a team and waits for its address.
func startServe(t *testing.T, dir string, more ...string) *living {
	t.Helper()
	furnish(t, dir)
	l := launch(t, dir, append([]string{"serve", "--data", dir, "--addr", "127.0.0.1:0"}, more...)...)
	l.awaitAddress(t)
	return l
}

func (l *living) awaitAddress(t *testing.T) {
	t.Helper()
	address := regexp.MustCompile(`serves (https?://\S+)`)
	until(t, l, "its address", func() bool {
		if m := address.FindStringSubmatch(l.stderr.String()); m != nil {
			l.base = m[1]
		}
		return l.base != ""
	})
}

// selfSigned writes a certificate for localhost and trusts it.
func selfSigned(t *testing.T, dir string) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key, pool = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), x509.NewCertPool()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pool.AppendCertsFromPEM(text)
	if err := os.WriteFile(cert, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs}), 0o600); err != nil {
		t.Fatal(err)
	}
	return cert, key, pool
}

// elsewhere is an address of this machine that is not loopback.
func elsewhere(t *testing.T) netip.Addr {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() && !p.Addr().IsLoopback() {
			return p.Addr()
		}
	}
	t.Skip("this machine has no address but loopback, so nobody can come from elsewhere")
	return netip.Addr{}
}

// TestPlaintext serves other machines over plain HTTP only behind a declared
// proxy, and then to nobody else.
func TestPlaintext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	furnish(t, dir)
	if r := run(t, "serve", "--data", dir, "--addr", "0.0.0.0:0"); r.status != 2 || !strings.Contains(r.stderr, "plain HTTP") || !strings.Contains(r.stderr, "--tls-cert") {
		t.Errorf("without a proxy it ends with %d: %s", r.status, r.stderr)
	}
	from := elsewhere(t)
	ask := func(proxy, to string) error {
		l := launch(t, dir, "serve", "--data", dir, "--addr", "0.0.0.0:0", "--trusted-proxy", proxy)
		defer func() { l.signal(t, syscall.SIGTERM); l.ended(t) }()
		l.awaitAddress(t)
		_, port, err := net.SplitHostPort(strings.TrimPrefix(l.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.Get("http://" + net.JoinHostPort(to, port) + "/v1/meta")
		if err != nil {
			return err
		}
		return res.Body.Close()
	}
	if err := ask("203.0.113.9", from.String()); err == nil {
		t.Error("somebody who is no proxy is answered in the clear")
	}
	if err := ask("203.0.113.9", "127.0.0.1"); err != nil {
		t.Errorf("this machine: %v", err)
	}
	if err := ask(from.String()+"/32", from.String()); err != nil {
		t.Errorf("the declared proxy: %v", err)
	}
}

func TestFacing_Refused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	furnish(t, dir)
	cert, key, _ := selfSigned(t, t.TempDir())
	open := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(open, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"a certificate without its key", []string{"--tls-cert", cert}, "come together"},
		{"no such certificate", []string{"--tls-cert", cert + ".none", "--tls-key", key}, "no such file"},
		{"a key that everybody reads", []string{"--tls-cert", cert, "--tls-key", open}, "everybody"},
		{"not a pair", []string{"--tls-cert", key, "--tls-key", key}, "read certificate"},
		{"everybody as a proxy", []string{"--trusted-proxy", "0.0.0.0/0"}, "everybody"},
		{"a name as a proxy", []string{"--trusted-proxy", "proxy.example"}, "neither an address"},
		{"figures at an address of nobody", []string{"--metrics", "203.0.113.1:80"}, "cannot listen"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			own := t.TempDir()
			furnish(t, own)
			r := run(t, append([]string{"serve", "--data", own, "--addr", "127.0.0.1:0"}, tt.args...)...)
			if r.status != 2 || !strings.Contains(r.stderr, tt.want) {
				t.Errorf("it ends with %d: %s", r.status, r.stderr)
			}
		})
	}
}

// TestTLS serves over TLS, to other machines too, and tells collectors when the
// certificate ends.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key, pool := selfSigned(t, t.TempDir())
	l := startServe(t, dir, "--addr", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key, "--metrics", "127.0.0.1:0")
	_, port, err := net.SplitHostPort(strings.TrimPrefix(l.base, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
	res, err := client.Get("https://127.0.0.1:" + port + "/v1/meta")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 200 || res.ProtoMajor != 2 {
		t.Errorf("it answers %s over %s", res.Status, res.Proto)
	}
	plain, err := http.Get("http://127.0.0.1:" + port + "/v1/meta")
	if err != nil || plain.StatusCode != 400 {
		t.Errorf("plain HTTP answers %v (%v)", plain, err)
	}
	text := l.figures(t)
	for _, want := range []string{`evalrouterd_http_requests_total{route="GET /v1/meta",status="200"} 1`, "evalrouterd_certificate_expires_seconds 1", "evalrouterd_connections_open "} {
		if !strings.Contains(text, want) {
			t.Errorf("the figures lack %s:\n%s", want, text)
		}
	}
}

// figures collects once.
func (l *living) figures(t *testing.T) string {
	t.Helper()
	m := regexp.MustCompile(`figures at (\S+)`).FindStringSubmatch(l.stderr.String())
	if m == nil {
		t.Fatalf("it does not say where its figures are: %s", l.stderr)
	}
	res, err := http.Get(m[1])
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("%s: %v", res.Status, err)
	}
	return string(b)
}

// TestFigures makes calls and mistakes, and looks for them among the figures;
// nothing of what was asked is there.
func TestFigures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := startServe(t, dir, "--metrics", "127.0.0.1:0")
	key := strings.TrimSpace(run(t, "keys", "create", "--data", dir, "--workspace", "main", "--name", "n", "--scopes", "eval:read").ok(t).stdout)
	for _, path := range []string{"/v1/runs", "/v1/runs/canary-4711", "/canary-4711", "/v1/runs?canary=4711"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	text := l.figures(t)
	for _, want := range []string{
		`evalrouterd_build_info{version="` + shippedVersion(t) + `"} 1`, `evalrouterd_http_requests_total{route="GET /v1/runs",status="200"} 1`,
		`evalrouterd_http_requests_total{route="GET /v1/runs/{id}",status="404"} 1`, `evalrouterd_http_requests_total{route="/",status="404"} 1`,
		"evalrouterd_http_request_seconds_count 4", "evalrouterd_runs_active 0", "evalrouterd_ending 0", "evalrouterd_store_commits_total ", "evalrouterd_log_errors_total 0",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the figures lack %s:\n%s", want, text)
		}
	}
	if strings.Contains(text, "canary") || strings.Contains(text, key) {
		t.Errorf("the figures repeat what was asked:\n%s", text)
	}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if !regexp.MustCompile(`^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{.*\})? [0-9.e+]+)$`).MatchString(line) {
			t.Errorf("a collector cannot read %q", line)
		}
	}
}

// TestHandover restarts the service three times under load, with a socket that
// stays open as a process manager keeps it. Every request is answered: those
// that would have begun work may be told to come again.
func TestHandover(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	furnish(t, dir)
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	file, err := socket.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	next := func() *living {
		// The variable names the process that the socket is for, as a process
		// manager sets it between fork and exec.
		cmd := watched(t)
		cmd.Args = []string{"sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, cmd.Path, "serve", "--data", dir, "--addr", "127.0.0.1:1"}
		cmd.Path = "/bin/sh"
		cmd.Env = append(cmd.Env, "LISTEN_FDS=1")
		cmd.ExtraFiles = []*os.File{file}
		l := begin(t, cmd, dir)
		l.awaitAddress(t)
		return l
	}
	l := next()
	if want := "http://" + socket.Addr().String(); l.base != want {
		t.Fatalf("it serves %s, not the socket %s", l.base, want)
	}
	key := strings.TrimSpace(run(t, "keys", "create", "--data", dir, "--workspace", "main", "--name", "n", "--scopes", "eval:read,eval:write").ok(t).stdout)
	var answered, again, lost atomic.Int64
	stop := make(chan struct{})
	var group sync.WaitGroup
	for i := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			// Half of the clients keep their connections, half make new ones.
			tr := &http.Transport{DisableKeepAlives: i%2 == 0}
			defer tr.CloseIdleConnections()
			c := caller{t: t, http: http.Client{Transport: tr, Timeout: 30 * time.Second}, base: l.base, key: key}
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				switch status, err := c.quoteOrRead(fmt.Sprintf("%d-%d", i, n), n%2 == 0); {
				case err != nil:
					lost.Add(1)
					t.Errorf("a request is lost: %v", err)
				case status == http.StatusServiceUnavailable:
					again.Add(1)
				case status == http.StatusOK:
					answered.Add(1)
				default:
					t.Errorf("a request is answered with %d", status)
				}
			}
		}()
	}
	restarts := rounds(3)
	for range restarts {
		before := answered.Load()
		until(t, l, "answers", func() bool { return answered.Load() >= before+50 })
		l.signal(t, syscall.SIGTERM)
		if status := l.ended(t); status != 0 {
			t.Errorf("it ends with %d: %s", status, l.stderr)
		}
		l = next()
	}
	before := answered.Load()
	until(t, l, "answers", func() bool { return answered.Load() >= before+50 })
	close(stop)
	group.Wait()
	t.Logf("%d answered, %d told to come again, %d lost in %d restarts", answered.Load(), again.Load(), lost.Load(), restarts)
}

// caller is a client with a key.
type caller struct {
	t         *testing.T
	http      http.Client
	base, key string
}

// quoteOrRead asks for a quote or for the list of runs.
func (c caller) quoteOrRead(id string, quote bool) (int, error) {
	method, path, body := http.MethodGet, "/v1/runs", io.Reader(nil)
	if quote {
		method, path = http.MethodPost, "/v1/quotes"
		body = strings.NewReader(`{"selection": {"profile_ids": ["arithmetic@1"]}, "model": {"kind": "managed", "route_id": "practice.solver-0.8"}, "coverage": {"sample_count": 2}, "max_charge_microusd": "1000000"}`)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", "handover-"+id)
	res, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") == "" {
		err = fmt.Errorf("503 without Retry-After: %s", b)
	}
	return res.StatusCode, err
}

// TestFacing_RatesThroughAProxy asks through a declared proxy as two clients:
// each has a limit of its own, and what a client writes itself changes nothing.
func TestFacing_RatesThroughAProxy(t *testing.T) {
	t.Parallel()
	l := startServe(t, t.TempDir(), "--trusted-proxy", "127.0.0.2")
	ask := func(from, forwarded string) *http.Response {
		t.Helper()
		tr := &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext}
		defer tr.CloseIdleConnections()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.base+"/v1/catalog/models", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Forwarded-For", forwarded)
		res, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res
	}
	// Turns come back while this is going on, one a second.
	limited := func(from string, forwarded func(i int) string) bool {
		for i := range 200 {
			if res := ask(from, forwarded(i)); res.StatusCode == http.StatusTooManyRequests {
				return res.Header.Get("Retry-After") != ""
			}
		}
		return false
	}
	if !limited("127.0.0.2", func(i int) string { return fmt.Sprintf("203.0.113.%d, 198.51.100.7", i) }) {
		t.Error("a client behind the proxy has no limit")
	}
	if res := ask("127.0.0.2", "198.51.100.8"); res.StatusCode != 200 {
		t.Errorf("another client behind the proxy is answered %s", res.Status)
	}
	if limited("127.0.0.3", func(int) string { return "198.51.100.7" }) {
		t.Error("a peer that is no proxy speaks for others")
	}
}

// shippedVersion is the version that program says it has.
func shippedVersion(t *testing.T) string {
	t.Helper()
	out, err := program(t, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, version, ok := strings.Cut(strings.TrimSpace(string(out)), " ")
	if !ok {
		t.Fatalf("it says %s", out)
	}
	return version
}
