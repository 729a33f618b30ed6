package daemon_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestReady(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	l := adopt(t, watched(t, "local", "--data", dir, "--port", "0"), dir)
	var r struct {
		Schema    string    `json:"schema"`
		PID       int       `json:"pid"`
		Port      int       `json:"port"`
		BaseURL   string    `json:"base_url"`
		Version   string    `json:"version"`
		StartedAt time.Time `json:"started_at"`
	}
	b, err := os.ReadFile(filepath.Join(dir, "service.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	if r.Schema != "evalrouter.local_service.v1" || r.PID != l.cmd.Process.Pid || r.BaseURL != "http://127.0.0.1:"+strconv.Itoa(r.Port) || r.Version != "0.0.0-test" || r.StartedAt.IsZero() {
		t.Errorf("the record is %s", b)
	}
	var who struct {
		Kind      string                           `json:"kind"`
		Workspace struct{ ID string }              `json:"workspace"`
		Practice  struct{ BalanceMicrousd string } `json:"practice"`
	}
	if l.call(t, "GET", "/v1/auth/whoami", nil, &who); who.Kind != "local_owner" || who.Workspace.ID != "local" {
		t.Errorf("the owner is %+v", who)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		var ok struct{ OK bool }
		if status := l.call(t, "GET", path, nil, &ok); status != 200 || !ok.OK {
			t.Errorf("GET %s answers %d", path, status)
		}
	}
	if status := l.call(t, "GET", "/v1/meta", nil, nil, "Host", "attacker.example"); status != 403 {
		t.Errorf("another Host answers %d", status)
	}
	l.signal(t, syscall.SIGTERM)
	if status := l.ended(t); status != 0 {
		t.Errorf("after SIGTERM the status is %d: %s", status, l.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "service.json")); !os.IsNotExist(err) {
		t.Errorf("after the end service.json says %v", err)
	}
}

// TestPracticeCreditOnce restarts the service: credit that was granted once is
// not granted again.
func TestPracticeCreditOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 2 {
		l := startLocal(t, dir)
		var c struct {
			Balance  string `json:"balance_microusd"`
			Practice struct {
				Balance string `json:"balance_microusd"`
			} `json:"practice"`
		}
		if l.call(t, "GET", "/v1/credits", nil, &c); c.Practice.Balance != "100000000" || c.Balance != "0" {
			t.Errorf("the credits are %+v", c)
		}
		l.signal(t, syscall.SIGTERM)
		l.ended(t)
	}
}

// TestModes starts with a umask that hides nothing: everything in the
// directory is the owner's alone all the same.
func TestModes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := watched(t, "local", "--data", dir, "--port", "0")
	cmd.Env = append(cmd.Env, "EVALROUTERD_TEST_UMASK=0")
	l := adopt(t, cmd, dir)
	seen := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		seen++
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has the mode %04o, want %04o", path, got, want)
		}
		return nil
	})
	if err != nil || seen < 7 {
		t.Errorf("%d files were seen (%v)", seen, err)
	}
	l.signal(t, syscall.SIGTERM)
	l.ended(t)
}

func TestInUse(t *testing.T) {
	t.Parallel()
	l := startLocal(t, t.TempDir())
	for _, args := range [][]string{{"local", "--port", "0"}, {"serve", "--addr", "127.0.0.1:0"}} {
		r := run(t, append(args, "--data", l.dir)...)
		if r.status != 2 || !strings.Contains(r.stderr, "(data_dir_in_use)") || !strings.Contains(r.stderr, fmt.Sprintf("process %d", l.cmd.Process.Pid)) {
			t.Errorf("%v: status %d: %s", args, r.status, r.stderr)
		}
	}
	if status := l.call(t, "GET", "/healthz", nil, nil); status != 200 {
		t.Errorf("the first daemon answers %d", status)
	}
	// A killed daemon leaves no lock behind.
	if err := l.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-l.gone
	if err := os.Remove(filepath.Join(l.dir, "service.json")); err != nil {
		t.Fatal(err)
	}
	startLocal(t, l.dir)
}

// TestRace starts ten daemons at once: one stays.
func TestRace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const n = 10
	all := make([]*living, n)
	for i := range all {
		all[i] = launch(t, dir, "local", "--data", dir, "--port", "0")
	}
	until(t, &living{stderr: &said{}}, "the end of all but one", func() bool {
		alive := 0
		for _, l := range all {
			select {
			case <-l.gone:
			default:
				alive++
			}
		}
		return alive == 1
	})
	for _, l := range all {
		select {
		case <-l.gone:
			if s := l.cmd.ProcessState.ExitCode(); s != 2 || !strings.Contains(l.stderr.String(), "data_dir_in_use") {
				t.Errorf("a loser ends with %d: %s", s, l.stderr)
			}
		default:
		}
	}
}

