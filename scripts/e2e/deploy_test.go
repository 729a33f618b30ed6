package e2e_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// certify writes a certificate for this machine that nobody else has signed.
func certify(t *testing.T, dir string) (cert, key string) {
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
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: pkcs}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// team is a service for a team, over TLS, on a socket that outlives it.
type team struct {
	*site
	dir, cert, key string
	socket         *os.File
	process        *process
}

func newTeam(t *testing.T) *team {
	t.Helper()
	s := &team{site: newSite(t), dir: t.TempDir()}
	s.cert, s.key = certify(t, t.TempDir())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if s.socket, err = l.(*net.TCPListener).File(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.socket.Close() })
	s.ok("evalrouterd", "catalog", "add", "--data", s.dir, "--generate", "arithmetic")
	s.start()
	key := strings.TrimSpace(s.ok("evalrouterd", "keys", "create", "--data", s.dir, "--workspace", "main", "--name", "e2e", "--scopes", "eval:read,eval:write,billing:read").stdout)
	s.ok("evalrouterd", "credits", "grant", "--data", s.dir, "main", "100")
	s.env = append(s.env, "EVALROUTER_BASE_URL=https://"+l.Addr().String(), "EVALROUTER_API_KEY="+key, "SSL_CERT_FILE="+s.cert)
	return s
}

// start starts a process with the socket, as a process manager does.
func (s *team) start() {
	s.t.Helper()
	p := &process{gone: make(chan struct{}), log: &lockedBuffer{}}
	p.cmd = s.command(context.Background(), "evalrouterd")
	p.cmd.Args = []string{"sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, p.cmd.Path, "serve", "--data", s.dir, "--tls-cert", s.cert, "--tls-key", s.key}
	p.cmd.Path = "/bin/sh"
	p.cmd.Env = append(p.cmd.Env, "LISTEN_FDS=1")
	p.cmd.ExtraFiles = []*os.File{s.socket}
	p.cmd.Stderr = p.log
	if err := p.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		defer close(p.gone)
		_ = p.cmd.Wait() // its status is in ProcessState
	}()
	s.t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // gone already, as a rule
		<-p.gone
	})
	s.process = p
	s.until("the service", func() bool { return strings.Contains(p.log.String(), "serves https://") })
}

// deploy ends the process in order and starts the next one.
func (s *team) deploy() {
	s.t.Helper()
	if err := s.process.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	<-s.process.gone
	if code := s.process.cmd.ProcessState.ExitCode(); code != 0 {
		s.t.Errorf("the service ended with %d: %s", code, s.process.log)
	}
	s.start()
}

// until polls a fact about other processes, which cannot signal us.
func (s *team) until(what string, fact func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !fact() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.t.Fatalf("%s did not come: %s", what, s.process.log)
		}
	}
}

// TestDeploy_UnderAWatchedRun deploys three times under a run that somebody
// follows over TLS. The follower sees it to its end, no task is unresolved, and
// a request that begins work is at most told to come again, which the client
// does by itself.
func TestDeploy_UnderAWatchedRun(t *testing.T) {
	t.Parallel()
	const tasks = 400
	s := newTeam(t)
	r := s.submit(`{"model": {"kind": "managed", "route_id": "practice.solver-0.8"}, "selection": {"profile_ids": ["arithmetic@1"]},
		"coverage": {"mode": "sample", "sample_count": 400}, "max_charge_microusd": "10000000", "concurrency": 4}`)
	follower := s.command(t.Context(), "evalrouter", "wait", r.ID)
	var said bytes.Buffer
	follower.Stdout, follower.Stderr = &said, &said
	if err := follower.Start(); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		s.until("some answers", func() bool { return s.status(r.ID).GradedCount >= 20+60*i })
		s.deploy()
	}
	other := s.submit(`{"model": {"kind": "managed", "route_id": "practice.solver-0.8"}, "selection": {"profile_ids": ["arithmetic@1"]},
		"coverage": {"mode": "sample", "sample_count": 5}, "max_charge_microusd": "1000000"}`)
	if err := follower.Wait(); err != nil {
		t.Errorf("the follower: %v\n%s", err, said.String())
	}
	s.ok("evalrouter", "wait", other.ID)
	end := s.status(r.ID)
	if end.Status != "completed" || end.GradedCount != tasks || end.Outcomes["provider_error"] != 0 {
		t.Errorf("the run is %s, %d graded: %v", end.Status, end.GradedCount, end.Outcomes)
	}
	if out := s.run("evalrouterd", "audit", "--data", s.dir); out.code != 0 {
		t.Errorf("audit: %s%s", out.stdout, out.stderr)
	}
}