func TestPorts(t *testing.T) {
	t.Parallel()
	taken := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(taken.Close) // after the parallel subtests
	addr := taken.Listener.Addr().(*net.TCPAddr)
	t.Run("local takes the next free one", func(t *testing.T) {
		t.Parallel()
		l := startLocal(t, t.TempDir(), "--port", strconv.Itoa(addr.Port))
		if l.base == "http://"+addr.String() || l.call(t, "GET", "/healthz", nil, nil) != 200 {
			t.Errorf("the service is at %s", l.base)
		}
	})
	t.Run("serve refuses", func(t *testing.T) {
		t.Parallel()
		r := run(t, "serve", "--data", t.TempDir(), "--addr", addr.String())
		if r.status != 2 || !strings.Contains(r.stderr, "(port_taken)") || !strings.Contains(r.stderr, "another program") {
			t.Errorf("status %d: %s", r.status, r.stderr)
		}
	})
	t.Run("serve knows its like", func(t *testing.T) {
		t.Parallel()
		l := startLocal(t, t.TempDir())
		r := run(t, "serve", "--data", t.TempDir(), "--addr", strings.TrimPrefix(l.base, "http://"))
		if r.status != 2 || !strings.Contains(r.stderr, "another evalrouterd") {
			t.Errorf("status %d: %s", r.status, r.stderr)
		}
	})
}

func TestUnwritable(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{"a file": file, "below a file": filepath.Join(file, "data"), "a file system without writers": "/proc/evalrouter"}
	if os.Getuid() != 0 {
		closed := filepath.Join(t.TempDir(), "closed")
		if err := os.Mkdir(closed, 0o500); err != nil {
			t.Fatal(err)
		}
		dirs["a closed directory"] = filepath.Join(closed, "data")
	}
	for name, dir := range dirs {
		for _, command := range [][]string{{"local"}, {"serve", "--addr", "127.0.0.1:0"}, {"catalog", "add", "--generate", "arithmetic"}} {
			if r := run(t, append(command, "--data", dir)...); r.status != 2 || !strings.Contains(r.stderr, "(data_dir_unwritable)") {
				t.Errorf("%s, %v: status %d: %s", name, command, r.status, r.stderr)
			}
		}
		if r := run(t, "audit", "--data", dir); r.status != 2 || !strings.Contains(r.stderr, "(installation_missing)") {
			t.Errorf("%s, audit: status %d: %s", name, r.status, r.stderr)
		}
	}
}

func TestIdle(t *testing.T) {
	t.Parallel()
	l := startLocal(t, t.TempDir(), "--idle", "300ms")
	if status := l.ended(t); status != 0 {
		t.Errorf("the idle service ends with %d: %s", status, l.stderr)
	}
}

// slowEndpoint answers each request once it is let go.
func slowEndpoint(t *testing.T) (url string, asked <-chan struct{}, goOn func()) {
	t.Helper()
	in, out := make(chan struct{}, 64), make(chan struct{})
	var once sync.Once
	goOn = func() { once.Do(func() { close(out) }) }
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		in <- struct{}{}
		<-out
		w.Write([]byte(`{"model":"m","choices":[{"message":{"content":"ANSWER: 1"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`))
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(goOn)
	return srv.URL + "/v1", in, goOn
}

// rationedEndpoint answers as many requests as it is given leave to, and all of
// them once it is let go.
func rationedEndpoint(t *testing.T) (url string, allow func(int), goOn func()) {
	t.Helper()
	leave := make(chan struct{}, 1000)
	var once sync.Once
	goOn = func() { once.Do(func() { close(leave) }) }
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-leave
		w.Write([]byte(`{"model":"m","choices":[{"message":{"content":"ANSWER: 1"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`))
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(goOn)
	allow = func(n int) {
		for range n {
			leave <- struct{}{}
		}
	}
	return srv.URL + "/v1", allow, goOn
}

// runOn starts a run of two tasks, one call at a time, on a connection.
func (l *living) runOn(t *testing.T, endpoint string) string {
	t.Helper()
	return l.runOf(t, endpoint, 2, 1)
}

// runOf starts a run of n tasks on a connection.
func (l *living) runOf(t *testing.T, endpoint string, n, concurrency int) string {
	t.Helper()
	var c, q, r struct{ ID string }
	l.call(t, "POST", "/v1/connections", map[string]any{"name": "slow", "base_url": endpoint, "model_id": "m", "api_key": "k"}, &c)
	l.call(t, "POST", "/v1/quotes", map[string]any{
		"selection": map[string]any{"profile_ids": []string{"arithmetic@1"}}, "model": map[string]any{"kind": "connection", "connection_id": c.ID},
		"coverage": map[string]any{"sample_count": n}, "max_charge_microusd": "1000000", "concurrency": concurrency,
	}, &q)
	if status := l.call(t, "POST", "/v1/runs", map[string]any{"quote_id": q.ID}, &r, "Idempotency-Key", "run on "+endpoint); status != 200 || r.ID == "" {
		t.Fatalf("the run answers %d", status)
	}
	return r.ID
}

type runView struct {
	Status   string         `json:"status"`
	Outcomes map[string]int `json:"outcomes"`
}

func (l *living) run(t *testing.T, id string) (r runView) {
	t.Helper()
	l.call(t, "GET", "/v1/runs/"+id, nil, &r)
	return r
}

// TestDrain asks the daemon to stop while a call is in flight: the call is
// waited for and recorded, no other begins, whoever reads is answered meanwhile,
// and the next start goes on.
func TestDrain(t *testing.T) {
	t.Parallel()
	endpoint, asked, goOn := slowEndpoint(t)
	l := startLocal(t, t.TempDir())
	id := l.runOn(t, endpoint)
	<-asked
	l.signal(t, syscall.SIGTERM)
	until(t, l, "the beginning of the end", func() bool { return l.call(t, "GET", "/readyz", nil, nil) == 503 })
	for _, path := range []string{"/healthz", "/v1/runs/" + id, "/v1/catalog/models"} {
		if status := l.call(t, "GET", path, nil, nil); status != 200 {
			t.Errorf("GET %s answers %d in the drain", path, status)
		}
	}
	for _, path := range []string{"/v1/runs", "/v1/evaluations", "/v1/connections/x/check"} {
		var no struct{ Error struct{ Code string } }
		if status := l.call(t, "POST", path, map[string]any{}, &no); status != 503 || no.Error.Code != "unavailable" {
			t.Errorf("POST %s answers %d %s in the drain", path, status, no.Error.Code)
		}
	}
	select {
	case <-l.gone:
		t.Fatalf("the daemon did not wait for the call in flight: %s", l.stderr)
	default:
	}
	goOn()
	if status := l.ended(t); status != 0 {
		t.Errorf("the status is %d: %s", status, l.stderr)
	}
	if len(asked) != 0 {
		t.Error("a second call began after the signal")
	}
	again := startLocal(t, l.dir)
	var r runView
	until(t, again, "the end of the run", func() bool { r = again.run(t, id); return r.Status == "completed" || r.Status == "partial" })
	if r.Status != "completed" || r.Outcomes["provider_error"] != 0 {
		t.Errorf("the run is %+v", r)
	}
	<-asked
	if len(asked) != 0 {
		t.Error("a task was asked twice")
	}
	if a := run(t, "audit", "--data", l.dir); a.status != 0 {
		t.Errorf("the audit: %s%s", a.stdout, a.stderr)
	}
}

// TestSecondSignal does not wait: the call in flight becomes unknown and is
// never made again.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	endpoint, asked, goOn := slowEndpoint(t)
	l := startLocal(t, t.TempDir())
	id := l.runOn(t, endpoint)
	<-asked
	l.signal(t, syscall.SIGTERM)
	until(t, l, "the beginning of the end", func() bool { return l.call(t, "GET", "/readyz", nil, nil) == 503 })
	l.signal(t, syscall.SIGTERM)
	if status := l.ended(t); status != 0 {
		t.Errorf("the status is %d: %s", status, l.stderr)
	}
	goOn()
	again := startLocal(t, l.dir)
	var r runView
	until(t, again, "the end of the run", func() bool { r = again.run(t, id); return r.Status == "completed" || r.Status == "partial" })
	if r.Status != "partial" || r.Outcomes["provider_error"] != 1 {
		t.Errorf("the run is %+v", r)
	}
	if a := run(t, "audit", "--data", l.dir); a.status != 0 {
		t.Errorf("the audit: %s%s", a.stdout, a.stderr)
	}
}

// TestBusyIsNotIdle keeps a service with an active run alive.
func TestBusyIsNotIdle(t *testing.T) {
	t.Parallel()
	endpoint, asked, goOn := slowEndpoint(t)
	l := startLocal(t, t.TempDir(), "--idle", "300ms")
	l.runOn(t, endpoint)
	<-asked
	select {
	case <-l.gone:
		t.Fatalf("the service ended with a run at work: %s", l.stderr)
	case <-time.After(time.Second): // three times its patience
	}
	goOn()
	l.ended(t)
}

// TestLog looks for credentials in everything the daemon wrote.
func TestLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := startLocal(t, dir, "--verbose")
	const key = "sk-log-canary-31"
	l.call(t, "POST", "/v1/connections", map[string]any{"name": "n", "base_url": "https://example.com/v1", "model_id": "m", "api_key": key}, nil)
	l.call(t, "POST", "/v1/connections", map[string]any{"name": "n", "base_url": "https://example.com/v1?key=" + key, "model_id": "m", "api_kye": key}, nil)
	token := l.token(t)
	l.signal(t, syscall.SIGTERM)
	l.ended(t)
	for name, secret := range map[string]string{"a provider's key": key, "the owner's token": token} {
		if strings.Contains(l.stderr.String(), secret) {
			t.Errorf("the log holds %s", name)
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == "owner.token" {
				return err
			}
			b, err := os.ReadFile(path)
			if bytes.Contains(b, []byte(secret)) {
				t.Errorf("%s holds %s in the clear", d.Name(), name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(l.stderr.String()), "\n") {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line of the log is no JSON: %s", line)
		}
	}
}
